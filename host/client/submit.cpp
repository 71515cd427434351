#include "host/client/submit.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/text.hpp"
#include "core/types/quantity.hpp"
#include "host/base/steady_clock.hpp"
#include "host/base/text.hpp"
#include "host/client/explain.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/pods.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kQueueLabel = "kueue.x-k8s.io/queue-name";
constexpr const char* kPriorityLabel = "kueue.x-k8s.io/priority-class";
constexpr const char* kMaxTimeLabel = "kueue.x-k8s.io/max-exec-time-seconds";
constexpr int kLookEveryMs = 250;
constexpr int kMostBegun = 100;                   // times that the output of a pod is asked for
constexpr Duration kLongestAway = 600 * kSecond;  // a host that is restarted comes back

/// A name made of the program's: `./Train_v2.sh` gives `train-v2`.
std::string base_name(const std::string& program) {
  std::string text = program.substr(program.rfind('/') + 1);
  text = text.substr(0, text.find('.'));
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      out += lower_ascii(c);
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  out = out.substr(0, 40);
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "job" : out;
}

Result<json::object> resources_of(const Submission& submission) {
  json::object out;
  for (const auto& [name, amount] : submission.resources) {
    const Result<api::Quantity> quantity = api::Quantity::parse(amount);
    if (!quantity) {
      return Error{
          fmt::format("{}: found \"{}\"; allowed: an amount such as 2, 500m or 4Gi", name, amount)};
    }
    out[name] = amount;
  }
  return out;
}

json::object container_of(const Submission& submission, const json::object& resources) {
  json::array command, env;
  for (const std::string& word : submission.argv) command.emplace_back(word);
  for (const auto& [name, value] : submission.env) {
    env.push_back(json::object{{"name", name}, {"value", value}});
  }
  json::object container{{"name", "main"}, {"image", "host"}, {"command", std::move(command)}};
  if (!env.empty()) container["env"] = std::move(env);
  if (!submission.working_dir.empty()) container["workingDir"] = submission.working_dir;
  if (!resources.empty()) {
    container["resources"] = json::object{{"requests", resources}, {"limits", resources}};
  }
  return container;
}

void say(const std::string& text) { fmt::print(stderr, "{}\n", text); }

/// The pods' output: a thread per pod, whole lines, with the pod's name where there are several.
class Outputs {
 public:
  Outputs(const Client& client, std::string ns, bool name_pods)
      : client_(client), ns_(std::move(ns)), name_pods_(name_pods) {}
  ~Outputs() { finish(); }

  /// Again where it ended too soon: a host that is stopped ends it as if all had been said. So
  /// once more when the pod is over.
  void follow(const std::string& pod, bool over) {
    Output& output = outputs_[pod];
    if (output.thread.joinable()) {
      if (!output.ended || output.was_over || output.begun == kMostBegun) return;
      output.thread.join();
    }
    ++output.begun;
    output.was_over = over;
    output.ended = false;
    output.thread = std::thread([this, pod, &output] { copy(pod, output); });
  }
  void finish() {
    for (auto& [pod, output] : outputs_) {
      if (output.thread.joinable()) output.thread.join();
    }
  }

 private:
  struct Output {
    std::thread thread;
    int begun = 0;
    bool was_over = false;  // the pod, when this was begun
    std::size_t taken = 0;  // bytes; the thread's, and of the next one's after it
    std::atomic<bool> ended = false;
  };

  void copy(const std::string& pod, Output& output) {
    std::string rest;
    std::size_t known = output.taken;  // is sent once more
    const Result<void> done =
        client_.stream(fmt::format("/api/v1/namespaces/{}/pods/{}/log?follow=true", ns_, pod),
                       [&](std::string_view text) {
                         const std::size_t again = std::min(known, text.size());
                         known -= again;
                         text.remove_prefix(again);
                         output.taken += text.size();
                         rest += text;
                         const std::size_t end = rest.rfind('\n');
                         if (end != std::string::npos) {
                           print(pod, std::string_view(rest).substr(0, end + 1));
                           rest.erase(0, end + 1);
                         }
                         return true;
                       });
    if (!rest.empty()) print(pod, rest + "\n");
    if (!done) say(fmt::format("no output of pod {}: {}", pod, done.error().text));
    output.ended = true;
  }
  void print(const std::string& pod, std::string_view text) {
    const std::lock_guard lock(mutex_);
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      if (name_pods_) fmt::print("[{}] ", pod);
      fmt::print("{}", text.substr(0, end));
      text.remove_prefix(end);
    }
    std::fflush(stdout);
  }

  const Client& client_;
  std::string ns_;
  bool name_pods_;
  std::mutex mutex_;
  std::map<std::string, Output> outputs_;
};

