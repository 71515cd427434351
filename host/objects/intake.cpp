#include "host/objects/intake.hpp"

#include <fmt/format.h>

#include <utility>

#include "api/json/json.hpp"
#include "api/schema/no_effect.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/runtime.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kPriorityGroup = "scheduling.k8s.io";

// As kubectl does for an object that names no namespace.
void fill_namespace(const api::KindInfo& kind, json::object& object) {
  if (!kind.namespaced) return;
  auto* metadata = api::find_object(object, "metadata");
  if (metadata && api::find_text(*metadata, "namespace").empty())
    (*metadata)["namespace"] = "default";
}

// As Kubernetes does, so that selectors can name a namespace.
void label_namespace(json::object& object) {
  auto* metadata = api::find_object(object, "metadata");
  if (!metadata) return;
  json::value& labels = (*metadata)["labels"];
  if (labels.is_null()) labels.emplace_object();
  if (auto* map = labels.if_object())
    (*map)["kubernetes.io/metadata.name"] = api::json_view(api::find_text(*metadata, "name"));
}

struct ClassName {
  std::string_view group, kind, name;
};

// The class that a workload names, in either API version.
ClassName priority_class_of(const json::object& spec) {
  if (const auto* ref = api::find_object(spec, "priorityClassRef"))
    return {api::find_text(*ref, "group"), api::find_text(*ref, "kind"),
            api::find_text(*ref, "name")};
  const std::string_view name = api::find_text(spec, "priorityClassName");
  const bool pod_class =
      api::find_text(spec, "priorityClassSource") == "scheduling.k8s.io/priorityclass";
  if (pod_class) return {kPriorityGroup, "PriorityClass", name};
  return {kQueueGroup, "WorkloadPriorityClass", name};
}

std::string class_name(std::string_view group, std::string_view kind, std::string_view name) {
  return fmt::format("{}/{}/{}", group, kind, name);
}

void fill_priority(const PriorityClasses& classes, json::object& object, GivenPriority* given_by,
                   std::vector<api::Problem>& problems) {
  auto* spec = api::find_object(object, "spec");
  if (!spec) return;
  if (const auto* given = api::find(*spec, "priority"); given && !given->is_null()) return;
  const ClassName ref = priority_class_of(*spec);
  if (ref.name.empty()) return;
  std::string name = class_name(ref.group, ref.kind, ref.name);
  const std::optional<std::int32_t> value = classes.find(name);
  if (given_by) *given_by = {std::move(name), value};
  if (value) {
    (*spec)["priority"] = *value;
    return;
  }
  problems.push_back(
      {api::Problem::Kind::kInvalid, "spec.priority",
       fmt::format("no priority is given, and the {} \"{}\" that the workload names does "
                   "not exist",
                   ref.kind, ref.name)});
}

// `spec.podSets[3].x` → `spec.podSets[].x`
std::string without_indices(std::string_view field) {
  std::string out;
  bool inside = false;
  for (const char c : field) {
    const bool digit = c >= '0' && c <= '9';
    if (!(inside && digit)) out += c;
    inside = c == '[' || (inside && digit);
  }
  return out;
}

}  // namespace

void PriorityClasses::set(std::string_view name, std::int32_t value) {
  const std::lock_guard lock(mutex_);
  values_.insert_or_assign(std::string(name), value);
}

void PriorityClasses::erase(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto it = values_.find(name); it != values_.end()) values_.erase(it);
}

void PriorityClasses::replace(std::string_view prefix,
                              const std::map<std::string, std::int32_t>& values) {
  const std::lock_guard lock(mutex_);
  auto it = values_.lower_bound(prefix);
  while (it != values_.end() && it->first.starts_with(prefix)) it = values_.erase(it);
  values_.insert(values.begin(), values.end());
}

std::optional<std::int32_t> PriorityClasses::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto it = values_.find(name);
  return it == values_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<std::int32_t> class_value(const PriorityClasses& classes, const json::object& spec) {
  const ClassName ref = priority_class_of(spec);
  if (ref.name.empty()) return std::nullopt;
  return classes.find(class_name(ref.group, ref.kind, ref.name));
}

bool has_class(const PriorityClasses& classes, const api::PriorityClassRef& named) {
  return classes.find(class_name(named.group, named.kind, named.name)).has_value();
}

void Intake::warn(const api::KindInfo& kind, const std::vector<api::Problem>& warnings,
                  const IntakeOptions& options) {
  if (options.warnings) {
    for (const auto& warning : warnings) options.warnings->push_back(warning.text());
    return;
  }
  const std::lock_guard lock(warnings_mutex_);
  for (const auto& warning : warnings)
    ++warnings_[fmt::format(
        "{}: {}", kind.kind,
        api::Problem{warning.kind, without_indices(warning.field), warning.detail}.text())];
}

