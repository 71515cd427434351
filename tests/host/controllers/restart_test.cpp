// A restart of the host: what is in the store is taken over, and nothing is written that the store
// says already.
#include "host/store/carried.hpp"
#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// All that a running host has below the API server, on what a journal holds.
struct Life {
  Life(Time at, std::unique_ptr<Journal> journal) : store(scheme, std::move(journal)), now(at) {
    kernel.begin_instant(now);
    machine.load();
  }
  void apply(const std::string& text) {
    ObjectAccess& access = objects;
    auto object = boost::json::parse(text).get_object();
    if (object.at("kind") == "Job") object.at("metadata").get_object()["namespace"] = "default";
    const auto done = access.create(std::move(object));
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  /// Everything that can be done is done, also what waits for a moment.
  void rest() {
    for (int i = 0; i < 5; ++i) {
      now += kSecond;
      kernel.begin_instant(now);
      kernel.run_to_rest();
    }
    store.commit(nullptr);
  }
  std::string cpus(const std::string& cluster_queue, const std::string& quota) {
    return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":")" +
           cluster_queue + R"("},"spec":{"namespaceSelector":{},"resourceGroups":[{
           "coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu",
           "nominalQuota":")" +
           quota + R"("}]}]}]}})";
  }

  Configuration configuration;
  VirtualClock clock;
  std::unique_ptr<Rules> rules = Rules::without_plugins(clock);
  api::Scheme& scheme = rules->scheme;
  LiveStore store;
  CountingIds ids;
  EventLog log;
  Machine machine{configuration, *rules, {.store = store, .ids = ids, .events = &log}};
  Kernel& kernel = machine.kernel();
  ObjectWriter& objects = machine.objects();
  Time now;
};

struct Restart : ::testing::Test {
  void SetUp() override {
    Life first(*parse_time("2026-01-01T00:00:00Z"), nullptr);
    for (const char* text :
         {R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})",
          R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"f"}})",
          R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
              "metadata":{"name":"lq","namespace":"default"},"spec":{"clusterQueue":"cq"}})",
          R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
              "metadata":{"name":"nowhere","namespace":"default"},
              "spec":{"clusterQueue":"absent"}})"})
      first.apply(text);
    first.apply(first.cpus("cq", "3"));
    // Two of four fit; the queue of the last does not exist.
    for (const std::string name : {"a", "b", "c", "d"})
      first.apply(JobWorld::job(name, name == "a" ? 2 : 1, JobWorld::queued()));
    first.apply(JobWorld::job("lost", 1, JobWorld::queued("nowhere")));
    first.rest();
    EXPECT_THAT(first.log.lines, Contains(StartsWith("Workload ExceedsMaxQuota")).Times(0));
    EXPECT_THAT(first.log.lines, Contains(StartsWith("Workload WaitingForQuota")).Times(2));
    EXPECT_THAT(first.log.lines, Contains(StartsWith("Workload Misconfigured")).Times(1));
    before = first.now;
    version = first.store.working_version();
    first.store.commit([](const Result<void>&) {});
    while (first.store.version() < version) std::this_thread::yield();
    carried.take(first.store, first.scheme);
  }
  Carried carried;
  std::uint64_t version = 0;
  Time before = 0;
};

TEST_F(Restart, WritesNothingWhileNothingChanged) {
  Life second(before + kSecond, carried.journal());
  EXPECT_EQ(second.kernel.engine().workloads().size(), 5u);
  second.rest();
  EXPECT_EQ(second.store.working_version(), version);
  EXPECT_THAT(second.log.lines, IsEmpty());
}

TEST_F(Restart, TellsAReasonThatIsAnother) {
  Life second(before + kSecond, carried.journal());
  second.rest();
  // Where the queue was not known it is now, with no quota at all; the others' reason is the same.
  second.apply(second.cpus("absent", "0"));
  second.rest();
  EXPECT_THAT(second.log.lines, Contains(StartsWith("Workload ExceedsMaxQuota")).Times(1));
  EXPECT_THAT(second.log.lines, Contains(StartsWith("Workload WaitingForQuota")).Times(0));
  EXPECT_GT(second.store.working_version(), version);
}

}  // namespace
}  // namespace sluice::host::test
