// The kinds of jobs that are built in: batch/v1 Job and ray.io/v1 RayCluster.
#include <algorithm>
#include <charconv>

#include "api/jobs/job_kind.hpp"
#include "api/json/json_path.hpp"
#include "api/json/parts.hpp"
#include "core/base/text.hpp"

namespace sluice::api {
namespace {

namespace json = boost::json;

constexpr std::string_view kMinParallelism = "kueue.x-k8s.io/job-min-parallelism";
constexpr std::string_view kCompletionsEqual = "kueue.x-k8s.io/job-completions-equal-parallelism";

std::string_view annotation(const json::object& job, std::string_view name) {
  return find_text(part(part(job, "metadata"), "annotations"), name);
}

/// Its message when the condition is true.
std::optional<std::string> true_condition(const json::object& status, std::string_view type) {
  if (!has_condition(status, type)) return std::nullopt;
  return std::string(find_text(*find_condition(status, type), "message"));
}

/// How many indexes below `end` a text like `1,3-5` names; what is malformed names none.
std::int32_t indexes_in(std::string_view text, std::int32_t end) {
  std::int64_t out = 0;
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), range.size() + 1));
    std::int32_t first = 0;
    const char* const over = range.data() + range.size();
    const auto read = std::from_chars(range.data(), over, first);
    std::int32_t last = first;
    if (read.ec != std::errc() || first < 0) continue;
    if (read.ptr != over && *read.ptr == '-') std::from_chars(read.ptr + 1, over, last);
    last = std::min(last, end - 1);  // those that a smaller job has no more do not count
    if (last >= first) out += last - first + 1;
  }
  return static_cast<std::int32_t>(std::min<std::int64_t>(out, end));
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
    json::object* spec = find_object(job, "spec");
    return spec ? find_object(*spec, "template") : nullptr;
  }
  std::string template_path(const json::object&, std::size_t) const override {
    return "spec.template";
  }

  json::object set_count(json::object& job, std::size_t, std::int32_t count) const override {
    json::object replaced;
    json::object& spec = object_of(job, "spec");
    if (parallelism(job) == count) return replaced;
    replaced["parallelism"] = parallelism(job);
    spec["parallelism"] = count;
    if (annotation(job, kCompletionsEqual) == "true") {
      if (const auto completions = find_int32(spec, "completions"))
        replaced["completions"] = *completions;
      spec["completions"] = count;
    }
    return replaced;
  }

  bool active(const json::object& job) const override {
    const json::object& status = part(job, "status");
    return find_int(status, "active").value_or(0) > 0 ||
           find_int(status, "terminating").value_or(0) > 0;
  }

  bool pods_ready(const json::object& job, std::int64_t granted) const override {
    const json::object& status = part(job, "status");
    // Those that succeeded are counted a moment after they are not ready any more.
    const json::array* uncounted = find_array(part(status, "uncountedTerminatedPods"), "succeeded");
    const auto more = static_cast<std::int64_t>(uncounted ? uncounted->size() : 0);
    return find_int(status, "ready").value_or(0) + find_int(status, "succeeded").value_or(0) +
               more >=
           std::min<std::int64_t>(pods(job), granted);
  }

  std::vector<FinishedPods> finished_pods(const json::object& job) const override {
    const json::object& status = part(job, "status");
    const json::object& spec = part(job, "spec");
    const std::int32_t parallel = parallelism(job);
    const auto completions = find_int32(spec, "completions").value_or(parallel);
    // The indexes tell which ones are over: of a job that shrank, none above its completions. One
    // that failed for good is not tried again, as one that succeeded is not.
    const std::string_view completed = find_text(status, "completedIndexes");
    const std::int32_t succeeded = completed.empty() ? find_int32(status, "succeeded").value_or(0)
                                                     : indexes_in(completed, completions);
    const std::int32_t over =
        succeeded + indexes_in(find_text(status, "failedIndexes"), completions);
    if (parallel <= 1 || over == 0) return {};
    const std::int32_t left = std::max(0, completions - over);
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

  std::optional<Duration> deadline(const json::object& job) const override {
    const auto seconds = find_int(part(job, "spec"), "activeDeadlineSeconds");
    if (!seconds) return std::nullopt;
    return std::clamp<std::int64_t>(*seconds, 0, kLatest / kSecond) * kSecond;
  }

  std::string unfit(const json::object&) const override { return {}; }

  bool ends() const override { return true; }

  json::object status_with(const json::object& job, const JobReport& report,
                           Time now) const override {
    json::object status = part(job, "status");
    switch (report.stage) {
      case JobStage::kStopped:
        for (const char* count : {"active", "ready", "terminating"}) status[count] = 0;
        status.erase("startTime");
        break;
      case JobStage::kStarted:
      case JobStage::kReady:
        status["active"] = pods_left(job);
        if (report.stage == JobStage::kReady) status["ready"] = pods_left(job);
        status["terminating"] = 0;
        if (!status.contains("startTime")) status["startTime"] = format_time(now);
        break;
      case JobStage::kSucceeded:
        status["succeeded"] =
            find_int32(part(job, "spec"), "completions").value_or(parallelism(job));
        for (const char* count : {"active", "ready", "terminating"}) status[count] = 0;
        status["completionTime"] = format_time(now);
        for (const char* type : {"SuccessCriteriaMet", "Complete"})
          add_end(status, type, "CompletionsReached", "Reached expected number of succeeded pods",
                  now);
        break;
      case JobStage::kFailed:
        for (const char* count : {"active", "ready", "terminating"}) status[count] = 0;
        for (const char* type : {"FailureTarget", "Failed"})
          add_end(status, type, report.reason.empty() ? "PodFailed" : report.reason, report.message,
                  now);
        break;
    }
    return status;
  }

 private:
  static void add_end(json::object& status, std::string_view type, std::string_view reason,
                      std::string_view message, Time now) {
    array_of(status, "conditions")
        .push_back(json::object{{"type", json_view(type)},
                                {"status", "True"},
                                {"reason", json_view(reason)},
                                {"message", json_view(message)},
                                {"lastProbeTime", format_time(now)},
                                {"lastTransitionTime", format_time(now)}});
  }
  /// That run at a time until all completions are there.
  static std::int32_t pods_left(const json::object& job) {
    const std::int32_t succeeded = find_int32(part(job, "status"), "succeeded").value_or(0);
    const auto completions = find_int32(part(job, "spec"), "completions");
    return completions ? std::min(pods(job), std::max(0, *completions - succeeded)) : pods(job);
  }
  static std::int32_t parallelism(const json::object& job) {
    return std::max(0, find_int32(part(job, "spec"), "parallelism").value_or(1));
  }
  /// As many as run at a time at most.
  static std::int32_t pods(const json::object& job) {
    const std::int32_t parallel = parallelism(job);
    return std::min(parallel, find_int32(part(job, "spec"), "completions").value_or(parallel));
  }
};

