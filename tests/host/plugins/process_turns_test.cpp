// Questions to a process that are not answered at once: nobody waits for them, and they end in
// later turns, in order, with what they wrote.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "host/writes/plugin_objects.hpp"
#include "tests/host/plugins/process_support.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host {
namespace {

using test::at;
using test::HostFixture;

constexpr const char* kTheirs = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",
  "namespace":"default"},"data":{"value":"theirs"}})";
constexpr const char* kOther = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b",
  "namespace":"default"},"data":{"value":"other"}})";

class PluginTurns : public ProcessTest {
 protected:
  /// Loaded in a host that does not wait, or next to not.
  std::unique_ptr<PluginSet> load_hurried(const PluginConfig& config) {
    auto set = load({config});
    if (set) set->set_patience(kMillisecond);
    return set;
  }

  /// A peer that waits in the middle of its answers.
  static PluginConfig waiting(const std::string& mode) {
    PluginConfig config = peer(mode);
    config.process->call_timeout = 600 * kSecond;
    return config;
  }

  /// Takes turns until it has reported something; the messages of all that it did.
  std::vector<std::string> reports_of(PluginSet& set) {
    std::vector<std::string> out;
    EXPECT_TRUE(eventually([&] {
      set.go_on();
      for (const CheckReport& report : set.check_controllers().take_reports())
        out.push_back(report.message);
      return !out.empty();
    }));
    return out;
  }

  /// Lets the peer go on that named its number.
  static void release(const std::string& number) { ::kill(std::stoi(number), SIGUSR1); }

  static bool ends(PluginSet& set) {
    return eventually([&] {
      set.go_on();
      return set.check_controllers().pause("example.com/peer") == 0;
    });
  }

  /// The number behind these words in the log.
  std::string number_behind(const std::string& words) {
    std::string out;
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock(log_mutex);
      for (const PluginLogLine& line : log)
        if (line.text.starts_with(words)) out = line.text.substr(words.size());
      return !out.empty();
    }));
    return out;
  }
};

TEST_F(PluginTurns, WhatComesMeanwhileIsAskedInItsTurn) {
  const auto set = load_hurried(waiting("waits"));
  ASSERT_NE(set, nullptr);
  CheckControllers& checks = set->check_controllers();
  ASSERT_TRUE(checks.begin(query("a")));
  const std::string pid = reports_of(*set).at(0);
  EXPECT_GT(checks.pause("example.com/peer"), 0);
  EXPECT_FALSE(set->go_on()) << "there is nothing to go on with";
  checks.cancel(query("a"), "Evicted");
  EXPECT_TRUE(checks.begin(query("b")));
  EXPECT_FALSE(logged("cancelled a"));
  release(pid);
  EXPECT_EQ(reports_of(*set), std::vector<std::string>{pid}) << "of b";
  EXPECT_TRUE(logged("cancelled a"));
  release(pid);
  EXPECT_TRUE(ends(*set));
  std::string began;
  for (const LateAnswer& late : checks.take_late())
    began += late.workload + (late.began ? " began, " : " failed: " + late.fault);
  EXPECT_EQ(began, "team-a/a began, team-a/b began, ");
  EXPECT_EQ(set->status()[0].faults, 0u);
}

TEST_F(PluginTurns, WhatItSaysAfterALateAnswerIsHeard) {
  const auto set = load_hurried(waiting("speaks-later"));
  ASSERT_NE(set, nullptr);
  ASSERT_TRUE(set->check_controllers().begin(query("a")));
  const std::string pid = reports_of(*set).at(0);
  release(pid);
  EXPECT_TRUE(ends(*set));
  release(pid);
  EXPECT_TRUE(eventually([&] { return logged("said later"); })) << "nobody asks it anything more";
}

TEST_F(PluginTurns, TheHostIsWokenWhenThereIsMore) {
  const auto set = load_hurried(waiting("waits"));
  ASSERT_NE(set, nullptr);
  std::atomic<int> woken = 0;
  ASSERT_TRUE(set->check_controllers().begin(query("a")));
  const std::string pid = reports_of(*set).at(0);
  set->set_wake([&] { ++woken; });
  EXPECT_EQ(set->next_timer(), kNever);
  release(pid);
  EXPECT_TRUE(eventually([&] { return woken > 0; }));
  EXPECT_EQ(set->next_timer(), clock.time) << "at once";
  EXPECT_TRUE(set->go_on());
  EXPECT_EQ(set->next_timer(), kNever);
  set->set_wake({});
}

TEST_F(PluginTurns, WhoDoesNotAnswerInTimeIsEndedWithoutAnybodyWaiting) {
  PluginConfig config = peer("hangs");
  config.process->call_timeout = kSecond / 5;
  const auto set = load_hurried(config);
  ASSERT_NE(set, nullptr);
  CheckControllers& checks = set->check_controllers();
  EXPECT_TRUE(checks.begin(query("a")));
  checks.cancel(query("b"), "Evicted");
  EXPECT_TRUE(ends(*set));
  EXPECT_TRUE(logged(
      "check-controller.begin: it did not answer check-controller.begin within 0.2 s, and was "
      "ended"));
  EXPECT_TRUE(checks.take_late().empty()) << "its next life begins it anew";
  EXPECT_EQ(checks.take_restarted(), std::vector<std::string>{"example.com/peer"});
  EXPECT_FALSE(set->status()[0].quarantined);
}

