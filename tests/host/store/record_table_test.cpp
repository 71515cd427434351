#include "host/store/record_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

#include "tests/host/store/fixture.hpp"

namespace sluice::host::test {
namespace {

RecordPtr record(const std::string& key, const std::string& text = "1") {
  return std::make_shared<const StoredObject>(object(kind("Workload"), key, text));
}

std::vector<std::string> all_keys(const RecordTable& table, std::string_view from = {}) {
  std::vector<std::string> out;
  for (auto place = table.lower_bound(from); !place.at_end(); ++place) out.push_back((*place)->key);
  return out;
}

TEST(RecordTable, EmptyHasNothing) {
  RecordTable table;
  EXPECT_EQ(table.find("a"), nullptr);
  EXPECT_FALSE(table.erase("a"));
  EXPECT_TRUE(table.lower_bound("").at_end());
  EXPECT_EQ(table.rank("z"), 0U);
}

TEST(RecordTable, ReplacesTheRecordOfTheSameKey) {
  RecordTable table;
  table.set(record("b", "old"));
  table.set(record("a"));
  table.set(record("b", "new"));
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(text_of(*table.find("b")), "new");
  EXPECT_EQ(all_keys(table), (std::vector<std::string>{"a", "b"}));
}

TEST(RecordTable, FilledInOrderItGoesOnAsOneThatGrew) {
  for (const std::size_t size : {0U, 1U, 192U, 193U, 1000U}) {
    std::vector<RecordPtr> records;
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < size; ++i) {
      keys.push_back("k" + std::to_string(10000 + 2 * i));
      records.push_back(record(keys.back()));
    }
    RecordTable table;
    table.set(record("gone"));
    table.fill(std::move(records));
    EXPECT_EQ(table.size(), size);
    EXPECT_EQ(all_keys(table), keys);
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(table.rank(keys[i]), i);
    for (std::size_t i = 0; i < size; ++i) table.set(record("k" + std::to_string(10001 + 2 * i)));
    EXPECT_EQ(table.size(), 2 * size);
    for (const std::string& key : keys) EXPECT_NE(table.find(key), nullptr);
  }
}

// Many more records than a run holds, in rising, falling and random order.
TEST(RecordTable, IsAnOrderedMap) {
  for (const int order : {0, 1, 2}) {
    std::mt19937 random(7);
    std::map<std::string, std::string> model;
    RecordTable table;
    for (std::uint64_t i = 0; i < 4000; ++i) {
      const std::uint64_t number = order == 0 ? i : order == 1 ? 4000 - i : random() % 2000;
      const std::string key = "k" + std::to_string(10000 + number);
      if (order == 2 && random() % 3 == 0) {
        EXPECT_EQ(table.erase(key), model.erase(key) == 1);
      } else {
        table.set(record(key, std::to_string(i)));
        model[key] = std::to_string(i);
      }
    }
    ASSERT_EQ(table.size(), model.size());
    std::size_t rank = 0;
    auto place = table.lower_bound("");
    for (const auto& [key, text] : model) {
      ASSERT_FALSE(place.at_end());
      ASSERT_EQ((*place)->key, key);
      ASSERT_EQ(text_of(*table.find(key)), text);
      ASSERT_EQ(table.rank(key), rank++);
      ++place;
    }
    EXPECT_TRUE(place.at_end());
    for (const auto& entry : model) ASSERT_TRUE(table.erase(entry.first));
    EXPECT_EQ(table.size(), 0U);
  }
}

}  // namespace
}  // namespace sluice::host::test
