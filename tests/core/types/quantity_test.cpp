#include "core/types/quantity.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <ostream>

namespace sluice::api {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct QuantityCase {
  const char* text;
  std::int64_t milli;
  std::int64_t units;
  const char* canonical;

  friend void PrintTo(const QuantityCase& each, std::ostream* out) { *out << each.text; }
};

class QuantityParse : public ::testing::TestWithParam<QuantityCase> {};

TEST_P(QuantityParse, ReadsExactly) {
  const QuantityCase& expected = GetParam();
  const auto quantity = Quantity::parse(expected.text);
  ASSERT_TRUE(quantity.ok()) << quantity.error().text;
  EXPECT_EQ(quantity->milli(), expected.milli);
  EXPECT_EQ(quantity->units(), expected.units);
  EXPECT_EQ(quantity->text(), expected.canonical);
  EXPECT_FALSE(quantity->saturated());
  // The canonical form reads back as the same amount.
  EXPECT_EQ(*Quantity::parse(quantity->text()), *quantity);
}

INSTANTIATE_TEST_SUITE_P(
    All, QuantityParse,
    ::testing::Values(
        QuantityCase{"0", 0, 0, "0"}, QuantityCase{"0Gi", 0, 0, "0"}, QuantityCase{"-0", 0, 0, "0"},
        QuantityCase{"1", 1000, 1, "1"}, QuantityCase{"+1", 1000, 1, "1"},
        QuantityCase{"-2", -2000, -2, "-2"}, QuantityCase{"100m", 100, 1, "100m"},
        QuantityCase{"-100m", -100, -1, "-100m"}, QuantityCase{"1500m", 1500, 2, "1500m"},
        QuantityCase{"2000m", 2000, 2, "2"}, QuantityCase{"0.1", 100, 1, "100m"},
        QuantityCase{".5", 500, 1, "500m"}, QuantityCase{"5.", 5000, 5, "5"},
        QuantityCase{"00012", 12000, 12, "12"}, QuantityCase{"1.0", 1000, 1, "1"},
        // Finer than milli rounds up in milli(), finer than nano in the value itself.
        QuantityCase{"1u", 1, 1, "1u"}, QuantityCase{"1n", 1, 1, "1n"},
        QuantityCase{"0.1n", 1, 1, "1n"}, QuantityCase{"-0.1n", -1, -1, "-1n"},
        QuantityCase{"1e-12", 1, 1, "1e-9"}, QuantityCase{"1e-999999", 1, 1, "1e-9"},
        QuantityCase{"1k", 1'000'000, 1000, "1k"},
        QuantityCase{"1M", 1'000'000'000, 1'000'000, "1M"},
        QuantityCase{"1G", 1'000'000'000'000, 1'000'000'000, "1G"},
        QuantityCase{"1500k", 1'500'000'000, 1'500'000, "1500k"},
        QuantityCase{"1Ki", 1'024'000, 1024, "1Ki"},
        QuantityCase{"1Mi", 1'048'576'000, 1'048'576, "1Mi"},
        QuantityCase{"1024Mi", 1'073'741'824'000, 1'073'741'824, "1Gi"},
        // 1.5 × 2^30 = 1610612736 = 1536 × 2^20
        QuantityCase{"1.5Gi", 1'610'612'736'000, 1'610'612'736, "1536Mi"},
        // Below 1024, or not whole: shown in decimal. 0.5 × 1024 = 512; 0.1 × 1024 = 102.4
        QuantityCase{"0.5Ki", 512'000, 512, "512"}, QuantityCase{"0.1Ki", 102'400, 103, "102400m"},
        QuantityCase{"1e3", 1'000'000, 1000, "1e3"}, QuantityCase{"1E3", 1'000'000, 1000, "1e3"},
        QuantityCase{"1e+3", 1'000'000, 1000, "1e3"}, QuantityCase{"12e2", 1'200'000, 1200, "1200"},
        QuantityCase{"25e-1", 2500, 3, "2500e-3"}, QuantityCase{"1e0", 1000, 1, "1"},
        // More digits than fit into any machine word, and yet exact.
        QuantityCase{"0.000000000000000000000000000000000000000000000001", 1, 1, "1n"},
        QuantityCase{"1000000000000000000000000n", 1'000'000'000'000'000'000, 1'000'000'000'000'000,
                     "1P"},
        QuantityCase{"0000000000000000000000000000000000000000000000002Ki", 2'048'000, 2048, "2Ki"},
        QuantityCase{"1.00000000000000000000Ki", 1'024'000, 1024, "1Ki"}));

struct Big {
  const char* text;
  std::int64_t units;
  bool saturated;
  const char* canonical;

  friend void PrintTo(const Big& each, std::ostream* out) { *out << each.text; }
};

class QuantityRange : public ::testing::TestWithParam<Big> {};

TEST_P(QuantityRange, SaturatesAndSaysSo) {
  const Big& expected = GetParam();
  const auto quantity = Quantity::parse(expected.text);
  ASSERT_TRUE(quantity.ok()) << quantity.error().text;
  EXPECT_EQ(quantity->units(), expected.units);
  EXPECT_EQ(quantity->saturated(), expected.saturated);
  EXPECT_EQ(quantity->text(), expected.canonical);
}

INSTANTIATE_TEST_SUITE_P(
    All, QuantityRange,
    ::testing::Values(Big{"9223372036854775807", kMax, false, "9223372036854775807"},
                      Big{"9223372036854775807.0", kMax, false, "9223372036854775807"},
                      Big{"9223372036854775808", kMax, true, "9223372036854775807"},
                      Big{"-9223372036854775808", -kMax, true, "-9223372036854775807"},
                      // 7Ei = 7 × 2^60 = 8070450532247928832 fits, 8Ei = 2^63 does not.
                      Big{"7Ei", 8070450532247928832, false, "7Ei"},
                      Big{"8Ei", kMax, true, "9223372036854775807"},
                      Big{"9E", 9'000'000'000'000'000'000, false, "9E"},
                      Big{"10E", kMax, true, "9223372036854775807"},
                      Big{"1e30", kMax, true, "9223372036854775807"},
                      Big{"1e999999999999999999999", kMax, true, "9223372036854775807"},
                      Big{"99999999999999999999999999999999999999999999Ki", kMax, true,
                          "9223372036854775807"}));

TEST(Quantity, MilliSaturatesOnItsOwn) {
  // 9223372036854775807 units are more milli than int64 holds.
  EXPECT_EQ(Quantity::parse("9223372036854775807")->milli(), kMax);
  EXPECT_EQ(Quantity::parse("9223372036854775807m")->milli(), kMax);
  EXPECT_EQ(Quantity::parse("9223372036854775806m")->milli(), kMax - 1);
}

TEST(Quantity, RefusesInTheWordsOfKubernetes) {
  constexpr const char* kFormat =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (const char* text : {"", "-", "+", ".", "m", "Gi", "abc", "1 Gi", " 1", "1 ", "1.2.3", "--1",
                           "0x10", "1,5", "1GB", "NaN", "inf", "1_000"}) {
    const auto quantity = Quantity::parse(text);
    ASSERT_FALSE(quantity.ok()) << text;
    EXPECT_EQ(quantity.error().text, kFormat) << text;
  }
  for (const char* text : {"1K", "1ki", "1mi", "1Kim", "1e", "1E+", "1m1", "1e3e3", "1ii"}) {
    const auto quantity = Quantity::parse(text);
    if (std::string_view(text) == "1e3e3") {
      EXPECT_EQ(quantity.error().text, kFormat);
      continue;
    }
    ASSERT_FALSE(quantity.ok()) << text;
    EXPECT_EQ(quantity.error().text, "unable to parse quantity's suffix") << text;
  }
}

TEST(Quantity, ComparesExactly) {
  EXPECT_EQ(*Quantity::parse("1Gi"), *Quantity::parse("1073741824"));
  EXPECT_LT(*Quantity::parse("999m"), *Quantity::parse("1"));
  // A float would not tell these two apart.
  EXPECT_LT(*Quantity::parse("9007199254740992.000000001"),
            *Quantity::parse("9007199254740992.000000002"));
}

TEST(Quantity, AddsAndSaturates) {
  EXPECT_EQ((*Quantity::parse("1500m") + *Quantity::parse("500m")).text(), "2");
  EXPECT_EQ((*Quantity::parse("1Gi") + *Quantity::parse("1Gi")).text(), "2Gi");
  EXPECT_EQ((Quantity() + *Quantity::parse("1Gi")).text(), "1Gi");
  const Quantity most = Quantity::of_units(kMax);
  EXPECT_TRUE((most + Quantity::of_milli(1)).saturated());
  EXPECT_EQ((most + Quantity::of_milli(1)).units(), kMax);
}

}  // namespace
}  // namespace sluice::api
