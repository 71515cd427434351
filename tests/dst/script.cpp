#include "tests/dst/script.hpp"

#include <fmt/format.h>

#include <array>
#include <random>
#include <utility>

namespace sluice::host::test {
namespace {

// How often each happens, of 100.
constexpr std::array<std::pair<Act, unsigned>, 11> kShares{{{Act::kSubmit, 21},
                                                            {Act::kDelete, 4},
                                                            {Act::kSetQuota, 4},
                                                            {Act::kStop, 4},
                                                            {Act::kSetActive, 3},
                                                            {Act::kAnswer, 9},
                                                            {Act::kResize, 5},
                                                            {Act::kPass, 22},
                                                            {Act::kJump, 1},
                                                            {Act::kReport, 20},
                                                            {Act::kCrash, 7}}};

}  // namespace

Script script_of(std::uint64_t seed, std::size_t steps) {
  std::mt19937_64 random(seed);  // its numbers are the standard's, unlike those of distributions
  Script out{seed, seed % 2 == 0, seed % 3 == 0, {}};
  for (std::size_t i = 0; i < steps; ++i) {
    unsigned share = static_cast<unsigned>(random() % 100);
    Step step;
    for (const auto& [act, of_hundred] : kShares) {
      step.act = act;
      if (share < of_hundred) break;
      share -= of_hundred;
    }
    step.a = static_cast<std::uint32_t>(random());
    step.b = static_cast<std::uint32_t>(random());
    step.c = static_cast<std::uint32_t>(random());
    out.steps.push_back(step);
  }
  return out;
}

std::string to_text(const Step& step) {
  constexpr const char* kNames[] = {"submit", "delete", "quota", "stop",   "active", "resize",
                                    "answer", "pass",   "jump",  "report", "crash"};
  return fmt::format("{} {} {} {}", kNames[static_cast<std::size_t>(step.act)], step.a, step.b,
                     step.c);
}

}  // namespace sluice::host::test
