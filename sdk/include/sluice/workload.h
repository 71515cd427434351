/* workload.h: how a hook sees a workload: an opaque handle and a table of accessors.
 *
 * Nothing is copied or encoded per call: each accessor answers from the host's own object. Texts
 * live as long as the handle, that is until the hook returns. Amounts are in the host's units:
 * milli for cpu, base units (bytes, pieces) for everything else. Times are nanoseconds since 1970
 * UTC. */
#ifndef SLUICE_WORKLOAD_H
#define SLUICE_WORKLOAD_H

#include "sluice/abi.h"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_workload sluice_workload_t;

/* Called once per entry of a map. */
typedef void (*sluice_pair_fn)(void* context, sluice_str_t key, sluice_str_t value);
typedef void (*sluice_amount_fn)(void* context, sluice_str_t resource, int64_t amount);

/* A condition of an object. This struct never grows. */
typedef struct sluice_condition {
  sluice_str_t status; /* True, False or Unknown */
  sluice_str_t reason;
  sluice_str_t message;
  int64_t since; /* when the status became what it is */
} sluice_condition_t;

/* An owner reference. This struct never grows. */
typedef struct sluice_owner {
  sluice_str_t api_version;
  sluice_str_t kind;
  sluice_str_t name;
  sluice_str_t uid;
  int32_t controller; /* 1: the one that controls it */
  int32_t reserved;
} sluice_owner_t;
/* Called once per owner reference. */
typedef void (*sluice_owner_fn)(void* context, const sluice_owner_t* owner);

/* Functions that return int32_t and fill `out` answer 1 when there is such a thing, else 0 and
 * leave `out` alone. Pod sets are numbered from 0; a number out of range is as if absent. */
typedef struct sluice_workload_api {
  uint32_t size;
  uint32_t reserved;
  sluice_str_t (*namespace_of)(const sluice_workload_t* w); /* [any] */
  sluice_str_t (*name)(const sluice_workload_t* w);         /* [any] */
  sluice_str_t (*uid)(const sluice_workload_t* w);          /* [any] */
  sluice_str_t (*queue_name)(const sluice_workload_t* w);   /* its LocalQueue [any] */
  int32_t (*priority)(const sluice_workload_t* w);          /* [any] */
  int64_t (*created_at)(const sluice_workload_t* w);        /* 0: not known [any] */
  int32_t (*active)(const sluice_workload_t* w);            /* spec.active, 0 or 1 [any] */
  int32_t (*label)(const sluice_workload_t* w, sluice_str_t key, sluice_str_t* out); /* [any] */
  int32_t (*annotation)(const sluice_workload_t* w, sluice_str_t key,
                        sluice_str_t* out);                                              /* [any] */
  void (*each_label)(const sluice_workload_t* w, sluice_pair_fn fn, void* context);      /* [any] */
  void (*each_annotation)(const sluice_workload_t* w, sluice_pair_fn fn, void* context); /* [any] */
  /* The first owner reference that is the controller: its kind and name. [any] */
  int32_t (*controller)(const sluice_workload_t* w, sluice_str_t* kind, sluice_str_t* name);
  uint32_t (*pod_sets)(const sluice_workload_t* w);                                   /* [any] */
  sluice_str_t (*pod_set_name)(const sluice_workload_t* w, uint32_t i);               /* [any] */
  int32_t (*pod_set_count)(const sluice_workload_t* w, uint32_t i);                   /* [any] */
  int32_t (*pod_set_min_count)(const sluice_workload_t* w, uint32_t i, int32_t* out); /* [any] */
  /* What one pod of the set asks for. [any] */
  int32_t (*pod_request)(const sluice_workload_t* w, uint32_t i, sluice_str_t resource,
                         int64_t* out);
  /* Each resource that one pod of the set asks for. [any] */
  void (*each_pod_request)(const sluice_workload_t* w, uint32_t i, sluice_amount_fn fn,
                           void* context);
  /* The ClusterQueue of the admission. [any] */
  int32_t (*admitted_by)(const sluice_workload_t* w, sluice_str_t* cluster_queue);
  /* The flavor that the admission assigns to a resource of a pod set. [any] */
  int32_t (*admitted_flavor)(const sluice_workload_t* w, uint32_t i, sluice_str_t resource,
                             sluice_str_t* flavor);
  /* True, False or Unknown. [any] */
  int32_t (*condition)(const sluice_workload_t* w, sluice_str_t type, sluice_str_t* status);
  /* The fields that plugins added, {"spec":{…},"status":{…}} as compact JSON; empty without any.
   * Not to be
   * parsed in the hooks of a cycle. [any] */
  sluice_str_t (*extensions)(const sluice_workload_t* w);
  /* How many pods of a pod set the admission grants. [any] */
  int32_t (*admitted_count)(const sluice_workload_t* w, uint32_t i, int32_t* out);
  /* All of a condition. [any] */
  int32_t (*condition_details)(const sluice_workload_t* w, sluice_str_t type,
                               sluice_condition_t* out);
  /* spec.maximumExecutionTimeSeconds. [any] */
  int32_t (*maximum_execution_seconds)(const sluice_workload_t* w, int32_t* out);
  /* How long it ran in earlier admissions, which counts against the maximum. [any] */
  int32_t (*past_execution_seconds)(const sluice_workload_t* w);
  /* Each owner reference. [any] */
  void (*each_owner)(const sluice_workload_t* w, sluice_owner_fn fn, void* context);
  /* The object in v1beta2 as compact JSON: all that decides about it. Of its pods that is what they
   * ask for, as one container; images, commands and volumes are not there. Made anew by each call,
   * so not for the hooks of a cycle. [any] */
  void (*json)(const sluice_workload_t* w, const sluice_sink_t* out);
} sluice_workload_api_t;

/* A workload together with its accessors. This pair never grows. */
typedef struct sluice_workload_ref {
  const sluice_workload_api_t* api;
  const sluice_workload_t* handle;
} sluice_workload_ref_t;

SLUICE_EXTERN_C_END

#endif
