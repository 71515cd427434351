/* queue-watch/1: the ClusterQueues, once each and again on change.
 *
 * Cycle hooks carry only the dense id of a queue: a plugin that reads a setting from a queue keeps
 * it here in a table indexed by that id. Ids start at 0 and are never given to another queue. */
#ifndef SLUICE_EXT_QUEUE_WATCH_H
#define SLUICE_EXT_QUEUE_WATCH_H

#include "sluice/abi.h"

#define SLUICE_EXT_QUEUE_WATCH "queue-watch/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_queue {
  uint32_t size;
  uint32_t id;
  sluice_str_t name;
  sluice_str_t json; /* the object as compact JSON, v1beta2, plugins' fields included */
} sluice_queue_t;

typedef struct sluice_queue_watch {
  uint32_t size;
  uint32_t reserved;
  /* The queue exists or changed. [control] */
  int32_t (*queue_changed)(sluice_instance_t* self, const sluice_queue_t* queue);
} sluice_queue_watch_t;

SLUICE_EXTERN_C_END

#endif
