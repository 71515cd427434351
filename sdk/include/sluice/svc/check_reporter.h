/* check-reporter/1: how a check-controller reports what became of an attempt.
 *
 * A report is validated at once and applied before the next cycle, in the order in which reports
 * came. One for an attempt that is not the present one, for a workload that is gone, or for a check
 * that another plugin answers for is dropped and counted. Reports may be repeated, and a later one
 * may take an earlier one back: a check that was Ready and becomes Retry or Rejected stops a
 * workload that runs. */
#ifndef SLUICE_SVC_CHECK_REPORTER_H
#define SLUICE_SVC_CHECK_REPORTER_H

#include "sluice/abi.h"

#define SLUICE_SVC_CHECK_REPORTER "check-reporter/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_check_report {
  uint32_t size;
  int32_t requeue_after_seconds; /* with Retry: not before; -1: the host decides */
  uint64_t attempt;              /* of the query */
  sluice_str_t namespace_of;     /* of the workload */
  sluice_str_t name;
  sluice_str_t uid;
  sluice_str_t check;
  sluice_str_t state; /* Pending, Ready, Retry or Rejected */
  /* Empty; or, with Pending, PreemptionRequired: the check can only pass when others give way. */
  sluice_str_t reason;
  sluice_str_t message; /* for people */
  /* Empty, or a JSON list of {"name": POD SET, "labels": {}, "annotations": {}, "nodeSelector": {},
   * "tolerations": []}: what the pods of the started job get in addition. */
  sluice_str_t pod_set_updates;
} sluice_check_report_t;

typedef struct sluice_check_reporter {
  uint32_t size;
  uint32_t reserved;
  /* SLUICE_OK: queued. SLUICE_REFUSED: the report makes no sense, or the plugin provides no
   * check-controller/1; `error` (may be NULL) gets a sentence, which the host also logs. [any] */
  int32_t (*report)(const sluice_host_t* host, const sluice_check_report_t* report,
                    const sluice_sink_t* error);
} sluice_check_reporter_t;

SLUICE_EXTERN_C_END

#endif
