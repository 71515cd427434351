// What if, asked of a cluster that is only looked at: the answer is what Sluice would do there.
#include "host/whatif/what_if.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "host/observe/read_only.hpp"
#include "tests/host/observe/mirror_fixture.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// A queue of 3 cpu, of which `low` holds 2, as another controller has decided.
struct Observed : MirrorFixture {
  Observed() {
    clock.set(*parse_time("2026-01-01T01:00:00Z"));
    queue("q", 3, R"("preemption":{"withinClusterQueue":"LowerPriority"},)");
    put("Workload", workload("low", "q", 2, 0, admitted("q", 2)));
    settle();
  }

  /// The status, or `CODE text`.
  std::string ask(json::array objects) {
    const WhatIfRequest request{{"reader", "", {}},
                                {{"apiVersion", "sluice.dev/v1alpha1"},
                                 {"kind", "WhatIf"},
                                 {"spec", json::object{{"objects", std::move(objects)}}}}};
    const auto done = what_if.answer(request, Deadline::max());
    if (!done) return std::to_string(done.error().code) + " " + done.error().text;
    return json::serialize(done->at("status"));
  }
  static json::value of_kind(const char* api_version, const char* kind, const std::string& rest) {
    json::object out = json::parse(rest).as_object();
    out["apiVersion"] = api_version;
    out["kind"] = kind;
    return out;
  }
  static json::array job(int cpu, const char* priority = "") {
    return {of_kind("batch/v1", "Job",
                    R"({"metadata":{"name":"asked","namespace":"ns",)" +
                        (R"("labels":{"kueue.x-k8s.io/queue-name":"q")" + std::string(priority)) +
                        R"(}},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[)" +
                        R"({"name":"c","image":"i","resources":{"requests":{"cpu":")" +
                        std::to_string(cpu) + R"("}}}]}}}})")};
  }

  Configuration config;
  ReadersOnly readers{rules->scheme, kinds_to_follow(rules->scheme, true)};
  AnybodyAsks askers{readers};
  HostWhatIf what_if{
      ForkSource{config, *rules, store}, askers, [this] {
        return Result<ForkMoment>(ForkMoment{
            .now = clock.now(), .version = store.version(), .uncertain = {"others decide here"}});
      }};
};

TEST(WhatIfOfACluster, AJobThatFitsBesideWhatIsAdmittedStarts) {
  Observed observed;
  const std::string answer = observed.ask(Observed::job(1));
  EXPECT_NE(answer.find(R"("decision":"Starts")"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("evicted"), std::string::npos) << answer;
  EXPECT_NE(answer.find(R"("uncertain":["others decide here"])"), std::string::npos) << answer;
}

TEST(WhatIfOfACluster, OneThatDoesNotFitWaits) {
  Observed observed;
  const std::string answer = observed.ask(Observed::job(2));
  EXPECT_NE(answer.find(R"("decision":"Waits")"), std::string::npos) << answer;
  EXPECT_NE(answer.find("1 more needed"), std::string::npos) << answer;
}

TEST(WhatIfOfACluster, NamesWhomItWouldCost) {
  Observed observed;
  json::array objects = Observed::job(3, R"(,"kueue.x-k8s.io/priority-class":"urgent")");
  observed.put("WorkloadPriorityClass", R"({"metadata":{"name":"urgent"},"value":9})");
  observed.settle();
  const std::string answer = observed.ask(std::move(objects));
  EXPECT_NE(answer.find(R"("decision":"Starts")"), std::string::npos) << answer;
  EXPECT_NE(answer.find(R"("workload":"ns/low")"), std::string::npos) << answer;
}

// What Sluice would do before the objects come is no consequence of theirs.
TEST(WhatIfOfACluster, WhatWaitsThereAndWouldStartHasStarted) {
  Observed observed;
  observed.put("Workload", Observed::workload("waits", "q", 1, 0));
  observed.settle();
  const std::string answer = observed.ask(Observed::job(1));
  EXPECT_NE(answer.find(R"("decision":"Waits")"), std::string::npos) << answer;
  EXPECT_EQ(answer.find(R"("changes")"), std::string::npos) << answer;
}

TEST(WhatIfOfACluster, NothingIsWritten) {
  Observed observed;
  const std::uint64_t before = observed.store.version();
  observed.ask(Observed::job(3, R"(,"kueue.x-k8s.io/priority-class":"urgent")"));
  observed.ask(Observed::job(1));
  EXPECT_EQ(observed.store.version(), before);
  EXPECT_EQ(observed.keys("Job"), std::set<std::string>());
  EXPECT_EQ(observed.keys("Workload"), std::set<std::string>({"ns/low"}));
}

TEST(WhatIfOfACluster, OfWhatIsNotFollowedNobodyMayAsk) {
  Observed observed;
  const std::string answer = observed.ask(
      {Observed::of_kind("v1", "ConfigMap", R"({"metadata":{"name":"c","namespace":"ns"}})")});
  EXPECT_TRUE(answer.starts_with("403 ")) << answer;
  EXPECT_NE(answer.find("this does not follow configmaps; ask the cluster itself"),
            std::string::npos)
      << answer;
}

}  // namespace
}  // namespace sluice::host
