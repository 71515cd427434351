// When something would start, on whole loads: queues of one cohort that borrow and take back, jobs
// of several sizes and priorities that always wait for one another, of which each LocalQueue has
// its own kind of run time. Again and again one job more is asked about, submitted, and the load
// played on as the jobs truly run, until it starts.
//
// Where jobs say how long they run the start is the one that was told. Where they do not, it lies
// in the interval as often as that says. SLUICE_ESTIMATES=N asks N questions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "host/whatif/what_if.hpp"
#include "tests/host/whatif/everybody.hpp"
#include "tests/host/whatif/live_world.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;

constexpr int kLocalQueues = 6;  // LocalQueues; two of each ClusterQueue
constexpr int kWaiting = 6;

int questions() { return trial::amount("SLUICE_ESTIMATES", 40); }

/// A load that plays itself.
class Load : public LiveWorld {
 public:
  /// `says`: jobs say how long they run.
  Load(unsigned seed, bool says) : random_(seed), says_(says) {
    apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
        "metadata":{"name":"f"}})");
    for (int i = 0; i < kLocalQueues / 2; ++i)
      apply(fmt::format(
          R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{{"name":
          "c{}"}},"spec":{{"cohortName":"all","namespaceSelector":{{}},"preemption":{{
          "reclaimWithinCohort":"Any","withinClusterQueue":"LowerPriority"}},"resourceGroups":[{{
          "coveredResources":["cpu"],"flavors":[{{"name":"f","resources":[{{"name":"cpu",
          "nominalQuota":"8"}}]}}]}}]}}}})",
          i));
    for (int i = 0; i < kLocalQueues; ++i)
      apply(fmt::format(R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":
          {{"name":"q{}","namespace":"a"}},"spec":{{"clusterQueue":"c{}"}}}})",
                        i, i / 2));
    settle();
  }

  /// Submits what keeps some waiting, and goes on to the next end of a job.
  void step() {
    while (waiting() < kWaiting) submit(workload(next_name()));
    go_on();
  }

  /// What is told of one more job, and when it truly starts if nothing else comes.
  struct Outcome {
    std::optional<Time> earliest, latest;
    int percent = 0;
    Time truly = 0;
    bool waited = false;
  };
  Outcome ask_and_see() {
    const std::string name = next_name(), text = workload(name);
    const WhatIfRequest request{{"somebody", "", {}},
                                {{"apiVersion", "sluice.dev/v1alpha1"},
                                 {"kind", "WhatIf"},
                                 {"spec", json::object{{"objects", {json::parse(text)}}}}}};
    const auto answer = service_.answer(request, Deadline::max());
    SLUICE_CHECK(answer.ok(), answer.ok() ? "" : answer.error().text);
    const json::object start =
        part(answer->at("status").at("workloads").at(0).as_object(), "start");
    Outcome out{api::find_time(start, "earliest"), api::find_time(start, "latest"),
                static_cast<int>(api::find_int(start, "percent").value_or(0)), 0, !start.empty()};
    submit(text);
    for (int i = 0; i < 10'000 && !first_start_.contains(name); ++i) go_on();
    SLUICE_CHECK(first_start_.contains(name), name, "never started");
    out.truly = first_start_[name];
    return out;
  }

 private:
  std::string next_name() { return fmt::format("w{}", count_++); }

  /// Some minutes, of each queue others, with a long tail.
  Duration run_time(int queue) {
    std::lognormal_distribution<double> minutes(0.7 + 0.3 * queue, 0.7);
    return std::max<Duration>(1, std::llround(minutes(random_) * 60)) * kSecond;
  }

  std::string workload(const std::string& name) {
    const int queue = std::uniform_int_distribution(0, kLocalQueues - 1)(random_);
    const Duration time = run_time(queue);
    true_time_[name] = time;
    const std::string says =
        says_ ? fmt::format(R"("annotations":{{"sluice.dev/runtime":"{}s"}},)", time / kSecond)
              : std::string();
    return fmt::format(
        R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{{{}"name":"{}",
        "namespace":"a"}},"spec":{{"queueName":"q{}","priority":{},"podSets":[{{"name":"main",
        "count":1,"template":{{"spec":{{"containers":[{{"name":"c","image":"i","resources":{{
        "requests":{{"cpu":"{}"}}}}}}]}}}}}}]}}}})",
        says, name, queue, std::uniform_int_distribution(0, 9)(random_) == 0 ? 10 : 0,
        std::uniform_int_distribution(1, 5)(random_));
  }

  void submit(const std::string& text) {
    apply(text);
    settle();
    look();
  }

  int waiting() const {
    int out = 0;
    for (const WorkloadId id : engine().workloads())
      out += engine().state(id) == WorkloadState::kPending ? 1 : 0;
    return out;
  }

  /// Who runs since when; whoever lost his place begins anew when he has one again.
  void look() {
    std::map<std::string, Time> running;
    for (const WorkloadId id : engine().workloads()) {
      if (engine().state(id) != WorkloadState::kAdmitted) continue;
      const std::string name = engine().object(id)->meta.name;
      const Time start = engine().status(id).condition("Admitted")->last_transition_time;
      running[name] = start + true_time_.at(name);
      first_start_.try_emplace(name, start);
    }
    ends_ = std::move(running);
  }

  /// To the next moment at which jobs end, or at which somebody evicted waits no longer.
  void go_on() {
    look();
    Time next = machine.next_timer();
    for (const auto& [name, end] : ends_) next = std::min(next, end);
    SLUICE_CHECK(next != kNever, "nothing is left to happen");
    if (next > clock.now()) pass(next - clock.now());
    for (const auto& [name, end] : std::map(ends_))
      if (end <= clock.now())
        SLUICE_CHECK(machine.kernel().finish("a/" + name, "Succeeded", "so").ok(), name);
    settle();
    look();
  }

  std::mt19937 random_;
  const bool says_;
  int count_ = 0;
  std::map<std::string, Duration> true_time_;
  std::map<std::string, Time> first_start_, ends_;
  Everybody everybody_;
  PastRunTimes kept_;
  HostWhatIf service_{source(), everybody_, [this] { return Result<ForkMoment>(moment()); },
                      [this] { return kept_; }};
};

