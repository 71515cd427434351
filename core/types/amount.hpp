// Amounts of quota: exact integers that saturate instead of wrapping.
//
// An Amount counts milli-CPU for cpu and base units for everything else. kUnlimited is distinct
// from every amount that input can produce (the api layer refuses larger ones). Sums of usage are
// Wide: they cannot overflow with fewer than 2^63 holders, so that adding and removing is always
// exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sluice {

using Amount = std::int64_t;
__extension__ using Wide = __int128;

inline constexpr Amount kUnlimited = std::numeric_limits<Amount>::max();
inline constexpr Amount kMaxAmount = kUnlimited - 1;

/// Clamped into the range of finite amounts.
inline Amount saturate(Wide value) {
  return static_cast<Amount>(std::clamp<Wide>(value, -Wide{kMaxAmount}, Wide{kMaxAmount}));
}
inline Amount add_saturating(Amount a, Amount b) { return saturate(Wide{a} + b); }
inline Amount multiply_saturating(Amount a, Amount b) { return saturate(Wide{a} * b); }

}  // namespace sluice
