// Plugins in a process of their own: a library that runs isolated answers as inside of the host; a
// process that dies, hangs or lies costs its answers and nothing else.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "core/base/sanitizers.hpp"
#include "tests/host/plugins/process_support.hpp"
#include "tests/host/temporary_folder.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host {
namespace {

class PluginProcesses : public ProcessTest {};

/// What a check says, in one line each: the same on both sides of the socket.
std::vector<std::string> said_by(PluginSet& set) {
  CheckControllers& checks = set.check_controllers();
  CheckQuery query;
  auto workload = std::make_shared<api::Workload>(make_workload("w", 7));
  query.workload = workload;
  query.workload_json = R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",)"
                        R"("metadata":{"namespace":"team-a","name":"w","uid":"uid-w"},)"
                        R"("spec":{"podSets":[{"name":"main","count":1}]}})";
  query.check = "c";
  query.check_json = R"({"metadata":{"name":"c"},"spec":{"controllerName":"example.com/check"}})";
  query.attempt = 4;
  query.retry_count = 2;
  std::vector<std::string> said;
  const CheckActivity activity = *checks.check_changed("c", query.check_json);
  said.push_back(activity.reason + " " + activity.message);
  const CheckActivity other = *checks.check_changed(
      "c", R"({"spec":{"controllerName":"example.com/check","parameters":{"name":"x"}}})");
  said.push_back(other.reason + " " + other.message);
  said.push_back(checks.begin(query) ? "begun" : "not begun");
  for (const std::string& line : checks.explain(query).lines) said.push_back(line);
  checks.cancel(query, "Evicted");
  for (const CheckReport& report : checks.take_reports())
    said.push_back(report.ns + "/" + report.name + " " + report.uid + " " + report.check + " " +
                   std::to_string(report.attempt) + " " + report.state + " " + report.reason + " " +
                   report.message + " " + report.pod_set_updates_json + " " +
                   std::to_string(report.requeue_after_seconds.value_or(-1)));
  for (const PluginStatus& status : set.status()) {
    for (const auto id : status.extensions) said.emplace_back(id);
    for (const auto function : status.functions) said.emplace_back(function);
    said.push_back(status.version);
  }
  return said;
}

TEST_F(PluginProcesses, AnIsolatedLibraryAnswersAsInsideOfTheHost) {
  for (const char* mode : {"ready", "retry", "preempt", "bad-updates", "bad-retry", "bad-label",
                           "unreasonable", "throw"}) {
    SCOPED_TRACE(mode);
    const std::string config = std::string(R"({"mode":")") + mode + R"("})";
    std::vector<PluginLogLine> inside;
    std::vector<std::string> expected;
    {
      const auto set = load({plugin("checks-a", config)});
      ASSERT_NE(set, nullptr);
      expected = said_by(*set);
      inside = std::exchange(log, {});
    }
    PluginConfig apart = isolated("checks-a", config);
    apart.process->call_timeout = 10 * kSecond;  // of a machine that has a lot to do
    const auto set = load({apart});
    ASSERT_NE(set, nullptr);
    EXPECT_EQ(said_by(*set), expected);
    std::vector<std::string> lines, expected_lines;
    for (const auto& line : inside) expected_lines.push_back(line.text);
    for (const auto& line : std::exchange(log, {})) lines.push_back(line.text);
    EXPECT_EQ(lines, expected_lines);
  }
}

/// What a validator makes of some jobs.
std::vector<std::string> judged_by(PluginSet& set) {
  std::vector<std::string> out;
  for (const char* metadata :
       {R"({"name":"j"})", R"({"name":"j","labels":{"a":"b"}})", R"({"name":"throw"})"}) {
    const std::string object = std::string(R"({"apiVersion":"batch/v1","kind":"Job","metadata":)") +
                               metadata + R"(,"spec":{"parallelism":2}})";
    const ObjectWrite write{WriteOperation::kCreate, "batch/v1", "Job", object, ""};
    out.emplace_back(set.validators().wants("batch/v1", "Job") ? "wants" : "does not want");
    const auto defaulted =
        set.validators().set_defaults(write, [](auto&) { return std::string(); });
    out.push_back(defaulted ? *defaulted : defaulted.error().text);
    for (const FieldError& error : set.validators().validate(write))
      out.push_back(error.path + ": " + error.text());
  }
  return out;
}

TEST_F(PluginProcesses, AnIsolatedValidatorJudgesAsInsideOfTheHost) {
  const auto inside = load({plugin("judge")});
  const auto outside = load({isolated("judge")});
  ASSERT_TRUE(inside != nullptr && outside != nullptr);
  const auto expected = judged_by(*inside);
  EXPECT_EQ(expected.size(), 10u);
  EXPECT_EQ(judged_by(*outside), expected);
}

TEST_F(PluginProcesses, WhatACycleAsksIsRefusedWithTheReason) {
  EXPECT_EQ(load_error({isolated("filter")}),
            "plugin filter cannot be created: flavor-filter/1 is not for a process of its own: a "
            "scheduling cycle asks it thousands of times, from many threads, and a question to a "
            "process costs more than a whole cycle; load it without `isolation`");
  EXPECT_EQ(load_error({peer("in-cycle")}),
            "plugin peer cannot be created: flavor-filter/1 is not for a process of its own: a "
            "scheduling cycle asks it thousands of times, from many threads, and a question to a "
            "process costs more than a whole cycle; load it without `isolation`");
}

TEST_F(PluginProcesses, AProcessThatDoesNotStartIsRefusedWithTheReason) {
  struct {
    const char* mode;
    const char* wrong;
  } const cases[] = {
      {"protocol", "plugin peer: it speaks protocol 2, this host speaks 1"},
      {"name", "plugin peer: it names itself \"somebody\"; it is listed under another name"},
      {"note-first", "plugin peer: it did not say hello first"},
      {"silent", "plugin peer: it did not say hello within 0.5 s"},
      {"refuses", "plugin peer refuses its configuration: not this configuration"},
      {"gone",
       "plugin peer: its process ended with status 1; the last that it printed: no libraries "
       "today"},
  };
  for (const auto& each : cases) {
    PluginConfig config = peer(each.mode);
    if (std::string(each.mode) == "silent") config.process->start_timeout = kSecond / 2;
    EXPECT_EQ(load_error({config}), each.wrong) << each.mode;
  }
  PluginConfig nobody = peer("fine");
  nobody.process->command = {"no-such-program"};
  EXPECT_EQ(load_error({nobody}), "plugin peer: there is no program no-such-program in PATH");
  nobody.process->command = {"/no/such/program"};
  EXPECT_EQ(load_error({nobody}),
            "plugin peer: its process does not start: /no/such/program: No such file or directory");
}

TEST_F(PluginProcesses, WhatALiarSaysIsNamedAndHeIsStartedAgain) {
  struct {
    const char* mode;
    const char* why;
  } const cases[] = {
      {"cut", "the connection has ended inside a frame, 14 bytes into it"},
      {"long", "a frame of 4294967295 bytes; at most 16777216 are allowed"},
      {"empty", "a frame without a body"},
      {"no-json", "it sent a message that is no JSON: "},
      {"list", "it sent a message that is no JSON object"},
      {"other-answer", "it answered call 4, while call 3 is under way"},
      {"old-answer", "it answered call 2, while call 3 is under way"},
      {"hello-again", "it said hello a second time"},
      {"host's-words", "it sent a message that only the host sends"},
      {"hangs", "it did not answer check-controller.begin within 0.2 s, and was ended"},
      {"chatters", "it did not answer check-controller.begin within 0.2 s, and was ended"},
      {"fat-note", "it sent a note of 2097179 bytes; at most 1048576 are allowed"},
      {"dies", "its process was ended by signal 11 (Segmentation fault)"},
      {"ends", "its process ended with status 3"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.mode);
    PluginConfig config = peer(each.mode);
    const std::string mode = each.mode;
    const bool hangs = mode == "hangs" || mode == "chatters";
    config.process->call_timeout = hangs ? kSecond / 5 : 10 * kSecond;
    const auto set = load({config});
    ASSERT_NE(set, nullptr);
    EXPECT_FALSE(set->check_controllers().begin(query("a")));
    const PluginStatus status = set->status()[0];
    const std::string said = "plugin peer, check-controller.begin: ";
    const bool ended_first = std::string(each.mode) == "cut";
    if (ended_first)  // who hangs up in the middle is known by how he ended, if that is known
      EXPECT_TRUE(status.last_fault == said + each.why ||
                  status.last_fault == said + "its process ended with status 0")
          << status.last_fault;
    else
      EXPECT_TRUE(status.last_fault.starts_with(said + each.why)) << status.last_fault;
    EXPECT_EQ(status.faults, 1u);
    EXPECT_FALSE(status.quarantined);
    EXPECT_TRUE(wait_for_return(*set));
    EXPECT_EQ(set->check_controllers().take_restarted(),
              (std::vector<std::string>{"example.com/peer"}));
    EXPECT_EQ(set->check_controllers().take_reports().size(), 0u);
  }
}

/// Its second life says no hello; it would be waited for 300 s.
TEST_F(PluginProcesses, WhoIsTurnedOffWhileItStartsIsNotWaitedFor) {
  const test::TemporaryFolder folder;
  PluginConfig config = peer("silent-again");
  config.process->environment.emplace_back("MARK", folder / "died");
  config.process->start_timeout = 300 * kSecond;
  auto set = load({config});
  ASSERT_NE(set, nullptr);
  set->check_controllers().begin(query("a"));
  ASSERT_TRUE(eventually([&] { return logged("its process is started again in"); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the pause is 1 ms
  const auto before = std::chrono::steady_clock::now();
  set->turn_off({});
  set.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(60));
}

TEST_F(PluginProcesses, AnAnswerGivenTwiceIsALie) {
  const auto set = load({peer("twice")});
  ASSERT_NE(set, nullptr);
  EXPECT_TRUE(set->check_controllers().begin(query("a")));
  EXPECT_EQ(set->check_controllers().take_reports().size(), 1u);
  EXPECT_TRUE(eventually([&] { return logged("it answered call 3, while none is under way"); }));
  EXPECT_TRUE(wait_for_return(*set));
}

TEST_F(PluginProcesses, WhatMakesNoSenseButKeepsToTheProtocolIsRefusedAlone) {
  for (const char* mode : {"bad-report", "bad-note"}) {
    const auto set = load({peer(mode)});
    ASSERT_NE(set, nullptr);
    EXPECT_TRUE(set->check_controllers().begin(query("a")));
    EXPECT_EQ(set->check_controllers().take_reports().size(), 0u);
  }
  EXPECT_TRUE(logged("check-reporter refused a report: "));
  EXPECT_TRUE(logged("it sent a note that this host does not know: dance"));
  const auto set = load({peer("bad-request")});
  ASSERT_NE(set, nullptr);
  EXPECT_TRUE(set->check_controllers().begin(query("a")));
  const auto reports = set->check_controllers().take_reports();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].message,
            R"({"code": "Invalid", "error": "there is no such service, or its arguments make no )"
            R"(sense: objects.dance", "reply": 1})");
}

