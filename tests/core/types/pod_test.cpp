// What a pod asks of a node, against labels and taints, as the Kubernetes scheduler evaluates it.
#include "core/types/pod.hpp"

#include <gtest/gtest.h>

namespace sluice::api {
namespace {

TEST(Taint, Text) {
  EXPECT_EQ((Taint{"spot", "true", TaintEffect::kNoSchedule}.text()), "spot=true:NoSchedule");
  EXPECT_EQ((Taint{"spot", "", TaintEffect::kNoExecute}.text()), "spot:NoExecute");
}

TEST(Toleration, Tolerates) {
  using Operator = Toleration::Operator;
  const Taint taint{"spot", "true", TaintEffect::kNoSchedule};
  struct Case {
    Toleration toleration;
    bool tolerates;
  };
  for (const Case& each : {
           Case{{"spot", Operator::kEqual, "true", {}, {}}, true},
           Case{{"spot", Operator::kEqual, "false", {}, {}}, false},
           Case{{"other", Operator::kEqual, "true", {}, {}}, false},
           Case{{"spot", Operator::kExists, "", {}, {}}, true},
           Case{{"other", Operator::kExists, "", {}, {}}, false},
           Case{{"", Operator::kExists, "", {}, {}}, true},
           Case{{"spot", Operator::kEqual, "true", TaintEffect::kNoSchedule, {}}, true},
           Case{{"spot", Operator::kEqual, "true", TaintEffect::kNoExecute, {}}, false},
           Case{{"", Operator::kExists, "", TaintEffect::kNoExecute, {}}, false},
       }) {
    EXPECT_EQ(each.toleration.tolerates(taint), each.tolerates) << each.toleration.key;
  }
}

TEST(NodeSelectorRequirement, Matches) {
  using Operator = NodeSelectorRequirement::Operator;
  LabelMap node;
  node.set("zone", "a");
  node.set("cores", "64");
  node.set("word", "many");
  node.set("size", "4x");
  struct Case {
    const char* key;
    Operator op;
    std::vector<std::string> values;
    bool matches;
  };
  for (const Case& each : {
           Case{"zone", Operator::kIn, {"a", "b"}, true},
           Case{"zone", Operator::kIn, {}, false},
           Case{"zone", Operator::kIn, {"b"}, false},
           Case{"none", Operator::kIn, {"a"}, false},
           Case{"zone", Operator::kNotIn, {"b"}, true},
           Case{"zone", Operator::kNotIn, {"a"}, false},
           Case{"none", Operator::kNotIn, {"a"}, true},
           Case{"zone", Operator::kExists, {}, true},
           Case{"none", Operator::kExists, {}, false},
           Case{"none", Operator::kDoesNotExist, {}, true},
           Case{"zone", Operator::kDoesNotExist, {}, false},
           Case{"cores", Operator::kGt, {"63"}, true},
           Case{"cores", Operator::kGt, {"64"}, false},
           Case{"cores", Operator::kGt, {"+9"}, true},
           Case{"cores", Operator::kGt, {"+-9"}, false},
           Case{"cores", Operator::kGt, {"9", "8"}, false},  // one number, not two
           Case{"cores", Operator::kGt, {}, false},
           Case{"cores", Operator::kLt, {"65"}, true},
           Case{"cores", Operator::kLt, {"64"}, false},
           Case{"cores", Operator::kLt, {"-65"}, false},
           Case{"cores", Operator::kGt, {"x"}, false},
           Case{"word", Operator::kGt, {"1"}, false},
           Case{"size", Operator::kGt, {"1"}, false},
           Case{"none", Operator::kGt, {"1"}, false},
           Case{"none", Operator::kLt, {"1"}, false},
       }) {
    const NodeSelectorRequirement requirement{each.key, each.op, each.values};
    EXPECT_EQ(requirement.matches(node), each.matches) << each.key;
  }
}

}  // namespace
}  // namespace sluice::api
