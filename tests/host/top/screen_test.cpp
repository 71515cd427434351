// Widths, cutting, painting and keys.
#include "host/top/screen.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

using What = Key::What;

TEST(Screen, CutsByCharactersAndSaysSo) {
  struct Case {
    const char* text;
    std::size_t columns;
    const char* expected;
  };
  for (const Case& each :
       {Case{"abc", 3, "abc"}, Case{"abcd", 3, "ab…"}, Case{"äöüß", 3, "äö…"},
        Case{"äöü", 3, "äöü"}, Case{"abc", 1, "…"}, Case{"abc", 0, ""}, Case{"", 0, ""}})
    EXPECT_EQ(cut(each.text, each.columns), each.expected) << each.text << " " << each.columns;
}

TEST(Screen, CutsALineWhereverTheEdgeFalls) {
  struct Case {
    std::size_t columns;
    const char* expected;
  };
  for (const Case& each : {Case{9, "one two"}, Case{7, "one two"}, Case{6, "one t…"},
                           Case{4, "one…"}, Case{3, "on…"}, Case{0, ""}}) {
    ScreenLine line = {{"one", Paint::kStrong}, {" "}, {"two"}};
    cut(line, each.columns);
    EXPECT_EQ(plain(line), each.expected) << each.columns;
    EXPECT_LE(width_of(line), each.columns);
  }
}

TEST(Screen, PaintsWithoutColoursToo) {
  const ScreenLine line = {{"a", Paint::kBad}, {"b"}, {"c", Paint::kStrong}};
  EXPECT_EQ(painted(line, true), "\x1b[31ma\x1b[0mb\x1b[1mc\x1b[0m");
  EXPECT_EQ(painted(line, false), "ab\x1b[1mc\x1b[0m");
}

TEST(Screen, WritesOnlyTheLinesThatDiffer) {
  const std::vector<ScreenLine> before = {{{"one"}}, {{"two"}}, {{"three"}}};
  const std::vector<ScreenLine> after = {{{"one"}}, {{"2"}}, {{"three"}}, {{"four"}}};
  EXPECT_EQ(redraw(before, after, false), "\x1b[2;1H2\x1b[K\x1b[4;1Hfour\x1b[K");
  EXPECT_EQ(redraw(before, before, false), "");
}

TEST(Screen, KeysComeInPieces) {
  struct Case {
    std::string typed;
    std::vector<Key> keys;
    std::string left;
  };
  for (const Case& each :
       {Case{"q", {{What::kChar, 'q'}}, ""}, Case{"\x1b[A\x1bOB", {{What::kUp}, {What::kDown}}, ""},
        Case{"\x1b[6", {}, "\x1b[6"}, Case{"\x1b[6~s", {{What::kPageDown}, {What::kChar, 's'}}, ""},
        Case{"\x1b[1;5Cq", {{What::kChar, 'q'}}, ""},  // control-right means nothing here
        Case{"\x1bq", {{What::kChar, 'q'}}, ""}, Case{"\x1b", {}, "\x1b"}}) {
    std::string typed = each.typed;
    EXPECT_EQ(take_keys(typed), each.keys) << testing::PrintToString(each.typed);
    EXPECT_EQ(typed, each.left);
  }
}

}  // namespace
}  // namespace sluice::host
