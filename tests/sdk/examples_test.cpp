// The examples are built out of tree against the installed package, then validated and loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "host/plugins/validate/validate.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class Examples : public PluginTest {
 protected:
  static void SetUpTestSuite() {
    work_ = fs::path(::testing::TempDir()) / ("sluice-sdk-" + std::to_string(::getpid()));
    fs::remove_all(work_);
    fs::create_directories(work_);
    run(SLUICE_CMAKE " --install " SLUICE_BINARY_DIR " --component sdk --prefix " +
        (work_ / "prefix").string());
  }
  static void TearDownTestSuite() { fs::remove_all(work_); }

  /// What the command prints ends up in the failure.
  static void run(const std::string& command) {
    const std::string log = (work_ / "log").string();
    const int status = std::system((command + " >" + log + " 2>&1").c_str());
    std::ifstream in(log);
    ASSERT_EQ(status, 0) << command << "\n" << std::string(std::istreambuf_iterator<char>(in), {});
  }

  /// Copies the example away from the sources and builds it there.
  static fs::path build(const std::string& example) {
    const fs::path source = work_ / example;
    fs::copy(fs::path(SLUICE_SOURCE_DIR) / "examples/plugins" / example, source,
             fs::copy_options::recursive);
    run(SLUICE_CMAKE " -S " + source.string() + " -B " + (source / "build").string() +
        " -DCMAKE_PREFIX_PATH=" + (work_ / "prefix").string() +
        " -DCMAKE_C_COMPILER=" SLUICE_C_COMPILER " -DCMAKE_CXX_COMPILER=" SLUICE_CXX_COMPILER);
    run(SLUICE_CMAKE " --build " + (source / "build").string());
    return source / "build";
  }

  static void expect_valid(const fs::path& library) {
    const auto results = validate_plugin(library, {});
    ASSERT_TRUE(results.ok()) << results.error().text;
    for (const TestResult& result : *results)
      EXPECT_TRUE(result.verdict.status == TestVerdict::Status::kSuccess ||
                  result.verdict.status == TestVerdict::Status::kSkipped)
          << result.name << ": " << result.verdict.detail;
  }

  static inline fs::path work_;
};

TEST_F(Examples, FlavorFilterInCxx) {
  directory = build("flavor-filter");
  expect_valid(directory / "stable-for-production.so");
  const auto set = load({plugin("stable-for-production")});
  ASSERT_NE(set, nullptr);
  api::Workload workload = make_workload("w");
  EXPECT_THAT(ask_filters(*set, workload, {"on-demand", "spot"}).skipped, ElementsAre());
  workload.meta.labels.set("tier", "production");
  EXPECT_THAT(ask_filters(*set, workload, {"on-demand", "spot"}).skipped,
              ElementsAre("spot: spot is not for production"));
}

TEST_F(Examples, FlavorFilterInC) {
  directory = build("flavor-filter-c");
  expect_valid(directory / "small-jobs-on-spot.so");
  const auto set = load({plugin("small-jobs-on-spot", R"({"maxPods":2})")});
  ASSERT_NE(set, nullptr);
  api::Workload workload = make_workload("w");
  workload.pod_sets[0].count = 2;
  EXPECT_THAT(ask_filters(*set, workload, {"on-demand", "spot"}).skipped, ElementsAre());
  workload.pod_sets[0].count = 3;
  EXPECT_THAT(ask_filters(*set, workload, {"on-demand", "spot"}).skipped,
              ElementsAre("spot: spot is for small pod sets only"));
  EXPECT_EQ(load_error({plugin("small-jobs-on-spot", R"({"maxPods":-1})")}),
            "plugin small-jobs-on-spot: config.maxPods: found -1 (integer), at least 0 is allowed");
}

TEST_F(Examples, WithPkgConfigAlone) {
  const fs::path source = fs::path(SLUICE_SOURCE_DIR) / "examples/plugins/flavor-filter-c";
  const std::string pkg =
      "PKG_CONFIG_PATH=" + (work_ / "prefix/lib/pkgconfig").string() + " pkg-config ";
  const fs::path library = work_ / "small-jobs-on-spot.so";
  run(SLUICE_C_COMPILER
      " -std=c11 -Wall -Wextra -Wpedantic -Werror -shared -fPIC "
      "-fvisibility=hidden $(" +
      pkg + "--cflags sluice-sdk) -Wl,--version-script=$(" + pkg +
      "--variable=plugin_map sluice-sdk) " + (source / "small_jobs_on_spot.c").string() + " -o " +
      library.string());
  expect_valid(library);
}

}  // namespace
}  // namespace sluice::host
