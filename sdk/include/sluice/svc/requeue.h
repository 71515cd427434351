/* requeue/1: tells the engine that something about a workload may have changed.
 *
 * Nothing happens inside the call: requests are applied, in order, before the next cycle of the
 * same instant. A workload that does not exist is ignored. */
#ifndef SLUICE_SVC_REQUEUE_H
#define SLUICE_SVC_REQUEUE_H

#include "sluice/abi.h"

#define SLUICE_SVC_REQUEUE "requeue/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_requeue {
  uint32_t size;
  uint32_t reserved;
  /* Puts a parked workload back into its queue: a veto or a skip of ours may have ended. The pause
   * after a Retry ends, too, where the plugin answers for all checks that said it. [any] */
  void (*requeue)(const sluice_host_t* host, sluice_str_t workload);
  /* Its traits are asked for again. [any] */
  void (*traits_changed)(const sluice_host_t* host, sluice_str_t workload);
  /* The key of a LocalQueue (NAMESPACE/NAME) is asked for again, see ext/queue_order.h. [any] */
  void (*order_changed)(const sluice_host_t* host, sluice_str_t local_queue);
  /* Nothing runs any more of a workload that was evicted and ends later (ext/workload_traits.h):
   * its quota is free. Ignored for any other, and from a plugin that did not give that trait.
   * [any] */
  void (*ended)(const sluice_host_t* host, sluice_str_t workload);
} sluice_requeue_t;

SLUICE_EXTERN_C_END

#endif
