// `sluice plugin validate` fails broken plugins for the right reason and passes good ones.
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
  options.timeout = std::chrono::milliseconds(test == "create-activate" ? 2000 : 30'000);
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

TEST(Validate, BrokenPluginsFailForTheirReason) {
  EXPECT_THAT(run("exports-more", "exports-only-entry"), HasSubstr("failed it also exports _Z"));
  EXPECT_THAT(run("no-entry", "load"), HasSubstr("failed"));
  EXPECT_THAT(run("create-throws", "create-activate"),
              HasSubstr("failed an exception crossed the line: create threw"));
  EXPECT_THAT(run("no-instance", "create-activate"), HasSubstr("failed create answered 0"));
  EXPECT_THAT(run("crosses", "throw-is-contained"),
              HasSubstr("failed an exception crossed the line: past the line"));
  EXPECT_THAT(run("crashes", "deterministic"), HasSubstr("crashed "));
  EXPECT_THAT(run("hangs", "create-activate"), HasSubstr("crashed it did not end within 2000 ms"));
  EXPECT_THAT(run("eager", "no-host-call-before-create"), HasSubstr("failed create sets a timer"));
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
