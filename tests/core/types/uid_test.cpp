// UIDs order as their texts do, whatever their form.
#include "core/types/uid.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sluice {
namespace {

TEST(Uid, OnlyAUuidInItsUsualFormHasANumber) {
  const Uid uid("0199a3b2-7c4d-7001-8fff-0123456789ab");
  EXPECT_TRUE(uid.number().known);
  EXPECT_EQ(uid.number().high, 0x0199a3b27c4d7001U);
  EXPECT_EQ(uid.number().low, 0x8fff0123456789abU);
  EXPECT_EQ(uid.text(), "0199a3b2-7c4d-7001-8fff-0123456789ab");
  for (const char* other :
       {"", "u1", "0199A3B2-7c4d-7001-8fff-0123456789ab", "0199a3b2-7c4d-7001-8fff-0123456789a",
        "0199a3b2-7c4d-7001-8fff-0123456789abc", "0199a3b2a7c4d-7001-8fff-0123456789ab",
        "0199a3b2-7c4d-7001-8fff-0123456789-b", "0199a3b2-7c4d-7001-8fff-0123456789ag"})
    EXPECT_FALSE(Uid(other).number().known) << other;
}

// Few different digits, so that long equal beginnings come up; one in eight has another form.
TEST(Uid, OrdersAsTheTextsDo) {
  std::mt19937 random(1);
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  std::vector<Uid> all;
  for (int n = 0; n < 400; ++n) {
    std::string text = "00000000-0000-0000-0000-000000000000";
    for (unsigned i = draw(4); i > 0; --i)
      if (char& c = text[draw(36)]; c != '-') c = "0189af"[draw(6)];
    const unsigned form = draw(8);
    if (form == 0) text.resize(draw(37));
    if (form == 1) text[draw(36)] = "Ag-~"[draw(4)];
    all.emplace_back(text);
  }
  std::size_t numbers = 0;
  for (const Uid& a : all) {
    numbers += a.number().known ? 1 : 0;
    for (const Uid& b : all) {
      ASSERT_EQ(a < b, a.text() < b.text()) << a.text() << " and " << b.text();
      ASSERT_EQ(a == b, a.text() == b.text());
    }
  }
  EXPECT_GT(numbers, 250U);
  EXPECT_LT(numbers, 390U);
}

}  // namespace
}  // namespace sluice
