/* A check controller whose parts may be wrong: NAMES it answers for, what it REPORTS when an
 * attempt begins, and the codes of BEGIN and CANCEL. */
#define WITH_INSTANCE
#include "parts.h"

static int begun_before(uint64_t attempt) {
  static uint64_t last = 0;
  const int known = attempt == last;
  last = attempt;
  return known;
}

static int32_t controllers(sluice_instance_t* self, const sluice_sink_t* out) {
  (void)self;
  out->write(out->context, text_of(NAMES));
  return SLUICE_OK;
}

static int32_t check_changed(sluice_instance_t* self, const sluice_check_t* check,
                             const sluice_activity_sink_t* out) {
  (void)self;
  (void)check;
  (void)out;
  return SLUICE_OK;
}

static int32_t begin(sluice_instance_t* self, const sluice_check_query_t* query) {
  const sluice_workload_ref_t w = query->workload;
  const sluice_check_reporter_t* reporter =
      (const sluice_check_reporter_t*)service(self->host, SLUICE_SVC_CHECK_REPORTER);
  sluice_check_report_t report;
  const int again = begun_before(query->attempt);
  (void)again;
  memset(&report, 0, sizeof(report));
  report.size = sizeof(report);
  report.requeue_after_seconds = -1;
  report.attempt = query->attempt + ATTEMPT_OFFSET;
  report.namespace_of = w.api->namespace_of(w.handle);
  report.name = w.api->name(w.handle);
  report.uid = w.api->uid(w.handle);
  report.check = query->check;
  report.state = text_of(STATE);
  if (reporter != NULL) reporter->report(self->host, &report, NULL);
  return BEGIN;
}

static int32_t cancel(sluice_instance_t* self, const sluice_check_cancel_t* cancelled) {
  (void)self;
  (void)cancelled;
  return CANCEL;
}

static const sluice_check_controller_t checks = {
    sizeof(sluice_check_controller_t), 0, &controllers, &check_changed, &begin, &cancel};
#define POINT SLUICE_EXT_CHECK_CONTROLLER
#define TABLE checks
#include "skeleton.h"
