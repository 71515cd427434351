/* A check controller whose parts may be wrong: NAMES it answers for, what it REPORTS when an
 * attempt begins (STATE, REASON, REQUEUE, and of which CHECK and WORKLOAD), the codes of BEGIN and
 * CANCEL, and whether it COUNTS in its state how often it was asked. */
#define WITH_INSTANCE
#include "parts.h"

static int begun_before(uint64_t attempt) {
  static uint64_t last = 0;
  const int known = attempt == last;
  last = attempt;
  return known;
}

UNUSED static void count(const sluice_host_t* host) {
  static char times = 'a';
  const sluice_state_t* state = (const sluice_state_t*)service(host, SLUICE_SVC_STATE);
  const sluice_str_t value = {&times, 1};
  times = (char)(times == 'z' ? 'a' : times + 1);
  if (state != NULL) state->set(host, text_of("times"), value);
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
  report.requeue_after_seconds = REQUEUE;
  report.reason = text_of(REASON);
  report.attempt = query->attempt + ATTEMPT_OFFSET;
  report.namespace_of = w.api->namespace_of(w.handle);
  report.name = WORKLOAD;
  report.uid = w.api->uid(w.handle);
  report.check = CHECK;
  report.state = text_of(STATE);
  if (COUNTS) count(self->host);
  if (reporter != NULL) reporter->report(self->host, &report, NULL);
  return BEGIN;
}

static int32_t cancel(sluice_instance_t* self, const sluice_check_cancel_t* cancelled) {
  (void)self;
  (void)cancelled;
  return CANCEL;
}

static const sluice_check_controller_t checks = {.size = sizeof(sluice_check_controller_t),
                                                 .controllers = &controllers,
                                                 .check_changed = &check_changed,
                                                 .begin = &begin,
                                                 .cancel = &cancel};
#define POINT SLUICE_EXT_CHECK_CONTROLLER
#define TABLE checks
#include "skeleton.h"
