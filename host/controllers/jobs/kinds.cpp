// The kinds of jobs: batch/v1 Job and ray.io/v1 RayCluster.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "api/json/json.hpp"
#include "host/controllers/jobs/job_kind.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::string_view annotation(const json::object& job, std::string_view name) {
  return api::find_text(part(part(job, "metadata"), "annotations"), name);
}

/// Its message when the condition is true.
std::optional<std::string> true_condition(const json::object& status, std::string_view type) {
  if (!has_condition(status, type)) return std::nullopt;
  return std::string(api::find_text(*find_condition(status, type), "message"));
}

class BatchJob final : public JobKind {
 public:
  std::string_view group_kind() const override { return "batch/Job"; }

  std::vector<JobPodSet> pod_sets(const json::object& job) const override {
    JobPodSet set{"main", pods(job), std::nullopt};
    const std::string_view text = annotation(job, kMinParallelism);
    std::int32_t least = 0;
    std::from_chars(text.data(), text.data() + text.size(), least);
    if (least > 0 && least < set.count) set.min_count = least;
    return {std::move(set)};
  }

  json::object* pod_template(json::object& job, std::size_t) const override {
    json::object* spec = api::find_object(job, "spec");
    return spec ? api::find_object(*spec, "template") : nullptr;
  }

  json::object set_count(json::object& job, std::size_t, std::int32_t count) const override {
    json::object replaced;
    json::object& spec = object_of(job, "spec");
    if (parallelism(job) == count) return replaced;
    replaced["parallelism"] = parallelism(job);
    spec["parallelism"] = count;
    if (annotation(job, kCompletionsEqual) == "true") {
      if (const auto completions = api::find_int32(spec, "completions"))
        replaced["completions"] = *completions;
      spec["completions"] = count;
    }
    return replaced;
  }

  bool active(const json::object& job) const override {
    const json::object& status = part(job, "status");
    return api::find_int(status, "active").value_or(0) > 0 ||
           api::find_int(status, "terminating").value_or(0) > 0;
  }

  bool pods_ready(const json::object& job, std::int64_t granted) const override {
    const json::object& status = part(job, "status");
    return api::find_int(status, "ready").value_or(0) +
               api::find_int(status, "succeeded").value_or(0) >=
           std::min<std::int64_t>(pods(job), granted);
  }

  std::vector<FinishedPods> finished_pods(const json::object& job) const override {
    const auto succeeded = api::find_int32(part(job, "status"), "succeeded").value_or(0);
    const std::int32_t parallel = parallelism(job);
    if (parallel <= 1 || succeeded == 0) return {};
    const auto completions = api::find_int32(part(job, "spec"), "completions").value_or(parallel);
    const std::int32_t left = std::max(0, completions - succeeded);
    const std::int32_t done = std::min(pods(job) - left, pods(job));
    if (done <= 0) return {};
    return {{"main", done}};
  }

  std::optional<JobEnd> end(const json::object& job) const override {
    const json::object& status = part(job, "status");
    if (const auto message = true_condition(status, "Complete"))
      return JobEnd{true, message->empty() ? "Job finished successfully" : *message};
    if (const auto message = true_condition(status, "Failed"))
      return JobEnd{false, message->empty() ? "Job failed" : *message};
    return std::nullopt;
  }

  std::string unfit(const json::object&) const override { return {}; }

 private:
  static std::int32_t parallelism(const json::object& job) {
    return std::max(0, api::find_int32(part(job, "spec"), "parallelism").value_or(1));
  }
  /// As many as run at a time at most.
  static std::int32_t pods(const json::object& job) {
    const std::int32_t parallel = parallelism(job);
    return std::min(parallel, api::find_int32(part(job, "spec"), "completions").value_or(parallel));
  }
};

class RayCluster final : public JobKind {
 public:
  std::string_view group_kind() const override { return "ray.io/RayCluster"; }

  std::vector<JobPodSet> pod_sets(const json::object& job) const override {
    std::vector<JobPodSet> sets;
    sets.push_back({"head", 1, std::nullopt});
    for_each_object(part(job, "spec"), "workerGroupSpecs", [&](const json::object& group) {
      std::string name;
      for (const char c : api::find_text(group, "groupName"))
        name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      const std::int32_t replicas = api::find_int32(group, "replicas").value_or(1);
      const std::int32_t hosts = api::find_int32(group, "numOfHosts").value_or(1);
      sets.push_back({std::move(name), std::max(0, replicas) * std::max(1, hosts), std::nullopt});
    });
    return sets;
  }

  json::object* pod_template(json::object& job, std::size_t i) const override {
    json::object* spec = api::find_object(job, "spec");
    if (!spec) return nullptr;
    if (i == 0) {
      json::object* head = api::find_object(*spec, "headGroupSpec");
      return head ? api::find_object(*head, "template") : nullptr;
    }
    json::array* groups = api::find_array(*spec, "workerGroupSpecs");
    if (!groups || i > groups->size() || !(*groups)[i - 1].is_object()) return nullptr;
    return api::find_object((*groups)[i - 1].get_object(), "template");
  }

  json::object set_count(json::object&, std::size_t, std::int32_t) const override { return {}; }

  bool active(const json::object& job) const override {
    const json::object& status = part(job, "status");
    if (const json::object* suspended = find_condition(status, "RayClusterSuspended"))
      return api::find_text(*suspended, "status") != "True";
    const std::string_view state = api::find_text(status, "state");
    return !state.empty() && state != "suspended" && state != "failed";
  }

  bool pods_ready(const json::object& job, std::int64_t) const override {
    const json::object& status = part(job, "status");
    return api::find_text(status, "state") == "ready" ||
           has_condition(status, "RayClusterProvisioned");
  }

  std::vector<FinishedPods> finished_pods(const json::object&) const override { return {}; }

  /// It serves until somebody deletes it.
  std::optional<JobEnd> end(const json::object&) const override { return std::nullopt; }

  std::string unfit(const json::object& job) const override {
    std::size_t groups = 0;
    for_each_object(part(job, "spec"), "workerGroupSpecs", [&](const json::object&) { ++groups; });
    if (groups > kMostGroups)
      return fmt::format("it has {} worker groups; at most {} can be queued", groups, kMostGroups);
    return {};
  }

 private:
  static constexpr std::size_t kMostGroups = 17;  // with the head, a workload's 18 pod sets
};

}  // namespace

std::span<const JobKind* const> job_kinds() {
  static const BatchJob batch_job;
  static const RayCluster ray_cluster;
  static const std::array<const JobKind*, 2> kinds = {&batch_job, &ray_cluster};
  return kinds;
}

const JobKind* find_job_kind(std::string_view group_kind) {
  for (const JobKind* kind : job_kinds())
    if (kind->group_kind() == group_kind) return kind;
  return nullptr;
}

const JobKind* find_job_kind(const api::KindInfo& kind) {
  for (const JobKind* each : job_kinds()) {
    const std::string_view name = each->group_kind();
    if (name.size() == kind.group.size() + 1 + kind.kind.size() && name.starts_with(kind.group) &&
        name.ends_with(kind.kind))
      return each;
  }
  return nullptr;
}

bool is_suspended(const json::object& job) {
  return api::find_bool(part(job, "spec"), "suspend", false);
}

void set_suspended(json::object& job, bool suspended) {
  object_of(job, "spec")["suspend"] = suspended;
}

}  // namespace sluice::host
