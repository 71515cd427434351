#include "host/history/recorder.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "host/base/wall_clock.hpp"
#include "host/history/history_reader.hpp"
#include "tests/host/temporary_folder.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

const char* const kObjects[] = {
    R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system"}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"spot"}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
        "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],
        "flavors":[{"name":"spot","resources":[{"name":"cpu","nominalQuota":4}]}]}]}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
        "metadata":{"name":"main","namespace":"default"},"spec":{"clusterQueue":"cq"}})"};

/// A host whose history is written; its clock goes where a test sends it.
struct Recorders : testing::Test {
  Recorders() {
    world.clock.set(world.now);
    for (const char* object : kObjects) world.apply(object);
    settle();
    start();
  }
  ~Recorders() override { recorder.reset(); }

  void start(HistoryKeep keep = {3'600 * kSecond, 1 << 30}, const std::string& name = {}) {
    auto file = HistoryFile::open(path);
    SLUICE_CHECK(file.ok(), file.error().text);
    recorder = std::make_unique<HistoryRecorder>(
        std::move(*file), world.store, world.scheme, [this] { return world.clock.now(); }, keep,
        name);
    recorder->start();
  }
  void settle() {
    world.machine.run_to_rest();
    std::promise<void> done;
    world.store.commit([&](const Result<void>&) { done.set_value(); });
    done.get_future().wait();
  }
  void pass(std::int64_t seconds) {
    world.clock.set(world.clock.now() + seconds * kSecond);
    world.machine.begin_instant(world.clock.now());
    settle();
  }
  void submit(const std::string& name, int cpu) {
    WriteRequest request = world.request(WriteVerb::kCreate, "workloads", "",
                                         R"({"metadata":{"name":")" + name +
                                             R"("},"spec":{"queueName":"main","podSets":[{
            "name":"main","count":1,"template":{"spec":{"restartPolicy":"Never","containers":[{
            "name":"c","image":"any","resources":{"requests":{"cpu":")" +
                                             std::to_string(cpu) + R"("}}}]}}}]}})");
    request.user = "ann";
    const auto done = world.machine.write(std::move(request));
    ASSERT_TRUE(done.ok()) << done.error().text;
    settle();
  }
  void finish(const std::string& name) {
    ASSERT_TRUE(world.kernel.finish("default/" + name, "Succeeded", "").ok());
    settle();
  }
  /// As the door to a cluster drops what it assumed of an object, and takes it as it is there.
  void take_anew(const std::string& name) {
    const api::KindInfo& kind = *world.scheme.find("kueue.x-k8s.io/v1beta2", "Workload");
    const StoredObject there = *world.store.find(kind, "default/" + name);
    PreparedObject object;
    object.typed = world.kernel.intake().decode(kind, to_object(there));
    object.stored = there;
    world.kernel.erase(kind, there.key);
    world.kernel.commit(std::move(object));
  }
  /// `w1 ann cq: 0+5 ran 10, Finished; …`: queued, waited, ran, in seconds of the world.
  std::string told() {
    recorder->catch_up(std::chrono::seconds(60));
    auto reader = HistoryReader::open(path);
    const auto answer = (*reader)->answer({}, to_millis(world.clock.now()));
    std::string out;
    const auto seconds = [&](const boost::json::object& run, const char* from, Time begin) {
      const auto time = api::find_time(run, from);
      return time ? std::to_string((*time - begin) / kSecond) : std::string("never");
    };
    for_each_object(*answer, "items", [&](const boost::json::object& run) {
      const auto queued = api::find_time(run, "queued").value_or(0);
      const auto admitted = api::find_time(run, "admitted").value_or(0);
      out += text_in(run, "workload") + " " + text_in(run, "user") + " " +
             text_in(run, "clusterQueue") + ": " + seconds(run, "queued", world.now) + "+" +
             seconds(run, "admitted", queued) + " ran " +
             (admitted != 0 ? seconds(run, "ended", admitted) : "never") + ", " +
             text_in(run, "outcome") + "; ";
    });
    return out;
  }

  void set_quota(int cpu) {
    const auto done = world.merge(
        "clusterqueues", "cq",
        R"({"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"spot",
        "resources":[{"name":"cpu","nominalQuota":)" +
            std::to_string(cpu) + "}]}]}]}}");
    ASSERT_TRUE(done.ok()) << done.error().text;
    settle();
  }
  /// `4 until the end; 8; `: the nominal quotas of cq, one after the other.
  std::string quotas() {
    recorder->catch_up(std::chrono::seconds(60));
    auto reader = HistoryReader::open(path);
    const auto answer = (*reader)->quotas({});
    std::string out, end;
    for_each_object(*answer, "items", [&](const boost::json::object& item) {
      if (!end.empty() && text_in(item, "from") != end) out += "nothing; ";
      for_each_object(item, "quotas", [&](const boost::json::object& quota) {
        out += std::to_string(quota.at("nominal").to_number<int>());
      });
      end = text_in(item, "to");
      out += end.empty() ? " now" : "; ";
    });
    return out;
  }

  TemporaryFolder folder{TemporaryFolder::Where::kMemory};
  const std::string path = folder / "history.db";
  HostFixture world;
  std::unique_ptr<HistoryRecorder> recorder;
};

