/* pod-gate/1: which pods of a job may start.
 *
 * A pod with a scheduling gate is never started. Pods get the gates that all plugins name when they
 * are created; the host lifts them from as many pods of each pod set as the plugin that grants the
 * fewest says, the oldest first. A gate that was lifted is never put back. While a plugin with
 * failurePolicy `closed` faults, new pods get a gate of its name and no gate is lifted; with `open`
 * it is as if the plugin had not been asked. */
#ifndef SLUICE_EXT_POD_GATE_H
#define SLUICE_EXT_POD_GATE_H

#include "sluice/abi.h"
#include "sluice/job.h"

#define SLUICE_EXT_POD_GATE "pod-gate/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_grant_sink {
  uint32_t size;
  uint32_t reserved;
  void* context;
  /* Of pod set number `pod_set` of the query at most `pods` run at a time; the last call for a pod
   * set counts. A pod set that is not named has no limit. [any] */
  void (*grant)(void* context, uint64_t pod_set, int32_t pods);
} sluice_grant_sink_t;

typedef struct sluice_pod_gate {
  uint32_t size;
  uint32_t reserved;
  /* Writes the names of the gates that a new pod of the job gets (DOMAIN/NAME), one per line;
   * nothing for jobs that are not this plugin's. [control] */
  int32_t (*gates)(sluice_instance_t* self, const sluice_job_query_t* query,
                   const sluice_sink_t* out);
  /* [control] */
  int32_t (*granted)(sluice_instance_t* self, const sluice_job_query_t* query,
                     const sluice_grant_sink_t* out);
} sluice_pod_gate_t;

SLUICE_EXTERN_C_END

#endif
