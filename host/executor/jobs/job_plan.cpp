#include "host/executor/jobs/job_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/backoff.hpp"
#include "host/executor/jobs/failure_policy.hpp"
#include "host/executor/jobs/success_policy.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr Duration kFirstBackoff = 10 * kSecond;
constexpr Duration kLongestBackoff = 600 * kSecond;

/// How the job is going to end.
struct Fate {
  bool success = false;
  std::string reason, message;
};

class Planner {
 public:
  Planner(const BatchJob& job, const std::vector<JobPod>& pods, Time now, std::size_t most)
      : job_(job), pods_(pods), now_(now), most_(most) {
    plan_.status = job.status;
  }

  JobPlan run();

 private:
  struct IndexFailures {
    std::int64_t count = 0;
    Time last = 0;
    Time backoff_end() const {
      return last + backoff(kFirstBackoff, static_cast<int>(count - 1), kLongestBackoff);
    }
  };

  void after_the_end();
  void count_ends();
  void count_failure(const JobPod& pod);
  std::optional<Fate> fate() const;
  std::optional<Fate> fate_already() const;
  std::optional<Fate> failure() const;
  bool complete() const;
  void conclude(const Fate& fate);
  void suspend();
  void resume();
  void manage();
  void create(std::int64_t missing);
  void create_indexes(std::int64_t missing);
  void remove_excess(std::int64_t excess);
  void remove(const JobPod& pod);
  Time backoff_end() const;
  std::map<std::int64_t, IndexFailures> failures_by_index() const;
  bool outside(const JobPod& pod) const;
  bool set_condition(std::string_view type, bool on, std::string_view reason,
                     std::string_view message);
  void write_counts();

  std::int64_t active() const;
  std::int64_t terminating() const;
  bool removed(const JobPod& pod) const { return removed_.contains(&pod); }

  const BatchJob& job_;
  const std::vector<JobPod>& pods_;
  const Time now_;
  const std::size_t most_;  // pods that may be created
  JobPlan plan_;
  std::int64_t succeeded_ = 0, failed_ = 0;
  IndexSet completed_, failed_indexes_;
  std::optional<Time> start_;
  std::optional<Fate> policy_fate_;
  std::set<const JobPod*> removed_;
};

std::int64_t Planner::active() const {
  return std::count_if(pods_.begin(), pods_.end(),
                       [&](const JobPod& pod) { return pod.active() && !removed(pod); });
}

std::int64_t Planner::terminating() const {
  return std::count_if(pods_.begin(), pods_.end(), [&](const JobPod& pod) {
    return pod.terminating() || (removed(pod) && pod.bound && !pod.ended());
  });
}

/// An index that the job does not have (any more).
bool Planner::outside(const JobPod& pod) const {
  return job_.indexed && (!pod.index || *pod.index >= job_.completions.value_or(0));
}

void Planner::count_failure(const JobPod& pod) {
  const PolicyAnswer answer = judge(job_.failure_rules, pod);
  if (answer.action == FailureRule::Action::kIgnore) return;
  if (answer.action == FailureRule::Action::kFailJob && !policy_fate_) {
    policy_fate_ = Fate{false, "PodFailurePolicy", answer.message};
  }
  ++failed_;
  if (!job_.indexed || !job_.backoff_limit_per_index || !pod.index) return;
  if (answer.action == FailureRule::Action::kFailIndex ||
      pod.index_failures >= *job_.backoff_limit_per_index) {
    failed_indexes_.add(*pod.index);
  }
}

void Planner::count_ends() {
  succeeded_ = job_.succeeded;
  failed_ = job_.failed;
  completed_ = job_.completed_indexes;
  failed_indexes_ = job_.failed_indexes;
  for (const JobPod& pod : pods_) {
    if (!pod.tracked) continue;
    const bool success = pod.phase == JobPod::Phase::kSucceeded;
    const bool failure =
        pod.phase == JobPod::Phase::kFailed || (pod.terminating() && !job_.replace_failed_only);
    if (!success && !failure) continue;
    plan_.untrack.push_back(pod.key);
    if (outside(pod)) continue;
    if (failure) {
      count_failure(pod);
    } else if (!job_.indexed) {
      ++succeeded_;
    } else {
      completed_.add(*pod.index);
    }
  }
  if (job_.indexed) succeeded_ = completed_.count_below(job_.completions.value_or(0));
}

