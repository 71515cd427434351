// sluice plugin inspect, validate and list, as a person or a script meets them.
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <map>

#include "tests/host/cli/sandbox.hpp"

namespace sluice::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::string kFolder = SLUICE_TEST_PLUGINS "/";

class PluginCommand : public Sandbox {
 protected:
  boost::json::object json(const std::string& arguments, int status = 0) const {
    const RunResult run = sluice(arguments + " --json");
    EXPECT_EQ(run.status, status) << run.err;
    boost::system::error_code error;
    return boost::json::parse(run.out, error).as_object();
  }
};

TEST_F(PluginCommand, InspectRunsNothingOfTheFile) {
  const RunResult run = sluice("plugin inspect " + kFolder + "filter.so");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("name      filter\nversion   1.2.3\nabi       1.0\n"),
                    HasSubstr("exports   sluice_plugin_entry\n"), HasSubstr("loads     yes\n")));
  // The constructor of this one aborts.
  EXPECT_THAT(sluice("plugin inspect " + kFolder + "other-abi.so").out,
              HasSubstr("it is built for plugin ABI 99, this host speaks ABI 1"));
  const auto details = json("plugin inspect " + kFolder + "filter.so");
  EXPECT_EQ(details.at("name").as_string(), "filter");
  EXPECT_EQ(details.at("sha256").as_string().size(), 64u);
  const RunResult wrong = sluice("plugin inspect " + kFolder + "no-plugin.so");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_EQ(wrong.out, "");
  EXPECT_THAT(wrong.err, MatchesRegex("error: .*no section .sluice\n"));
}

TEST_F(PluginCommand, ValidateSaysWhatFailed) {
  const RunResult good = sluice("plugin validate " + kFolder + "filter.so");
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  EXPECT_THAT(good.out,
              AllOf(HasSubstr("success  create-destroy-1000 "), HasSubstr("skipped  search-order "),
                    HasSubstr("32 tests: "), HasSubstr(" skipped, 0 failed")));
  const RunResult bad = sluice("plugin validate " + kFolder + "crosses.so");
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.out, HasSubstr("an exception crossed the line: past the line"));
  const auto report =
      json("plugin validate --only load,deterministic " + kFolder + "crashes.so", 1);
  EXPECT_FALSE(report.at("passed").as_bool());
  ASSERT_EQ(report.at("tests").as_array().size(), 2u);
  EXPECT_EQ(report.at("tests").at(0).at("status").as_string(), "success");
  const auto& crash = report.at("tests").at(1);
  EXPECT_EQ(crash.at("status").as_string(), "crashed");
  EXPECT_GT(crash.at("call").at("step").as_int64(), 0);
  const std::string hook(crash.at("call").at("hook").as_string());
  EXPECT_THAT(sluice("plugin validate --only load,deterministic " + kFolder + "crashes.so").out,
              HasSubstr("         in " + hook + ", call "));
}

TEST_F(PluginCommand, AProcessIsInspectedAndValidatedByItsNameInAConfiguration) {
  const auto configure = [&](const std::string& mode) {
    write("sluice.yaml",
          "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\nplugins:\n  load:\n"
          "  - name: peer\n    isolation: process\n    command: ['" SLUICE_PYTHON
          "', -ISB, '" SLUICE_SOURCE
          "/tests/host/plugins/fixtures/peer.py']\n"
          "    process: {environment: {PEER: " +
              mode + "}, files: 99}\n  - {name: filter}\n");
  };
  configure("fine");
  const auto shown = json("plugin inspect peer --host-config sluice.yaml");
  EXPECT_EQ(shown.at("version").as_string(), "1.0.0");
  EXPECT_THAT(std::string(shown.at("provides").as_string()),
              HasSubstr("check-controller.controllers, "));
  EXPECT_EQ(shown.at("may").as_string(), "1024 MiB, 99 files, no network");
  EXPECT_EQ(shown.at("user").as_string(), "system:plugin:peer");
  const RunResult good = sluice(
      "plugin validate peer --only create-activate,check-begin-cancel,timer-late "
      "--host-config sluice.yaml");
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  EXPECT_THAT(good.out,
              AllOf(HasSubstr("success  check-begin-cancel "), HasSubstr("skipped  timer-late ")));
  configure("dies");
  const RunResult bad =
      sluice("plugin validate peer --only check-begin-cancel --host-config sluice.yaml");
  EXPECT_EQ(bad.status, 1) << bad.out;
  EXPECT_THAT(bad.out, HasSubstr("its process was ended by signal 11 (Segmentation fault)"));
  configure("gone");
  EXPECT_THAT(sluice("plugin inspect peer --host-config sluice.yaml").err,
              HasSubstr("plugin peer: its process ended with status 1"));
  EXPECT_EQ(sluice("plugin inspect filter --host-config sluice.yaml").err,
            "error: sluice.yaml has no plugin filter with `isolation: process`; it has peer\n");
}

