#include "core/types/meta.hpp"

#include <gtest/gtest.h>

namespace sluice::api {
namespace {

LabelMap labels(std::initializer_list<LabelMap::Entry> entries) {
  LabelMap map;
  for (const auto& [key, value] : entries) map.set(key, value);
  return map;
}

TEST(LabelMap, KeepsKeysSortedAndUnique) {
  LabelMap map = labels({{"b", "2"}, {"a", "1"}, {"c", "3"}, {"b", "4"}});
  ASSERT_EQ(map.size(), 3u);
  EXPECT_EQ(map.begin()->first, "a");
  EXPECT_EQ(*map.find("b"), "4");
  EXPECT_EQ(map.find("bb"), nullptr);
  map.erase("b");
  map.erase("never");
  EXPECT_EQ(map.find("b"), nullptr);
  EXPECT_EQ(map, labels({{"c", "3"}, {"a", "1"}}));
}

TEST(LabelSelector, Matches) {
  using Operator = LabelSelector::Operator;
  const LabelMap team = labels({{"team", "a"}, {"tier", "gold"}});
  struct Case {
    const char* what;
    LabelSelector selector;
    bool matches;
  };
  const auto with = [](std::string key, Operator op, std::vector<std::string> values) {
    LabelSelector selector;
    selector.match_expressions.push_back({std::move(key), op, std::move(values)});
    return selector;
  };
  LabelSelector equal, different, both = with("tier", Operator::kIn, {"gold"});
  equal.match_labels.set("team", "a");
  different.match_labels.set("team", "b");
  both.match_labels.set("team", "b");
  for (const Case& each : {
           Case{"empty selects all", {}, true},
           Case{"label", equal, true},
           Case{"another value", different, false},
           Case{"In", with("team", Operator::kIn, {"b", "a"}), true},
           Case{"In, other values", with("team", Operator::kIn, {"b"}), false},
           Case{"In, absent key", with("zone", Operator::kIn, {"b"}), false},
           Case{"NotIn", with("team", Operator::kNotIn, {"b"}), true},
           Case{"NotIn, listed", with("team", Operator::kNotIn, {"a"}), false},
           Case{"NotIn, absent key", with("zone", Operator::kNotIn, {"a"}), true},
           Case{"Exists", with("team", Operator::kExists, {}), true},
           Case{"Exists, absent", with("zone", Operator::kExists, {}), false},
           Case{"DoesNotExist", with("zone", Operator::kDoesNotExist, {}), true},
           Case{"DoesNotExist, present", with("team", Operator::kDoesNotExist, {}), false},
           Case{"all must hold", both, false},
       }) {
    EXPECT_EQ(each.selector.matches(team), each.matches) << each.what;
  }
}

TEST(ObjectMeta, KeyNamesTheObject) {
  ObjectMeta meta;
  meta.name = "train";
  EXPECT_EQ(meta.key(), "train");
  meta.ns = "team-a";
  EXPECT_EQ(meta.key(), "team-a/train");
}

}  // namespace
}  // namespace sluice::api
