// Writes that a plugin's process takes its time to judge: they are laid aside, others go on, and
// they are carried out when the answer, the death of the process or its time-out is there.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/json/json.hpp"
#include "host/serve/control_loop.hpp"

namespace sluice::host {
namespace {

using Outcome = ApiResult<WriteOutcome>;

constexpr const char* kPlain = R"({"metadata":{"name":"NAME"}})";
/// Judged when it is told to: by the second question, and by the first.
constexpr const char* kSlow = R"({"metadata":{"name":"NAME"},"data":{"slow":"validate"}})";
constexpr const char* kSlowDefaults =
    R"({"metadata":{"name":"NAME"},"data":{"slow":"set_defaults"}})";

constexpr const char* kOurs =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","namespace":"a"}})";
constexpr const char* kTheirs =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","namespace":"a"},
        "data":{"theirs":"kept"}})";

/// What the plugin logs, to be waited for.
class Log {
 public:
  void add(std::string_view text) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(text);
    came_.notify_all();
  }
  /// The `n`th line that begins so, without that.
  std::string nth(const std::string& words, int n) {
    std::unique_lock lock(mutex_);
    std::string out;
    const auto found = [&] {
      int left = n;
      for (const std::string& line : lines_)
        if (line.starts_with(words) && --left == 0) {
          out = line.substr(words.size());
          return true;
        }
      return false;
    };
    EXPECT_TRUE(came_.wait_for(lock, std::chrono::seconds(60), found))
        << words << " did not come " << n << " times, but " << ::testing::PrintToString(lines_);
    return out;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::string> lines_;
};

class LaidAside : public ::testing::Test {
 protected:
  /// fixtures/peer.py as the judge of ConfigMaps.
  void start(Duration call_timeout = 600 * kSecond, FailurePolicy policy = FailurePolicy::kClosed) {
    PluginConfig peer{"peer", true, policy, "", "{}"};
    peer.process.emplace();
    peer.process->command = {SLUICE_PYTHON, "-ISB",
                             SLUICE_SOURCE "/tests/host/plugins/fixtures/peer.py"};
    peer.process->environment = {{"PEER", "judges-maps"}};
    peer.process->first_pause = peer.process->longest_pause = kMillisecond;
    peer.process->call_timeout = call_timeout;
    PluginsConfig plugins;
    plugins.load = {peer};
    auto loaded =
        Rules::load(plugins, std::nullopt, clock,
                    [this](int, std::string_view, std::string_view text) { log.add(text); });
    ASSERT_TRUE(loaded.ok()) << loaded.error().text;
    rules = std::move(*loaded);
    store.emplace(rules->scheme, nullptr);
    machine.emplace(configuration, *rules, MachineEdges{.store = *store, .ids = ids});
    loop.emplace(*machine, *store, clock, limits);
    plugin().set_patience(kMillisecond);
    plugin().set_wake([this] { loop->wake(); });
    loop->start();
    change(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}})");
  }

  void TearDown() override {
    if (!loop) return;
    loop->stop();
    plugin().set_wake({});
  }

  PluginSet& plugin() { return rules->plugins->plugins(); }

  /// As a controller does, for which all others wait: creates it, or updates it. `first` is run
  /// when all others wait already.
  void change(
      const std::string& text, const std::function<void()>& first = [] {}) {
    EXPECT_TRUE(loop->run_and_wait([&](ObjectAccess& objects) {
      first();
      boost::json::object object = boost::json::parse(text).get_object();
      const ApiResult<void> created = objects.create(object);
      if (created) return;
      const ApiResult<void> updated = objects.update(std::move(object));
      EXPECT_TRUE(updated) << updated.error().text;
    }));
  }

  std::future<Outcome> write(WriteVerb verb, const char* kind, const std::string& name,
                             std::string body, const std::string& connection) {
    if (const auto at = body.find("NAME"); at != body.npos) body.replace(at, 4, name);
    WriteRequest out;
    out.verb = verb;
    out.kind = rules->scheme.find_by_name(kind);
    out.version = out.kind->versions.front().name;
    out.ns = "a";
    out.name = verb == WriteVerb::kCreate ? "" : name;
    out.user = out.field_manager = "somebody";
    out.connection = connection;
    out.body = boost::json::parse(body);
    auto promise = std::make_shared<std::promise<Outcome>>();
    auto future = promise->get_future();
    loop->submit(std::move(out), [promise](Outcome done) { promise->set_value(std::move(done)); });
    return future;
  }
  std::future<Outcome> create(const char* kind, const std::string& name, const char* body,
                              const std::string& connection) {
    return write(WriteVerb::kCreate, kind, name, body, connection);
  }

  /// A patch of a/m that is judged while a controller changes that object.
  std::future<Outcome> overtaken_patch() {
    change(kOurs);
    auto judged =
        write(WriteVerb::kPatch, "configmaps", "m", R"({"data":{"slow":"validate"}})", "one");
    log.nth("judges m, ", 1);
    change(kTheirs, [this] { release("m"); });
    return judged;
  }

  static bool is_there(const std::future<Outcome>& answer) {
    return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  /// Lets the plugin answer what it was asked as the `n`th about this object; gives its number.
  void release(const std::string& name, int n = 1) {
    ::kill(std::stoi(log.nth("judges " + name + ", ", n)), SIGUSR1);
  }

  std::string text_at(const std::string& name, const char* key) {
    const RecordPtr stored = store->get(*rules->scheme.find_by_name("configmaps"), "a/" + name);
    if (stored == nullptr) return "none";
    const boost::json::object object = to_object(*stored);
    const boost::json::object* data = api::find_object(object, "data");
    return data == nullptr ? "" : std::string(api::find_text(*data, key));
  }

  Configuration configuration;
  SystemPluginClock clock;
  ControlLoopLimits limits;
  Log log;
  LiveIds ids;
  std::unique_ptr<Rules> rules;
  std::optional<LiveStore> store;
  std::optional<Machine> machine;
  std::optional<ControlLoop> loop;
};

