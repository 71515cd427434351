// Plugins that were built with earlier SDKs (tests/sdk/fixtures) load, validate and answer.
#include <algorithm>

#include "host/plugins/check_controllers.hpp"
#include "host/plugins/validate/memory_objects.hpp"
#include "host/plugins/validate/validate.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BinaryFixtures : public PluginTest {
 protected:
  void SetUp() override {
#ifndef __x86_64__
    GTEST_SKIP() << "the binaries are for x86-64";
#endif
    directory = std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/sdk/fixtures";
  }

  static CheckQuery attempt_at(const std::string& controller) {
    CheckQuery query;
    query.workload = std::make_shared<const api::Workload>(make_workload("w"));
    query.workload_json = R"({"kind":"Workload"})";
    query.check = "c";
    query.check_json =
        R"({"metadata":{"name":"c"},"spec":{"controllerName":")" + controller + "\"}}";
    query.attempt = 3;
    return query;
  }

  static std::string text_of_reports(PluginSet& set) {
    std::string text;
    for (const CheckReport& report : set.check_controllers().take_reports())
      text += std::to_string(report.attempt) + " " + report.state + " " + report.message + ";";
    return text;
  }
};

TEST_F(BinaryFixtures, PassTheValidator) {
  for (const char* name : {"sdk-1-0-c", "sdk-1-0-cpp"}) {
    const auto results = validate_plugin(directory / (std::string(name) + ".so"), {});
    ASSERT_TRUE(results.ok()) << results.error().text;
    for (const TestResult& result : *results)
      EXPECT_TRUE(result.verdict.status == TestVerdict::Status::kSuccess ||
                  result.verdict.status == TestVerdict::Status::kSkipped)
          << name << " " << result.name << ": " << result.verdict.detail;
  }
}

TEST_F(BinaryFixtures, Sdk10InC) {
  const auto set = load({plugin("sdk-1-0-c", R"({"maxPods":2})")});
  ASSERT_NE(set, nullptr);
  api::Workload workload = make_workload("w");
  workload.pod_sets[0].count = 3;
  EXPECT_THAT(ask_filters(*set, workload, {"on-demand", "spot"}).skipped,
              ElementsAre("spot: too many pods"));
  EXPECT_TRUE(set->check_controllers().begin(attempt_at("example.com/sdk-1-0-c")));
  EXPECT_EQ(text_of_reports(*set), "3 Ready C says yes;");
  EXPECT_THAT(load_error({plugin("sdk-1-0-c", R"({"maxPods":-1})")}),
              HasSubstr("at least 0 is allowed"));
}

TEST_F(BinaryFixtures, Sdk10InCxx) {
  const auto set = load({plugin("sdk-1-0-cpp")});
  ASSERT_NE(set, nullptr);
  MemoryObjects objects;
  set->connect(&objects);
  api::Workload workload = make_workload("w");
  EXPECT_THAT(ask_filters(*set, workload, {"spot"}).skipped, IsEmpty());
  workload.meta.labels.set("tier", "production");
  EXPECT_THAT(ask_filters(*set, workload, {"on-demand", "spot"}).skipped,
              ElementsAre("spot: spot is not for production"));
  workload.meta.labels.set("throw", "now");
  EXPECT_THAT(ask_filters(*set, workload, {"spot"}).fault.text, HasSubstr("as the label says"));

  EXPECT_TRUE(set->check_controllers().begin(attempt_at("example.com/sdk-1-0-cpp")));
  EXPECT_EQ(text_of_reports(*set), "3 Pending in a minute;");
  EXPECT_EQ(objects.objects().state.size(), 1u);
  EXPECT_EQ(set->next_timer(), clock.time + 60 * kSecond);
  clock.time += 60 * kSecond;
  set->fire_timers(clock.time);
  EXPECT_EQ(text_of_reports(*set), "3 Ready a minute has passed;");
  EXPECT_EQ(load_error({plugin("sdk-1-0-cpp", R"({"prefix":"refuse"})")}),
            "plugin sdk-1-0-cpp refuses its configuration: the prefix `refuse` is refused");
  set->connect(nullptr);
}

}  // namespace
}  // namespace sluice::host