std::optional<Fate> Planner::fate_already() const {
  std::optional<Fate> found;
  for_each_object(job_.status, "conditions", [&](const json::object& condition) {
    const std::string_view type = api::find_text(condition, "type");
    if (api::find_text(condition, "status") != "True") return;
    if (type != "FailureTarget" && type != "SuccessCriteriaMet") return;
    found = Fate{type == "SuccessCriteriaMet", std::string(api::find_text(condition, "reason")),
                 std::string(api::find_text(condition, "message"))};
  });
  return found;
}

std::optional<Fate> Planner::failure() const {
  if (policy_fate_) return policy_fate_;
  std::int64_t restarts = 0;
  for (const JobPod& pod : pods_) restarts += pod.active() ? pod.restarts : 0;
  const bool restarted_too_often =
      job_.restarts_in_place && restarts > 0 && restarts >= job_.backoff_limit;
  if (failed_ > job_.backoff_limit || restarted_too_often) {
    return Fate{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
  }
  if (job_.active_deadline && start_ && !job_.suspend && now_ >= *start_ + *job_.active_deadline) {
    return Fate{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
  }
  const std::int64_t end = job_.completions.value_or(0);
  const std::int64_t failed = failed_indexes_.count_below(end);
  if (job_.max_failed_indexes && failed > *job_.max_failed_indexes) {
    return Fate{false, "MaxFailedIndexesExceeded",
                "Job has exceeded the specified maximal number of failed indexes"};
  }
  if (job_.indexed && failed > 0 && failed + succeeded_ >= end) {
    return Fate{false, "FailedIndexes", "Job has failed indexes"};
  }
  return std::nullopt;
}

bool Planner::complete() const {
  if (job_.completions) return succeeded_ >= *job_.completions;
  // Without a number of completions the pods themselves know: one success means that the work is
  // done, and the others end on their own.
  return succeeded_ > 0 && active() == 0 && terminating() == 0;
}

std::optional<Fate> Planner::fate() const {
  if (auto already = fate_already()) return already;
  if (auto failed = failure()) return failed;
  if (std::string met = meets(job_.success_rules, completed_, job_.completions.value_or(0));
      !met.empty())
    return Fate{true, "SuccessPolicy", std::move(met)};
  if (!complete()) return std::nullopt;
  return Fate{true, "CompletionsReached", "Reached expected number of succeeded pods"};
}

void Planner::remove(const JobPod& pod) {
  if (pod.tracked) plan_.untrack.push_back(pod.key);
  plan_.remove.push_back(pod.key);
  removed_.insert(&pod);
}

void Planner::conclude(const Fate& fate) {
  for (const JobPod& pod : pods_) {
    if (!pod.active()) continue;
    if (!fate.success) ++failed_;  // what a failure cuts short has failed
    remove(pod);
    plan_.notes.push_back({false, "SuccessfulDelete", "Deleted pod: " + pod.key});
  }
  set_condition(fate.success ? "SuccessCriteriaMet" : "FailureTarget", true, fate.reason,
                fate.message);
  if (terminating() > 0) return;  // the last word is said when nothing runs any more
  set_condition(fate.success ? "Complete" : "Failed", true, fate.reason, fate.message);
  if (fate.success) plan_.status["completionTime"] = format_time(now_ / kSecond * kSecond);
  plan_.notes.push_back({!fate.success, fate.success ? "Completed" : fate.reason,
                         fate.success ? "Job completed" : fate.message});
  if (job_.ttl) plan_.again = now_ + *job_.ttl;
}

void Planner::after_the_end() {
  for (const JobPod& pod : pods_) {
    if (pod.active()) {
      remove(pod);
    } else if (pod.tracked) {
      plan_.untrack.push_back(pod.key);
    }
  }
  if (!job_.ttl) return;
  Time end = job_.completion_time.value_or(0);
  for_each_object(job_.status, "conditions", [&](const json::object& condition) {
    const std::string_view type = api::find_text(condition, "type");
    if (type != "Complete" && type != "Failed") return;
    end = std::max(end, api::find_time(condition, "lastTransitionTime").value_or(0));
  });
  plan_.again = end + *job_.ttl;
  plan_.remove_job = plan_.again <= now_;
}

void Planner::suspend() {
  for (const JobPod& pod : pods_) {
    if (!pod.active()) continue;
    remove(pod);
    plan_.notes.push_back({false, "SuccessfulDelete", "Deleted pod: " + pod.key});
  }
  if (set_condition("Suspended", true, "JobSuspended", "Job suspended")) {
    plan_.notes.push_back({false, "Suspended", "Job suspended"});
  }
}

void Planner::resume() {
  if (!job_.condition("Suspended")) return;
  set_condition("Suspended", false, "JobResumed", "Job resumed");
  plan_.notes.push_back({false, "Resumed", "Job resumed"});
  start_ = now_;  // the deadline counts from here
}

void Planner::remove_excess(std::int64_t excess) {
  std::vector<const JobPod*> candidates;
  for (const JobPod& pod : pods_) {
    if (pod.active() && !removed(pod)) candidates.push_back(&pod);
  }
  // What has done least goes first: gated, without a node, not running, not ready, the youngest.
  const auto worth = [](const JobPod* pod) {
    return std::make_tuple(!pod->gated, pod->bound, pod->phase == JobPod::Phase::kRunning,
                           pod->ready, -pod->index.value_or(0), -pod->created);
  };
  std::stable_sort(candidates.begin(), candidates.end(), [&](const JobPod* a, const JobPod* b) {
    if (worth(a) != worth(b)) return worth(a) < worth(b);
    return a->uid > b->uid;
  });
  for (std::size_t i = 0; i < candidates.size() && static_cast<std::int64_t>(i) < excess; ++i) {
    remove(*candidates[i]);
    plan_.notes.push_back({false, "SuccessfulDelete", "Deleted pod: " + candidates[i]->key});
  }
}

/// Failures since the last success hold new pods back, for a time that doubles. Where indexes have
/// limits of their own, each waits for its own failures only.
Time Planner::backoff_end() const {
  Time last_success = -1;
  for (const JobPod& pod : pods_) {
    if (pod.phase == JobPod::Phase::kSucceeded) {
      last_success = std::max(last_success, pod.finished.value_or(pod.created));
    }
  }
  Time last_failure = -1;
  int failures = 0;
  for (const JobPod& pod : pods_) {
    const Time at = pod.finished.value_or(pod.created);
    if (pod.phase != JobPod::Phase::kFailed || at <= last_success) continue;
    ++failures;
    last_failure = std::max(last_failure, at);
  }
  if (failures == 0 || job_.backoff_limit_per_index) return 0;
  return last_failure + backoff(kFirstBackoff, failures - 1, kLongestBackoff);
}

/// What became of the indexes before, by the pods that there still are. O(pods).
std::map<std::int64_t, Planner::IndexFailures> Planner::failures_by_index() const {
  std::map<std::int64_t, IndexFailures> out;
  for (const JobPod& pod : pods_) {
    if (!pod.index || (pod.phase != JobPod::Phase::kFailed && !pod.deleting)) continue;
    IndexFailures& of_index = out[*pod.index];
    of_index.count = std::max(of_index.count, pod.index_failures + 1);
    if (pod.phase == JobPod::Phase::kFailed)
      of_index.last = std::max(of_index.last, pod.finished.value_or(pod.created));
  }
  return out;
}

void Planner::create_indexes(std::int64_t missing) {
  std::set<std::int64_t> taken;
  for (const JobPod& pod : pods_) {
    if (!pod.index) continue;
    const bool there = pod.active() && !removed(pod);
    if (there || (!job_.replaces_terminating() && pod.terminating())) taken.insert(*pod.index);
  }
  std::map<std::int64_t, IndexFailures> failed;
  if (job_.backoff_limit_per_index) failed = failures_by_index();
  for (std::int64_t i = 0; i < job_.completions.value_or(0) && missing > 0; ++i) {
    if (plan_.create.size() == most_) break;
    if (completed_.contains(i) || failed_indexes_.contains(i) || taken.contains(i)) continue;
    const auto before = failed.find(i);
    if (before != failed.end()) {
      if (const Time until = before->second.backoff_end(); until > now_) {
        plan_.again = std::min(plan_.again, until);  // the others need not wait for it
        continue;
      }
    }
    plan_.create.push_back({i, before == failed.end() ? 0 : before->second.count});
    --missing;
  }
}

void Planner::create(std::int64_t missing) {
  if (const Time until = backoff_end(); until > now_) {
    plan_.again = std::min(plan_.again, until);
    return;
  }
  if (job_.indexed) {
    create_indexes(missing);
  } else {
    plan_.create.resize(std::min(static_cast<std::size_t>(missing), most_));
  }
  if (static_cast<std::size_t>(missing) > kMaxCreates && most_ == kMaxCreates) plan_.again = now_;
}

void Planner::manage() {
  for (const JobPod& pod : pods_) {
    if (pod.active() && outside(pod)) remove(pod);
  }
  const std::int64_t running = active();
  std::int64_t wanted = job_.parallelism;
  if (job_.completions) {
    const std::int64_t gone =
        succeeded_ + (job_.indexed ? failed_indexes_.count_below(*job_.completions) : 0);
    wanted = std::min(wanted, std::max<std::int64_t>(0, *job_.completions - gone));
  } else if (succeeded_ > 0) {
    wanted = std::min(wanted, running);
  }
  if (running > wanted) return remove_excess(running - wanted);
  std::int64_t missing = wanted - running;
  if (!job_.replaces_terminating()) missing -= terminating();
  if (missing > 0) create(missing);
}

/// Whatever its reason, one of this value stays as it is.
bool Planner::set_condition(std::string_view type, bool on, std::string_view reason,
                            std::string_view message) {
  const std::string_view status = on ? "True" : "False";
  const json::object* before = find_condition(plan_.status, type);
  if (before && api::find_text(*before, "status") == status) return false;
  const std::string time = format_time(now_ / kSecond * kSecond);
  return put_condition(plan_.status, {{"type", type},
                                      {"status", status},
                                      {"lastProbeTime", time},
                                      {"lastTransitionTime", time},
                                      {"reason", reason},
                                      {"message", message}});
}

void Planner::write_counts() {
  json::object& status = plan_.status;
  const auto put = [&](const char* key, std::int64_t value, bool zero_shown) {
    if (value != 0 || zero_shown) {
      status[key] = value;
    } else {
      status.erase(key);
    }
  };
  std::int64_t ready = 0;
  for (const JobPod& pod : pods_) ready += pod.active() && !removed(pod) && pod.ready ? 1 : 0;
  put("active", active() + static_cast<std::int64_t>(plan_.create.size()), false);
  put("ready", ready, true);
  put("terminating", terminating(), true);
  put("succeeded", succeeded_, false);
  put("failed", failed_, false);
  if (job_.indexed && !completed_.empty()) status["completedIndexes"] = completed_.text();
  if (job_.backoff_limit_per_index) status["failedIndexes"] = failed_indexes_.text();
  status["uncountedTerminatedPods"] = json::object();
  if (start_) status["startTime"] = format_time(*start_ / kSecond * kSecond);
}

JobPlan Planner::run() {
  if (job_.finished()) {
    after_the_end();
    return std::move(plan_);
  }
  count_ends();
  start_ = job_.start_time;
  if (!job_.suspend) {
    resume();
    if (!start_) start_ = now_;
  }
  if (const auto end = fate()) {
    conclude(*end);
  } else if (job_.suspend) {
    suspend();
  } else {
    manage();
    if (job_.active_deadline) {
      plan_.again = std::min(plan_.again, *start_ + *job_.active_deadline);
    }
  }
  write_counts();
  return std::move(plan_);
}

}  // namespace

JobPlan plan_job(const BatchJob& job, const std::vector<JobPod>& pods, Time now, std::size_t most) {
  return Planner(job, pods, now, std::min(most, kMaxCreates)).run();
}

}  // namespace sluice::host
