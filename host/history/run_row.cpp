#include "host/history/run_row.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/types/uid.hpp"
#include "host/history/packed.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kUuidBytes = 16;
constexpr char kOther = '\x01';

void append_word(std::uint64_t word, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(word >> shift);
}

}  // namespace

double held_in_all(const RunRow& run, const HeldRow& of, Millis now) {
  const Millis end = run.ended != 0 ? run.ended : std::max(now, run.since);
  return static_cast<double>(of.spent) +
         static_cast<double>(of.now) * static_cast<double>(end - run.since);
}

// What it holds now is written as the difference to the most, which mostly is none.
std::string pack_holds(const std::vector<HeldRow>& holds) {
  std::string out;
  for (const HeldRow& each : holds)
    for (const std::int64_t number :
         {each.flavor, each.resource, each.most, each.most - each.now, each.spent})
      append_number(static_cast<std::uint64_t>(number), out);
  return out;
}

void unpack_holds(std::string_view bytes, std::vector<HeldRow>& into) {
  into.clear();
  while (!bytes.empty()) {
    HeldRow row;
    for (std::int64_t* number : {&row.flavor, &row.resource, &row.most, &row.now, &row.spent}) {
      const auto value = take_number(bytes);
      if (!value) return;
      *number = *value;
    }
    row.now = row.most - row.now;
    into.push_back(row);
  }
}

std::string pack_uid(std::string_view uid) {
  const Uid read{std::string(uid)};
  std::string out;
  if (read.number().known) {
    append_word(read.number().high, out);
    append_word(read.number().low, out);
    return out;
  }
  out += kOther;
  out += uid;
  if (out.size() == kUuidBytes) out += kOther;
  return out;
}

std::string unpack_uid(std::string_view bytes) {
  if (bytes.size() != kUuidBytes) {
    if (bytes.empty()) return {};
    if (bytes.size() == kUuidBytes + 1 && bytes.back() == kOther) bytes.remove_suffix(1);
    return std::string(bytes.substr(1));
  }
  std::string out;
  for (std::size_t i = 0; i < kUuidBytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    append_hex(static_cast<unsigned char>(bytes[i]), out);
  }
  return out;
}

}  // namespace sluice::host
