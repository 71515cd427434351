// Loading: what is refused, with which sentence, and that nothing of a refused file runs.
#include <fstream>

#include "host/plugins/library.hpp"
#include "host/plugins/plugin_file.hpp"
#include "tests/host/plugins/support.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Loading : public PluginTest {};

TEST_F(Loading, RefusalsNameFileAndReason) {
  const std::string folder = std::string(SLUICE_TEST_PLUGINS) + "/";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"absent", "there is no such file"},
      {"no-plugin", "not a Sluice plugin: it has no section .sluice"},
      // Its constructor aborts: had it run, this test would be gone.
      {"other-abi", "built for plugin ABI 99, this host speaks ABI 1; build it again"},
      {"no-entry", "its entry function refuses this host"},
  };
  for (const auto& [name, reason] : cases)
    EXPECT_THAT(
        load_error({plugin(name)}),
        AllOf(StartsWith("plugin " + name + ": " + folder + name + ".so: "), HasSubstr(reason)));
}

TEST_F(Loading, TruncatedAndGarbageFiles) {
  const test::TemporaryFolder own;
  directory = own / "";
  std::filesystem::copy_file(SLUICE_TEST_PLUGINS "/filter.so", directory / "short.so",
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(directory / "short.so", 4096);
  std::ofstream(directory / "text.so") << "this is no library\n";
  std::ofstream(directory / "empty.so").flush();
  EXPECT_THAT(load_error({plugin("short")}), HasSubstr("short.so: it is truncated or damaged"));
  EXPECT_THAT(load_error({plugin("text")}), HasSubstr("text.so: it is not a shared library"));
  EXPECT_THAT(load_error({plugin("empty")}), HasSubstr("empty.so: it is not a shared library"));
  std::filesystem::copy_file(SLUICE_TEST_PLUGINS "/filter.so", directory / "renamed.so",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(load_error({plugin("renamed")}), HasSubstr("it names itself filter"));
}

TEST_F(Loading, AFileThatWasReplacedIsLoadedAnew) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "filter.so";
  int builds = 0;
  const auto build = [&] {
    std::filesystem::copy_file(SLUICE_TEST_PLUGINS "/filter.so", folder / "new",
                               std::filesystem::copy_options::overwrite_existing);
    std::ofstream(folder / "new", std::ios::app) << "build " << ++builds;
    std::filesystem::rename(folder / "new", path);
  };
  const auto loaded = [&]() -> const sluice_plugin_t* {
    const auto file = read_plugin_file(path);
    const auto root = load_library(*file);
    return root.ok() ? *root : nullptr;
  };
  build();
  const auto* first = loaded();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(loaded(), first);
  build();
  const auto* second = loaded();
  EXPECT_NE(second, first);
  EXPECT_EQ(loaded(), second);
}

TEST_F(Loading, A15_AFileThatIsWrittenOverChangesNothingThatRuns) {
  const test::TemporaryFolder own;
  directory = own / "";
  const std::filesystem::path path = directory / "filter.so";
  std::filesystem::copy_file(SLUICE_TEST_PLUGINS "/filter.so", path,
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(path, std::ios::app) << "a build of its own";
  auto workload = make_workload("w");
  workload.meta.labels.set("tier", "production");
  const auto set = load({plugin("filter")});
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(size, '\xCC');  // each instruction a trap
  }
  EXPECT_THAT(ask_filters(*set, workload, {"spot"}).skipped,
              ElementsAre("spot: spot is not for production"));
  EXPECT_THAT(load_error({plugin("filter")}), HasSubstr("it is not a shared library"));
}

// A20: what anybody may write is not run in this process, unless the configuration says what it is.
TEST_F(Loading, A20_ALibraryThatEverybodyMayWriteIsRefused) {
  const test::TemporaryFolder own;
  directory = own / "";
  std::filesystem::copy_file(SLUICE_TEST_PLUGINS "/filter.so", directory / "filter.so");
  std::filesystem::permissions(directory / "filter.so", std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(load_error({plugin("filter")}),
              AllOf(HasSubstr("filter.so"), HasSubstr("everybody may write to it")));
  std::filesystem::permissions(directory / "filter.so", std::filesystem::perms::others_write,
                               std::filesystem::perm_options::remove);
  std::filesystem::permissions(directory, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_NE(load_error({plugin("filter")}), "") << "anybody could put another one in its place";
}

TEST_F(Loading, CreateThatFails) {
  EXPECT_EQ(load_error({plugin("create-throws")}),
            "plugin create-throws cannot be created: it threw: create threw");
  EXPECT_EQ(load_error({plugin("no-instance")}),
            "plugin no-instance cannot be created: create answered OK without an instance");
  EXPECT_EQ(load_error({plugin("half-table")}),
            "plugin half-table: its table for flavor-filter/1 lacks a function that it must have");
  EXPECT_EQ(load_error({plugin("filter", R"({"prefix":"refuse"})")}),
            "plugin filter refuses its configuration: the prefix `refuse` is not for filters");
  EXPECT_EQ(load_error({plugin("filter", R"({"prefix":"fail"})")}),
            "plugin filter cannot be created: the constructor failed");
}

TEST_F(Loading, ActivateThatFails) {
  auto set = try_load({plugin("observer-a", R"({"refuse-to-start":true})")});
  ASSERT_TRUE(set.ok());
  const auto active = (*set)->activate();
  ASSERT_FALSE(active.ok());
  EXPECT_EQ(active.error().text, "plugin observer-a cannot be activated: not in this weather");
}

TEST_F(Loading, PinnedBySha256) {
  const auto file = read_plugin_file(SLUICE_TEST_PLUGINS "/filter.so");
  ASSERT_TRUE(file.ok());
  auto pinned = plugin("filter");
  pinned.sha256 = file->sha256;
  EXPECT_EQ(load_error({pinned}), "");
  pinned.sha256[0] = pinned.sha256[0] == '0' ? '1' : '0';
  EXPECT_THAT(load_error({pinned}), AllOf(HasSubstr("its SHA-256 is " + file->sha256),
                                          HasSubstr("the configuration pins " + pinned.sha256)));
}

TEST_F(Loading, TwoOfWhatMayBeOnce) {
  EXPECT_EQ(load_error({plugin("filter"), plugin("filter")}), "plugin filter is listed twice");
  EXPECT_EQ(load_error({plugin("search-a"), plugin("search-b")}),
            "plugins search-a and search-b both provide flavor-search/1; at most one may: take "
            "one of them out of plugins.load");
}

TEST_F(Loading, DisabledPluginsAreLeftAlone) {
  auto absent = plugin("absent");
  absent.enabled = false;
  const auto set = load({absent, plugin("filter")});
  EXPECT_THAT(set->hooks().plugins, ElementsAre("filter"));
}

TEST_F(Loading, PointsThatNobodyProvidesAreNull) {
  const auto none = load({});
  EXPECT_EQ(none->hooks().queue_watch, nullptr);
  EXPECT_EQ(none->hooks().flavor_search, nullptr);
  EXPECT_EQ(none->hooks().flavor_filter, nullptr);
  EXPECT_EQ(none->hooks().preemption_veto, nullptr);
  EXPECT_EQ(none->hooks().workload_traits, nullptr);
  EXPECT_EQ(none->next_timer(), kNever);
  const auto search = load({plugin("search-a")});
  EXPECT_NE(search->hooks().flavor_search, nullptr);
  EXPECT_EQ(search->hooks().flavor_filter, nullptr);
}

TEST_F(Loading, ALibraryCanBeUsedByTwoSetsAtOnce) {
  const auto first = load({plugin("filter")});
  {
    const auto second = load({plugin("filter", R"({"prefix":"x"})")});
    EXPECT_EQ(second->status()[0].version, "1.2.3");
  }
  auto workload = make_workload("w");
  workload.meta.labels.set("tier", "production");
  EXPECT_THAT(ask_filters(*first, workload, {"spot"}).skipped,
              ElementsAre("spot: spot is not for production"));
}

TEST_F(Loading, PluginsBuiltOtherwiseAnswerTheSame) {
  auto workload = make_workload("w");
  workload.meta.labels.set("tier", "production");
  for (const std::string name : {"filter", "filter-debug", "filter-clang"}) {
    if (!std::filesystem::exists(directory / (name + ".so"))) {
      EXPECT_EQ(name, "filter-clang") << "only the one by the other compiler may be missing";
      continue;
    }
    const auto set = load({plugin(name)});
    EXPECT_THAT(
        ask_filters(*set, workload, {"on-demand", "spot", "spot-large"}).skipped,
        ElementsAre("spot: spot is not for production", "spot-large: spot is not for production"))
        << name;
    const auto throwing = load({plugin(name, R"({"mode":"throw"})")});
    EXPECT_EQ(ask_filters(*throwing, workload, {"spot"}).fault.text,
              "plugin " + name + ", flavor-filter.filter: it failed: boom");
  }
}

TEST(PluginDirectory, RelativeToTheProgramsPrefixOrAbsolute) {
  EXPECT_EQ(plugin_directory("/opt/plugins"), "/opt/plugins");
  const auto relative = plugin_directory("lib/sluice/plugins");
  // This test is BUILD/tests/NAME, so the prefix is BUILD.
  EXPECT_EQ(relative.parent_path().parent_path().parent_path(),
            std::filesystem::path(SLUICE_TEST_PLUGINS).parent_path().parent_path());
  EXPECT_TRUE(plugin_names("/no/such/folder").empty());
}

}  // namespace
}  // namespace sluice::host
