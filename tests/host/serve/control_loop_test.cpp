// ControlLoop: writes of many threads, each worked out beside the thread that carries them out:
// none is lost, none is answered twice, and what one saw is what it changed (A7).
#include "host/serve/control_loop.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/json/parse.hpp>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "api/json/json.hpp"

namespace sluice::host {
namespace {

constexpr int kThreads = 4;
constexpr int kWrites = 60;  // of each

struct Host {
  Configuration configuration;
  SystemPluginClock clock;
  std::unique_ptr<Rules> rules = Rules::without_plugins(clock);
  LiveStore store{rules->scheme, nullptr};
  LiveIds ids;
  Machine machine{configuration, *rules, {.store = store, .ids = ids}};
  ControlLoop loop;

  explicit Host(ControlLoopLimits limits = {}) : loop(machine, store, clock, limits) {
    loop.start();
    for (const char* text : {R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}})",
                             R"({"apiVersion":"v1","kind":"ConfigMap",
                                 "metadata":{"name":"m","namespace":"a"},"data":{"n":"0"}})"})
      EXPECT_TRUE(loop.run_and_wait([&](ObjectAccess& objects) {
        EXPECT_TRUE(objects.create(boost::json::parse(text).get_object()).ok());
      }));
  }

  WriteRequest request(WriteVerb verb, const char* kind, const std::string& name,
                       const std::string& body, const std::string& user) {
    WriteRequest out;
    out.verb = verb;
    out.kind = rules->scheme.find_by_name(kind);
    out.version = out.kind->versions.front().name;
    out.ns = "a";
    out.name = name;
    out.user = out.field_manager = user;
    out.body = boost::json::parse(body);
    return out;
  }
  /// The code that it is answered with.
  int write(WriteRequest request) {
    std::promise<int> code;
    loop.submit(std::move(request), [&](ApiResult<WriteOutcome> done) {
      code.set_value(done ? done->code : done.error().code);
    });
    return code.get_future().get();
  }
  boost::json::object map() {
    return to_object(*store.get(*rules->scheme.find_by_name("configmaps"), "a/m"));
  }
};

/// Each thread adds its own keys to one object, by patches that overtake each other.
void add_keys_from_all_sides(Host& host) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&host, t] {
      const std::string user = "user" + std::to_string(t);
      for (int i = 0; i < kWrites; ++i) {
        const std::string key = user + "-" + std::to_string(i);
        EXPECT_EQ(host.write(host.request(WriteVerb::kPatch, "configmaps", "m",
                                          R"({"data":{")" + key + R"(":"v"}})", user)),
                  200);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(host.map().at("data").as_object().size(), 1U + kThreads * kWrites);
}

TEST(ControlLoop, A7_PatchesOfManyThreadsAllCount) {
  Host host;
  add_keys_from_all_sides(host);
  host.loop.stop();
  const DraftCounts& drafts = host.loop.drafts();
  EXPECT_EQ(drafts.taken + drafts.anew, static_cast<std::uint64_t>(kThreads * kWrites));
  EXPECT_GT(drafts.taken, 0U);
  EXPECT_EQ(drafts.sent_back, 0U) << "they are little work";
}

TEST(ControlLoop, A7_WhatIsMuchWorkIsSentBackAFewTimes) {
  ControlLoopLimits limits;
  limits.long_draft = 0;
  Host host(limits);
  add_keys_from_all_sides(host);
  host.loop.stop();
  const DraftCounts& drafts = host.loop.drafts();
  EXPECT_EQ(drafts.taken + drafts.anew, static_cast<std::uint64_t>(kThreads * kWrites));
  EXPECT_LE(drafts.sent_back, static_cast<std::uint64_t>((limits.drafts - 1) * kThreads * kWrites));
}

// One of them is right about what it saw, each time.
TEST(ControlLoop, A7_OfTwoWhoSawTheSameOneWins) {
  Host host;
  std::atomic<int> won{0}, lost{0};
  for (int round = 0; round < 30; ++round) {
    const std::string version(
        api::find_text(host.map().at("metadata").as_object(), "resourceVersion"));
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        const std::string user = "user" + std::to_string(t);
        const int code = host.write(host.request(WriteVerb::kUpdate, "configmaps", "m",
                                                 R"({"metadata":{"name":"m","resourceVersion":")" +
                                                     version + R"("},"data":{"who":")" + user +
                                                     std::to_string(round) + R"("}})",
                                                 user));
        EXPECT_TRUE(code == 200 || code == 409) << code;
        ++(code == 200 ? won : lost);
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(won, 30);
  EXPECT_EQ(lost, 30 * (kThreads - 1));
}

TEST(ControlLoop, A7_TasksAsideRunAndWhatComesAfterTheEndIsRefused) {
  Host host;
  std::promise<int> aside;
  ASSERT_TRUE(host.loop.run_aside("u", [&] {
    aside.set_value(host.write(host.request(
        WriteVerb::kCreate, "jobs", "",
        R"({"metadata":{"generateName":"j-"},"spec":{"suspend":true,"template":{"spec":{
            "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})",
        "u")));
  }));
  EXPECT_EQ(aside.get_future().get(), 201);
  host.loop.stop();
  EXPECT_FALSE(host.loop.run_aside("u", [] {}));
  EXPECT_EQ(host.write(host.request(WriteVerb::kPatch, "configmaps", "m", "{}", "u")), 503);
}

// What waits is full: the one who floods is refused what is beyond his share, with the time after
// which he may ask again; who comes late and asks for little has it.
TEST(ControlLoop, AFloodIsRefusedItselfAndNobodyElse) {
  ControlLoopLimits limits;
  limits.waiting_writes = 20;
  Host host(limits);
  std::promise<void> begun, go;
  host.loop.post([&](ObjectAccess&) {  // nothing is carried out meanwhile
    begun.set_value();
    go.get_future().wait();
  });
  begun.get_future().wait();
  constexpr int kFlood = 50, kPolite = 5;
  std::atomic<int> flood_done{0}, flood_refused{0}, polite_done{0}, without_time{0}, answered{0};
  const auto submit = [&](const std::string& user, int i, std::atomic<int>& done,
                          std::atomic<int>& refused) {
    host.loop.submit(host.request(WriteVerb::kPatch, "configmaps", "m",
                                  R"({"data":{")" + user + std::to_string(i) + R"(":"v"}})", user),
                     [&](ApiResult<WriteOutcome> result) {
                       if (!result && result.error().retry_after_seconds == 0) ++without_time;
                       ++(result ? done : refused);
                       ++answered;
                     });
  };
  std::atomic<int> never{0};
  for (int i = 0; i < kFlood; ++i) submit("mallory", i, flood_done, flood_refused);
  EXPECT_EQ(flood_refused, kFlood - 20);
  for (const char* user : {"ann", "bob"})
    for (int i = 0; i < kPolite; ++i) submit(user, i, polite_done, never);
  EXPECT_EQ(never, 0);
  EXPECT_EQ(flood_refused, kFlood - 20 + 2 * kPolite);
  // A second flood gets as much as the first has, and no more: (20 - 10) / 2.
  std::atomic<int> second_done{0}, second_refused{0};
  for (int i = 0; i < kFlood; ++i) submit("trudy", i, second_done, second_refused);
  go.set_value();
  host.loop.stop();
  EXPECT_EQ(answered, 2 * kFlood + 2 * kPolite);
  EXPECT_EQ(polite_done, 2 * kPolite);
  EXPECT_EQ(flood_done, 5);
  EXPECT_EQ(second_done, 5);
  EXPECT_EQ(without_time, 0);
}

}  // namespace
}  // namespace sluice::host
