// Which flavors a workload may have is known as long as it may be asked about, and of those that
// are over only a few are kept.
#include "../allowed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sluice/testing.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace options {
namespace {

using sluice::testing::FakeHost;
using sluice::testing::FakeWorkload;
using sluice::testing::TestedPlugin;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Allowed, OfThoseThatAreOverNoMoreAreKeptThanOfThoseThatAreNeeded) {
  AllowedFlavors allowed;
  const auto needed = [](const std::string& key) { return key == "ns/stays"; };
  allowed.set("ns/stays", {"a"});
  std::size_t most = 0;
  for (int i = 0; i < 10'000; ++i) {
    allowed.set("ns/w" + std::to_string(i), {"b"});
    if (allowed.is_full()) allowed.keep_if(needed);
    most = std::max(most, allowed.size());
  }
  EXPECT_LE(most, 2 * AllowedFlavors::kFew + 1);
  ASSERT_NE(allowed.find("ns/stays"), nullptr);
  EXPECT_THAT(*allowed.find("ns/stays"), ElementsAre("a"));
}

TEST(Allowed, ThoseThatAreNeededAreLookedThroughAFewTimes) {
  AllowedFlavors allowed;
  int times = 0;
  for (std::size_t i = 0; i < 8 * AllowedFlavors::kFew; ++i) {
    allowed.set("ns/w" + std::to_string(i), {"a"});
    if (!allowed.is_full()) continue;
    allowed.keep_if([](const std::string&) { return true; });
    ++times;
  }
  EXPECT_EQ(times, 5);  // at 1, 2, 3, 5 and 8 times kFew: there is room for as many again
  EXPECT_EQ(allowed.size(), 8 * AllowedFlavors::kFew);
}

/// The plugin has been asked about workloads that may have the flavor b only.
class Limited : public ::testing::Test {
 protected:
  static constexpr const char* kLimits =
      R"({"spec":{"admissionConstraints":{"allowedResourceFlavors":["b"]}}})";

  void ask(const std::string& name) {
    FakeWorkload workload("ns", name);
    workload.extensions = kLimits;
    plugin.filter_shape_key(workload);
  }
  /// Until it is time to look who is over; they are not there.
  void ask_about_others(const std::string& called) {
    for (int i = 0; host.timers().empty(); ++i) ask(called + std::to_string(i));
  }
  void put(const std::string& name, const std::string& finished) {
    host.objects().put(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":"ns",
          "name":")" +
        name + R"("},"status":{"conditions":[{"type":"Finished","status":")" + finished +
        R"("}]}})");
  }
  /// The flavors that it may not have.
  std::vector<std::string> skipped(const std::string& name) {
    std::vector<std::string> out;
    for (const auto& skip : plugin.filter(FakeWorkload("ns", name), {"a", "b"}))
      out.push_back(skip.flavor);
    return out;
  }

  FakeHost host;
  TestedPlugin plugin{host};
};

TEST_F(Limited, AWorkloadThatIsGoneOrOverIsForgottenWhenThereAreMany) {
  ask("waits");
  ask("over");
  put("waits", "False");
  put("over", "True");
  ask_about_others("gone-");
  plugin.advance(std::chrono::seconds(0));
  EXPECT_THAT(skipped("gone-0"), ElementsAre("a")) << "it may be about to be written";
  ask_about_others("new-");
  plugin.advance(std::chrono::seconds(0));
  EXPECT_THAT(skipped("waits"), ElementsAre("a"));
  EXPECT_THAT(skipped("over"), IsEmpty());
  EXPECT_THAT(skipped("gone-0"), IsEmpty());
  EXPECT_THAT(skipped("new-0"), ElementsAre("a"));
}

TEST_F(Limited, AParentThatIsGoneIsForgottenAtOnce) {
  ask("parent");
  EXPECT_THAT(skipped("parent"), ElementsAre("a"));
  plugin.reconcile({"kueue.x-k8s.io/v1beta2", "Workload", "ns", "parent"});
  EXPECT_THAT(skipped("parent"), IsEmpty());
}

}  // namespace
}  // namespace options