TEST_F(PluginProcesses, WhatItPrintsIsInTheLog) {
  const auto set = load({peer("ends")});
  ASSERT_NE(set, nullptr);
  EXPECT_FALSE(set->check_controllers().begin(query("a")));
  EXPECT_TRUE(eventually([&] {
    return logged(
        "its process is gone: its process ended with status 3; the last that it printed: there is "
        "nothing left to do");
  }));
}

TEST_F(PluginProcesses, ItHasLimitsAndNothingOfTheHost) {
  PluginConfig config = peer("limits");
  config.process->memory_bytes = 512 << 20;
  config.process->cpu_seconds = 3600;
  config.process->files = 64;
  ::setenv("SECRET_OF_THE_HOST", "x", 1);
  const auto set = load({config});
  ::unsetenv("SECRET_OF_THE_HOST");
  ASSERT_NE(set, nullptr);
  ASSERT_TRUE(set->check_controllers().begin(query("a")));
  const auto reports = set->check_controllers().take_reports();
  ASSERT_EQ(reports.size(), 1u);
  const bool sanitized = SLUICE_ASAN || SLUICE_TSAN;
  // Addresses that it does not write to are no memory: some languages take many beforehand.
  const std::string memory = sanitized ? "-1" : "536870912";
  EXPECT_NE(reports[0].message.find(R"("core": 0, "descriptors": [0, 1, 2, 3], )"),
            std::string::npos)
      << reports[0].message;
  EXPECT_NE(reports[0].message.find(R"("files": 64, "memory": )" + memory), std::string::npos);
  EXPECT_NE(reports[0].message.find(
                R"("network": "Permission denied", "no new privileges": 1, "processor": 3600, )"
                R"("session": true, "to read": "given", "to write": ")" +
                std::string(sanitized ? "given" : "Cannot allocate memory")),
            std::string::npos)
      << reports[0].message;
  EXPECT_EQ(reports[0].message.find("SECRET_OF_THE_HOST"), std::string::npos);
}

