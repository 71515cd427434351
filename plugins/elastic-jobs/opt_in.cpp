#include "opt_in.hpp"

#include <sluice/cpp/metadata.hpp>
#include <string>

#include "names.hpp"

namespace elastic {
namespace {

using sluice::Json;

constexpr std::string_view kScalesItself = "enableInTreeAutoscaling";  // of a RayCluster
constexpr const char* kNotTogether = "partial admission and elastic job cannot be used together";

const Json* annotation(const Json& object, std::string_view name) {
  const Json* annotations = object.find("metadata.annotations");
  const Json* value = annotations != nullptr ? annotations->member(name) : nullptr;
  return value != nullptr && value->is_string() ? value : nullptr;
}

bool is_true(const Json& object, std::string_view name) {
  const Json* value = annotation(object, name);
  return value != nullptr && value->as_string() == "true";
}

bool asks(const Json& object) { return is_true(object, kOptIn) || is_true(object, kOptInOld); }

std::string path_of(std::string_view name) {
  return "metadata.annotations[" + std::string(name) + "]";
}

/// What is wrong with the annotations themselves.
void check_values(const Json& object, const Json& old, sluice::FieldErrors& errors) {
  for (const std::string_view name : {kOptIn, kOptInOld}) {
    const Json* value = annotation(object, name);
    const Json* before = annotation(old, name);
    if (value == nullptr || (before != nullptr && *before == *value)) continue;
    if (value->as_string() != "true" && value->as_string() != "false")
      errors.invalid(path_of(name), value->dump(), "should be true or false");
  }
  const Json* one = annotation(object, kOptIn);
  const Json* other = annotation(object, kOptInOld);
  if (one != nullptr && other != nullptr && *one != *other)
    errors.invalid(path_of(kOptInOld), other->dump(),
                   "should be as " + std::string(kOptIn) + ", of which it is another spelling");
}

/// One that changes its own size would be stopped with each change.
void check_own_scaling(const Json& job, const Json& old, sluice::FieldErrors& errors) {
  const auto queues_as_it_is = [](const Json& object) {
    return object.bool_or("spec." + std::string(kScalesItself), false) && !asks(object) &&
           !sluice::label_of(object, kQueue).empty() &&
           sluice::controller_of(object) == nullptr;  // else it runs with that, as a whole
  };
  if (queues_as_it_is(job) && !queues_as_it_is(old))
    errors.forbidden("spec." + std::string(kScalesItself),
                     "a cluster that scales itself has to be elastic: annotation " +
                         std::string(kOptIn) + " \"true\"");
}

void check_job(const Json& job, const Json& old, const HasWorkloads& has_workloads,
               sluice::FieldErrors& errors) {
  check_values(job, old, errors);
  const auto both = [](const Json& object) {
    return asks(object) && annotation(object, kMinParallelism) != nullptr;
  };
  if (both(job) && !both(old)) errors.forbidden(path_of(kMinParallelism), kNotTogether);
  check_own_scaling(job, old, errors);
  if (!old.is_object() || asks(job) == asks(old)) return;
  if (!has_workloads(old.string_or("metadata.namespace", ""), old.string_or("metadata.uid", "")))
    return;
  const bool newer = annotation(job, kOptIn) != nullptr || annotation(old, kOptIn) != nullptr;
  const std::string_view name = newer ? kOptIn : kOptInOld;
  const Json* value = annotation(job, name);
  errors.invalid(path_of(name), value != nullptr ? value->dump() : "null",
                 "field is immutable while the job has workloads");
}

void check_workload(const Json& workload, const Json& old, sluice::FieldErrors& errors) {
  if (!asks(workload)) return;
  const Json* sets = workload.find("spec.podSets");
  for (std::size_t i = 0; sets != nullptr && i < sets->items().size(); ++i) {
    const std::string at = "spec.podSets." + std::to_string(i) + ".minCount";
    if (workload.find(at) == nullptr) continue;
    if (asks(old) && old.find(at) != nullptr) continue;  // stored before the plugin was there
    errors.forbidden("spec.podSets[" + std::to_string(i) + "].minCount", kNotTogether);
  }
}

}  // namespace

bool mentions_opt_in(std::string_view json) {
  return json.find(kOptIn) != json.npos || json.find(kOptInOld) != json.npos;
}

bool opts_in(const Json& object) {
  return asks(object) && annotation(object, kMinParallelism) == nullptr;
}

bool opts_in(const sluice::Workload& workload) {
  for (const std::string_view name : {kOptIn, kOptInOld})
    if (workload.annotation(name).value_or("") == "true")
      return !workload.annotation(kMinParallelism);
  return false;
}

void check_write(const sluice::Write& write, const HasWorkloads& has_workloads,
                 sluice::FieldErrors& errors) {
  if (write.operation() == sluice::Operation::kDelete) return;
  const bool scales_itself = write.object().find(kScalesItself) != std::string_view::npos;
  if (!scales_itself && !mentions_opt_in(write.object()) && !mentions_opt_in(write.old())) return;
  const Json object = Json::parse(write.object());
  const Json old = write.old().empty() ? Json() : Json::parse(write.old());
  if (write.kind() == "Workload")
    check_workload(object, old, errors);
  else
    check_job(object, old, has_workloads, errors);
}

}  // namespace elastic
