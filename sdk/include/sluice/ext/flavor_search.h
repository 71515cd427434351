/* flavor-search/1: how far the walk through a group's flavors goes, and which result is better.
 *
 * At most one loaded plugin may provide it. The flavors are tried in the queue's order, from the
 * scan position on. A fault of a plugin with failurePolicy `closed` keeps the workload pending;
 * with `open` the host's built-in policy answers. */
#ifndef SLUICE_EXT_FLAVOR_SEARCH_H
#define SLUICE_EXT_FLAVOR_SEARCH_H

#include "sluice/abi.h"

#define SLUICE_EXT_FLAVOR_SEARCH "flavor-search/1"

SLUICE_EXTERN_C_BEGIN

/* How well a flavor serves a request, worst first. The host sends no other values. */
enum {
  SLUICE_MODE_NO_FIT = 0,
  SLUICE_MODE_NO_CANDIDATES = 1, /* preemption is allowed but finds no victims */
  SLUICE_MODE_PREEMPT = 2,       /* victims, at least one in the own queue */
  SLUICE_MODE_RECLAIM = 3,       /* victims, all of them in other queues */
  SLUICE_MODE_FIT = 4
};

enum {
  SLUICE_SEARCH_GO_ON = 0,     /* keep the better one and try the next flavor */
  SLUICE_SEARCH_STOP_HERE = 1, /* take this flavor, even if an earlier one was better */
  SLUICE_SEARCH_STOP_BEST = 2  /* stop with the better of this one and the best so far */
};

/* Never grows. borrow_level 0: nothing is borrowed; else how high up the cohort tree. */
typedef struct sluice_outcome {
  int32_t mode;
  int32_t borrow_level;
} sluice_outcome_t;

typedef struct sluice_search_step {
  uint32_t size;
  uint32_t queue; /* dense id, see queue_watch.h */
  sluice_outcome_t current;
  sluice_outcome_t best; /* before this flavor; only when has_best is 1 */
  int32_t has_best;
  int32_t reserved;
} sluice_search_step_t;

typedef struct sluice_search_pair {
  uint32_t size;
  uint32_t queue;
  sluice_outcome_t a;
  sluice_outcome_t b;
} sluice_search_pair_t;

/* What happened since the scan position was recorded. */
typedef struct sluice_position_age {
  uint32_t size;
  uint32_t queue;
  uint64_t cycles;            /* 1: recorded in the cycle just before this one */
  uint64_t queue_generations; /* changes of the queue's holders and configuration */
  uint64_t tree_generations;  /* the same, of all queues of its cohort tree together */
} sluice_position_age_t;

typedef struct sluice_flavor_search {
  uint32_t size;
  uint32_t reserved;
  /* One of SLUICE_SEARCH_* into *verdict. [cycle] */
  int32_t (*after_flavor)(sluice_instance_t* self, const sluice_search_step_t* step,
                          int32_t* verdict);
  /* 1 into *out when a is strictly better than b, else 0. NoFit and NoCandidates never get here:
   * they are worst whatever the preference. [cycle] */
  int32_t (*better)(sluice_instance_t* self, const sluice_search_pair_t* pair, int32_t* out);
  /* 1 into *out when the recorded position still holds, else 0. Asked only while the workload's
   * shape and priority are the same. [cycle] */
  int32_t (*keep_position)(sluice_instance_t* self, const sluice_position_age_t* age, int32_t* out);
} sluice_flavor_search_t;

SLUICE_EXTERN_C_END

#endif
