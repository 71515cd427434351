#include "makers.hpp"

#include <cstdint>

#include "facts.hpp"
#include "names.hpp"
#include "shape.hpp"

namespace pods {
namespace {

using sluice::Json;

constexpr std::string_view kGroupOfKinds = "apps/";
constexpr const char* kReplicas = "spec.replicas";

bool is_set(const sluice::Write& write) { return write.kind() == "StatefulSet"; }

/// Of the template of its pods.
void set(Json& object, std::string_view map, std::string_view key, std::string_view value) {
  object["spec"]["template"]["metadata"][map][key] = value;
}

std::int64_t replicas_of(const Json& object) { return object.int_or(kReplicas, 1); }

/// What the template of the pods says.
std::string said_by_template(const Json& object, std::string_view label) {
  const Json* pods = object.find("spec.template");
  return pods == nullptr ? std::string() : text_in(*pods, "labels", label);
}

/// A StatefulSet's pods start one after the other, so the first one queues for all. A group keeps
/// the name that it has, whoever gave it: with another one all pods would be made anew.
void make_group(Json& object, const Json& old) {
  std::string group = said_by_template(old, kGroup);
  if (group.empty())  // without a uid, which it does not have before it is there
    group = workload_name("StatefulSet", "apps", object.string_or("metadata.name", ""), "",
                          kLongestLabel);
  set(object, "labels", kGroup, group);
  set(object, "annotations", kTotal, std::to_string(replicas_of(object)));
  set(object, "annotations", kFast, "true");
  set(object, "annotations", kServing, "true");
}

}  // namespace

std::vector<std::string> judged_makers(const Settings& settings) {
  std::string narrowed = " label:" + std::string(kQueue) + except_words(settings);
  return {"apps/Deployment resource:v1/deployments" + narrowed,
          "apps/StatefulSet resource:v1/statefulsets" + narrowed};
}

bool is_maker(const sluice::Write& write) { return write.api_version().starts_with(kGroupOfKinds); }

std::optional<std::string> pass_on(const sluice::Write& write) {
  if (write.operation() == sluice::Operation::kDelete) return std::nullopt;
  Json object = Json::parse(write.object());
  const std::string queue = text_in(object, "labels", kQueue);
  if (queue.empty()) return std::nullopt;
  set(object, "labels", kQueue, queue);
  for (const std::string_view label : {kPriorityClass, kMaxSeconds})
    if (const std::string value = text_in(object, "labels", label); !value.empty())
      set(object, "labels", label, value);
  if (is_set(write) && replicas_of(object) > 0)
    make_group(object, write.old().empty() ? Json() : Json::parse(write.old()));
  return object.dump();
}

void check_maker(const sluice::Write& write, sluice::FieldErrors& errors) {
  if (write.operation() != sluice::Operation::kUpdate) return;
  const Json object = Json::parse(write.object()), old = Json::parse(write.old());
  const std::string queue = text_in(old, "labels", kQueue);
  if (queue.empty()) return;
  if (text_in(object, "labels", kQueue) != queue && old.int_or("status.readyReplicas", 0) > 0)
    errors.invalid("metadata.labels[" + std::string(kQueue) + "]",
                   Json(text_in(object, "labels", kQueue)).dump(),
                   "field is immutable while pods are ready");
  if (!is_set(write)) return;
  const std::int64_t before = replicas_of(old), now = replicas_of(object);
  if (before == now || now == 0) return;
  if (before != 0)
    errors.forbidden(kReplicas,
                     "the pods of a StatefulSet that waits in a queue have their quota "
                     "together: scale it to 0 first");
  else if (old.int_or("status.replicas", 0) > 0)
    errors.forbidden(kReplicas, "pods of its last run are there still");
}

}  // namespace pods
