/* queue-order/1: in which order the workloads that wait in a ClusterQueue are taken.
 *
 * Built in: by priority, then by time. A plugin puts keys in front of that: one of each LocalQueue,
 * then one of each workload; the lower goes first, and what has no key has 0. At most one plugin
 * provides it. ClusterQueues that it says nothing about keep the built-in order, and between
 * ClusterQueues, and for preemption, that order holds always.
 *
 * No cycle asks for a key: the host asks when something comes or changes, and when the plugin says
 * with order_changed() or traits_changed() of svc/requeue.h that an answer is another one now. A
 * changed key of a LocalQueue moves all that wait there at once, for the price of one number. Same
 * state, same key: no clock but svc/clock.h, no randomness.
 *
 * A fault, whatever the failurePolicy: the built-in order holds in the whole ClusterQueue until an
 * answer comes, and `sluice explain` names the plugin. */
#ifndef SLUICE_EXT_QUEUE_ORDER_H
#define SLUICE_EXT_QUEUE_ORDER_H

#include "sluice/abi.h"
#include "sluice/workload.h"

#define SLUICE_EXT_QUEUE_ORDER "queue-order/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_order_query {
  uint32_t size;
  uint32_t queue; /* dense id, see queue_watch.h */
  sluice_str_t cluster_queue;
  sluice_str_t local_queue; /* NAMESPACE/NAME */
} sluice_order_query_t;

typedef struct sluice_order_sink {
  uint32_t size;
  uint32_t reserved;
  void* context;
  /* The place: low keys first. `because` is shown to people and may be empty. The last call
   * counts. [any] */
  void (*key)(void* context, int64_t key, sluice_str_t because);
} sluice_order_sink_t;

typedef struct sluice_queue_order {
  uint32_t size;
  uint32_t reserved;
  /* The key of all workloads of a LocalQueue; NULL: there are none. Asked when the LocalQueue, or
   * the ClusterQueue behind it, comes or changes, and after order_changed(). [control] */
  int32_t (*local_queue)(sluice_instance_t* self, const sluice_order_query_t* query,
                         const sluice_order_sink_t* out);
  /* The key of one workload, among those of its LocalQueue and of LocalQueues with the same key;
   * NULL: there are none. Asked with its traits (ext/workload_traits.h). [control] */
  int32_t (*workload)(sluice_instance_t* self, sluice_workload_ref_t workload,
                      const sluice_order_sink_t* out);
} sluice_queue_order_t;

SLUICE_EXTERN_C_END

#endif
