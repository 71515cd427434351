#include "tests/dst/story.hpp"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "tests/dst/kubelet.hpp"
#include "tests/dst/life.hpp"
#include "tests/dst/model.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;

constexpr const char* kConfig = R"(
apiVersion: config.sluice.dev/v1alpha1
kind: Configuration
executor:
  nodes: [ { name: n, capacity: { cpu: 1000, memory: 1000Gi, pods: 10000 } } ]
scheduling:
  waitForPodsReady: { timeout: 300s }
)";
constexpr const char* kJobs = "batch/Job";  // as the journal has the kind
constexpr int kQueues = 4;  // q0 to q2 in a cohort, with two flavors each; q3 alone, with a check
constexpr Duration kLongest = 72 * 3600 * kSecond;  // for the rest after the script

class Digest final : public DecisionObserver {
 public:
  void decided(Time now, const Decision& decision) override {
    ++count;
    add(static_cast<std::uint64_t>(now));
    add(static_cast<std::uint64_t>(decision.type));
    add(decision.workload);
    for (const char c : decision.reason) add(static_cast<unsigned char>(c));
  }
  std::uint64_t value = 14695981039346656037U, count = 0;

 private:
  void add(std::uint64_t number) { value = (value ^ number) * 1099511628211U; }  // FNV-1a
};

Configuration config_of(const Script& script) {
  std::string text = kConfig;
  if (script.fair) text += "  fairSharing: { enable: true }\n";
  Configuration out = *parse_configuration(text, "story");
  out.plugins.directory = SLUICE_PLUGINS;
  if (!script.plugins) return out;
  out.plugins.load.emplace();
  for (const char* name :
       {"admission-fair-sharing", "concurrent-admission", "elastic-jobs", "flavor-fungibility"})
    out.plugins.load->emplace_back().name = name;
  return out;
}

/// Reading kinds and libraries takes longer than most lives: each life has instances of its own of
/// what the process loads once.
const Rules& loaded_once(const Configuration& config) {
  static const VirtualClock clock;
  static std::unique_ptr<const Rules> with, without;
  auto& rules = config.plugins.load ? with : without;
  if (!rules) rules = rules_of(config, clock);
  return *rules;
}

std::string queue_text(int queue, int cpus_f, int cpus_g, bool plugins) {
  const std::string cohort = queue < 3 ? R"("cohortName":"co",)" : "";
  const std::string checks =
      queue == 3 ? R"("admissionChecksStrategy":{"admissionChecks":[{"name":"gate"}]},)" : "";
  const std::string race =
      plugins && queue == 2 ? R"("concurrentAdmission":{"onSuccess":"RemoveLower"},)" : "";
  const std::string limit = queue == 1 ? R"(,"borrowingLimit":"3")" : "";
  const std::string use =
      plugins && queue == 1
          ? R"("admissionScope":{"admissionMode":"UsageBasedAdmissionFairSharing"},)"
          : "";
  return fmt::format(
      R"({{"metadata":{{"name":"q{}"}},"spec":{{{}{}{}{}"namespaceSelector":{{}},"preemption":{{
         "withinClusterQueue":"LowerPriority","reclaimWithinCohort":"Any"}},"resourceGroups":[{{
         "coveredResources":["cpu"],"flavors":[
         {{"name":"f","resources":[{{"name":"cpu","nominalQuota":"{}"{}}}]}},
         {{"name":"g","resources":[{{"name":"cpu","nominalQuota":"{}"{}}}]}}]}}]}}}})",
      queue, cohort, checks, race, use, cpus_f, limit, cpus_g, limit);
}

class Story {
 public:
  Story(const Script& script, Broken broken) : script_(script), broken_(broken) {
    clock_.set(now_);
    begin_life();
    make_queues();
    turn();
  }

  Told tell() {
    for (std::size_t i = 0; i < script_.steps.size() && told_.wrong.empty(); ++i) {
      told_.where = fmt::format("step {}: {}", i, to_text(script_.steps[i]));
      play(script_.steps[i]);
    }
    if (told_.wrong.empty()) finish();
    if (!told_.wrong.empty()) told_.objects = objects();
    told_.digest = digest_.value;
    told_.decisions = digest_.count;
    told_.pods = kubelet_.processes().size();
    return std::move(told_);
  }

