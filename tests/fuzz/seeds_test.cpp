// The inputs from which the fuzzers start, and those that once showed a mistake, as ordinary tests.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

namespace sluice {
namespace {

// fuzzers.inc: a declaration and an entry for each fuzzer that is built.
#define SLUICE_FUZZER(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "fuzzers.inc"
#undef SLUICE_FUZZER

struct Fuzzer {
  const char* name;
  int (*run)(const std::uint8_t*, std::size_t);

  /// Part of the test's name: without it GoogleTest writes the bytes, which are addresses.
  friend void PrintTo(const Fuzzer& fuzzer, std::ostream* out) { *out << fuzzer.name; }
};

#define SLUICE_FUZZER(name) {#name, fuzz_##name},
const Fuzzer kFuzzers[] = {
#include "fuzzers.inc"
};
#undef SLUICE_FUZZER

class FuzzSeeds : public testing::TestWithParam<Fuzzer> {};

TEST_P(FuzzSeeds, Pass) {
  const std::filesystem::path folder =
      std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/fuzz/seeds" / GetParam().name;
  std::size_t seeds = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(file.path().string());
    std::ifstream in(file.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    EXPECT_EQ(GetParam().run(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), 0);
    ++seeds;
  }
  EXPECT_GT(seeds, 0U);
  EXPECT_EQ(GetParam().run(nullptr, 0), 0);
}

INSTANTIATE_TEST_SUITE_P(Of, FuzzSeeds, testing::ValuesIn(kFuzzers),
                         [](const auto& fuzzer) { return std::string(fuzzer.param.name); });

}  // namespace
}  // namespace sluice
