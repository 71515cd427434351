/* capacity.h: how a hook sees flavors and a ClusterQueue: opaque handles and tables of accessors,
 * as workload.h does for workloads.
 *
 * Nothing is copied or encoded per call. Texts live as long as the handle, that is until the hook
 * returns. Amounts: milli for cpu, base units for everything else. */
#ifndef SLUICE_CAPACITY_H
#define SLUICE_CAPACITY_H

#include "sluice/abi.h"
#include "sluice/workload.h"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_flavor sluice_flavor_t;
typedef struct sluice_cluster_queue sluice_cluster_queue_t;

/* A taint of a flavor's nodes. This struct never grows. */
typedef struct sluice_taint {
  sluice_str_t key;
  sluice_str_t value;
  sluice_str_t effect; /* NoSchedule, NoExecute or PreferNoSchedule */
} sluice_taint_t;
/* Called once per taint. */
typedef void (*sluice_taint_fn)(void* context, const sluice_taint_t* taint);

/* Functions that return int32_t and fill `out` answer 1 when there is such a thing, else 0 and
 * leave `out` alone. A flavor whose ResourceFlavor does not exist has a name and nothing else. */
typedef struct sluice_flavor_api {
  uint32_t size;
  uint32_t reserved;
  sluice_str_t (*name)(const sluice_flavor_t* f); /* [any] */
  /* spec.nodeLabels. [any] */
  int32_t (*node_label)(const sluice_flavor_t* f, sluice_str_t key, sluice_str_t* out);
  void (*each_node_label)(const sluice_flavor_t* f, sluice_pair_fn fn, void* context);  /* [any] */
  void (*each_node_taint)(const sluice_flavor_t* f, sluice_taint_fn fn, void* context); /* [any] */
} sluice_flavor_api_t;

/* What a ClusterQueue has of one resource of one flavor. This struct never grows. */
typedef struct sluice_quota {
  int64_t nominal;
  int64_t borrowing_limit; /* -1: none */
  int64_t lending_limit;   /* -1: none */
} sluice_quota_t;
/* Called once per flavor and resource, in the order of the ClusterQueue. */
typedef void (*sluice_quota_fn)(void* context, sluice_str_t flavor, sluice_str_t resource,
                                const sluice_quota_t* quota);

typedef struct sluice_cluster_queue_api {
  uint32_t size;
  uint32_t reserved;
  sluice_str_t (*name)(const sluice_cluster_queue_t* q);   /* [any] */
  sluice_str_t (*cohort)(const sluice_cluster_queue_t* q); /* empty: none [any] */
  int32_t (*quota)(const sluice_cluster_queue_t* q, sluice_str_t flavor, sluice_str_t resource,
                   sluice_quota_t* out); /* [any] */
  void (*each_quota)(const sluice_cluster_queue_t* q, sluice_quota_fn fn,
                     void* context); /* [any] */
} sluice_cluster_queue_api_t;

SLUICE_EXTERN_C_END

#endif