TEST_F(PluginTurns, WhoDiesIsFoundOutWithoutAnybodyWaiting) {
  const auto set = load_hurried(peer("dies"));
  ASSERT_NE(set, nullptr);
  EXPECT_TRUE(set->check_controllers().begin(query("a")));
  EXPECT_TRUE(ends(*set));
  EXPECT_TRUE(
      logged("check-controller.begin: its process was ended by signal 11 (Segmentation fault)"));
  EXPECT_EQ(set->check_controllers().take_restarted().size(), 1u);
}

TEST_F(PluginTurns, AFaultThatComesLaterIsTold) {
  const auto set = load_hurried(waiting("fails-late"));
  ASSERT_NE(set, nullptr);
  CheckControllers& checks = set->check_controllers();
  EXPECT_TRUE(checks.begin(query("a", 7)));
  release(reports_of(*set).at(0));
  EXPECT_TRUE(ends(*set));
  const auto late = checks.take_late();
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].workload, "team-a/a");
  EXPECT_EQ(late[0].check, "check");
  EXPECT_EQ(late[0].attempt, 7u);
  EXPECT_FALSE(late[0].activity);
  EXPECT_EQ(set->status()[0].last_fault,
            "plugin peer, check-controller.begin: it failed: not today");
}

TEST_F(PluginTurns, WhatItWroteIsLaidAsideWhileOthersWrite) {
  HostFixture host;
  PluginObjects port(host.kernel, host.objects);
  const auto set = load_hurried(waiting("writes"));
  ASSERT_NE(set, nullptr);
  set->connect(&port);
  ASSERT_TRUE(set->check_controllers().begin(query("a")));
  const std::string pid = reports_of(*set).at(0);
  EXPECT_FALSE(host.exists("ConfigMap", "default/a"));
  host.apply(kOther);
  EXPECT_TRUE(host.exists("ConfigMap", "default/b"));
  release(pid);
  EXPECT_TRUE(ends(*set));
  EXPECT_TRUE(logged("wrote, saw"));
  EXPECT_EQ(at(host.get("ConfigMap", "default/a"), "/data/value"), "the plugin's");
  EXPECT_EQ(set->status()[0].faults, 0u);
  set->connect(nullptr);
}

TEST_F(PluginTurns, WhatOthersChangedMeanwhileIsNotWrittenOver) {
  HostFixture host;
  PluginObjects port(host.kernel, host.objects);
  const auto set = load_hurried(waiting("writes"));
  ASSERT_NE(set, nullptr);
  set->connect(&port);
  ASSERT_TRUE(set->check_controllers().begin(query("a")));
  const std::string pid = reports_of(*set).at(0);
  host.apply(kTheirs);
  release(pid);
  EXPECT_TRUE(ends(*set));
  EXPECT_TRUE(logged("wrote, Conflict"));
  EXPECT_EQ(at(host.get("ConfigMap", "default/a"), "/data/value"), "theirs");
  EXPECT_EQ(set->status()[0].last_fault,
            "plugin peer, check-controller.begin: nothing of what it wrote holds: ConfigMap "
            "default/a was changed by others while its call was under way");
  EXPECT_EQ(set->check_controllers().take_late().size(), 1u) << "it is to begin again";
  set->connect(nullptr);
}

TEST_F(PluginTurns, WhatItWroteBeforeItDiedNeverWas) {
  HostFixture host;
  PluginObjects port(host.kernel, host.objects);
  const auto set = load_hurried(waiting("writes"));
  ASSERT_NE(set, nullptr);
  set->connect(&port);
  ASSERT_TRUE(set->check_controllers().begin(query("a")));
  ::kill(std::stoi(reports_of(*set).at(0)), SIGKILL);
  EXPECT_TRUE(ends(*set));
  EXPECT_FALSE(host.exists("ConfigMap", "default/a"));
  host.apply(kTheirs);  // nothing is in its way
  ASSERT_TRUE(set->check_controllers().begin(query("b")));
  release(reports_of(*set).at(0));
  EXPECT_TRUE(ends(*set));
  EXPECT_TRUE(logged("AlreadyExists, saw"));
  set->connect(nullptr);
}

TEST_F(PluginTurns, ALongQuestionIsSentAsItIsRead) {
  const auto set = load_hurried(waiting("reads-late"));
  ASSERT_NE(set, nullptr);
  const std::string pid = number_behind("reads later, ");
  CheckQuery big = query("a");
  big.workload_json = R"({"metadata":{"namespace":"team-a","name":"a","uid":"uid-a"},"fill":")" +
                      std::string(4 << 20, 'x') + R"("})";
  EXPECT_TRUE(set->check_controllers().begin(big));
  EXPECT_GT(set->check_controllers().pause("example.com/peer"), 0);
  release(pid);
  EXPECT_EQ(reports_of(*set), std::vector<std::string>{"fine"});
  EXPECT_TRUE(ends(*set));
  EXPECT_EQ(set->status()[0].faults, 0u);
}

TEST_F(PluginTurns, WhoJudgesWritesIsWaitedFor) {
  const auto set = load_hurried(waiting("judges"));
  ASSERT_NE(set, nullptr);
  std::thread other([&] { release(number_behind("asked, ")); });
  const ObjectWrite write{WriteOperation::kCreate, "batch/v1", "Job", R"({"kind":"Job"})", ""};
  const auto errors = set->validators().validate(write);
  other.join();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].text(), "spec: Invalid value: no");
}

}  // namespace
}  // namespace sluice::host
