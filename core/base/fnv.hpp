// Fnv: FNV-1a with 64 bits, byte by byte. Where a number has to be the same for the same bytes on
// every machine and in every later version: it stands in names that are stored.
//
// Nobody is kept from making two inputs of one value. One thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice {

class Fnv {
 public:
  Fnv& add(unsigned char byte) {
    value_ = (value_ ^ byte) * 0x100000001b3U;
    return *this;
  }
  Fnv& add(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace sluice