class RayCluster final : public JobKind {
 public:
  std::string_view group_kind() const override { return "ray.io/RayCluster"; }

  std::vector<JobPodSet> pod_sets(const json::object& job) const override {
    std::vector<JobPodSet> sets;
    sets.push_back({"head", 1, std::nullopt});
    for_each_object(part(job, "spec"), "workerGroupSpecs", [&](const json::object& group) {
      std::string name = lower_ascii(find_text(group, "groupName"));
      const std::int32_t replicas = find_int32(group, "replicas").value_or(1);
      const std::int32_t hosts = find_int32(group, "numOfHosts").value_or(1);
      sets.push_back({std::move(name), std::max(0, replicas) * std::max(1, hosts), std::nullopt});
    });
    return sets;
  }

  json::object* pod_template(json::object& job, std::size_t i) const override {
    json::object* spec = find_object(job, "spec");
    if (!spec) return nullptr;
    if (i == 0) {
      json::object* head = find_object(*spec, "headGroupSpec");
      return head ? find_object(*head, "template") : nullptr;
    }
    json::array* groups = find_array(*spec, "workerGroupSpecs");
    if (!groups || i > groups->size() || !(*groups)[i - 1].is_object()) return nullptr;
    return find_object((*groups)[i - 1].get_object(), "template");
  }

  /// KubeRay puts the autoscaler beside the head, into the same pod.
  const json::object* described(json::object& job, std::size_t i,
                                json::object& made) const override {
    const json::object* head = pod_template(job, i);
    const json::object& spec = part(job, "spec");
    if (i != 0 || !head || !find_bool(spec, "enableInTreeAutoscaling", false)) return head;
    made = *head;
    json::object container{{"name", "autoscaler"}};
    if (const json::object* own = find_object(part(spec, "autoscalerOptions"), "resources")) {
      container["resources"] = *own;
    } else {
      const json::object kuberays{{"cpu", "500m"}, {"memory", "512Mi"}};
      container["resources"] = json::object{{"requests", kuberays}, {"limits", kuberays}};
    }
    if (json::object* pod = find_object(made, "spec"))
      if (json::array* containers = find_array(*pod, "containers"))
        containers->push_back(std::move(container));
    return &made;
  }

  std::string template_path(const json::object&, std::size_t i) const override {
    if (i == 0) return "spec.headGroupSpec.template";
    return "spec.workerGroupSpecs[" + std::to_string(i - 1) + "].template";
  }

