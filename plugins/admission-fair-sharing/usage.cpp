#include "usage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

namespace afs {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 16> kSuffixes = {{
    {"n", 1e-9},
    {"u", 1e-6},
    {"m", 1e-3},
    {"", 1},
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
    {"Ki", 1024.0},
    {"Mi", 1048576.0},
    {"Gi", 1073741824.0},
    {"Ti", 1099511627776.0},
    {"Pi", 1125899906842624.0},
    {"Ei", 1152921504606846976.0},
}};

std::string digits_of(double amount) {
  std::array<char, 400> out{};
  const int size = std::snprintf(out.data(), out.size(), "%.9f", amount);
  return {out.data(), static_cast<std::size_t>(std::max(size, 0))};
}

double rounded(double amount) { return std::strtod(digits_of(amount).c_str(), nullptr); }

/// How much of what is held counts after so long.
double part_after(double seconds, const Rates& rates) {
  return 1 - std::exp2(-seconds / rates.half_life_seconds);
}

double amount_in(const Amounts& amounts, const std::string& resource) {
  const auto it = amounts.find(resource);
  return it == amounts.end() ? 0 : it->second;
}

}  // namespace

std::optional<double> quantity_of(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || !std::isfinite(number)) return std::nullopt;
  const std::string_view suffix(end);
  for (const auto& [name, factor] : kSuffixes)
    if (suffix == name) return number * factor;
  return std::nullopt;
}

std::string quantity_text(double amount) {
  std::string out = digits_of(amount);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

std::string told_amount(const std::string& resource, double amount) {
  constexpr std::array<std::string_view, 7> kOfBytes = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t suffix = 0;
  const bool counts_bytes =
      resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  while (counts_bytes && amount >= 1000 && suffix + 1 < kOfBytes.size()) {
    amount /= 1024;
    ++suffix;
  }
  const int decimals = amount >= 100 ? 0 : amount >= 10 ? 1 : 2;
  std::array<char, 400> digits{};
  std::snprintf(digits.data(), digits.size(), "%.*f", decimals, amount);
  std::string out = digits.data();
  if (decimals > 0) out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  if (out == "0") out = "under 0.01";
  return out.append(kOfBytes[suffix]).append(" ").append(resource);
}

void settle(Usage& usage, std::int64_t at, const Rates& rates) {
  if (at <= usage.at) return;
  const double part = part_after(static_cast<double>(at - usage.at), rates);
  for (const auto& [resource, amount] : usage.held) usage.consumed.try_emplace(resource, 0.0);
  for (auto& [resource, amount] : usage.consumed)
    amount = rounded(amount + (amount_in(usage.held, resource) - amount) * part);
  std::erase_if(usage.consumed, [&](const auto& each) {
    return each.second == 0 && amount_in(usage.held, each.first) == 0;
  });
  usage.at = at;
}

void enter(Usage& usage, const Amounts& amounts, const Amounts& counted, const Rates& rates) {
  const double part = part_after(rates.sampling_seconds, rates);
  for (const auto& [resource, amount] : amounts) {
    const double more = std::max(0.0, amount - amount_in(counted, resource));
    usage.consumed[resource] = rounded(usage.consumed[resource] + more * part);
  }
  hold(usage, amounts);
}

void hold(Usage& usage, const Amounts& amounts) {
  for (const auto& [resource, amount] : amounts)
    usage.held[resource] = rounded(usage.held[resource] + amount);
}

void leave(Usage& usage, const Amounts& amounts) {
  for (const auto& [resource, amount] : amounts) {
    double& held = usage.held[resource];
    held = std::max(0.0, rounded(held - amount));
    if (held == 0) usage.held.erase(resource);
  }
}

double share_of(const Amounts& consumed, double weight, const Rates& rates) {
  if (weight <= 0) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const auto& [resource, amount] : consumed) {
    const auto it = rates.weights.find(resource);
    sum += amount * (it == rates.weights.end() ? 1.0 : it->second);
  }
  return sum / weight;
}

/// The bits of numbers that are not negative have the order of the numbers.
std::int64_t key_of(double share) { return std::bit_cast<std::int64_t>(share + 0.0); }

}  // namespace afs
