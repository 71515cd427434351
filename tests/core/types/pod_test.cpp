// What a pod asks of a node, against labels and taints, as the Kubernetes scheduler evaluates it.
#include "core/types/pod.hpp"

#include <gtest/gtest.h>

namespace sluice::api {
namespace {

TEST(NodeSelectorRequirement, MatchesLabels) {
  using Operator = NodeSelectorRequirement::Operator;
  LabelMap node;
  node.set("zone", "a");
  node.set("gpus", "4");
  node.set("name", "4x");
  struct Case {
    const char* what;
    NodeSelectorRequirement requirement;
    bool matches;
  };
  for (const Case& each : std::vector<Case>{
           {"in", {"zone", Operator::kIn, {"b", "a"}}, true},
           {"in others", {"zone", Operator::kIn, {"b"}}, false},
           {"in, without the label", {"rack", Operator::kIn, {"a"}}, false},
           {"not in", {"zone", Operator::kNotIn, {"b"}}, true},
           {"not in, but it is", {"zone", Operator::kNotIn, {"b", "a"}}, false},
           {"not in, without the label", {"rack", Operator::kNotIn, {"a"}}, true},
           {"exists", {"zone", Operator::kExists, {}}, true},
           {"exists, without the label", {"rack", Operator::kExists, {}}, false},
           {"does not exist", {"rack", Operator::kDoesNotExist, {}}, true},
           {"does not exist, but it does", {"zone", Operator::kDoesNotExist, {}}, false},
           {"more than 3", {"gpus", Operator::kGt, {"3"}}, true},
           {"more than 4", {"gpus", Operator::kGt, {"4"}}, false},
           {"more than +3", {"gpus", Operator::kGt, {"+3"}}, true},
           {"more than +-3", {"gpus", Operator::kGt, {"+-3"}}, false},
           {"less than 5", {"gpus", Operator::kLt, {"5"}}, true},
           {"less than 4", {"gpus", Operator::kLt, {"4"}}, false},
           {"more than a word", {"gpus", Operator::kGt, {"few"}}, false},
           {"a word that begins as a number", {"name", Operator::kGt, {"3"}}, false},
           {"more than two numbers", {"gpus", Operator::kGt, {"3", "2"}}, false},
           {"more than nothing", {"gpus", Operator::kGt, {}}, false},
           {"more, without the label", {"rack", Operator::kGt, {"3"}}, false},
       })
    EXPECT_EQ(each.requirement.matches(node), each.matches) << each.what;
}

TEST(Toleration, ToleratesTaints) {
  using Operator = Toleration::Operator;
  const Taint taint{"gpu", "yes", TaintEffect::kNoSchedule};
  EXPECT_EQ(taint.text(), "gpu=yes:NoSchedule");
  EXPECT_EQ((Taint{"gpu", "", TaintEffect::kNoExecute}.text()), "gpu:NoExecute");
  struct Case {
    const char* what;
    Toleration toleration;
    bool tolerates;
  };
  for (const Case& each : std::vector<Case>{
           {"the same", {"gpu", Operator::kEqual, "yes", {}, {}}, true},
           {"another value", {"gpu", Operator::kEqual, "no", {}, {}}, false},
           {"another key", {"cpu", Operator::kEqual, "yes", {}, {}}, false},
           {"any value", {"gpu", Operator::kExists, "", {}, {}}, true},
           {"any value of another key", {"cpu", Operator::kExists, "", {}, {}}, false},
           {"any key", {"", Operator::kExists, "", {}, {}}, true},
           {"its effect", {"gpu", Operator::kExists, "", TaintEffect::kNoSchedule, {}}, true},
           {"another effect", {"gpu", Operator::kExists, "", TaintEffect::kNoExecute, {}}, false},
       })
    EXPECT_EQ(each.toleration.tolerates(taint), each.tolerates) << each.what;
}

}  // namespace
}  // namespace sluice::api
