#include "core/types/quantity.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace sluice::api {
namespace {

constexpr int128 kNanoPerUnit = 1'000'000'000;
constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();
constexpr int128 kMaxNano = static_cast<int128>(kMaxInt64) * kNanoPerUnit;
constexpr int kMaxDecimalDigits = 28;  // of kMaxNano

constexpr const char* kFormatError =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr const char* kSuffixError = "unable to parse quantity's suffix";

constexpr std::array<int128, 39> powers_of_ten() {
  std::array<int128, 39> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr auto kPowersOfTen = powers_of_ten();

/// What a suffix stands for: value × 10^decimal × 2^binary.
struct Scale {
  int decimal = 0;
  int binary = 0;
  Quantity::Format format = Quantity::Format::kDecimal;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// `e3`, `E-6`: the exponent, held within ±1000 (everything beyond saturates or vanishes anyway).
std::optional<Scale> exponent_scale(std::string_view digits) {
  bool negative = false;
  if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) {
    negative = digits[0] == '-';
    digits.remove_prefix(1);
  }
  if (digits.empty()) return std::nullopt;
  int exponent = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    exponent = std::min(exponent * 10 + (c - '0'), 1000);
  }
  return Scale{negative ? -exponent : exponent, 0, Quantity::Format::kExponent};
}

std::optional<Scale> scale_of(std::string_view suffix) {
  using Format = Quantity::Format;
  if (suffix.empty()) return Scale{};
  static constexpr std::string_view kDecimal = "numkMGTPE";
  static constexpr std::array<int, 9> kExponents = {-9, -6, -3, 3, 6, 9, 12, 15, 18};
  if (suffix.size() == 1) {
    const auto index = kDecimal.find(suffix[0]);
    if (index == std::string_view::npos) return std::nullopt;
    return Scale{kExponents[index], 0, Format::kDecimal};
  }
  static constexpr std::string_view kBinary = "KMGTPE";
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const auto index = kBinary.find(suffix[0]);
    if (index == std::string_view::npos) return std::nullopt;
    return Scale{0, 10 * (static_cast<int>(index) + 1), Format::kBinary};
  }
  if (suffix[0] == 'e' || suffix[0] == 'E') return exponent_scale(suffix.substr(1));
  return std::nullopt;
}

struct Amount {
  int128 nano = 0;
  bool saturated = false;
};

/// value × 10^exponent, rounded up; value ≥ 0 and below 10^37.
Amount scaled(int128 value, int exponent) {
  if (value == 0) return {};
  if (exponent < 0) {
    const int drop = -exponent;
    if (drop >= static_cast<int>(kPowersOfTen.size())) return {1, false};
    const int128 divisor = kPowersOfTen[static_cast<std::size_t>(drop)];
    value = value / divisor + (value % divisor != 0 ? 1 : 0);
    exponent = 0;
  }
  if (exponent > kMaxDecimalDigits) return {kMaxNano, true};
  const int128 factor = kPowersOfTen[static_cast<std::size_t>(exponent)];
  if (value > kMaxNano / factor) return {kMaxNano, true};
  return {value * factor, false};
}

/// The general case: digits of any length, as a decimal string.
Amount scaled_digits(std::string digits, int exponent, int binary) {
  for (; binary > 0; binary -= 10) {  // every binary suffix is a power of 1024
    unsigned carry = 0;
    for (auto it = digits.rbegin(); it != digits.rend(); ++it) {
      const unsigned value = static_cast<unsigned>(*it - '0') * 1024U + carry;
      *it = static_cast<char>('0' + value % 10);
      carry = value / 10;
    }
    if (carry != 0) digits.insert(0, std::to_string(carry));
  }
  bool round_up = false;
  if (exponent < 0) {
    const auto drop = std::min(digits.size(), static_cast<std::size_t>(-exponent));
    round_up = digits.find_first_not_of('0', digits.size() - drop) != std::string::npos;
    digits.resize(digits.size() - drop);
    exponent = 0;
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() > 30) return {kMaxNano, true};
  int128 value = round_up ? 1 : 0;
  int128 read = 0;
  for (const char c : digits) read = read * 10 + (c - '0');
  return scaled(value + read, exponent);
}

struct Parts {
  bool negative = false;
  std::string_view whole, fraction, suffix;
};

