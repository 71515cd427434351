#include "api/schema/formats.hpp"

#include <gtest/gtest.h>

namespace sluice::api {
namespace {

TEST(Formats, AcceptAndRefuse) {
  struct Case {
    Format format;
    std::vector<const char*> good, bad;
  };
  for (const Case& each : {
           Case{Format::kDnsLabel, {"a", "a-b", "0", "a1"}, {"", "-a", "a-", "A", "a.b", "a_b"}},
           Case{Format::kDnsSubdomain,
                {"a", "a.b", "a-b.c-d", "1.2"},
                {"", ".", "a.", ".a", "a..b", "A.b", "a.-b"}},
           Case{Format::kQualifiedName,
                {"cpu", "a_B.c-d", "example.com/gpu", "X"},
                {"", "/", "a/", "/a", "A.com/b", "a/b/c", "-a", "a b"}},
           Case{Format::kConditionReason,
                {"A", "Abc_", "A:b,c9"},
                {"", "9a", "_a", "a:", "a-b", "a b"}},
           Case{Format::kKindName, {"Job", "a-B", "X1"}, {"", "1a", "-a", "a-", "a.b"}},
           Case{Format::kDateTime, {"2026-01-01T00:00:00Z"}, {"", "2026-01-01", "now"}},
       }) {
    for (const char* text : each.good) EXPECT_TRUE(has_format(each.format, text)) << text;
    for (const char* text : each.bad) EXPECT_FALSE(has_format(each.format, text)) << text;
  }
}

TEST(Formats, ShortLabelsHave63BytesAtMost) {
  for (const std::size_t bytes : {1U, 63U})
    EXPECT_TRUE(is_short_dns_label(std::string(bytes, 'a')));
  for (const std::size_t bytes : {0U, 64U})
    EXPECT_FALSE(is_short_dns_label(std::string(bytes, 'a')));
  EXPECT_FALSE(is_short_dns_label("a-"));
}

TEST(Formats, CountsCodePoints) {
  EXPECT_EQ(text_length("abc"), 3u);
  EXPECT_EQ(text_length("\xC3\xA4\xE2\x82\xAC"), 2u);  // a umlaut, euro sign
}

TEST(Formats, NamesAreKnown) {
  EXPECT_EQ(format_of("dns-label"), Format::kDnsLabel);
  EXPECT_FALSE(format_of("email").has_value());
}

}  // namespace
}  // namespace sluice::api
