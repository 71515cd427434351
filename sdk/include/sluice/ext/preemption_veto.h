/* preemption-veto/1: which workloads may not preempt, and which may not be preempted.
 *
 * The vetoes of all plugins are joined; a plugin can only take victims away, never add one. A fault
 * of a plugin with failurePolicy `closed` is a veto; with `open` it is none. */
#ifndef SLUICE_EXT_PREEMPTION_VETO_H
#define SLUICE_EXT_PREEMPTION_VETO_H

#include "sluice/abi.h"
#include "sluice/capacity.h"
#include "sluice/workload.h"

#define SLUICE_EXT_PREEMPTION_VETO "preemption-veto/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_veto_query {
  uint32_t size;
  uint32_t queue; /* the preemptor's, dense id, see queue_watch.h */
  sluice_workload_ref_t preemptor;
  uint64_t candidate_count; /* 0: only "may it preempt at all?" */
  /* To be read with preemptor.api. */
  const sluice_workload_t* const* candidates;
  /* The preemptor's ClusterQueue, to be read with cluster_queue_api. */
  const sluice_cluster_queue_t* cluster_queue;
  const sluice_cluster_queue_api_t* cluster_queue_api;
  /* By candidate: since when it is admitted, in ns since 1970 UTC; 0: it only holds quota. NULL:
   * not known. Its own conditions may be older than this. */
  const int64_t* admitted_at;
} sluice_veto_query_t;

typedef struct sluice_veto_sink {
  uint32_t size;
  uint32_t reserved;
  void* context;
  /* The preemptor may not preempt at all for now; the reason is shown to people. [any] */
  void (*may_not_preempt)(void* context, sluice_str_t reason);
  /* Candidate number `candidate` of the query is no victim. [any] */
  void (*protect)(void* context, uint64_t candidate);
  /* The same, with a reason that is shown to people when the preemptor finds no victims. [any] */
  void (*protect_because)(void* context, uint64_t candidate, sluice_str_t reason);
} sluice_veto_sink_t;

typedef struct sluice_preemption_veto {
  uint32_t size;
  uint32_t reserved;
  /* [cycle] */
  int32_t (*veto)(sluice_instance_t* self, const sluice_veto_query_t* query,
                  const sluice_veto_sink_t* out);
} sluice_preemption_veto_t;

SLUICE_EXTERN_C_END

#endif
