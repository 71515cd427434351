#include "core/model/workload_table.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace sluice {
namespace {

WorkloadId add(WorkloadTable& table, const char* key) {
  const WorkloadId id = table.add();
  table[id].object = std::make_shared<api::Workload>();
  table[id].key = key;
  return id;
}

TEST(WorkloadTable, IdsAreGivenInOrderAndNeverTwice) {
  WorkloadTable table;
  EXPECT_EQ(add(table, "a"), 0u);
  EXPECT_EQ(add(table, "b"), 1u);
  table.remove(1);
  for (int i = 0; i < 3; ++i) table.hand_out();
  EXPECT_EQ(add(table, "c"), 2u);
  EXPECT_EQ(table[2].key, "c");
}

TEST(WorkloadTable, DecisionsStillNameWhatWasRemovedSinceTheyWereHandedOut) {
  WorkloadTable table;
  const WorkloadId id = add(table, "gone");
  table.remove(id);
  EXPECT_FALSE(table[id].exists());
  table.hand_out();  // decisions of its end go out now
  EXPECT_EQ(std::as_const(table)[id].key, "gone");
  table.hand_out();  // and have been read
  EXPECT_EQ(std::as_const(table)[id].key, "");
  EXPECT_FALSE(std::as_const(table)[id].exists());
}

TEST(WorkloadTable, HasPlacesForWhatCameAfterTheOldestAlone) {
  WorkloadTable table;
  std::vector<WorkloadId> live;
  for (int i = 0; i < 100'000; ++i) {
    live.push_back(add(table, "w"));
    if (live.size() > 10) {
      table.remove(live.front());
      live.erase(live.begin());
    }
    table.hand_out();
    // 10 exist, one or two wait to be forgotten, and at most 1,024 places or as many as there are
    // behind those are kept back.
    ASSERT_LE(table.end_id() - table.first_id(), 2 * 1024u);
    for (const WorkloadId id : live) ASSERT_TRUE(std::as_const(table)[id].exists());
  }
  EXPECT_FALSE(std::as_const(table)[0].exists());
  EXPECT_FALSE(std::as_const(table)[table.end_id()].exists());
}

}  // namespace
}  // namespace sluice
