/* Aborts at a timer that it did not set. */
#include "parts.h"
static int32_t fired(sluice_instance_t* self, uint64_t timer, int64_t now) {
  (void)self;
  (void)now;
  if (timer > 1) abort();
  return SLUICE_OK;
}
static const sluice_timers_t timers = {sizeof(sluice_timers_t), 0, &fired};
#define POINT SLUICE_EXT_TIMERS
#define TABLE timers
#include "skeleton.h"
