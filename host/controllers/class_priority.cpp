#include "host/controllers/class_priority.hpp"

#include <map>

#include "api/json/json.hpp"
#include "core/model/model.hpp"
#include "host/controllers/jobs/workload_spec.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kKind = "WorkloadPriorityClass";

const std::string* class_of(const WorkloadRecord& w) {
  if (!w.exists() || w.state == WorkloadState::kFinished) return nullptr;
  const api::PriorityClassRef* ref = w.object->priority_class.get();
  return ref && ref->kind == kKind ? &ref->name : nullptr;
}

}  // namespace

ClassPriorityController::ClassPriorityController(const api::Scheme& scheme, const Engine& engine)
    : engine_(engine),
      classes_(&api::kueue_kind(scheme, kKind)),
      workloads_(&api::kueue_kind(scheme, "Workload")) {}

std::vector<std::string> ClassPriorityController::watches() const {
  return {"kueue.x-k8s.io/WorkloadPriorityClass"};
}

void ClassPriorityController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.deleted()) return;  // its workloads keep what they have
  changed_.insert(change.key);
  behind_.clear();  // are found anew, with those of this class
  keys.push_back({classes_, {}});
}

void ClassPriorityController::find_behind(const ObjectAccess& objects) {
  std::map<std::string, std::int64_t, std::less<>> values;
  for (const std::string& name : changed_)
    if (const auto value = priority_class_value(objects, api::kKueueVersion, kKind, name))
      values.emplace(name, *value);
  const WorkloadTable& table = engine_.model().workloads;
  for (WorkloadId id = table.end_id(); id-- > table.first_id();) {
    const WorkloadRecord& w = table[id];
    const std::string* name = class_of(w);
    const auto value = name ? values.find(*name) : values.end();
    if (value != values.end() && w.object->priority != value->second) behind_.push_back(w.key);
  }
}

Result<void> ClassPriorityController::write(const std::string& key, ObjectAccess& objects) const {
  auto workload = objects.get(*workloads_, key);
  if (!workload) return {};
  json::object& spec = object_of(*workload, "spec");
  const json::object* ref = api::find_object(spec, "priorityClassRef");
  if (!ref) return {};
  const auto value =
      priority_class_value(objects, api::kKueueVersion, kKind, api::find_text(*ref, "name"));
  if (!value) return {};
  spec["priority"] = *value;
  return plain(objects.update(std::move(*workload)));
}

Result<Time> ClassPriorityController::reconcile(const WorkKey&, ObjectAccess& objects) {
  if (behind_.empty()) find_behind(objects);
  if (behind_.empty()) {
    changed_.clear();
    return kNever;
  }
  for (std::size_t n = 0; n < kMostAtOnce && !behind_.empty(); ++n) {
    const std::string key = std::move(behind_.back());
    behind_.pop_back();
    if (auto done = write(key, objects); !done) return done.error().context(key);
  }
  return behind_.empty() ? objects.now() + kLookAgain : objects.now();
}

}  // namespace sluice::host
