// What a LocalQueue has used: an average over time that forgets half of itself in each half-life.
//
// Pure functions and values. Amounts are those of the API (cores, bytes, pieces), rounded to
// billionths, as they stand in a status; so what is read there again is what was written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace afs {

using Amounts = std::map<std::string, double, std::less<>>;  // by resource

/// A quantity of Kubernetes; nullopt: it is none.
std::optional<double> quantity_of(std::string_view text);
/// `2`, `0.25`: with as many digits as are needed.
std::string quantity_text(double amount);

/// `4 cpu`, `2.04Gi memory`: for people, with three digits.
std::string told_amount(const std::string& resource, double amount);

struct Rates {
  double half_life_seconds = 604800;
  double sampling_seconds = 300;
  Amounts weights;  ///< of resources; 1 where nothing is said
};

struct Usage {
  Amounts consumed;     ///< as of `at`
  Amounts held;         ///< what is in use since then
  std::int64_t at = 0;  ///< seconds since 1970
  bool operator==(const Usage&) const = default;
};

/// Brings it up to that time: consumed comes half as near to what is held in each half-life.
/// Nothing happens where that is no later.
void settle(Usage& usage, std::int64_t at, const Rates& rates);
/// A workload begins to hold this: it counts for one sampling interval at once, so that one
/// LocalQueue cannot bring in many before its use is seen; but for what of it was `counted` when
/// another in the same place came in. REQUIRES: settled.
void enter(Usage& usage, const Amounts& amounts, const Amounts& counted, const Rates& rates);
/// It holds this already, and was counted when it began to.
void hold(Usage& usage, const Amounts& amounts);
/// It holds it no more. REQUIRES: settled.
void leave(Usage& usage, const Amounts& amounts);
/// The weighted sum of what was consumed, by the weight of the LocalQueue; infinite with weight 0.
double share_of(const Amounts& consumed, double weight, const Rates& rates);
/// Keys are in the order of the shares. REQUIRES: not negative.
std::int64_t key_of(double share);

}  // namespace afs
