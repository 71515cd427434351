// Random lives of many elastic jobs: resizes, preemptions, ends, checks, quota cuts, kills of the
// host. What must hold, holds after every step.
#include <random>

#include "elastic_world.hpp"
#include "tests/support/amount.hpp"

namespace elastic::test {
namespace {

using ::testing::IsEmpty;

class Lives {
 public:
  explicit Lives(std::uint32_t seed) : random_(seed), checked_(seed % 2 == 1) {
    for (const std::string value : {"5", "9"})
      world_.apply(
          R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"p)" +
          value + R"("},"value":)" + value + "}");
    if (checked_) world_.check("slow");
    world_.queue(
        "8", "6",
        checked_ ? R"("admissionChecksStrategy":{"admissionChecks":[{"name":"slow"}]},)" : "");
    world_.watch = [this] { check(); };
  }

  void run(int steps) {
    for (step_ = 0; step_ < steps && !::testing::Test::HasFailure(); ++step_) act();
    world_.watch = {};
    for (const std::string& job : world_.names("jobs")) world_.drop("jobs", job);
    for (int i = 0; i < 3; ++i) world_.run_pods();
    EXPECT_THAT(world_.names("workloads"), IsEmpty()) << story_;
    EXPECT_THAT(world_.names("pods"), IsEmpty()) << story_;
    EXPECT_EQ(world_.cpus(), 0) << story_;
  }

 private:
  int draw(int below) { return static_cast<int>(random_() % static_cast<std::uint32_t>(below)); }

  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(draw(static_cast<int>(from.size())))];
  }

  void act() {
    const auto jobs = world_.names("jobs");
    const int what = draw(20);
    if (jobs.empty() || (what < 3 && jobs.size() < 7)) return submit();
    const std::string job = pick(jobs);
    if (what < 10) return resize(job);
    if (what < 12) return end_pod(job);
    if (what < 13) return drop(job);
    if (what < 16) return answer();
    if (what < 17) return quota();
    if (what < 18) return pass();
    if (what < 19) return run_pods();
    tell("kill");
    world_.restart();
  }

  void submit() {
    const std::string name = "j" + std::to_string(next_++);
    const int priority = pick(std::vector<int>{0, 0, 5, 9});
    const int size = 1 + draw(4);
    const bool elastic = draw(6) != 0;
    tell("submit " + name + " " + std::to_string(size) + " priority " + std::to_string(priority) +
         (elastic ? "" : " plain"));
    world_.submit(ElasticWorld::job_text(name, size, elastic ? ElasticWorld::kElastic : "",
                                         priority, R"("completions":7,)"));
  }
  void resize(const std::string& job) {
    const int size = draw(7);
    tell("resize " + job + " to " + std::to_string(size));
    if (draw(2) == 0) return world_.resize(job, size);
    world_.change("jobs", job, R"({"spec":{"parallelism":)" + std::to_string(size) + "}}");
  }
  void end_pod(const std::string& job) {
    for (const auto& pod : world_.pods(job)) {
      if (!pod.running || pod.deleting) continue;
      tell("end of " + pod.name);
      return world_.succeed(pod.name);
    }
  }
  void drop(const std::string& job) {
    tell("delete " + job);
    world_.drop("jobs", job);
    world_.run_pods();
  }
  /// A check controller answers for all workloads that wait for their checks.
  void answer() {
    if (!checked_) return;
    for (const std::string& name : world_.names("workloads")) {
      if (!world_.exists("workloads", "default/" + name)) continue;  // ended by an earlier answer
      if (ElasticWorld::state(world_.get("workloads", "default/" + name)) != "reserved") continue;
      const char* state =
          pick(std::vector<const char*>{"Ready", "Ready", "Ready", "Retry", "Rejected"});
      tell("check of " + name + " " + state);
      world_.answer(name, "slow", state);
    }
    world_.run_pods();
  }
  void quota() {
    const std::string small = std::to_string(draw(10));
    const std::string large = std::to_string(draw(8));
    tell("quota " + small + " and " + large);
    world_.quota(small, large);
  }
  void pass() {
    tell("time");
    world_.pass(90 * kSecond);
  }
  void run_pods() {
    tell("pods");
    world_.run_pods();
  }
  void tell(const std::string& text) { story_ += std::to_string(step_) + " " + text + "\n"; }

  static std::int64_t counted(const json::object& w) {
    std::int64_t sum = 0;
    for (const auto& each : w.at("status").at("admission").at("podSetAssignments").as_array()) {
      std::int64_t done = 0;
      if (const auto* list = api::find_array(w.at("status").as_object(), "reclaimablePods"))
        for (const auto& freed : *list) done += freed.at("count").as_int64();
      sum += each.at("count").as_int64() - done;
    }
    return sum;
  }

  void check() {
    if (::testing::Test::HasFailure()) return;
    std::map<std::string, std::int64_t> held, granted, open, awake;
    for (const std::string& name : world_.names("workloads")) {
      const auto w = world_.get("workloads", "default/" + name);
      const std::string job = ElasticWorld::at(w, "/metadata/ownerReferences/0/name");
      const std::string state = ElasticWorld::state(w);
      if (ElasticWorld::condition(w, "Finished") == "True") continue;
      ++open[job];
      if (ElasticWorld::condition(w, "QuotaReserved") == "True")
        held[job] = std::max(held[job], counted(w));
      if (ElasticWorld::condition(w, "Admitted") == "True")
        for (const auto& each : w.at("status").at("admission").at("podSetAssignments").as_array())
          granted[job] += each.at("count").as_int64();
    }
    for (const auto& pod : world_.pods())
      if (!pod.gated && !pod.ended && !pod.deleting) ++awake[pod.job];
    std::int64_t sum = 0;
    for (const auto& [job, amount] : held) sum += amount;
    EXPECT_EQ(world_.cpus(), sum) << story_;
    for (const auto& [job, count] : open) EXPECT_LE(count, 2) << job << "\n" << story_;
    for (const auto& [job, count] : awake) EXPECT_LE(count, granted[job]) << job << "\n" << story_;
  }

  std::mt19937 random_;
  bool checked_;
  ElasticWorld world_;
  std::string story_;
  int step_ = 0, next_ = 0;
};

class ManyLives : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(ManyLives, LeaveNothingBehindAndNeverTakeMoreThanTheyGot) { Lives(GetParam()).run(60); }

const auto lives = static_cast<std::uint32_t>(sluice::trial::share_of(8));
INSTANTIATE_TEST_SUITE_P(Seeds, ManyLives, ::testing::Range(1U, 1U + lives));

}  // namespace
}  // namespace elastic::test
