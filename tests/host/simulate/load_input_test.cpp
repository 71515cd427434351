// What is read is prepared in batches, by several threads. Nobody may be able to tell: the same
// mistakes, at the same places, in the order of the input.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "host/machine/rules.hpp"
#include "host/plugins/clock.hpp"
#include "host/simulate/input.hpp"

namespace sluice::host {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class LoadInput : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A line of a List: a workload, its pods `count` times.
  static std::string workload(std::size_t number, int count) {
    return fmt::format(
        R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{{"name":"w{0}",)"
        R"("namespace":"n"}},"spec":{{"queueName":"q","podSets":[{{"name":"main","count":{1},)"
        R"("template":{{"spec":{{"containers":[{{"name":"c","image":"x"}}]}}}}}}]}}}})",
        number, count);
  }
  void write(const char* name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  static std::string list(const std::vector<std::string>& lines) {
    return fmt::format("{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n{}\n]}}\n",
                       fmt::join(lines, ",\n"));
  }

  Result<SimulationInput> load(int threads) {
    const auto rules = Rules::without_plugins(clock_);
    return load_input({folder_.string()}, {}, *rules->intake, threads);
  }
  /// The same for any number of threads.
  std::string mistakes() {
    const auto one = load(1);
    EXPECT_FALSE(one.ok());
    if (one.ok()) return {};
    const auto many = load(3);
    EXPECT_FALSE(many.ok());
    if (!many.ok()) {
      EXPECT_EQ(many.error().text, one.error().text);
    }
    return one.error().text;
  }

  std::filesystem::path folder_;
  VirtualClock clock_;
};

/// Items begin in line 2.
TEST_F(LoadInput, MistakesAreToldInTheOrderOfTheInput) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < 5000; ++i) lines.push_back(workload(i, 1));
  lines[10] = workload(10, -1);
  lines[20] = R"({"kind":"Workload"})";
  lines[4500] = workload(4500, -1);
  lines[4999] = R"({"kind":"Workload"})";
  write("a.json", list(lines));
  const std::string told = mistakes();
  const std::vector<std::string> wanted = {
      "a.json:12: Workload w10: ", "a.json:22: ", "a.json:4502: Workload w4500: ", "a.json:5001: "};
  std::size_t at = 0;
  for (const std::string& each : wanted) {
    at = told.find(each, at);
    ASSERT_NE(at, std::string::npos) << each << "\n" << told;
  }
}

TEST_F(LoadInput, TwentyMistakesAreTold) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < 5000; ++i) lines.push_back(workload(i, i % 230 == 0 ? -1 : 1));
  write("a.json", list(lines));
  const std::string told = mistakes();
  EXPECT_THAT(told, HasSubstr("a.json:4372: Workload w4370: "));
  EXPECT_THAT(told, EndsWith("\nmore mistakes are not shown"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 20);
}

// A wrong start puts all events of a Timeline beyond the last moment.
TEST_F(LoadInput, TwentyEventsThatAreNeverReachedAreTold) {
  std::string events;
  for (int i = 0; i < 30; ++i) events += "- {at: 2100000h, finish: {namespace: n, name: w}}\n";
  write("t.yaml",
        "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nstart: \"2026-01-01T00:00:00Z\"\n"
        "events:\n" +
            events);
  const std::string told = mistakes();
  EXPECT_THAT(told, HasSubstr("t.yaml:5: "));
  EXPECT_THAT(told, EndsWith("\nmore mistakes are not shown"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 20);
}

/// A file that cannot be read ends the loading, unless enough was wrong before.
TEST_F(LoadInput, AFileThatCannotBeReadIsToldAlone) {
  write("a.json", list({workload(0, -1), workload(1, 1)}));
  write("b.json", "{");
  EXPECT_THAT(mistakes(), HasSubstr("b.json:1:2: not valid JSON"));
  EXPECT_THAT(mistakes(), testing::Not(HasSubstr("a.json")));

  write("a.json", list(std::vector<std::string>(30, workload(0, -1))));
  EXPECT_THAT(mistakes(), testing::Not(HasSubstr("b.json")));
  EXPECT_THAT(mistakes(), EndsWith("\nmore mistakes are not shown"));
}

TEST_F(LoadInput, AllIsPreparedInTheOrderOfTheInput) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < 5000; ++i) lines.push_back(workload(i, 1));
  write("a.json", list(lines));
  for (const int threads : {1, 8}) {
    const auto input = load(threads);
    ASSERT_TRUE(input.ok()) << input.error().text;
    ASSERT_EQ(input->objects.size(), 5001U) << "and the namespace";
    for (std::size_t i = 0; i < 5000; ++i) {
      EXPECT_EQ(input->objects[i + 1].object.stored.key, fmt::format("n/w{}", i));
      EXPECT_EQ(input->objects[i + 1].order, i + 1);
    }
  }
}

// Times of a dump lie ahead of a clock that starts where it always does; a start is given
// otherwise.
TEST_F(LoadInput, ADumpWithoutAStartIsWarnedOf) {
  const std::string dumped =
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",)"
      R"("namespace":"n"},"spec":{"queueName":"q","podSets":[{"name":"main","count":1,)"
      R"("template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}]},"status":{"conditions":[)"
      R"({"type":"Admitted","status":"True","reason":"Admitted","message":"m",)"
      R"("lastTransitionTime":"2026-11-27T10:00:00Z"}]}})";
  write("dump.json", dumped);
  auto input = load(1);
  ASSERT_TRUE(input.ok()) << input.error().text;
  EXPECT_THAT(input->warnings, testing::ElementsAre(HasSubstr("start: \"2026-11-27T10:00:00Z\"")));
  write("timeline.yaml",
        "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nstart: \"2026-11-01T00:00:00Z\"\n");
  input = load(1);
  ASSERT_TRUE(input.ok()) << input.error().text;
  EXPECT_TRUE(input->warnings.empty());
}

}  // namespace
}  // namespace sluice::host
