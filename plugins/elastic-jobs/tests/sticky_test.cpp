#include "../sticky.hpp"

#include <gtest/gtest.h>

namespace elastic {
namespace {

TEST(Sticky, WhatIsWrittenIsRead) {
  const std::string text =
      sticky_text({{"head", {"small"}}, {"none", {}}, {"workers", {"large", "gpus"}}});
  EXPECT_EQ(text, "head=small;workers=large,gpus");
  struct Choice {
    const char* pod_set;
    std::vector<std::string_view> offered;
    const char* expected;
  };
  for (const Choice& c :
       {Choice{"head", {"small", "large"}, "small"}, Choice{"head", {"large"}, ""},
        Choice{"workers", {"small", "large"}, "large"},
        Choice{"workers", {"gpus", "others"}, "gpus"}, Choice{"none", {"small"}, ""},
        Choice{"absent", {"small"}, ""}, Choice{"hea", {"small"}, ""}, Choice{"head", {}, ""}})
    EXPECT_EQ(sticky_flavor(text, c.pod_set, c.offered), c.expected) << c.pod_set;
}

TEST(Sticky, NonsenseBindsNobody) {
  for (const char* text : {"", ";", "=", ";;=,;", "head", "head=", "=small", "head=,,"})
    EXPECT_EQ(sticky_flavor(text, "head", {"small"}), "") << text;
}

}  // namespace
}  // namespace elastic