class Follower {
 public:
  Follower(const Client& client, std::string ns, std::string name, const FollowOptions& options)
      : client_(client), ns_(std::move(ns)), name_(std::move(name)), options_(options) {}

  Result<bool> run() {
    for (;;) {
      bool missing = false;
      const auto job = client_.call(
          "GET", fmt::format("/apis/batch/v1/namespaces/{}/jobs/{}", ns_, name_), {}, &missing);
      if (!job) {
        if (!comes_back(job.error())) return job.error();
        ::poll(nullptr, 0, kLookEveryMs);
        continue;
      }
      since_.reset();
      refused_ = false;
      if (missing) return Error{fmt::format("job {}/{} was deleted", ns_, name_)};
      const json::object& status = part(*job, "status");
      if (options_.logs && outputs_ == nullptr) {
        const auto pods = api::find_int(part(*job, "spec"), "completions").value_or(2);
        outputs_ = std::make_unique<Outputs>(client_, ns_, pods != 1);
      }
      if (options_.logs) follow_pods();
      for (const auto& [type, good] : {std::pair{"Complete", true}, std::pair{"Failed", false}}) {
        if (!has_condition(status, type)) continue;
        if (outputs_) outputs_->finish();
        tell(good ? "succeeded" : "failed: " + message(status, type) + how_pods_failed());
        return good;
      }
      if (tell_state(*job)) {
        if (outputs_) outputs_->finish();
        return false;
      }
      ::poll(nullptr, 0, kLookEveryMs);
    }
  }

 private:
  /// Whether it is worth while to ask again after this error: the host is away, or was just now.
  bool comes_back(const Error& error) {
    const auto ready = client_.request("GET", "/readyz");
    const bool there = ready && ready->status < 500;
    if (there && std::exchange(refused_, true)) return false;
    if (!since_) since_ = steady_now();
    if (!there) tell("the host does not answer, trying again: " + error.text);
    return steady_now() - *since_ < kLongestAway;
  }

  static std::string message(const json::object& status, std::string_view type) {
    std::string out;
    for_each_object(status, "conditions", [&](const json::object& condition) {
      if (api::find_text(condition, "type") == type) out = api::find_text(condition, "message");
    });
    return out;
  }

  /// True: it neither runs nor will, because its workload is off, or ended without it.
  bool tell_state(const json::object& job) {
    const bool active = api::find_int(part(job, "status"), "active").value_or(0) > 0;
    if (active || !api::find_bool(part(job, "spec"), "suspend", false)) {
      tell(active ? "running" : "starting");
      return false;
    }
    // As `sluice explain` tells it; nothing while it has no workload.
    const auto document = fetch_explanation(client_, {ns_, name_, "job"});
    const json::object none;
    const json::object& known = document ? *document : none;
    const std::string_view state = api::find_text(known, "state");
    const bool over = state == "Inactive" || state == "Finished";
    const json::object& evicted = part(known, "evicted");
    std::string why(api::find_text(known, "now"));
    if (why.empty()) why = api::find_text(known, "message");
    if (over && !evicted.empty())
      why = fmt::format("{}: {}", api::find_text(evicted, "reason"),
                        api::find_text(evicted, "message"));
    const char* const word = !over                 ? "waiting"
                             : state == "Inactive" ? "failed: its workload was deactivated"
                                                   : "failed: its workload has ended";
    tell(word + (why.empty() ? why : ": " + why));
    return over;
  }

  /// ` (pod NAME ended with exit status 3)` of the last one that failed; may be empty.
  std::string how_pods_failed() {
    const auto list = client_.call("GET", pods_path());
    if (!list) return {};
    LastFailure failure;
    for_each_object(*list, "items", [&](const json::object& pod) { failure.look_at(pod); });
    return failure.text().empty() ? "" : fmt::format(" ({})", failure.text());
  }

  std::string pods_path() const {
    return fmt::format("/api/v1/namespaces/{}/pods?labelSelector=job-name%3D{}", ns_, name_);
  }

