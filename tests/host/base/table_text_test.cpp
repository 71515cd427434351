// Tables and spans of time for a terminal.
#include "host/base/table_text.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

TEST(TableText, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(table_text({{"NAME", "USED"}, {"long-name", "1"}, {"a", ""}, {}}),
            "  NAME       USED\n"
            "  long-name  1\n"
            "  a\n"
            "\n");
  EXPECT_EQ(table_text({}), "");
}

TEST(TableText, SpansBeginWithTheirLargestUnit) {
  const struct {
    std::int64_t seconds;
    int most;
    const char* text;
  } cases[] = {
      {0, 2, "0s"},      {-5, 2, "0s"},          {59, 2, "59s"},
      {60, 2, "1m"},     {303, 2, "5m3s"},       {3603, 2, "1h"},  // 0 minutes count as a unit
      {3603, 4, "1h3s"}, {90061, 4, "1d1h1m1s"}, {90061, 2, "1d1h"},
  };
  for (const auto& each : cases)
    EXPECT_EQ(span_text(each.seconds, each.most), each.text) << each.seconds << " " << each.most;
}

}  // namespace
}  // namespace sluice::host
