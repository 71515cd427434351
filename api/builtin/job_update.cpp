// Job: what an update may change, in the words of Kubernetes.
#include "api/builtin/rules.hpp"
#include "api/schema/rules.hpp"

namespace sluice::api::builtin {

namespace json = boost::json;

namespace {

/// The template without what may change while no pod of the job runs.
json::object without_directives(const json::object& job) {
  json::object pod_template = part(part(job, "spec"), "template");
  if (json::object* metadata = find_object(pod_template, "metadata")) {
    metadata->erase("labels");
    metadata->erase("annotations");
    if (metadata->empty()) pod_template.erase("metadata");
  }
  if (json::object* spec = find_object(pod_template, "spec")) {
    for (const char* field : {"nodeSelector", "affinity", "tolerations", "schedulingGates"}) {
      spec->erase(field);
    }
  }
  return pod_template;
}

/// No pod of the job runs: it is suspended and not started, or this very write suspends it.
bool may_change_directives(const json::object& job, const json::object& old) {
  if (find_bool(part(job, "spec"), "suspend", false)) return true;
  return find_bool(part(old, "spec"), "suspend", false) &&
         find_text(part(old, "status"), "startTime").empty();
}

}  // namespace

void check_job_update(const json::object& job, const json::object& old, Outcome& outcome) {
  const json::object& spec = part(job, "spec");
  const json::object& before = part(old, "spec");
  for (const char* field : {"selector", "completionMode", "podFailurePolicy", "successPolicy",
                            "backoffLimitPerIndex", "managedBy"}) {
    // A selector may be added to an object that was stored without one.
    if (std::string_view(field) == "selector" && find(before, field) == nullptr) continue;
    if (!same(spec, before, field)) {
      add_immutable(spec, field, std::string("spec.") + field, outcome);
    }
  }
  if (!same(spec, before, "completions")) {
    const bool in_tandem = is_indexed(spec) && find_int(spec, "completions").has_value() &&
                           find_int(spec, "completions") == find_int(spec, "parallelism");
    if (!is_indexed(spec)) {
      add_immutable(spec, "completions", "spec.completions", outcome);
    } else if (!in_tandem) {
      const json::value* value = find(spec, "completions");
      add_invalid(outcome, "spec.completions", value != nullptr ? *value : json::value(),
                  "can only be modified in tandem with spec.parallelism");
    }
  }
  const bool changed = may_change_directives(job, old)
                           ? without_directives(job) != without_directives(old)
                           : find(before, "selector") != nullptr && !same(spec, before, "template");
  if (changed) {
    add_invalid(outcome, "spec.template", json::value("object"), "field is immutable");
  }
}

}  // namespace sluice::api::builtin
