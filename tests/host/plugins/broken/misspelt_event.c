/* Wants to be told of an event that there is not. */
#include "parts.h"
static int32_t notify(sluice_instance_t* self, const sluice_notification_t* told) {
  (void)self;
  (void)told;
  return SLUICE_OK;
}
static int32_t events(sluice_instance_t* self, const sluice_sink_t* out) {
  static const char text[] = "Evicted\nAdmited claimed\n";
  (void)self;
  out->write(out->context, (sluice_str_t){text, sizeof(text) - 1});
  return SLUICE_OK;
}
static const sluice_post_admit_t post_admit = {sizeof(sluice_post_admit_t), 0, &notify, &events};
#define POINT SLUICE_EXT_POST_ADMIT
#define TABLE post_admit
#include "skeleton.h"
