// Uid: the UID of an object, which breaks ties in every order (semantics 2 and 5).
//
// UIDs order as their texts do. Of a UUID in its usual form (8-4-4-4-12 digits in lower case) the
// order of the texts is that of the number that the digits make, so two of them are compared
// without their texts; those of one host begin alike for hours, and the texts lie elsewhere. A UID
// in any other form is compared as text. Value type.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice {

/// The digits of a UUID; `known` is false for a UID of another form.
struct UidNumber {
  bool known = false;
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  /// REQUIRES: both are known.
  friend std::strong_ordering operator<=>(const UidNumber& a, const UidNumber& b) {
    return a.high != b.high ? a.high <=> b.high : a.low <=> b.low;
  }
};

class Uid {
 public:
  Uid() = default;
  explicit Uid(std::string text);

  const std::string& text() const { return text_; }
  const UidNumber& number() const { return number_; }

  friend bool operator==(const Uid& a, const Uid& b) { return a.text_ == b.text_; }
  friend std::strong_ordering operator<=>(const Uid& a, const Uid& b) {
    return a.number_.known && b.number_.known ? a.number_ <=> b.number_ : a.text_ <=> b.text_;
  }

 private:
  std::string text_;
  UidNumber number_;
};

}  // namespace sluice
