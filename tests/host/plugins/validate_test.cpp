// `sluice plugin validate` passes good plugins; broken_test.cpp has the broken ones.
#include "host/plugins/validate/validate.hpp"

#include "host/plugins/validate/tests.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using Status = TestVerdict::Status;
using ::testing::HasSubstr;

/// `name: status detail` of the one test that is asked for.
std::string run(const std::string& plugin, const std::string& test) {
  ValidateOptions options;
  options.only = {test};
  const auto results =
      validate_plugin(std::string(SLUICE_TEST_PLUGINS "/") + plugin + ".so", options);
  if (!results.ok()) return results.error().text;
  EXPECT_EQ(results->size(), 1u);
  const TestVerdict& verdict = results->at(0).verdict;
  return std::string(status_name(verdict.status)) + " " + verdict.detail;
}

TEST(Validate, GoodPluginsPassEverything) {
  for (const std::string plugin :
       {"filter", "filter-debug", "observer-a", "rules", "codes", "jobs-a"}) {
    const auto results = validate_plugin(std::string(SLUICE_TEST_PLUGINS "/") + plugin + ".so", {});
    ASSERT_TRUE(results.ok()) << results.error().text;
    EXPECT_EQ(results->size(), validate_tests().size());
    for (const TestResult& result : *results)
      EXPECT_TRUE(result.verdict.status == Status::kSuccess ||
                  result.verdict.status == Status::kSkipped)
          << plugin << " " << result.name << ": " << result.verdict.detail;
  }
}

TEST(Validate, SkipsWhatThePluginDoesNotProvide) {
  EXPECT_THAT(run("search-a", "job-plan-settles"), HasSubstr("skipped it does not provide"));
  EXPECT_THAT(run("search-a", "notify-again"), HasSubstr("skipped it does not provide"));
}

TEST(Validate, FilesThatAreNoPluginsAndUnknownTests) {
  EXPECT_THAT(run("no-plugin", "load"), HasSubstr("not a Sluice plugin"));
  EXPECT_THAT(run("other-abi", "load"), HasSubstr("built for plugin ABI 99"));
  EXPECT_THAT(run("filter", "no-such-test"), HasSubstr("there is no test no-such-test; there are"));
}

}  // namespace
}  // namespace sluice::host
