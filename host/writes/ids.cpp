#include "host/writes/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/base/check.hpp"

namespace sluice::host {
namespace {

// No vowels and nothing that looks like another character.
constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";

// Of TTTTTTTT-TTTT-7CCC-…, as uid() writes it: the time and the counter.
constexpr std::size_t kOrderedDigits[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 15, 16, 17};

std::string suffix_of(std::uint64_t number) {
  std::string out(5, ' ');
  for (char& c : out) {
    c = kAlphabet[number % kAlphabet.size()];
    number /= kAlphabet.size();
  }
  return out;
}

}  // namespace

std::string LiveIds::uid(Time now) {
  const auto milliseconds = static_cast<std::uint64_t>(std::max<Time>(now, 0) / kMillisecond);
  const std::lock_guard lock(mutex_);
  last_ = std::max(last_ + 1, milliseconds << 12U);
  const std::uint64_t time = (last_ >> 12U) & 0xffffffffffffULL;
  const std::uint64_t tail = random_();
  return fmt::format("{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}", time >> 16U, time & 0xffffU,
                     last_ & 0xfffU, 0x8000U | (tail >> 50U), tail & 0xffffffffffffULL);
}

void LiveIds::go_past(std::string_view uid) {
  std::uint64_t number = 0;
  for (const std::size_t digit : kOrderedDigits) {
    SLUICE_CHECK(digit < uid.size(), uid);
    const char c = uid[digit];
    number = number << 4U | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  const std::lock_guard lock(mutex_);
  last_ = std::max(last_, number);
}

std::string LiveIds::suffix() {
  const std::lock_guard lock(mutex_);
  return suffix_of(random_());
}

std::string CountingIds::uid(Time) {
  return fmt::format("00000000-0000-4000-9000-{:012x}", ++uids_);
}

std::string CountingIds::suffix() { return suffix_of(suffixes_++); }

}  // namespace sluice::host