std::vector<api::Problem> Intake::validate(const api::KindInfo& kind, json::object& object,
                                           const json::object* old, const IntakeOptions& options) {
  fill_namespace(kind, object);
  std::vector<api::Problem> problems;
  if (is_workload(kind)) {
    fill_priority(classes_, object, options.priority, problems);
    check_runtime(object, "", problems);
  } else if (is_namespace(kind)) {
    label_namespace(object);
  }
  api::AdmitOptions admit;
  admit.status = options.status;
  admit.unknown_fields = options.unknown_fields;
  admit.may_lower_counts = options.may_lower_counts;
  api::Outcome outcome = scheme_.admit(object, old, admit);
  if (!outcome.warnings.empty()) warn(kind, outcome.warnings, options);
  if (options.advice)
    for (std::string& each : api::without_effect(kind.group, kind.kind, object, kind.effective))
      options.advice->push_back(std::move(each));
  problems.insert(problems.end(), outcome.errors.begin(), outcome.errors.end());
  return problems;
}

bool Intake::asks_plugins(const api::KindInfo& kind) const {
  return validators_ && validators_->wants(kind);
}

std::vector<api::Problem> Intake::ask_plugins(const api::KindInfo& kind, json::object& object,
                                              const json::object* old,
                                              const IntakeOptions& options) {
  std::vector<api::Problem> problems;
  std::vector<std::string> repeated;  // the writer was told of them
  const auto judge_again = [&](json::object& changed) {
    IntakeOptions strict = options;
    strict.unknown_fields = api::UnknownFields::kRefuse;
    strict.warnings = &repeated;
    return validate(kind, changed, old, strict);
  };
  validators_->check(kind, object, old, judge_again, problems, options.asking);
  return problems;
}

PreparedObject Intake::encode(const api::KindInfo& kind, const json::object& object, bool dry_run) {
  PreparedObject out;
  out.stored = to_stored(kind, object, bodies_);
  if (!dry_run) out.typed = decode(kind, object);
  if (const auto* metadata = api::find_object(object, "metadata")) {
    out.has_uid = !api::find_text(*metadata, "uid").empty();
    out.has_creation_time = api::find_time(*metadata, "creationTimestamp").has_value();
  }
  return out;
}

const api::Condition* end_told(const PreparedObject& object) {
  const auto* workload = std::get_if<std::shared_ptr<api::Workload>>(&object.typed);
  const api::Condition* finished =
      workload && *workload ? (*workload)->status.condition("Finished") : nullptr;
  return finished && finished->is_true() ? finished : nullptr;
}

bool Intake::is_typed(const api::KindInfo& kind) {
  return engine_kind(kind) || is_priority_class(kind);
}

TypedObject Intake::decode(const api::KindInfo& kind, const json::object& object) {
  const auto told = engine_kind(kind);
  if (!told) return {};
  switch (*told) {
    case api::ObjectKind::kWorkload:
      return decode_workload(object, templates_);
    case api::ObjectKind::kResourceFlavor:
      return std::make_unique<api::ResourceFlavor>(api::decode_resource_flavor(object));
    case api::ObjectKind::kClusterQueue:
      return std::make_unique<api::ClusterQueue>(api::decode_cluster_queue(object));
    case api::ObjectKind::kCohort:
      return std::make_unique<api::Cohort>(api::decode_cohort(object));
    case api::ObjectKind::kLocalQueue:
      return std::make_unique<api::LocalQueue>(api::decode_local_queue(object));
    case api::ObjectKind::kAdmissionCheck:
      return std::make_unique<api::AdmissionCheck>(api::decode_admission_check(object));
    case api::ObjectKind::kNamespace:
      return std::make_unique<api::Namespace>(api::decode_namespace(object));
  }
  return {};
}

void Intake::remember(const api::KindInfo& kind, const json::object& object) {
  if (!is_priority_class(kind)) return;
  const auto priority = api::decode_priority_class(object);
  classes_.set(class_name(kind.group, kind.kind, priority.meta.name), priority.value);
}

void Intake::remember_all(const api::KindInfo& kind, const std::vector<json::object>& objects) {
  std::map<std::string, std::int32_t> values;
  for (const json::object& object : objects) {
    const auto priority = api::decode_priority_class(object);
    values[class_name(kind.group, kind.kind, priority.meta.name)] = priority.value;
  }
  classes_.replace(class_name(kind.group, kind.kind, ""), values);
}

void Intake::forget(const api::KindInfo& kind, const std::string& key) {
  if (is_priority_class(kind)) classes_.erase(class_name(kind.group, kind.kind, key));
}

}  // namespace sluice::host
