// A plugin that takes the process down (findings A14 and A15): it is named, counted and, after two
// times, not called any more; and it is tried in a process of its own first. The processes that die
// here are `sluice` or children.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/base/sanitizers.hpp"
#include "host/plugins/crash_note.hpp"
#include "host/plugins/plugin_deaths.hpp"
#include "host/plugins/trial.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::HasSubstr;

constexpr bool kOwnHandlers = SLUICE_ASAN || SLUICE_TSAN;

class Deaths : public PluginTest {
 protected:
  Deaths() {
    folder = std::filesystem::path(::testing::TempDir()) / ("deaths-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
  }
  ~Deaths() override { std::filesystem::remove_all(folder); }

  /// Runs fn in a child that notes how it dies; what it noted.
  std::optional<PluginDeath> death_in_child(const std::function<void()>& fn) {
    const auto file = folder / "plugin-crash";
    const pid_t child = fork();
    if (child == 0) {
      std::freopen("/dev/null", "w", stderr);
      static_cast<void>(start_crash_notes(file));
      fn();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "it did not die";
    // Read as the next process would, in one of its own: this one keeps its handlers.
    const auto read = folder / "read";
    const pid_t reader = fork();
    if (reader == 0) {
      const auto before = start_crash_notes(file);
      if (before.ok() && *before)
        std::ofstream(read) << (*before)->plugin << '\n'
                            << (*before)->sha256 << '\n'
                            << (*before)->how << '\n';
      _exit(0);
    }
    waitpid(reader, &status, 0);
    std::ifstream in(read);
    PluginDeath out;
    if (!std::getline(in, out.plugin)) return {};
    std::getline(in, out.sha256);
    std::getline(in, out.how);
    in.close();
    std::filesystem::remove(read);
    return out;
  }

  std::filesystem::path folder;
};

TEST_F(Deaths, A14_ACrashInAHookNamesPluginHookAndWorkload) {
  if (kOwnHandlers) GTEST_SKIP() << "a sanitizer has handlers of its own";
  const auto file = read_plugin_file(directory / "crashes.so");
  const auto death = death_in_child([&] {
    const auto set = load({plugin("crashes")});
    ask_filters(*set, make_workload("w"), {"f"});
  });
  ASSERT_TRUE(death);
  EXPECT_EQ(death->plugin, "crashes");
  EXPECT_EQ(death->sha256, file->sha256);
  EXPECT_EQ(death->how, "flavor-filter.filter of team-a/w, signal 11 (Segmentation fault)");
}

TEST_F(Deaths, A14_AnAbortAndAnExitAreNoted) {
  if (kOwnHandlers) GTEST_SKIP() << "a sanitizer has handlers of its own";
  const auto aborted = death_in_child([] {
    const CallBoard::Scope scope("some", Hook::kNotify, {"ns", "w"});
    std::abort();
  });
  ASSERT_TRUE(aborted);
  EXPECT_EQ(aborted->how, "post-admit.notify of ns/w, signal 6 (Aborted)");
  const auto left = death_in_child([] {
    const CallBoard::Scope scope("some", Hook::kReconcile);
    std::exit(0);  // but the process ends with another status: see death_in_child()
  });
  ASSERT_TRUE(left);
  EXPECT_EQ(left->how, "controller.reconcile, it ended the process");
}

/// What a plugin forks is not the host: it may end as it likes.
TEST_F(Deaths, A14_AnExitOfAForkOfThePluginIsNoDeath) {
  if (kOwnHandlers) GTEST_SKIP() << "a sanitizer has handlers of its own";
  int status = -1;
  const auto file = folder / "status";
  const auto death = death_in_child([&file] {
    const CallBoard::Scope scope("some", Hook::kReconcile);
    const pid_t forked = fork();
    if (forked == 0) std::exit(0);
    int ended = -1;
    waitpid(forked, &ended, 0);
    std::ofstream(file) << ended;
    ::_exit(1);
  });
  EXPECT_FALSE(death);
  std::ifstream(file) >> status;
  EXPECT_EQ(status, 0);
}

/// A plugin that ended the process of the trial with status 0 passed it, and ended the host then.
TEST_F(Deaths, A15_ATrialThatDoesNotComeToItsEndFails) {
  const auto tried = [this](const char* name) {
    return try_plugins(directory, {plugin("filter"), plugin(name)}, std::chrono::seconds(60),
                       SLUICE_BINARY);
  };
  const auto good = tried("order-a");
  EXPECT_TRUE(good.ok()) << good.error().text;
  const std::string how = "tried in a process of their own, which ended with status ";
  const std::string early = " before it had come to its end: ";
  struct Case {
    const char* plugin;
    std::string error;
  };
  for (const auto& [name, error] : std::vector<Case>{
           {"create-exits",
            "1" + early + "inside plugin create-exits: plugin.create, it ended the process"},
           {"create-leaves", "0" + early + "plugin create-leaves"},
           {"destroy-leaves", "0" + early + "the end of their instances"},
       }) {
    const auto result = tried(name);
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_THAT(result.error().text, HasSubstr(how + error));
  }
}

TEST_F(Deaths, A14_ADeathOutsideOfPluginsIsNobodysFault) {
  if (kOwnHandlers) GTEST_SKIP() << "a sanitizer has handlers of its own";
  EXPECT_FALSE(death_in_child([] { std::abort(); }));
}

TEST_F(Deaths, A14_AfterTwoDeathsItStartsInQuarantine) {
  const auto file = read_plugin_file(directory / "crashes.so");
  const PluginDeath death{"crashes", file->sha256, "flavor-filter.filter of team-a/w, signal 11"};
  PluginDeaths deaths;
  deaths.add(death);
  EXPECT_EQ(deaths.quarantine_of("crashes", file->sha256), "");
  deaths.add(death);
  ASSERT_TRUE(deaths.write(folder).ok());
  deaths = PluginDeaths::read(folder);
  EXPECT_THAT(deaths.quarantine_of("crashes", file->sha256),
              HasSubstr("the host died inside it 2 times, the last time in flavor-filter.filter of "
                        "team-a/w, signal 11"));
  EXPECT_EQ(deaths.quarantine_of("crashes", "of another build"), "");
  EXPECT_EQ(deaths.quarantine_of("filter", file->sha256), "");

  PluginSetConfig config;
  config.directory = directory;
  config.plugins = {plugin("crashes")};
  config.clock = &clock;
  config.log = [](int, std::string_view, std::string_view) {};
  config.deaths = &deaths;
  const auto set = PluginSet::load(config);
  ASSERT_TRUE(set.ok());
  ASSERT_TRUE((*set)->activate().ok());
  EXPECT_TRUE((*set)->status()[0].quarantined);
  EXPECT_THAT(ask_filters(**set, make_workload("w"), {"f"}).fault.text,
              HasSubstr("plugin crashes is quarantined: the host died inside it 2 times"))
      << "and nobody died";
  deaths.add({"crashes", "of another build", "x"});
  EXPECT_EQ(deaths.quarantine_of("crashes", "of another build"), "") << "a clean record";
  deaths.forget();
  ASSERT_TRUE(deaths.write(folder).ok());
  EXPECT_EQ(PluginDeaths::read(folder).quarantine_of("crashes", file->sha256), "");
}

TEST_F(Deaths, DamagedRecordsCountForNothing) {
  for (const std::string_view text :
       {"", "no json", "[]", "{}", R"({"plugins":7})", R"({"plugins":{"a":7}})",
        R"({"plugins":{"a":{"sha256":7,"deaths":"two","last":[]}}})"}) {
    std::ofstream(folder / "plugin-deaths.json", std::ios::trunc) << text;
    EXPECT_EQ(PluginDeaths::read(folder).quarantine_of("a", ""), "") << text;
  }
}

}  // namespace
}  // namespace sluice::host
