// Quantity: an exact Kubernetes resource amount.
//
// The value is a fixed-point decimal in nano-units (10^-9), the finest that Kubernetes keeps, held
// in 128 bits, so that parsing, comparing and formatting never round through a float. Amounts
// beyond the range of Kubernetes (|v| > 2^63-1 whole units) saturate and say so. Finer than nano
// rounds up, away from zero, as Kubernetes does. A value type; safe on any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::api {

__extension__ using int128 = __int128;

class Quantity {
 public:
  enum class Format : std::uint8_t { kDecimal, kBinary, kExponent };

  Quantity() = default;
  static Quantity of_units(std::int64_t units);
  static Quantity of_milli(std::int64_t milli);

  /// "100m", "1.5Gi", "1e3", "-2", ".5". The error wording is that of Kubernetes.
  static Result<Quantity> parse(std::string_view text);

  /// Rounded up (away from zero), saturating at the range of int64.
  std::int64_t units() const;
  std::int64_t milli() const;

  bool saturated() const { return saturated_; }
  bool negative() const { return nano_ < 0; }
  bool is_zero() const { return nano_ == 0; }

  /// The canonical form: no fraction, the largest suffix that keeps it exact, in the format read.
  std::string text() const;

  Quantity operator+(const Quantity& other) const;  ///< saturating; the format of the left side
  std::strong_ordering operator<=>(const Quantity& other) const { return nano_ <=> other.nano_; }
  bool operator==(const Quantity& other) const { return nano_ == other.nano_; }

 private:
  int128 nano_ = 0;
  Format format_ = Format::kDecimal;
  bool saturated_ = false;
};

}  // namespace sluice::api
