/* clock/1: the one clock of the host, virtual under simulation, and timers on it.
 *
 * Never ask the machine for the time: decisions must come out the same in a replay. */
#ifndef SLUICE_SVC_CLOCK_H
#define SLUICE_SVC_CLOCK_H

#include "sluice/abi.h"

#define SLUICE_SVC_CLOCK "clock/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_clock {
  uint32_t size;
  uint32_t reserved;
  /* Nanoseconds since 1970 UTC. [any] */
  int64_t (*now)(const sluice_host_t* host);
  /* Calls ext/timers.h at `at` or, when that has passed, in the next instant. A timer of the same
   * number is moved. The plugin must provide timers/1 and have no more than 10,000 timers, else
   * SLUICE_FAILED. [any] */
  int32_t (*set_timer)(const sluice_host_t* host, uint64_t timer, int64_t at);
  /* A timer that is not set is no error. [any] */
  void (*cancel_timer)(const sluice_host_t* host, uint64_t timer);
  /* 1: this is a simulation. Time jumps, nothing outside is real, and a plugin must have no effect
   * outside: it starts no program and sends nothing. [any] */
  int32_t (*is_virtual)(const sluice_host_t* host);
} sluice_clock_t;

SLUICE_EXTERN_C_END

#endif