  void follow_pods() {
    const auto list = client_.call("GET", pods_path());
    if (!list) return;
    for_each_object(*list, "items", [&](const json::object& pod) {
      const std::string_view phase = api::find_text(part(pod, "status"), "phase");
      if (phase.empty() || phase == "Pending") return;
      outputs_->follow(std::string(api::find_text(part(pod, "metadata"), "name")),
                       phase == "Succeeded" || phase == "Failed");
    });
  }

  void tell(const std::string& state) {
    if (state == told_) return;
    told_ = state;
    say(fmt::format("job {}/{}: {}", ns_, name_, state));
  }

  const Client& client_;
  std::string ns_, name_;
  FollowOptions options_;
  std::optional<Duration> since_;  // nothing is answered
  bool refused_ = false;           // the last question, by a host that is there
  std::string told_;
  std::unique_ptr<Outputs> outputs_;
};

/// Whether the server says that there is none of this name; not so without the right to ask.
bool is_missing(const Client& client, const std::string& path, const std::string& name) {
  bool missing = false;
  const auto found = client.call("GET", path + "/" + percent_encoded(name), {}, &missing);
  return found && missing;
}

Result<std::vector<std::string>> names_in(const Client& client, const std::string& path) {
  const auto list = client.call("GET", path);
  if (!list) return list.error();
  std::vector<std::string> out;
  for_each_object(*list, "items", [&](const json::object& object) {
    out.emplace_back(api::find_text(part(object, "metadata"), "name"));
  });
  return out;
}

}  // namespace

Result<json::object> make_job(const Submission& submission) {
  if (submission.argv.empty()) return Error{"no program was named; write it after --"};
  if (submission.parallelism < 1 || submission.completions.value_or(1) < 1) {
    return Error{"--parallelism and --completions: allowed: 1 or more"};
  }
  const Result<json::object> resources = resources_of(submission);
  if (!resources) return resources.error();
  json::object labels{{kQueueLabel, submission.queue}};
  if (!submission.priority_class.empty()) labels[kPriorityLabel] = submission.priority_class;
  if (submission.max_time) {
    labels[kMaxTimeLabel] =
        std::to_string(std::max<Duration>(1, (*submission.max_time + kSecond - 1) / kSecond));
  }
  json::object metadata{{"labels", std::move(labels)}};
  if (submission.name.empty()) {
    metadata["generateName"] = base_name(submission.argv.front()) + "-";
  } else {
    metadata["name"] = submission.name;
  }
  if (!submission.ns.empty()) metadata["namespace"] = submission.ns;
  json::object spec{{"suspend", true},
                    {"parallelism", submission.parallelism},
                    {"completions", submission.completions.value_or(submission.parallelism)},
                    {"backoffLimit", submission.retries}};
  if (submission.indexed) spec["completionMode"] = "Indexed";
  spec["template"] = json::object{
      {"spec", json::object{{"restartPolicy", "Never"},
                            {"containers", json::array{container_of(submission, *resources)}}}}};
  return json::object{{"apiVersion", "batch/v1"},
                      {"kind", "Job"},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)}};
}

Result<std::string> choose_queue(const Client& client, const std::string& ns,
                                 const std::string& wanted) {
  const std::string path =
      fmt::format("/apis/kueue.x-k8s.io/v1beta2/namespaces/{}/localqueues", percent_encoded(ns));
  if (!wanted.empty() && !is_missing(client, path, wanted)) return wanted;
  const auto names = names_in(client, path);
  if (!names) return wanted.empty() ? Result<std::string>(names.error()) : wanted;
  if (wanted.empty() && names->size() == 1) return names->front();
  if (names->empty() && is_missing(client, "/api/v1/namespaces", ns))
    return Error{fmt::format("there is no namespace {}", ns)};
  if (wanted.empty())
    return Error{
        fmt::format("--queue is missing; LocalQueues of namespace {}: {}", ns, there_are(*names))};
  return Error{
      fmt::format("there is no LocalQueue {} in namespace {}; {}", wanted, ns, there_are(*names))};
}

Result<void> check_priority_class(const Client& client, const std::string& name) {
  const std::string path = "/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses";
  if (!is_missing(client, path, name)) return {};
  const auto names = names_in(client, path);
  return Error{fmt::format("there is no WorkloadPriorityClass {}{}", name,
                           names ? "; " + there_are(*names) : "")};
}

Result<bool> follow_job(const Client& client, const std::string& ns, const std::string& name,
                        const FollowOptions& options) {
  return Follower(client, ns, name, options).run();
}

}  // namespace sluice::host
