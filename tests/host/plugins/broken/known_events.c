/* Fails at events that it does not know. */
#include "parts.h"
static int32_t notify(sluice_instance_t* self, const sluice_notification_t* told) {
  (void)self;
  return told->event <= SLUICE_EVENT_FINISHED ? SLUICE_OK : SLUICE_FAILED;
}
static const sluice_post_admit_t post_admit = {sizeof(sluice_post_admit_t), 0, &notify, NULL};
#define POINT SLUICE_EXT_POST_ADMIT
#define TABLE post_admit
#include "skeleton.h"
