// How much a store holds: every object is taken away exactly as it was added.
#include "host/store/use.hpp"

#include <gtest/gtest.h>

#include "tests/host/store/fixture.hpp"

namespace sluice::host::test {
namespace {

std::string text_of(const StoreUse& use) {
  return std::to_string(use.objects) + " objects, " + std::to_string(use.bytes) + " bytes, " +
         std::to_string(use.charged) + " charged";
}

// key 3 or 4, metadata {"name":"x"} 12, body {} 2, status {"text":"…"} 11 and its text.
TEST(Use, OfAnObjectAreAllItsTexts) {
  StoredObject one = object(kind("ConfigMap"), "a/1", "12345");
  EXPECT_EQ(stored_bytes(one), 3U + 12U + 2U + 11U + 5U);
  one.hidden = "1234567";
  EXPECT_EQ(stored_bytes(one), 40U);
}

// Of 16,384 bytes each is charged once, of the next eight times.
TEST(Use, UnusualSizeIsChargedManyTimes) {
  EXPECT_EQ(charged_bytes(0), 0U);
  EXPECT_EQ(charged_bytes(16'384), 16'384U);
  EXPECT_EQ(charged_bytes(16'385), 16'392U);
  EXPECT_EQ(charged_bytes(16'484), 17'184U);
}

// a/1 has 29 bytes, a/2 17,028, of which 644 are charged eight times: 16,384 + 5,152 = 21,536;
// one that is in no namespace has 27.
TEST(Use, IsTheSumOfWhatIsThere) {
  const StoredObject small = object(kind("ConfigMap"), "a/1", "1");
  const StoredObject large = object(kind("ConfigMap"), "a/2", std::string(17'000, 'x'));
  const StoredObject other = object(kind("ConfigMap"), "b/1", "1");
  const StoredObject nowhere = object(kind("ResourceFlavor"), "f", "1");
  UseTable table;
  for (const StoredObject* each : {&small, &large, &other, &nowhere}) table.add(*each);
  EXPECT_EQ(text_of(table.total()), "4 objects, 17113 bytes, 21621 charged");
  EXPECT_EQ(text_of(table.of("a")), "2 objects, 17057 bytes, 21565 charged");
  EXPECT_EQ(text_of(table.of("b")), "1 objects, 29 bytes, 29 charged");
  EXPECT_EQ(text_of(table.of("")), "0 objects, 0 bytes, 0 charged");
  table.remove(small);
  EXPECT_EQ(text_of(table.of("a")), "1 objects, 17028 bytes, 21536 charged");
  table.add(small);
  table.remove(large);
  EXPECT_EQ(text_of(table.of("a")), "1 objects, 29 bytes, 29 charged");
  table.remove(small);
  table.remove(nowhere);
  EXPECT_EQ(text_of(table.of("a")), "0 objects, 0 bytes, 0 charged");
  EXPECT_EQ(text_of(table.total()), "1 objects, 29 bytes, 29 charged");
}

}  // namespace
}  // namespace sluice::host::test