/// Splits as Kubernetes' regular expression does; nullopt when the text does not match it.
std::optional<Parts> split(std::string_view text) {
  Parts parts;
  std::size_t pos = 0;
  if (pos < text.size() && (text[pos] == '+' || text[pos] == '-'))
    parts.negative = text[pos++] == '-';
  const auto digits = [&] {
    const std::size_t start = pos;
    while (pos < text.size() && is_digit(text[pos])) ++pos;
    return text.substr(start, pos - start);
  };
  parts.whole = digits();
  if (pos < text.size() && text[pos] == '.') {
    ++pos;
    parts.fraction = digits();
  }
  if (parts.whole.empty() && parts.fraction.empty()) return std::nullopt;
  const std::size_t suffix = pos;
  static constexpr std::string_view kSuffixChars = "eEinumkKMGTP";
  while (pos < text.size() && kSuffixChars.find(text[pos]) != std::string_view::npos) ++pos;
  if (pos < text.size() && (text[pos] == '+' || text[pos] == '-')) ++pos;
  digits();
  if (pos != text.size()) return std::nullopt;
  parts.suffix = text.substr(suffix);
  return parts;
}

void append_digits(std::string& out, int128 value) {
  std::array<char, 40> buffer;
  std::size_t pos = buffer.size();
  do {
    buffer[--pos] = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  out.append(buffer.data() + pos, buffer.size() - pos);
}

std::int64_t rounded_away(int128 nano, int128 unit) {
  const int128 magnitude = nano < 0 ? -nano : nano;
  int128 value = magnitude / unit + (magnitude % unit != 0 ? 1 : 0);
  if (value > kMaxInt64) value = kMaxInt64;
  return static_cast<std::int64_t>(nano < 0 ? -value : value);
}

}  // namespace

Quantity Quantity::of_units(std::int64_t units) {
  Quantity quantity;
  quantity.nano_ = std::clamp(units * kNanoPerUnit, -kMaxNano, kMaxNano);
  return quantity;
}

Quantity Quantity::of_milli(std::int64_t milli) {
  Quantity quantity;
  quantity.nano_ = static_cast<int128>(milli) * 1'000'000;
  return quantity;
}

Result<Quantity> Quantity::parse(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return Error{kFormatError};
  const auto scale = scale_of(parts->suffix);
  if (!scale) return Error{kSuffixError};

  Amount amount;
  const int exponent = scale->decimal + 9 - static_cast<int>(parts->fraction.size());
  if (parts->whole.size() + parts->fraction.size() <= 18) {
    int128 value = 0;
    for (const char c : parts->whole) value = value * 10 + (c - '0');
    for (const char c : parts->fraction) value = value * 10 + (c - '0');
    amount = scaled(value << scale->binary, exponent);
  } else {
    std::string digits(parts->whole);
    digits += parts->fraction;
    amount = scaled_digits(std::move(digits), exponent, scale->binary);
  }
  Quantity quantity;
  quantity.nano_ = parts->negative ? -amount.nano : amount.nano;
  quantity.saturated_ = amount.saturated;
  quantity.format_ = scale->format;
  return quantity;
}

std::int64_t Quantity::units() const { return rounded_away(nano_, kNanoPerUnit); }

std::int64_t Quantity::milli() const { return rounded_away(nano_, 1'000'000); }

std::string Quantity::text() const {
  if (nano_ == 0) return "0";
  std::string out;
  int128 value = nano_ < 0 ? -nano_ : nano_;
  if (nano_ < 0) out += '-';

  // A binary amount below 1024, or one that is not whole, is shown in decimal.
  if (format_ == Format::kBinary && value >= 1024 * kNanoPerUnit && value % kNanoPerUnit == 0) {
    value /= kNanoPerUnit;
    std::size_t power = 0;
    for (; value % 1024 == 0 && power < 6; ++power) value /= 1024;
    append_digits(out, value);
    static constexpr std::array<const char*, 7> kBinary = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    return out + kBinary[power];
  }
  std::size_t power = 0;  // in thousands, from nano
  for (; value % 1000 == 0 && power < 9; ++power) value /= 1000;
  append_digits(out, value);
  if (format_ == Format::kExponent) {
    if (power != 3) out.append("e").append(std::to_string(3 * static_cast<int>(power) - 9));
    return out;
  }
  static constexpr std::array<const char*, 10> kDecimal = {"n", "u", "m", "",  "k",
                                                           "M", "G", "T", "P", "E"};
  return out + kDecimal[power];
}

Quantity Quantity::operator+(const Quantity& other) const {
  Quantity sum = *this;
  sum.nano_ += other.nano_;
  sum.saturated_ = saturated_ || other.saturated_;
  if (sum.nano_ > kMaxNano || sum.nano_ < -kMaxNano) {
    sum.nano_ = sum.nano_ < 0 ? -kMaxNano : kMaxNano;
    sum.saturated_ = true;
  }
  if (format_ == Format::kDecimal && nano_ == 0) sum.format_ = other.format_;
  return sum;
}

}  // namespace sluice::api
