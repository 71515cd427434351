// Asking every hook of an instance a fixed set of questions and writing the answers down as text.
//
// Two runs that ought to be the same are compared as texts. Used inside a test's child process.
#pragma once

#include <string>
#include <vector>

#include "host/plugins/validate/subject.hpp"

namespace sluice::host {

/// All questions to all [cycle] hooks.
std::string ask_cycle_hooks(const TestInstance& instance, HostAge age = HostAge::kPresent);

/// All questions to all [control] hooks, in a fixed order.
std::string ask_control_hooks(TestInstance& instance, HostAge age = HostAge::kPresent);

/// The questions of the hooks about jobs (job-mapping, pod-gate).
std::string ask_job_hooks(TestInstance& instance, HostAge age);

/// A job-mapping that gets what it asked for has to come to rest.
void drive_job_mapping(TestInstance& instance);

/// One flavor filter answer: `on-demand` → reason or nothing, in the order given.
std::string ask_filter(const TestInstance& instance, const api::Workload& workload,
                       const std::vector<std::string>& flavors, HostAge age);

/// Defaults and validates an update of this, as of a Workload; the answers are dropped. Part of
/// feed_garbage().
void feed_validator_garbage(TestInstance& instance, std::string_view object);

/// Defaults and validates the life of objects that the schemas of its kinds take; its defaults have
/// to please them, too, and to come to rest.
void drive_validator(TestInstance& instance);

/// The strict order that flavor-search claims; -1 when it does not answer 0 or 1.
int ask_better(const TestInstance& instance, sluice_outcome_t a, sluice_outcome_t b);

/// Jobs that are no objects, to the hooks about jobs. Part of feed_garbage().
void feed_job_garbage(TestInstance& instance);

/// What the plugin names in such a function, a name on each line. `hook`: as `post-admit.events`.
std::vector<std::string> names_said(const TestInstance& instance, const char* hook,
                                    LoadedPlugin::NamesFunction function, const char* what);

/// Of which events the plugin wants to be told: some that there are.
void ask_told_events(TestInstance& instance);

/// The names that a check-controller answers for.
std::vector<std::string> names_of_checks(TestInstance& instance);

/// Attempts at checks: begun, begun again, cancelled, cancelled again, left under way; what it
/// reports is about them.
void drive_checks(TestInstance& instance, HostAge age);

/// Cancels attempts that never began.
void cancel_unknown(TestInstance& instance);

/// Texts that are no JSON, to the hooks about checks. Part of feed_garbage().
void feed_check_garbage(TestInstance& instance);

/// The kinds that a controller watches, in `text`, which they borrow.
std::vector<PluginObjectRef> watched_kinds(TestInstance& instance, std::string& text);

/// The code with which the controller looks at one object.
std::int32_t reconcile(TestInstance& instance, const PluginObjectRef& what, HostAge age);

/// Lets the controller look once at objects that the schemas of its kinds take. Whether it wrote.
bool drive_controller(TestInstance& instance, HostAge age);

/// Hooks of the control kind, fed with texts that are no JSON and numbers out of range. Answers may
/// be anything; what counts is that they come.
void feed_garbage(TestInstance& instance);

}  // namespace sluice::host
