/* Aborts when it is told of a workload that it took for finished. */
#include "parts.h"
static int32_t notify(sluice_instance_t* self, const sluice_notification_t* told) {
  static int finished = 0;
  (void)self;
  if (finished && told->event < SLUICE_EVENT_FINISHED) abort();
  finished = finished || told->event == SLUICE_EVENT_FINISHED;
  return SLUICE_OK;
}
static const sluice_post_admit_t post_admit = {sizeof(sluice_post_admit_t), 0, &notify, NULL};
#define POINT SLUICE_EXT_POST_ADMIT
#define TABLE post_admit
#include "skeleton.h"