TEST_F(PluginProcesses, OpensTheNetworkOnlyWhereItIsAllowed) {
  PluginConfig config = peer("limits");
  config.process->network = true;
  const auto set = load({config});
  ASSERT_NE(set, nullptr);
  ASSERT_TRUE(set->check_controllers().begin(query("a")));
  EXPECT_NE(set->check_controllers().take_reports().at(0).message.find(R"("network": "open")"),
            std::string::npos);
}

TEST_F(PluginProcesses, WhileItIsAwayNobodyWaitsAndNothingIsCounted) {
  PluginConfig config = peer("dies");
  config.process->first_pause = 3600 * kSecond;
  config.process->longest_pause = 3600 * kSecond;
  const auto set = load({config});
  ASSERT_NE(set, nullptr);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(set->check_controllers().begin(query("a")));
  EXPECT_GT(set->check_controllers().pause("example.com/peer"), 0);
  EXPECT_TRUE(
      set->check_controllers()
          .trouble(kCheckJson, query("a").workload->meta.key())
          .starts_with(
              "its process is gone, and is started again: plugin peer, check-controller.begin: "));
  EXPECT_FALSE(set->status()[0].quarantined);
  EXPECT_TRUE(set->check_controllers().take_restarted().empty());
}

/// Kills it again and again, at any moment, while checks begin: each that began well is answered
/// exactly once, and the others are begun again.
TEST_F(PluginProcesses, KilledAtAnyMomentItLosesNoAnswerAndGivesNoneTwice) {
  const int kills = trial::amount("SLUICE_PROCESS_KILLS", 10);
  const auto seed = static_cast<unsigned>(trial::asked_for("SLUICE_FIRST_SEED").value_or(1));
  std::mt19937 random(seed);
  const auto set = load({peer("pid")});
  ASSERT_NE(set, nullptr);
  CheckControllers& checks = set->check_controllers();
  std::map<std::string, int> answers;
  pid_t pid = 0;
  const auto begin_all = [&](const std::string& name) {
    for (;;) {
      ASSERT_TRUE(wait_for_return(*set)) << "seed " << seed;
      const bool begun = checks.begin(query(name));
      for (const CheckReport& report : checks.take_reports()) {
        pid = static_cast<pid_t>(std::stoi(report.message));
        if (begun) ++answers[report.name];
      }
      if (begun) return;
    }
  };
  for (int n = 0; n < kills; ++n) {
    begin_all("w" + std::to_string(n));
    const auto delay = std::chrono::microseconds(random() % 2000);
    std::thread killer([pid, delay] {
      const auto until = std::chrono::steady_clock::now() + delay;
      while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
      ::kill(pid, SIGKILL);
    });
    for (int more = 0; more < 5; ++more)
      begin_all("w" + std::to_string(n) + "-" + std::to_string(more));
    killer.join();
  }
  EXPECT_EQ(answers.size(), static_cast<std::size_t>(6 * kills));
  for (const auto& [name, count] : answers) EXPECT_EQ(count, 1) << name << ", seed " << seed;
  EXPECT_FALSE(set->status()[0].quarantined);
}

TEST_F(PluginProcesses, InASimulationItIsThereAgainBeforeTheNextCall) {
  clock.simulated = true;
  PluginConfig config = peer("dies");
  config.process->first_pause = 3600 * kSecond;
  config.process->longest_pause = 3600 * kSecond;
  const auto set = load({config});
  ASSERT_NE(set, nullptr);
  EXPECT_FALSE(set->check_controllers().begin(query("a")));
  EXPECT_EQ(set->check_controllers().pause("example.com/peer"), 0);
  EXPECT_TRUE(set->check_controllers().check_changed("check", kCheckJson)->active);
  EXPECT_EQ(set->check_controllers().take_restarted().size(), 1u);
}

}  // namespace
}  // namespace sluice::host
