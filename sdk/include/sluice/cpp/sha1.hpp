// SHA-1 (FIPS 180-4), which names of Kubernetes' and Kueue's objects are made with. For names only:
// nothing is to be trusted because of it.
//
// A pure function, any thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

namespace detail {

using Sha1State = std::array<std::uint32_t, 5>;

/// One block of 64 bytes (FIPS 180-4, 6.1.2).
inline void add_sha1_block(Sha1State& state, std::string_view block) {
  std::array<std::uint32_t, 80> w{};
  for (std::size_t i = 0; i < 64; ++i)
    w[i / 4] = w[i / 4] << 8U | static_cast<unsigned char>(block[i]);
  for (std::size_t i = 16; i < w.size(); ++i)
    w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::uint32_t mixed = b ^ c ^ d, constant = 0xca62c1d6U;
    if (i < 20) {
      mixed = (b & c) | (~b & d);
      constant = 0x5a827999U;
    } else if (i < 40) {
      constant = 0x6ed9eba1U;
    } else if (i < 60) {
      mixed = (b & c) | (b & d) | (c & d);
      constant = 0x8f1bbcdcU;
    }
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + constant + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace detail

/// 40 hexadecimal digits. O(size of the text).
inline std::string sha1_hex(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 255U);
  detail::Sha1State state = {0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
  for (std::size_t at = 0; at < padded.size(); at += 64)
    detail::add_sha1_block(state, std::string_view(padded).substr(at, 64));
  std::string out;
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15U];
  return out;
}

}  // namespace sluice