  json::object set_count(json::object&, std::size_t, std::int32_t) const override { return {}; }

  bool active(const json::object& job) const override {
    const json::object& status = part(job, "status");
    if (const json::object* suspended = find_condition(status, "RayClusterSuspended"))
      return find_text(*suspended, "status") != "True";
    const std::string_view state = find_text(status, "state");
    return !state.empty() && state != "suspended" && state != "failed";
  }

  bool pods_ready(const json::object& job, std::int64_t) const override {
    const json::object& status = part(job, "status");
    return find_text(status, "state") == "ready" || has_condition(status, "RayClusterProvisioned");
  }

  std::vector<FinishedPods> finished_pods(const json::object&) const override { return {}; }

  /// It serves until it is deleted.
  std::optional<JobEnd> end(const json::object&) const override { return std::nullopt; }

  std::string unfit(const json::object& job) const override {
    std::size_t groups = 0;
    for_each_object(part(job, "spec"), "workerGroupSpecs", [&](const json::object&) { ++groups; });
    if (groups > kMostGroups)
      return "it has " + std::to_string(groups) + " worker groups; at most " +
             std::to_string(kMostGroups) + " can be queued";
    return {};
  }

  bool ends() const override { return false; }

  json::object status_with(const json::object& cluster, const JobReport& report,
                           Time now) const override {
    json::object status = part(cluster, "status");
    if (report.stage == JobStage::kStopped) {
      status["state"] = "suspended";
      status.erase("stateTransitionTimes");
      return status;
    }
    // Without a state it is being brought up; `suspended` is what is left of an earlier run.
    if (find_text(status, "state") == "suspended") status.erase("state");
    if (report.stage == JobStage::kReady) status["state"] = "ready";
    json::object& times = object_of(status, "stateTransitionTimes");
    if (!times.contains("ready")) times["ready"] = format_time(now);
    return status;
  }

  std::optional<Time> running_since(const json::object& job) const override {
    return find_time(part(part(job, "status"), "stateTransitionTimes"), "ready");
  }

 private:
  static constexpr std::size_t kMostGroups = 17;  // with the head, a workload's 18 pod sets
};

}  // namespace

std::string JobKind::priority_class(const json::object& job) const {
  json::object copy = job;
  const std::size_t sets = pod_sets(job).size();
  for (std::size_t i = 0; i < sets; ++i) {
    json::object made;
    const json::object* own = described(copy, i, made);
    const std::string_view name =
        own ? find_text(part(*own, "spec"), "priorityClassName") : std::string_view();
    if (!name.empty()) return std::string(name);
  }
  return {};
}

const json::object* JobKind::described(json::object& job, std::size_t i, json::object&) const {
  return pod_template(job, i);
}

std::optional<StartPlace> JobKind::start_place(json::object& job, std::size_t i) const {
  json::object* own = pod_template(job, i);
  if (!own) return std::nullopt;
  object_of(*own, "spec");  // both members are there before a reference to one is kept
  object_of(*own, "metadata");
  return StartPlace{*find_object(*own, "spec"), *find_object(*own, "metadata")};
}

void JobKind::tidy_start(json::object& job, std::size_t i) const {
  json::object* own = pod_template(job, i);
  if (own && part(*own, "metadata").empty()) own->erase("metadata");
}

bool JobKind::suspended(const json::object& job) const {
  return find_bool(part(job, "spec"), "suspend", false);
}

void JobKind::set_suspended(json::object& job, bool suspended) const {
  object_of(job, "spec")["suspend"] = suspended;
}

std::optional<Time> JobKind::running_since(const json::object& job) const {
  return find_time(part(job, "status"), "startTime");
}

std::shared_ptr<const JobKind> builtin_job_kind(std::string_view name) {
  static const auto job = std::make_shared<const BatchJob>();
  static const auto ray_cluster = std::make_shared<const RayCluster>();
  if (name == "Job") return job;
  if (name == "RayCluster") return ray_cluster;
  return nullptr;
}

void restore_counts(json::object& job, const json::object& replaced) {
  json::object& spec = object_of(job, "spec");
  for (const auto& [text, before] : replaced) {
    JsonPlace place = place_of(view(text));
    const std::string name = std::move(place.back());
    place.pop_back();
    json::value* at = place.empty() ? nullptr : at_place(spec, place);
    json::object* holder = place.empty() ? &spec : at ? at->if_object() : nullptr;
    if (!holder) continue;  // it went with a change of the job's
    if (before.is_null())
      holder->erase(name);
    else
      (*holder)[name] = before;
  }
}

}  // namespace sluice::api
