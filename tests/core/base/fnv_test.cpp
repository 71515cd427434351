#include "core/base/fnv.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

// From the list of vectors of the algorithm's authors.
TEST(Fnv, IsFnv1a) {
  EXPECT_EQ(Fnv().value(), 0xcbf29ce484222325U);
  EXPECT_EQ(Fnv().add("a").value(), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(Fnv().add("foobar").value(), 0x85944171f73967e8U);
}

TEST(Fnv, BytesCountAndNotHowTheyCame) {
  EXPECT_EQ(Fnv().add("foo").add('b').add("ar").value(), Fnv().add("foobar").value());
  EXPECT_EQ(Fnv().add("\xff").value(), Fnv().add(static_cast<unsigned char>(0xFF)).value());
}

}  // namespace
}  // namespace sluice
