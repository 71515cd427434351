/* workload-traits/1: what a workload is beyond its own fields.
 *
 * Each trait has at most one provider per workload: two plugins that answer the same trait of one
 * workload are an error that keeps it pending and names both. Answering nothing leaves the default.
 * When an answer may have changed, call traits_changed() of svc/requeue.h. A workload that a plugin
 * answered for is marked with the plugin's name: while that plugin is absent, it is not queued. */
#ifndef SLUICE_EXT_WORKLOAD_TRAITS_H
#define SLUICE_EXT_WORKLOAD_TRAITS_H

#include "sluice/abi.h"
#include "sluice/workload.h"

#define SLUICE_EXT_WORKLOAD_TRAITS "workload-traits/1"

SLUICE_EXTERN_C_BEGIN

/* How the replaced workload ends when its replacement is admitted. */
enum { SLUICE_ENDS_FINISHED = 0, SLUICE_ENDS_DEACTIVATED = 1 };

typedef struct sluice_group {
  uint32_t size;
  int32_t rank; /* the order inside the group, low first */
  int32_t reserved;
  /* 1: the members are ways to run the workload `order_as`, of which at most one is admitted. When
   * `order_as` takes no part its status is that of the admitted member; totals, queue status and
   * metrics count it for all of them, and they share its backoff and its limit of requeues */
  int32_t represents;
  sluice_str_t id;       /* opaque; members share it */
  sluice_str_t order_as; /* NAMESPACE/NAME of the workload whose place in the queue the group has */
  sluice_str_t called;   /* what sentences call a member that represents; empty: workload */
} sluice_group_t;

typedef struct sluice_replaces {
  uint32_t size;
  int32_t how;           /* SLUICE_ENDS_* */
  sluice_str_t workload; /* NAMESPACE/NAME of another one */
  sluice_str_t reason;
  sluice_str_t message;
  int32_t only_better; /* 1: only with at least its pods, and on better flavors: in the order of the
                          queue's resource groups, and of the flavors in them */
  int32_t reserved;
} sluice_replaces_t;

/* Each function sets one trait; the last call of one plugin counts. The values behind them are
 * facts that the workload's object does not contain. */
typedef struct sluice_traits_sink {
  uint32_t size;
  uint32_t reserved;
  void* context;
  /* Never queued, holds no quota, is no candidate; waits with this reason, unless others represent
   * it: then its status says what becomes of them. [any] */
  void (*takes_no_part)(void* context, sluice_str_t because);
  /* Members of a group stay adjacent in the queue. [any] */
  void (*group)(void* context, const sluice_group_t* group);
  /* Its admission ends another workload in the same commit. [any] */
  void (*replaces)(void* context, const sluice_replaces_t* replaces);
  /* Preempting `workload` (NAMESPACE/NAME) ends this one too; preempting this one alone leaves that
   * one. [any] */
  void (*follows)(void* context, sluice_str_t workload);
  /* Why the workload is inactive, for its condition; says nothing while it is active. [any] */
  void (*inactive_because)(void* context, sluice_str_t because);
  /* Workloads that differ in it are not taken for equals. [any] */
  void (*shape_key)(void* context, sluice_str_t key);
  /* Its granted pod counts may be lowered while it runs. [any] */
  void (*may_lower_counts)(void* context);
  sluice_str_t cluster_queue; /* that its LocalQueue names now; empty: there is none */
  int32_t holds_quota;        /* 1: it does */
  int32_t counts_may_change;  /* 1: another plugin lets its pod counts change while it runs */
  /* What it runs ends later than its quota would: evicted, it keeps that until ended() of
   * svc/requeue.h says that nothing of it runs any more. [any] */
  void (*ends_later)(void* context);
} sluice_traits_sink_t;

typedef struct sluice_workload_traits {
  uint32_t size;
  uint32_t reserved;
  /* [control] */
  int32_t (*traits)(sluice_instance_t* self, sluice_workload_ref_t workload,
                    const sluice_traits_sink_t* out);
} sluice_workload_traits_t;

SLUICE_EXTERN_C_END

#endif