/// Asks so many questions about loads that have run for a while.
struct Tally {
  int asked = 0, waited = 0, bounded = 0, right = 0, exact = 0;
  double said = 0;  // the sum of what the answers say

  void ask(int questions, bool says, int warm_up) {
    constexpr int kOfOneLoad = 10;
    for (unsigned seed = 1; asked < questions; ++seed) {
      Load load(seed, says);
      for (int i = 0; i < warm_up; ++i) load.step();
      for (int i = 0; i < kOfOneLoad && asked < questions; ++i) {
        for (int n = 0; n < 7; ++n) load.step();
        add(load.ask_and_see());
      }
    }
  }
  void add(const Load::Outcome& outcome) {
    ++asked;
    if (!outcome.waited) return;
    ++waited;
    if (!outcome.earliest || !outcome.latest) return;
    ++bounded;
    said += outcome.percent / 100.0;
    right += *outcome.earliest <= outcome.truly && outcome.truly <= *outcome.latest ? 1 : 0;
    exact += *outcome.earliest == outcome.truly && outcome.truly == *outcome.latest ? 1 : 0;
  }
  std::string told() const {
    return fmt::format("{} asked, {} would wait, {} had both ends: said {:.1f} %, right {:.1f} %",
                       asked, waited, bounded, 100 * said / bounded, 100.0 * right / bounded);
  }
};

TEST(ReplayedLoads, JobsThatSayTheirTimeStartWhenItWasTold) {
  Tally tally;
  tally.ask(questions(), true, 10);
  ASSERT_GT(tally.waited, tally.asked / 2) << tally.told();
  EXPECT_EQ(tally.bounded, tally.waited) << tally.told();
  EXPECT_EQ(tally.exact, tally.waited) << tally.told();
  fmt::print("{}\n", tally.told());
}

TEST(ReplayedLoads, AnIntervalOutOfPastRunsIsRightAsOftenAsItSays) {
  Tally tally;
  tally.ask(questions(), false, 150);
  ASSERT_GT(tally.bounded, tally.asked / 2) << tally.told();
  const double said = tally.said / tally.bounded;
  const double deviation = std::sqrt(said * (1 - said) / tally.bounded);
  // So often, and not much more often, give or take three standard deviations.
  EXPECT_NEAR(tally.right, tally.bounded * said, tally.bounded * (0.05 + 3 * deviation))
      << tally.told();
  fmt::print("{}\n", tally.told());
}

}  // namespace
}  // namespace sluice::host::test