TEST_F(Recorders, WhatEndedIsThereWhenItsObjectIsGone) {
  submit("w1", 4);
  submit("w2", 4);
  EXPECT_EQ(told(), "w1 ann cq: 0+0 ran never, Running; ");
  pass(10);
  finish("w1");
  ASSERT_TRUE(world.remove("workloads", "w1").ok());
  pass(5);
  ASSERT_TRUE(world.remove("workloads", "w2").ok());
  settle();
  // w2 began when w1 ended. A deletion has the time of day, which is not the world's.
  const std::string all = told();
  EXPECT_TRUE(all.starts_with("w2 ann cq: 0+10 ran ")) << all;
  EXPECT_TRUE(all.ends_with(", Deleted; w1 ann cq: 0+0 ran 10, Finished; ")) << all;
}

TEST_F(Recorders, WhatIsTakenAnewInOneStepWasNeverGone) {
  submit("w1", 4);
  submit("w2", 4);
  EXPECT_EQ(told(), "w1 ann cq: 0+0 ran never, Running; ");
  take_anew("w1");
  take_anew("w2");
  settle();
  EXPECT_EQ(told(), "w1 ann cq: 0+0 ran never, Running; ");
  pass(10);
  finish("w1");
  EXPECT_EQ(told(), "w2 ann cq: 0+10 ran never, Running; w1 ann cq: 0+0 ran 10, Finished; ");
}

TEST_F(Recorders, ARestartCountsNothingTwice) {
  submit("w1", 4);
  pass(10);
  finish("w1");
  const std::string before = told();
  for (int i = 0; i < 3; ++i) {
    recorder.reset();
    start();
    EXPECT_EQ(told(), before);
  }
}

// While no recorder wrote the history, one workload ended and one began.
TEST_F(Recorders, WhatHappenedMeanwhileIsMadeUpFromTheStore) {
  submit("w1", 4);
  submit("w2", 4);
  EXPECT_EQ(told(), "w1 ann cq: 0+0 ran never, Running; ");
  recorder.reset();
  pass(10);
  finish("w1");
  pass(3);
  start();
  EXPECT_EQ(told(), "w2 ann cq: 0+10 ran never, Running; w1 ann cq: 0+0 ran 10, Finished; ");
}

// The last that was written of the world was the start of w2, 7 s after that of w1.
// As after a restart of a process that follows a cluster: the store counts its versions anew, so
// that those of the file may lie beyond what it has read, or before.
TEST_F(Recorders, VersionsOfAStoreOfAnotherNameSayNothing) {
  submit("w1", 4);
  EXPECT_EQ(told(), "w1 ann cq: 0+0 ran never, Running; ");
  recorder.reset();
  pass(10);
  finish("w1");
  const std::uint64_t version = world.store.version();
  auto file = HistoryFile::open(path);
  const HistoryPlace place = (*file)->place();
  ASSERT_TRUE((*file)->write({}, {place.store, version, version, place.seen}).ok());
  file = Error{"closed"};
  start({3'600 * kSecond, 1 << 30}, "another");
  EXPECT_EQ(told(), "w1 ann cq: 0+0 ran 10, Finished; ");
}

TEST_F(Recorders, WhatWentMeanwhileEndsWhenItWasSeenLast) {
  submit("w1", 2);
  pass(7);
  submit("w2", 2);
  EXPECT_EQ(told(), "w2 ann cq: 7+0 ran never, Running; w1 ann cq: 0+0 ran never, Running; ");
  recorder.reset();
  pass(100);
  ASSERT_TRUE(world.remove("workloads", "w1").ok());
  settle();
  start();
  EXPECT_EQ(told(), "w2 ann cq: 7+0 ran never, Running; w1 ann cq: 0+0 ran 7, Deleted; ");
}

TEST_F(Recorders, QuotasThatChangeAreKept) {
  EXPECT_EQ(quotas(), "4 now");
  submit("w1", 4);  // changes the status of the queue, and nothing else
  EXPECT_EQ(quotas(), "4 now");
  set_quota(8);
  for (const Time then = wall_clock(); to_millis(wall_clock()) == to_millis(then);) {
  }  // what lasts for no millisecond is not kept
  set_quota(2);
  EXPECT_EQ(quotas(), "4; 8; 2 now");
  recorder.reset();
  start();
  EXPECT_EQ(quotas(), "4; 8; 2 now") << "a restart changes nothing";
}

TEST_F(Recorders, QuotasThatChangedMeanwhileAreAsTheStoreHasThem) {
  EXPECT_EQ(quotas(), "4 now");
  recorder.reset();
  pass(10);
  set_quota(8);
  start();
  EXPECT_EQ(quotas(), "4; 8 now");
}

TEST_F(Recorders, OfAQueueThatWentTheQuotasStay) {
  ASSERT_TRUE(world.remove("localqueues", "main").ok());
  ASSERT_TRUE(world.remove("clusterqueues", "cq").ok());
  settle();
  EXPECT_EQ(quotas(), "4; ");
}

TEST_F(Recorders, WhatEndedTooLongAgoIsForgotten) {
  submit("w1", 4);
  pass(10);
  finish("w1");
  EXPECT_NE(told(), "");
  recorder.reset();
  pass(3'599);
  start();
  EXPECT_NE(told(), "") << "an hour is not over";
  recorder.reset();
  pass(2);
  start();
  recorder->catch_up(std::chrono::seconds(60));
  recorder.reset();
  start();
  EXPECT_EQ(told(), "");
}

}  // namespace
}  // namespace sluice::host::test
