#include "host/controllers/jobs/job_policy.hpp"

#include <fmt/format.h>

#include <charconv>

#include "api/json/json.hpp"
#include "host/controllers/jobs/job_kind.hpp"
#include "host/controllers/jobs/job_view.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using Problems = std::vector<api::Problem>;

bool is_queued(const json::object& job) {
  return !label_of(job, kQueueLabel).empty() || !label_of(job, kPrebuiltLabel).empty();
}

void refuse(Problems& problems, std::string field, std::string detail,
            api::Problem::Kind kind = api::Problem::Kind::kInvalid) {
  problems.push_back({kind, std::move(field), std::move(detail)});
}

std::string label_path(std::string_view name) { return fmt::format("metadata.labels[{}]", name); }
std::string annotation_path(std::string_view name) {
  return fmt::format("metadata.annotations[{}]", name);
}

std::optional<std::int32_t> as_number(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void check(const json::object& job, bool is_new_start, Problems& problems) {
  const auto at_least_one = [&](std::string_view text, const std::string& path) {
    if (text.empty()) return;
    if (const auto number = as_number(text); number && *number > 0) return;
    refuse(problems, path,
           fmt::format("Invalid value: \"{}\": should be an integer greater than 0", text));
  };
  at_least_one(label_of(job, kMaxExecutionLabel), label_path(kMaxExecutionLabel));
  const std::string_view least = annotation_of(job, kMinParallelism);
  at_least_one(least, annotation_path(kMinParallelism));
  const auto parallelism = api::find_int32(part(job, "spec"), "parallelism").value_or(1);
  // While it runs, the host itself may have lowered it.
  if (const auto number = as_number(least);
      number && is_new_start && *number >= parallelism && parallelism > 0)
    refuse(problems, annotation_path(kMinParallelism),
           fmt::format("Invalid value: {}: should be between 0 and {}", *number, parallelism - 1));
  const std::string_view equal = annotation_of(job, kCompletionsEqual);
  if (!equal.empty() && equal != "true" && equal != "false")
    refuse(problems, annotation_path(kCompletionsEqual),
           fmt::format("Invalid value: \"{}\": should be true or false", equal));
}

void check_change(const json::object& job, const json::object& old, Problems& problems) {
  if (is_suspended(old) || is_suspended(job)) return;
  for (const std::string_view label : {kQueueLabel, kPrebuiltLabel})
    if (label_of(job, label) != label_of(old, label))
      refuse(problems, label_path(label),
             fmt::format("Invalid value: \"{}\": field is immutable while the job is not suspended",
                         label_of(job, label)));
  const json::value* before = api::find(part(old, "spec"), "parallelism");
  const json::value* now = api::find(part(job, "spec"), "parallelism");
  const bool same = before == now || (before && now && *before == *now);
  if (!annotation_of(old, kMinParallelism).empty() && !same)
    refuse(
        problems, "spec.parallelism",
        "Forbidden: cannot change when partial admission is enabled and the job is not suspended",
        api::Problem::Kind::kForbidden);
}

/// A job of a job that is queued runs with it, unqueued.
bool has_managed_owner(const json::object& job) {
  bool found = false;
  for_each_object(part(job, "metadata"), "ownerReferences", [&](const json::object& owner) {
    const std::string_view version = api::find_text(owner, "apiVersion");
    found |= api::find_bool(owner, "controller", false) &&
             find_job_kind(fmt::format("{}/{}", version.substr(0, version.find('/')),
                                       api::find_text(owner, "kind"))) != nullptr;
  });
  return found;
}

}  // namespace

bool JobPolicy::wants(const api::KindInfo& kind) const { return find_job_kind(kind) != nullptr; }

void JobPolicy::creating(const api::KindInfo& kind, json::object& object,
                         const ObjectAccess& objects, bool by_system,
                         std::vector<api::Problem>& problems) {
  if (has_managed_owner(object)) return;
  if (!is_queued(object)) {
    const api::KindInfo* queues = objects.scheme().find("kueue.x-k8s.io/v1beta2", "LocalQueue");
    const std::string_view ns = api::find_text(part(object, "metadata"), "namespace");
    const bool by_default =
        queues && objects.exists(*queues, fmt::format("{}/{}", ns, kDefaultQueue));
    if (!by_default && !(manage_all_ && ns != kUnmanagedNamespace)) return;
    if (by_default)
      object_of(object_of(object, "metadata"), "labels")[api::json_view(kQueueLabel)] =
          api::json_view(kDefaultQueue);
  }
  check(object, true, problems);
  // One that runs already, or comes with a record of its start (from a dump, a backup), goes on.
  const bool runs = by_system && find_job_kind(kind)->active(object);
  if (!runs && annotation_of(object, kStartedWith).empty()) set_suspended(object, true);
}

void JobPolicy::updating(const api::KindInfo&, json::object& object, const json::object& old,
                         const ObjectAccess&, bool by_system, std::vector<api::Problem>& problems) {
  if (by_system || !is_queued(object)) return;
  check(object, is_suspended(old), problems);
  check_change(object, old, problems);
}

}  // namespace sluice::host