TEST_F(LaidAside, OthersGoOnWhileAPluginJudges) {
  start();
  for (const auto& [name, body] : {std::pair("m", kSlow), {"n", kSlowDefaults}}) {
    auto judged = create("configmaps", name, body, "one");
    log.nth(std::string("judges ") + name + ", ", 1);
    const std::string other = std::string("s-") + name;
    EXPECT_EQ(create("serviceaccounts", other, kPlain, "two").get()->code, 201);
    EXPECT_FALSE(is_there(judged));
    EXPECT_EQ(text_at(name, "seen"), "none");
    release(name);
    const Outcome done = judged.get();
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_EQ(done->code, 201);
    EXPECT_EQ(text_at(name, "seen"), "yes") << "the plugin's default";
  }
  EXPECT_EQ(plugin().status()[0].faults, 0U);
}

TEST_F(LaidAside, WhatComesOverTheSameConnectionComesAfterIt) {
  start();
  auto first = create("configmaps", "m", kSlow, "one");
  auto second = create("serviceaccounts", "s", kPlain, "one");
  auto third = create("serviceaccounts", "t", kPlain, "one");
  // One user's writes are taken in their order, so those two had their turn by then.
  EXPECT_EQ(create("serviceaccounts", "u", kPlain, "two").get()->code, 201);
  EXPECT_FALSE(is_there(first) || is_there(second) || is_there(third));
  release("m");
  const std::uint64_t one = first.get()->object.version, two = second.get()->object.version;
  EXPECT_LT(one, two);
  EXPECT_LT(two, third.get()->object.version);
}

TEST_F(LaidAside, QuestionsWaitInLine) {
  start();
  auto first = create("configmaps", "m", kSlow, "one");
  auto second = create("configmaps", "n", kSlow, "two");
  release("m");
  EXPECT_EQ(first.get()->code, 201);
  release("n");
  EXPECT_EQ(second.get()->code, 201);
}

// The write of a controller is waited for: the question under way is brought to its end first, and
// its answer is not lost. By then the object is another one, so its write is judged once more.
TEST_F(LaidAside, WhatOthersChangedMeanwhileIsJudgedAnew) {
  start();
  auto judged = overtaken_patch();
  release("m", 2);
  const Outcome done = judged.get();
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(text_at("m", "slow"), "validate");
  EXPECT_EQ(text_at("m", "theirs"), "kept");
  EXPECT_EQ(plugin().status()[0].faults, 0U);
}

// What is much work is not drafted anew on the thread that all others wait for.
TEST_F(LaidAside, ALargeOneThatWasOvertakenIsDraftedAnewBesideTheTurn) {
  limits.long_draft = 0;
  start();
  auto judged = overtaken_patch();
  release("m", 2);
  const Outcome done = judged.get();
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(text_at("m", "theirs"), "kept");
  loop->stop();
  // More than once where what it is drafted from is not published yet.
  EXPECT_GE(loop->drafts().sent_back, 1U);
}

TEST_F(LaidAside, WhoIsOvertakenTooOftenIsToldSo) {
  limits.overtaken = 0;
  start();
  const Outcome done = overtaken_patch().get();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, 409);
  EXPECT_NE(done.error().text.find("others changed it 1 times while plugins judged this write"),
            std::string::npos)
      << done.error().text;
  EXPECT_EQ(text_at("m", "slow"), "");
}

TEST_F(LaidAside, WhoseJudgeDiesIsRefused) {
  start();
  auto judged = create("configmaps", "m", kSlow, "one");
  ::kill(std::stoi(log.nth("judges m, ", 1)), SIGKILL);
  const Outcome done = judged.get();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().text.find("its process was ended by signal 9 (Killed)"), std::string::npos)
      << done.error().text;
  EXPECT_EQ(text_at("m", "seen"), "none");
}

TEST_F(LaidAside, WhoseJudgeDoesNotAnswerInTimeIsRefused) {
  start(kSecond / 5);
  const Outcome done = create("configmaps", "m", kSlow, "one").get();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().text.find("it did not answer validator.validate within 0.2 s"),
            std::string::npos)
      << done.error().text;
}

TEST_F(LaidAside, AnOpenOneIsDoneWithout) {
  start(kSecond / 5, FailurePolicy::kOpen);
  EXPECT_EQ(create("configmaps", "m", kSlow, "one").get()->code, 201);
  EXPECT_EQ(text_at("m", "slow"), "validate");
}

TEST_F(LaidAside, NobodyWaitsLongerThanForHisTurn) {
  limits.longest_wait = kSecond;
  start();
  const Outcome done = create("configmaps", "m", kSlow, "one").get();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, 504);
  release("m");
}

TEST_F(LaidAside, TheEndWaitsForTheAnswer) {
  start();
  auto judged = create("configmaps", "m", kSlow, "one");
  log.nth("judges m, ", 1);
  std::thread end([this] { loop->stop(); });
  release("m");
  end.join();
  EXPECT_EQ(judged.get()->code, 201);
}

}  // namespace
}  // namespace sluice::host
