/* Fails when it is told again what it knows. */
#include "parts.h"
static int32_t notify(sluice_instance_t* self, const sluice_notification_t* told) {
  static uint64_t last = 0;
  (void)self;
  if (told->sequence == last) return SLUICE_FAILED;
  last = told->sequence;
  return SLUICE_OK;
}
static const sluice_post_admit_t post_admit = {sizeof(sluice_post_admit_t), 0, &notify, NULL};
#define POINT SLUICE_EXT_POST_ADMIT
#define TABLE post_admit
#include "skeleton.h"
