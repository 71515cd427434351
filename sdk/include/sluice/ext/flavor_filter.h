/* flavor-filter/1: which flavors are not for a pod set.
 *
 * Asked before quota is looked at, once per pod set and resource group. The skips of all filters
 * are joined, so their order never matters. A fault of a plugin with failurePolicy `closed` keeps
 * the workload pending; with `open` its skips of that call do not count. */
#ifndef SLUICE_EXT_FLAVOR_FILTER_H
#define SLUICE_EXT_FLAVOR_FILTER_H

#include "sluice/abi.h"
#include "sluice/capacity.h"
#include "sluice/workload.h"

#define SLUICE_EXT_FLAVOR_FILTER "flavor-filter/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_filter_query {
  uint32_t size;
  uint32_t queue; /* dense id, see queue_watch.h */
  sluice_workload_ref_t workload;
  uint32_t pod_set;
  uint32_t flavor_count;
  const sluice_str_t* flavors; /* names */
  /* The flavors of these names, to be read with flavor_api. */
  const sluice_flavor_t* const* flavor_handles;
  const sluice_flavor_api_t* flavor_api;
  /* The ClusterQueue that would give them, to be read with cluster_queue_api. */
  const sluice_cluster_queue_t* cluster_queue;
  const sluice_cluster_queue_api_t* cluster_queue_api;
} sluice_filter_query_t;

typedef struct sluice_filter_sink {
  uint32_t size;
  uint32_t reserved;
  void* context;
  /* Flavor number `flavor` of the query is not for this pod set; the reason is shown to people, an
   * empty one is not. [any] */
  void (*skip)(void* context, uint32_t flavor, sluice_str_t reason);
} sluice_filter_sink_t;

typedef struct sluice_flavor_filter {
  uint32_t size;
  uint32_t reserved;
  /* [cycle] */
  int32_t (*filter)(sluice_instance_t* self, const sluice_filter_query_t* query,
                    const sluice_filter_sink_t* out);
  /* Writes an opaque text that is part of the workload's shape. A filter whose answer depends on
   * more than pod sets and priority (a label, say) must provide it, because a workload is parked
   * together with its equals. May be NULL. [control] */
  int32_t (*shape_key)(sluice_instance_t* self, sluice_workload_ref_t workload,
                       const sluice_sink_t* out);
} sluice_flavor_filter_t;

SLUICE_EXTERN_C_END

#endif
