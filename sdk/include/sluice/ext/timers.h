/* timers/1: called when a timer that the plugin set (svc/clock.h) is due.
 *
 * Under simulation time jumps to the next timer, so an hour costs nothing. */
#ifndef SLUICE_EXT_TIMERS_H
#define SLUICE_EXT_TIMERS_H

#include "sluice/abi.h"

#define SLUICE_EXT_TIMERS "timers/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_timers {
  uint32_t size;
  uint32_t reserved;
  /* `now` is the time of the clock. Timers of one instant fire in order of their id. A timer that
   * is set again with its own time comes again in the next instant. [control] */
  int32_t (*fired)(sluice_instance_t* self, uint64_t timer, int64_t now);
} sluice_timers_t;

SLUICE_EXTERN_C_END

#endif