TEST_F(PluginCommand, ListShowsUseAndProblems) {
  write("sluice.yaml",
        "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\nplugins:\n  directory: " +
            kFolder +
            "\n  load:\n  - name: filter\n  - {name: rules, enabled: false}\n  - name: missing\n");
  std::map<std::string, boost::json::object> plugins;
  const auto listed = json("plugin list --config sluice.yaml");
  for (const auto& plugin : listed.at("plugins").as_array())
    plugins[std::string(plugin.at("name").as_string())] = plugin.as_object();
  EXPECT_EQ(plugins["filter"].at("use").as_string(), "loaded");
  EXPECT_EQ(plugins["filter"].at("version").as_string(), "1.2.3");
  EXPECT_EQ(plugins["rules"].at("use").as_string(), "disabled");
  EXPECT_EQ(plugins["codes"].at("use").as_string(), "not listed");
  EXPECT_THAT(std::string(plugins["other-abi"].at("error").as_string()), HasSubstr("ABI 99"));
  EXPECT_THAT(std::string(plugins["missing"].at("error").as_string()),
              HasSubstr("there is no such file"));
  EXPECT_THAT(sluice("plugin list --directory " + kFolder).out, HasSubstr("NAME  "));
  EXPECT_EQ(sluice("plugin list --config absent.yaml").status, 1);
}

TEST_F(PluginCommand, AFolderThatIsNamedAndNotThereIsAnError) {
  write("sluice.yaml",
        "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n"
        "plugins: {directory: /nonexist}\n");
  write("a.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n");
  const RunResult run = sluice("simulate --config sluice.yaml a.yaml");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("plugins.directory: found \"/nonexist\", but there is no folder "
                                 "/nonexist; allowed: the folder of the libraries"));
  EXPECT_EQ(sluice("simulate --plugins none --config sluice.yaml a.yaml").status, 0);
}

TEST_F(PluginCommand, NewWritesAFolderToStartFrom) {
  const RunResult made = sluice("plugin new budget-check2 --kind validator");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("budget-check2/budget_check2.cpp\n"),
                              HasSubstr("cmake --build budget-check2/build\n")));
  EXPECT_THAT(read("budget-check2/CMakeLists.txt"),
              HasSubstr("sluice_add_plugin(budget-check2 budget_check2.cpp)\n"
                        "sluice_add_plugin_test(budget-check2 budget_check2_test.cpp)\n"));
  EXPECT_THAT(read("budget-check2/budget_check2.cpp"),
              HasSubstr("SLUICE_PLUGIN(BudgetCheck2, \"budget-check2\", \"0.1.0\")"));
  for (const char* file : {"README.md", "CMakeLists.txt", "budget_check2.cpp", ".gitignore",
                           "budget_check2_test.cpp"}) {
    EXPECT_NE(read(std::string("budget-check2/") + file), "") << file;
    EXPECT_EQ(read(std::string("budget-check2/") + file).find('@'), std::string::npos) << file;
  }
  EXPECT_EQ(sluice("plugin new c --kind flavor-filter-c --directory there").status, 0);
  EXPECT_TRUE(exists("there/c.c"));
}

TEST_F(PluginCommand, NewKnowsWhichKindsALanguageHas) {
  const RunResult made = sluice("plugin new off-spot --lang rust --kind flavor-filter");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("off-spot/src/lib.rs\n"),
                              HasSubstr("cp target/release/liboff_spot.so off-spot.so\n")));
  EXPECT_THAT(read("off-spot/src/lib.rs"),
              HasSubstr("export_plugin!(Filter, \"off-spot\", \"0.1.0\");"));
  for (const char* file : {"README.md", "Cargo.toml", "src/lib.rs", "src/tests.rs", ".gitignore"}) {
    EXPECT_NE(read(std::string("off-spot/") + file), "") << file;
    EXPECT_EQ(read(std::string("off-spot/") + file).find('@'), std::string::npos) << file;
  }
  EXPECT_FALSE(exists("off-spot/CMakeLists.txt"));
  EXPECT_EQ(sluice("plugin new x --lang rust --kind controller").err,
            "error: there is no template controller in Rust; there are those of check, "
            "flavor-filter, validator\n");
  EXPECT_EQ(sluice("plugin new x --lang go --kind validator").err,
            "error: there is no template validator in Go; there is one of check\n");
  EXPECT_FALSE(exists("x"));
}

TEST_F(PluginCommand, NewOverwritesNothing) {
  write("taken", "a file");
  EXPECT_EQ(sluice("plugin new x --directory taken").err,
            "error: taken: there is a file of that name\n");
  EXPECT_EQ(sluice("plugin new x").status, 0);
  EXPECT_EQ(sluice("plugin new x").err,
            "error: x: the folder is there and not empty; choose another with --directory\n");
  for (const char* name : {"X", "a_b", "1a", "a-", "''", "../a"})
    EXPECT_THAT(sluice(std::string("plugin new ") + name).err,
                HasSubstr("allowed are a-z, 0-9 and -"))
        << name;
  EXPECT_EQ(sluice("plugin new y --kind nothing").status, 2);
  EXPECT_FALSE(exists("y"));
}

}  // namespace
}  // namespace sluice::host
