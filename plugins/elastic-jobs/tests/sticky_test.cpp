#include "../sticky.hpp"

#include <gtest/gtest.h>

namespace elastic {
namespace {

TEST(Sticky, WhatIsWrittenIsRead) {
  const std::string text =
      sticky_text({{"head", {"small"}}, {"none", {}}, {"workers", {"large", "gpus"}}});
  EXPECT_EQ(text, "head=small;workers=large,gpus");
  struct Case {
    const char* pod_set;
    std::vector<std::string_view> offered;
    const char* expected;
  };
  for (const Case& c :
       {Case{"head", {"small", "large"}, "small"}, Case{"head", {"large"}, ""},
        Case{"workers", {"small", "large"}, "large"}, Case{"workers", {"gpus", "others"}, "gpus"},
        Case{"none", {"small"}, ""}, Case{"absent", {"small"}, ""}, Case{"hea", {"small"}, ""},
        Case{"head", {}, ""}})
    EXPECT_EQ(sticky_flavor(text, c.pod_set, c.offered), c.expected) << c.pod_set;
}

TEST(Sticky, NonsenseBindsNobody) {
  for (const char* text : {"", ";", "=", ";;=,;", "head", "head=", "=small", "head=,,"})
    EXPECT_EQ(sticky_flavor(text, "head", {"small"}), "") << text;
}

}  // namespace
}  // namespace elastic
