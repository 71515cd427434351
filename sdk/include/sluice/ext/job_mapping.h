/* job-mapping/1: which workloads a job has, and which of them the job follows.
 *
 * Without a plugin a job has one workload; when the job changes so that the workload no longer
 * matches, the job is stopped and gets a new one. A plugin that answers for a job takes over: it
 * names the workload whose conditions the job follows (it runs while that one is admitted), makes
 * further workloads, has counts changed in place, and ends what is superseded. It is asked whenever
 * the job or one of its workloads changed, so it answers from the present state: an answer that is
 * already carried out changes nothing.
 *
 * At most one plugin answers for a job. Two are an error that is shown on the job, which waits. A
 * fault of a plugin with failurePolicy `closed` does the same; with `open` the built-in mapping
 * applies. A running job that waits runs on. */
#ifndef SLUICE_EXT_JOB_MAPPING_H
#define SLUICE_EXT_JOB_MAPPING_H

#include "sluice/abi.h"
#include "sluice/job.h"

#define SLUICE_EXT_JOB_MAPPING "job-mapping/1"

SLUICE_EXTERN_C_BEGIN

/* This struct never grows. */
typedef struct sluice_text_pair {
  sluice_str_t key, value;
} sluice_text_pair_t;

/* A workload with the pod sets that the job has now, owned by the job. */
typedef struct sluice_new_workload {
  uint32_t size;
  uint32_t reserved;
  sluice_str_t name; /* empty: made from kind, name and UID of the job and `revision` */
  sluice_str_t
      revision; /* tells a job's workloads apart, its generation for example; may be empty */
  uint64_t label_count;
  const sluice_text_pair_t* labels;
  uint64_t annotation_count;
  const sluice_text_pair_t* annotations;
} sluice_new_workload_t;

/* Any call answers for the job. Workloads are named without namespace. */
typedef struct sluice_job_plan_sink {
  uint32_t size;
  uint32_t reserved;
  void* context;
  /* The job follows this workload: it runs while it is admitted, is stopped when it is evicted,
   * and its pods get the node selectors of its admission. Without one the job is kept stopped.
   * [any] */
  void (*speaker)(void* context, sluice_str_t workload);
  /* The workload's counts become those that the job has now. While it holds quota only those that
   * the job has lowered do, each for itself, and only if its traits say may_lower_counts. [any] */
  void (*resize)(void* context, sluice_str_t workload);
  /* A further workload; nothing happens when there is one of that name. [any] */
  void (*create)(void* context, const sluice_new_workload_t* workload);
  /* The workload ends: condition Finished with this reason (CamelCase) and message. [any] */
  void (*finish)(void* context, sluice_str_t workload, sluice_str_t reason, sluice_str_t message);
  /* The job is stopped, its unfinished workloads are removed, and it gets a new one: what the
   * built-in mapping does when the job no longer matches. Not beside other calls. [any] */
  void (*recreate)(void* context);
  /* A finished workload is deleted. [any] */
  void (*remove)(void* context, sluice_str_t workload);
} sluice_job_plan_sink_t;

typedef struct sluice_job_mapping {
  uint32_t size;
  uint32_t reserved;
  /* [control] */
  int32_t (*plan)(sluice_instance_t* self, const sluice_job_query_t* query,
                  const sluice_job_plan_sink_t* out);
} sluice_job_mapping_t;

SLUICE_EXTERN_C_END

#endif
