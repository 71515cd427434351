// What is on the screen, whole, for a few states and sizes; and what keys do.
#include "host/top/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::host {
namespace {

constexpr Time kNow = 1'000'000 * kSecond;
using What = Key::What;
using ::testing::HasSubstr;

TopQueue queue(const char* name, std::int64_t used, std::int64_t borrowed, std::int64_t waiting) {
  TopQueue out;
  out.name = name;
  out.cohort = "lab";
  out.waiting = waiting;
  out.admitted = 2;
  out.quotas = {{"spot", "cpu", 4000, used, borrowed, 0, 0}, {"spot", "memory", 1 << 30, 0, 0, 0}};
  return out;
}

TopWorkload waiting(const char* name, Duration since, const char* why) {
  TopWorkload out;
  out.ns = "team";
  out.name = name;
  out.cluster_queue = "a";
  out.since = kNow - since;
  out.why = why;
  return out;
}

TopView view() {
  TopView out;
  out.queues = {queue("a", 5000, 1000, 3), queue("b", 500, 0, 0)};
  out.queues[0].quotas[1].lent_most = 1 << 20;
  out.workloads = {waiting("one", 65 * kSecond, "insufficient quota for cpu"),
                   waiting("two", 5 * kSecond, "\x1b[31mred\nletters"), waiting("three", 0, "")};
  out.fitting = out.waiting = 3;
  return out;
}

std::string screen(const TopView& shown, const TopLook& look, TerminalSize size,
                   const std::string& note = "") {
  TopFrame frame{size, kNow, "https://host", note};
  std::string out;
  for (const ScreenLine& line : top_lines(shown, look, frame)) {
    EXPECT_LE(width_of(line), size.columns);
    out += plain(line) + "\n";
  }
  return out;
}

TEST(TopLayout, BothTablesOnAWideTerminal) {
  EXPECT_EQ(screen(view(), {}, {12, 120}),
            " sluice top   2 queues, 3 waiting   by queue   https://host\n"
            "QUEUE  COHORT  WAITING  ADMITTED  FLAVOR  RESOURCE  NOMINAL  USED  BORROWED   LENT    "
            "USE\n"
            "a      lab           3         2  spot    cpu             4     5         1      0  "
            "125 %\n"
            "                                  spot    memory        1Gi     0         0  0–1Mi    "
            "0 %\n"
            "b      lab           0         2  spot    cpu             4  500m         0      0   "
            "12 %\n"
            "                                  spot    memory        1Gi     0         0      0    "
            "0 %\n"
            "\n"
            "WORKLOAD    QUEUE  PRIORITY  STATE    FOR  WHY\n"
            "team/one    a             0  waiting  65s  insufficient quota for cpu\n"
            "team/two    a             0  waiting   5s  \xef\xbf\xbd[31mred\xef\xbf\xbdletters\n"
            "team/three  a             0  waiting   0s\n"
            " q quit   tab tables   s sort   r reverse   a all/waiting   ↑↓ PgUp PgDn scroll\n");
}

// Of one whose LocalQueue leads nowhere, and of a job that has none.
TEST(TopLayout, AWorkloadWithoutAClusterQueueSaysWhatItHas) {
  TopView shown;
  shown.workloads = {waiting("one", 0, ""), waiting("two", 0, "")};
  for (TopWorkload& each : shown.workloads) each.cluster_queue.clear();
  shown.workloads[0].local_queue = "main";
  const std::string text = screen(shown, {}, {9, 80});
  EXPECT_NE(text.find("\nteam/one  ? (main) "), std::string::npos) << text;
  EXPECT_NE(text.find("\nteam/two  no queue "), std::string::npos) << text;
}

TEST(TopLayout, WhatHasNoRoomIsCounted) {
  EXPECT_EQ(screen(view(), {}, {8, 40}),
            " sluice top   2 queues, 3 waiting   by …\n"
            "QUEUE  WAITING  FLAVOR  RESOURCE  NOMIN…\n"
            "a            3  spot    cpu            …\n"
            "… and 3 more\n"
            "\n"
            "WORKLOAD    FOR  WHY\n"
            "… and 3 more\n"
            " q quit   tab tables   s sort   r rever…\n");
}

// All need 69 for the cells and 20 between them; without COHORT 81, and without LENT 74.
TEST(TopLayout, WhatCanBeSparedGoesFirst) {
  EXPECT_EQ(screen(view(), {}, {9, 80}),
            " sluice top   2 queues, 3 waiting   by queue   https://host\n"
            "QUEUE  WAITING  ADMITTED  FLAVOR  RESOURCE  NOMINAL  USED  BORROWED    USE\n"
            "a            3         2  spot    cpu             4     5         1  125 %\n"
            "… and 3 more\n"
            "\n"
            "WORKLOAD    QUEUE  PRIORITY  STATE    FOR  WHY\n"
            "team/one    a             0  waiting  65s  insufficient quota for cpu\n"
            "… and 2 more\n"
            " q quit   tab tables   s sort   r reverse   a all/waiting   ↑↓ PgUp PgDn scroll\n");
}

// A name of 63 characters is cut where 80 columns are left with 32 for WHY.
TEST(TopLayout, OneLongNameTakesNothingFromTheOthers) {
  const std::string name(63, 'n');
  TopView long_named = view();
  long_named.workloads = {waiting(name.c_str(), 5 * kSecond, "insufficient quota for cpu"),
                          waiting("two", 65 * kSecond, "insufficient quota")};
  TopLook look;
  look.pane = TopPane::kWorkloads;
  const std::string shown = screen(long_named, look, {9, 80});
  EXPECT_THAT(shown, HasSubstr("\nteam/" + std::string(25, 'n') + "…"));
  EXPECT_THAT(shown, HasSubstr("  65s  insufficient quota"));
}

TEST(TopLayout, OnePaneScrolled) {
  TopLook look;
  look.pane = TopPane::kQueues;
  look.down = 2;
  EXPECT_EQ(screen(view(), look, {6, 30}, "workloads: you may not"),
            " sluice top   2 queues, 3 wai…\n"
            "workloads: you may not\n"
            "QUEUE  WAITING  FLAVOR  RESOU…\n"
            "b            0  spot    cpu  …\n"
            "                spot    memor…\n"
            " q quit   tab tables   s sort…\n");
}

TEST(TopLayout, NoTerminalIsTooSmall) {
  for (std::size_t rows = 0; rows < 9; ++rows)
    for (std::size_t columns = 0; columns < 5; ++columns)
      for (const TopPane pane : {TopPane::kBoth, TopPane::kQueues, TopPane::kWorkloads}) {
        TopLook look;
        look.pane = pane;
        look.down = 99;
        const TopFrame frame{{rows, columns}, kNow, "x", "note"};
        EXPECT_EQ(top_lines(view(), look, frame).size(), rows) << rows << "x" << columns;
        screen(view(), look, {rows, columns});
      }
}

TEST(TopLayout, WithoutPaintForPipes) {
  TopView stopped = view();
  stopped.queues.resize(1);
  stopped.queues[0].quotas.clear();
  stopped.queues[0].trouble = "stopped: Hold";
  stopped.workloads.resize(1);
  EXPECT_EQ(
      top_text(stopped, kNow),
      "QUEUE  COHORT  WAITING  ADMITTED  FLAVOR  RESOURCE  NOMINAL  USED  BORROWED  LENT  USE "
      " TROUBLE\n"
      "a      lab           3         2                                                       "
      " stopped: Hold\n"
      "\n"
      "WORKLOAD  QUEUE  PRIORITY  STATE    FOR  WHY\n"
      "team/one  a             0  waiting  65s  insufficient quota for cpu\n");
}

TEST(TopKeys, ChangeWhatIsLookedAt) {
  constexpr TerminalSize kSize{10, 80};
  TopLook look;
  EXPECT_TRUE(press(look, {What::kDown}, view(), kSize));
  EXPECT_EQ(look.down, 1U);
  EXPECT_TRUE(press(look, {What::kPageDown}, view(), kSize));
  EXPECT_EQ(look.down, 2U);  // the last of three
  EXPECT_TRUE(press(look, {What::kChar, 'k'}, view(), kSize));
  EXPECT_EQ(look.down, 1U);
  EXPECT_EQ(query_for(look, kSize).from, 1U);
  EXPECT_TRUE(press(look, {What::kChar, '\t'}, view(), kSize));
  EXPECT_EQ(look.pane, TopPane::kQueues);
  EXPECT_EQ(look.down, 0U);
  EXPECT_TRUE(press(look, {What::kEnd}, view(), kSize));
  EXPECT_EQ(look.down, 3U);  // the last of four lines
  for (const char key : {'s', 'r', 'a', 'x'})
    EXPECT_TRUE(press(look, {What::kChar, key}, view(), kSize));
  EXPECT_EQ(look.query.sort, TopSort::kWaiting);
  EXPECT_TRUE(look.query.reverse && look.query.all);
  for (const char key : {'q', 'Q', '\x03'})
    EXPECT_FALSE(press(look, {What::kChar, key}, view(), kSize));
}

TEST(TopKeys, EverySortHasAWord) {
  EXPECT_EQ(sort_words(), (std::vector<std::string>{"queue", "waiting", "use", "priority"}));
  for (const std::string& word : sort_words()) EXPECT_EQ(word_of(sort_of(word)), word);
}

}  // namespace
}  // namespace sluice::host
