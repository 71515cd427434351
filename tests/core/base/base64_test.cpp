// The examples of RFC 4648, section 10, bytes of every value, and what ends a text.
#include "core/base/base64.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Base64, WritesAndReadsTheExamplesOfItsDefinition) {
  struct Case {
    const char* bytes;
    const char* text;
  };
  for (const Case& each :
       {Case{"", ""}, Case{"f", "Zg=="}, Case{"fo", "Zm8="}, Case{"foo", "Zm9v"},
        Case{"foob", "Zm9vYg=="}, Case{"fooba", "Zm9vYmE="}, Case{"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64_text(each.bytes), each.text);
    EXPECT_EQ(base64_bytes(each.text), each.bytes);
  }
}

TEST(Base64, KeepsEveryByte) {
  std::string bytes;
  for (int value = 0; value < 256; ++value) bytes += static_cast<char>(value);
  EXPECT_EQ(base64_bytes(base64_text(bytes)), bytes);
}

TEST(Base64, ReadsUpToWhatIsNoneOfIt) { EXPECT_EQ(base64_bytes("Zm9v\nYmFy"), "foo"); }

}  // namespace
}  // namespace sluice
