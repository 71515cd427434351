/* check-controller/1: answers for the AdmissionChecks of one or more controller names.
 *
 * A workload that reserved quota waits until all checks of its queue are Ready. begin() tells the
 * plugin to start one; the answer comes later, from any thread, through svc/check_reporter.h. Until
 * then the check is Pending. Each attempt has a number: a report for another attempt than the
 * present one changes nothing.
 *
 * begin() must be idempotent for one (workload uid, check, attempt): it is called again after a
 * restart, a reload, when the plugin is turned on again, and after a fault of its own (with growing
 * pauses). A fault leaves the check Pending. At most one plugin answers for a controller name. */
#ifndef SLUICE_EXT_CHECK_CONTROLLER_H
#define SLUICE_EXT_CHECK_CONTROLLER_H

#include "sluice/abi.h"
#include "sluice/workload.h"

#define SLUICE_EXT_CHECK_CONTROLLER "check-controller/1"

SLUICE_EXTERN_C_BEGIN

/* An AdmissionCheck that exists, changed, or is gone. */
typedef struct sluice_check {
  uint32_t size;
  int32_t gone; /* 1: it was deleted, or is another controller's now; json is empty */
  sluice_str_t name;
  sluice_str_t json; /* the AdmissionCheck as compact JSON, v1beta2 */
} sluice_check_t;

typedef struct sluice_activity_sink {
  uint32_t size;
  uint32_t reserved;
  void* context;
  /* Whether the check can be carried out: its condition Active. Workloads of queues with a check
   * that is not active wait. `reason` is CamelCase, for example BadParametersRef. [any] */
  void (*active)(void* context, int32_t active, sluice_str_t reason, sluice_str_t message);
} sluice_activity_sink_t;

/* One attempt at one check of one workload. */
typedef struct sluice_check_query {
  uint32_t size;
  int32_t retry_count; /* how often this check was tried before for this workload */
  uint64_t attempt;    /* to be given back with each report */
  sluice_workload_ref_t workload;
  sluice_str_t workload_json; /* v1beta2, with its present status */
  sluice_str_t check;         /* name of the AdmissionCheck */
  sluice_str_t check_json;
} sluice_check_query_t;

/* An attempt that is over: its answer is not awaited any more. */
typedef struct sluice_check_cancel {
  uint32_t size;
  uint32_t reserved;
  uint64_t attempt;
  sluice_str_t namespace_of; /* of the workload, which may be gone */
  sluice_str_t name;
  sluice_str_t uid;
  sluice_str_t check;
  sluice_str_t why; /* a sentence for logs */
} sluice_check_cancel_t;

typedef struct sluice_check_controller {
  uint32_t size;
  uint32_t reserved;
  /* Writes the values of spec.controllerName that it answers for, one per line. [load] */
  int32_t (*controllers)(sluice_instance_t* self, const sluice_sink_t* out);
  /* Called for each AdmissionCheck with such a name: at start and on change, also when an object
   * that its parameters may name changed. Saying nothing means active. [control] */
  int32_t (*check_changed)(sluice_instance_t* self, const sluice_check_t* check,
                           const sluice_activity_sink_t* out);
  /* Starts the attempt, or goes on with it. Must not wait for the result. [control] */
  int32_t (*begin)(sluice_instance_t* self, const sluice_check_query_t* query);
  /* Stops what was started. Also called for attempts that this instance never saw. [control] */
  int32_t (*cancel)(sluice_instance_t* self, const sluice_check_cancel_t* cancel);
  /* Writes what there is to say of an attempt beside its state and message, for whoever asks why
   * the workload is where it is: sentences, one per line. Nothing of it is kept. Objects may be
   * read, here and of other places, and not written. Whoever may read the workload sees the answer:
   * it names nothing that the workload's own object does not. NULL: there is never more to say.
   * SLUICE_RETRY: what was written holds, but more is on its way, of another place that was asked
   * (ask of svc/remotes.h) for one; it is called again in a moment, a few times. [control] */
  int32_t (*explain)(sluice_instance_t* self, const sluice_check_query_t* query,
                     const sluice_sink_t* out);
} sluice_check_controller_t;

SLUICE_EXTERN_C_END

#endif
