// Claims as they are stored, and how the kernel keeps them in step with what plugins say.
#include "host/objects/claims.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "host/machine/machine.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

StoredObject with_metadata(std::string metadata) {
  StoredObject out;
  out.key = "ns/w";
  out.metadata = Header(std::move(metadata));
  return out;
}

TEST(StoredClaims, AreReadAsTheyWereWritten) {
  StoredObject workload = with_metadata(R"({"name":"w","annotations":{"x":"1"}})");
  EXPECT_EQ(claims_of(workload), Claims());
  set_claims(workload, {{"a", "b"}, true});
  EXPECT_EQ(claims_of(workload), (Claims{{"a", "b"}, true}));
  EXPECT_EQ(
      claims_of(boost::json::parse(R"({"metadata":)" + workload.metadata.text() + "}").as_object()),
      (Claims{{"a", "b"}, true}));
  set_claims(workload, {});
  EXPECT_EQ(workload.metadata.text(), R"({"name":"w","annotations":{"x":"1"}})");
}

TEST(StoredClaims, NamesAreInOrderEachOnceAndNobodyUnclaimedStandsAside) {
  const auto read = [](const char* annotations) {
    return claims_of(with_metadata(std::string(R"({"annotations":{)") + annotations + "}}"));
  };
  EXPECT_THAT(read(R"("sluice.dev/claimed-by":"b,,a,b")").plugins, ElementsAre("a", "b"));
  EXPECT_FALSE(read(R"("sluice.dev/takes-no-part":"true")").aside);
  EXPECT_TRUE(read(R"("sluice.dev/claimed-by":"a","sluice.dev/takes-no-part":"true")").aside);
}

/// Says of each workload that it is the plugin's, while the workload has no label `free`.
struct Claiming final : hooks::WorkloadTraits, hooks::QueueWatch {
  std::vector<std::string> asked, queues;
  void traits(const hooks::TraitsQuery& query, hooks::TraitsAnswer& out, hooks::Fault&) override {
    asked.push_back(query.workload.meta.name + " in " + std::string(query.cluster_queue));
    if (query.workload.meta.labels.find("free")) return;
    out.traits.shape_key = "x";
    out.claimed_by = {"p"};
  }
  void queue_changed(hooks::QueueId id, const api::ClusterQueue& queue) override {
    queues.push_back(std::to_string(id) + " " + queue.meta.name);
  }
};

struct KernelClaims : ::testing::Test {
  Configuration configuration;
  VirtualClock clock;
  Claiming plugin;
  std::unique_ptr<Rules> rules = with(plugin, clock);
  LiveStore store{rules->scheme, nullptr};
  CountingIds ids;
  Machine machine{configuration, *rules, {.store = store, .ids = ids, .controllers = false}};

  KernelClaims() {
    machine.begin_instant(*parse_time("2026-01-01T00:00:00Z"));
    create(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})");
  }
  static std::unique_ptr<Rules> with(Claiming& plugin, const PluginClock& clock) {
    auto rules = Rules::without_plugins(clock);
    rules->hooks.workload_traits = &plugin;
    rules->hooks.queue_watch = &plugin;
    rules->hooks.plugins = {"p"};
    return rules;
  }
  ObjectAccess& objects() { return machine.objects(); }
  void create(std::string_view text) {
    const auto done = objects().create(boost::json::parse(text).as_object());
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  void submit(const std::string& name) {
    create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
           name + R"(","namespace":"default"},"spec":{"queueName":"lq","podSets":[{"name":"main",
           "count":1,"template":{"spec":{"containers":[{"name":"c"}]}}}]}})");
  }
  const StoredObject& stored(const std::string& name) {
    return *store.find(*rules->scheme.find_by_name("workloads"), "default/" + name);
  }
};

TEST_F(KernelClaims, AreStoredWithTheWorkloadAtOnce) {
  submit("w");
  EXPECT_THAT(claims_of(stored("w")).plugins, ElementsAre("p"));
  const std::uint64_t version = stored("w").version;
  machine.kernel().run_to_rest();
  EXPECT_EQ(claims_of(stored("w")).plugins, std::vector<std::string>{"p"});
  EXPECT_LE(stored("w").version, version + 1) << "the claim costs no write of its own";
}

TEST_F(KernelClaims, GoWithTheWriteAfterWhichThePluginSaysNothing) {
  submit("w");
  machine.kernel().run_to_rest();
  auto object = to_object(stored("w"));
  object["metadata"].as_object()["labels"] = {{"free", "yes"}};
  ASSERT_TRUE(objects().update(std::move(object)).ok());
  EXPECT_THAT(claims_of(stored("w")).plugins, IsEmpty());
}

TEST_F(KernelClaims, WhoWaitsIsAskedAboutAgainWhenItsQueueComes) {
  submit("w");
  machine.kernel().run_to_rest();
  create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq",
             "namespace":"default"},"spec":{"clusterQueue":"cq"}})");
  plugin.asked.clear();
  machine.kernel().run_to_rest();
  EXPECT_THAT(plugin.asked, ElementsAre("w in cq"));
  machine.kernel().run_to_rest();
  EXPECT_THAT(plugin.asked, ElementsAre("w in cq")) << "once";
}

TEST_F(KernelClaims, WatchersOfQueuesHearOfEachWithItsNumber) {
  for (const char* name : {"cq", "other"})
    create(std::string(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
                           "metadata":{"name":")") +
           name + R"("},"spec":{}})");
  EXPECT_THAT(plugin.queues, ElementsAre("0 cq", "1 other"));
}

}  // namespace
}  // namespace sluice::host