 private:
  void begin_life() {
    auto rules = Rules::beside(loaded_once(config_), clock_, {}, {});
    SLUICE_CHECK(rules.ok(), rules.ok() ? "" : rules.error().text);
    life_ = std::make_unique<Life>(config_, std::move(*rules), disk_, ids_, clock_, &digest_);
    if (broken_ == Broken::kRestartsPods) kubelet_ = {};
    kubelet_.host_died();
  }

  void make_queues() {
    create("namespaces", R"({"metadata":{"name":"default"}})");
    for (const char* flavor : {"f", "g"})
      create("resourceflavors", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", flavor));
    create("admissionchecks",
           R"({"metadata":{"name":"gate"},"spec":{"controllerName":"example.com/gate"}})");
    must(life_->write(WriteVerb::kPatch, "admissionchecks//gate/status",
                      R"({"status":{"conditions":[{"type":"Active","status":"True","reason":"A",
                      "message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"));
    for (const auto& [name, value] : {std::pair("low", 0), {"high", 100}})
      create("workloadpriorityclasses",
             fmt::format(R"({{"metadata":{{"name":"{}"}},"value":{}}})", name, value));
    for (int queue = 0; queue < kQueues; ++queue) {
      create("clusterqueues", queue_text(queue, 4, 2, script_.plugins));
      for (const char* users : {"l", "m"})
        create("localqueues/default", fmt::format(R"({{"metadata":{{"name":"{0}{1}"}},"spec":{{
               "clusterQueue":"q{1}"}}}})",
                                                  users, queue));
    }
  }

  void must(const ApiResult<WriteOutcome>& done) {
    if (!done) told_.wrong.push_back("a write is refused: " + done.error().text);
  }
  /// It may come too late, or be none of the client's business.
  void may(const ApiResult<WriteOutcome>& done) {
    if (!done && done.error().code != 422 && done.error().code != 403) must(done);
  }
  void create(std::string_view path, std::string_view body) {
    must(life_->write(WriteVerb::kCreate, path, body));
  }

  void play(const Step& step) {
    switch (step.act) {
      case Act::kSubmit:
        return submit(step);
      case Act::kDelete:
        return remove(step);
      case Act::kSetQuota:
        return set_queue(step, fmt::format(R"({{"spec":{}}})", spec_with_quota(step)));
      case Act::kStop: {
        const char* const kPolicies[] = {"None", "Hold", "HoldAndDrain", "None"};
        return set_queue(step,
                         fmt::format(R"({{"spec":{{"stopPolicy":"{}"}}}})", kPolicies[step.b % 4]));
      }
      case Act::kSetActive:
        return set_active(step);
      case Act::kResize:
        return resize(step);
      case Act::kAnswer:
        return answer(step);
      case Act::kPass:
        return pass((step.a % 8) * kSecond);
      case Act::kJump:
        return pass((1 + step.a % 48) * 1800 * kSecond);
      case Act::kReport:
        kubelet_.tell(life_->machine().objects(), step.a);
        return turn();
      case Act::kCrash:
        return crash(step);
    }
  }

  void submit(const Step& step) {
    const std::string name = fmt::format("j{}", told_.jobs++);
    const std::uint32_t pods = 1 + step.b % 3, cpus = 1 + step.b / 3 % 2;
    // q2 tries options, which a job that grows cannot follow: it would be told so, and wait.
    const bool grows = script_.plugins && step.c % 3 == 0 && step.a % kQueues != 2;
    const bool partly = !grows && pods > 1 && step.b % 5 == 0;
    const std::string body = fmt::format(
        R"({{"metadata":{{"name":"{}","annotations":{{{}{}}},"labels":{{
           "kueue.x-k8s.io/queue-name":"{}{}","kueue.x-k8s.io/priority-class":"{}"}}}},"spec":{{
           {}"backoffLimit":1000,"completions":{},"parallelism":{},"template":{{"metadata":{{
           "annotations":{{"dst/seconds":"{}"}}}},"spec":{{"restartPolicy":"Never","containers":[{{
           "name":"c","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}}}}}})",
        name, grows ? R"("kueue.x-k8s.io/elastic-job":"true")" : "",
        partly ? R"("kueue.x-k8s.io/job-min-parallelism":"1")" : "", step.c % 5 < 3 ? "l" : "m",
        step.a % kQueues, step.c % 4 == 0 ? "high" : "low",
        grows ? "" : R"("completionMode":"Indexed",)", grows ? 3 * pods : pods, pods,
        1 + step.c % 20, cpus);
    must(life_->write(WriteVerb::kCreate, "jobs/default", body));
    unsure_.push_back("default/" + name);
    if (step.a % 3 == 0) turn();
  }

  void remove(const Step& step) {
    const auto jobs = keys("jobs");
    if (jobs.empty()) return;
    const std::string& key = jobs[step.a % jobs.size()];
    model_.job_deleted(key);
    std::erase(unsure_, key);
    must(life_->write(WriteVerb::kDelete, "jobs/" + key, {}));
    if (step.b % 2 == 0) turn();
  }

  std::string spec_with_quota(const Step& step) const {
    const auto object =
        json::parse(queue_text(static_cast<int>(step.a % kQueues), static_cast<int>(step.b % 7),
                               static_cast<int>(step.c % 5), script_.plugins));
    return api::to_json(object.at("spec").get_object());
  }

  void set_queue(const Step& step, const std::string& patch) {
    must(life_->write(WriteVerb::kPatch, fmt::format("clusterqueues//q{}", step.a % kQueues),
                      patch));
    turn();
  }

  void set_active(const Step& step) {
    const auto workloads = keys("workloads");
    if (workloads.empty()) return;
    may(life_->write(
        WriteVerb::kPatch, "workloads/" + workloads[step.a % workloads.size()],
        step.b % 2 == 0 ? R"({"spec":{"active":false}})" : R"({"spec":{"active":true}})"));
    turn();
  }

  void resize(const Step& step) {
    const auto jobs = keys("jobs");
    if (jobs.empty()) return;
    may(life_->write(WriteVerb::kPatch, "jobs/" + jobs[step.a % jobs.size()],
                     fmt::format(R"({{"spec":{{"parallelism":{}}}}})", 1 + step.b % 4)));
    if (step.c % 2 == 0) turn();
  }

  /// To whatever workload has the check, whatever it says already.
  void answer(const Step& step) {
    const char* const kStates[] = {"Ready", "Ready", "Ready", "Retry", "Rejected", "Pending"};
    const auto workloads = keys("workloads");
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      const std::string& key = workloads[(i + step.a) % workloads.size()];
      if (!has_check(key)) continue;
      answer(key, kStates[step.b % std::size(kStates)]);
      break;
    }
    turn();
  }
  bool has_check(const std::string& key) {
    const auto object = life_->machine().kernel().current(kind("workloads"), key);
    return api::find(part(object, "status"), "admissionChecks") != nullptr;
  }
  void answer(const std::string& key, const char* state) {
    may(life_->write(WriteVerb::kPatch, "workloads/" + key + "/status",
                     fmt::format(R"({{"status":{{"admissionChecks":[{{"name":"gate","state":"{}",
                      "message":"said so","lastTransitionTime":"2026-01-01T00:00:00Z"}}]}}}})",
                                 state)));
  }

  void pass(Duration time) {
    now_ += time;
    kubelet_.pass(now_);
    turn();
  }

  /// Before the commit, in it, or after it and before anybody heard of it; what is committed may be
  /// any part of what an instant does.
  void crash(const Step& step) {
    ++told_.crashes;
    if (step.a % 4 == 1) disk_->fail_at = disk_->writes + 1;
    if (step.a % 4 == 2) turn(step.b % 8);
    if (step.a % 4 != 0) life_->turn(now_, step.c % 8);
    disk_->fail_at = 0;
    life_.reset();
    learn();
    begin_life();
    turn();
  }

  /// What is on the disk of what nobody was told of.
  void learn() {
    for (const std::string& key : std::exchange(unsure_, {}))
      if (disk_->rows.contains({kJobs, key})) model_.job_acknowledged(key);
  }

  void turn(std::size_t steps = Kernel::kUnlimitedSteps) {
    ++told_.turns;
    if (broken_ == Broken::kForgetsWrites && told_.turns % 20 == 0) forget_a_job();
    const std::string failure = life_->turn(now_, steps);
    if (!failure.empty()) told_.wrong.push_back("the store failed: " + failure);
    for (const std::string& key : std::exchange(unsure_, {})) model_.job_acknowledged(key);
    kubelet_.look(life_->store(), life_->scheme(), trees_, now_, told_.wrong);
    model_.look(life_->store(), life_->scheme(), trees_, now_, told_.wrong);
    trees_.forget_others();
    if (steps == Kernel::kUnlimitedSteps) model_.check_in_use(kubelet_.in_use(), told_.wrong);
  }
  void forget_a_job() {
    const auto job = disk_->rows.lower_bound({kJobs, ""});
    if (job != disk_->rows.end() && job->first.first == kJobs) disk_->rows.erase(job);
  }

  /// Everybody gets what he waits for, in time.
  void finish() {
    told_.where = "after the script";
    for (int queue = 0; queue < kQueues; ++queue) {
      must(life_->write(WriteVerb::kPatch, fmt::format("clusterqueues//q{}", queue),
                        R"({"spec":{"stopPolicy":"None"}})"));
      const auto object = json::parse(queue_text(queue, 12, 12, script_.plugins));
      must(life_->write(
          WriteVerb::kPatch, fmt::format("clusterqueues//q{}", queue),
          fmt::format(R"({{"spec":{}}})", api::to_json(object.at("spec").get_object()))));
    }
    turn();
    const Time until = now_ + kLongest;
    for (Duration step = kSecond; now_ < until && !model_.unfinished().empty(); step += step / 8) {
      for (const std::string& key : keys("workloads")) wake(key);
      kubelet_.tell_all(life_->machine().objects());
      pass(step);
      if (!told_.wrong.empty()) return;
    }
    for (const std::string& job : model_.unfinished())
      told_.wrong.push_back("job " + job + " has not ended within days");
    if (!told_.wrong.empty()) return;
    pass(60 * kSecond);
    if (kubelet_.running() > 0)
      told_.wrong.push_back(fmt::format("{} pods run when all is over", kubelet_.running()));
  }

  /// Jobs, workloads and pods as they are now, a line for each.
  std::string objects() {
    std::string out;
    for (const char* name : {"jobs", "workloads", "pods"})
      for (const std::string& key : keys(name))
        out += api::to_json(life_->machine().kernel().current(kind(name), key)) + "\n";
    return out;
  }

  /// What its owner and its check's controller have to do.
  void wake(const std::string& key) {
    const auto object = life_->machine().kernel().current(kind("workloads"), key);
    if (!api::find_bool(part(object, "spec"), "active", true))
      may(life_->write(WriteVerb::kPatch, "workloads/" + key, R"({"spec":{"active":true}})"));
    bool waits = false;
    for_each_object(part(object, "status"), "admissionChecks", [&](const json::object& each) {
      waits |= api::find_text(each, "state") == "Pending";
    });
    if (waits) answer(key, "Ready");
  }

  const api::KindInfo& kind(std::string_view name) const {
    return *life_->scheme().find_by_name(name);
  }
  std::vector<std::string> keys(std::string_view name) {
    return static_cast<const ObjectAccess&>(life_->machine().objects()).keys(kind(name), "default");
  }

  const Script& script_;
  const Broken broken_;
  const Configuration config_ = config_of(script_);
  VirtualClock clock_;
  CountingIds ids_;
  std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
  Time now_ = *parse_time("2026-01-01T00:00:00Z");
  Digest digest_;
  Kubelet kubelet_;
  Model model_;
  ObjectTrees trees_;
  std::vector<std::string> unsure_;  // jobs that nobody was told of yet
  Told told_;
  std::unique_ptr<Life> life_;
};

}  // namespace

Told play(const Script& script, Broken broken) { return Story(script, broken).tell(); }

}  // namespace sluice::host::test
