// The one list of extension points (host/plugins/hooks.def) and what is said of them elsewhere.
#include <fstream>
#include <iterator>

#include "host/plugins/extensions.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string text_of_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(Points, ThePageOfFaultsHasThisTable) {
  std::string table = "| point | `closed` (default) | `open` |\n|---|---|---|\n";
  for (const PointInfo& point : extension_points())
    table += "| `" + std::string(point.name) + "` | " + std::string(point.closed) + " | " +
             std::string(point.open) + " |\n";
  EXPECT_THAT(text_of_file(SLUICE_SOURCE "/docs/plugins/faults.md"), HasSubstr(table + "\n"));
}

TEST(Points, EachHasAPageAndALineInTheOverview) {
  const std::string overview = text_of_file(SLUICE_SOURCE "/docs/plugins/index.md");
  for (const PointInfo& point : extension_points()) {
    EXPECT_THAT(overview, HasSubstr("| `" + std::string(point.id) + "` |"));
    EXPECT_THAT(text_of_file(SLUICE_SOURCE "/docs/plugins/" + std::string(point.name) + ".md"),
                HasSubstr(std::string(point.id)));
  }
}

TEST(Points, TheThreadOfEachFunctionIsThatOfItsHeader) {
  for (std::size_t i = 0; i < kHookCount; ++i) {
    const HookInfo& hook = info(static_cast<Hook>(i));
    if (hook.point == "plugin") continue;
    std::string header(hook.point);
    std::replace(header.begin(), header.end(), '-', '_');
    const std::string text = text_of_file(SLUICE_SOURCE "/sdk/include/sluice/ext/" + header + ".h");
    const auto at = text.find("(*" + std::string(hook.name.substr(hook.point.size() + 1)) + ")");
    ASSERT_NE(at, text.npos) << hook.name;
    constexpr const char* kTags[] = {"[load]", "[control]", "[cycle]"};
    const std::string before = text.substr(0, at);
    const auto tag = before.rfind('[');
    EXPECT_THAT(before.substr(tag), ::testing::StartsWith(kTags[static_cast<int>(hook.thread)]))
        << hook.name;
  }
}

class Functions : public PluginTest {};

TEST_F(Functions, OptionalOnesAreToldApart) {
  const auto set = load({plugin("filter"), plugin("search-a")});
  EXPECT_THAT(set->status()[0].extensions, ElementsAre("flavor-filter/1"));
  EXPECT_THAT(set->status()[0].functions,
              ElementsAre("flavor-filter.filter", "flavor-filter.shape_key"));
}

}  // namespace
}  // namespace sluice::host
