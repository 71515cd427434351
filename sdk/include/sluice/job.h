/* job.h: how a hook sees a job: the object as JSON, the pod sets it has now, and its workloads.
 *
 * A job is any object that starts pods and waits in a queue: a batch/v1 Job, a RayCluster. Nothing
 * here outlives the call of the hook. */
#ifndef SLUICE_JOB_H
#define SLUICE_JOB_H

#include "sluice/abi.h"
#include "sluice/workload.h"

SLUICE_EXTERN_C_BEGIN

/* How the pod sets that the job has now compare with those of one of its workloads. */
enum {
  SLUICE_MATCH_SAME = 0,
  SLUICE_MATCH_COUNTS = 1, /* same names and templates; counts differ */
  SLUICE_MATCH_OTHER = 2
};

/* This struct never grows. */
typedef struct sluice_job_pod_set {
  sluice_str_t name;
  int32_t count;
  int32_t min_count; /* -1: none */
} sluice_job_pod_set_t;

/* This struct never grows. */
typedef struct sluice_job_workload {
  const sluice_workload_t* handle; /* to be read with the query's workload_api */
  int32_t match;                   /* SLUICE_MATCH_* */
  int32_t reserved;
} sluice_job_workload_t;

typedef struct sluice_job_query {
  uint32_t size;
  uint32_t reserved;
  sluice_str_t kind; /* GROUP/KIND, batch/Job */
  sluice_str_t job;  /* the whole object as JSON, status included */
  uint64_t pod_set_count;
  const sluice_job_pod_set_t* pod_sets;
  uint64_t workload_count;
  const sluice_job_workload_t* workloads; /* the oldest first, finished ones too */
  const sluice_workload_api_t* workload_api;
} sluice_job_query_t;

SLUICE_EXTERN_C_END

#endif
