#include "digest.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pods {
namespace {

using State = std::array<std::uint32_t, 5>;

constexpr std::size_t kBlock = 64;
constexpr std::size_t kLength = 8;  // bytes at the end that say how long the text is

std::uint32_t word_at(std::string_view block, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8U | static_cast<unsigned char>(block[at + i]);
  return out;
}

void add_block(State& state, std::string_view block) {
  std::array<std::uint32_t, 80> w{};
  for (std::size_t i = 0; i < 16; ++i) w[i] = word_at(block, 4 * i);
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
  const State added = {a, b, c, d, e};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

}  // namespace

std::string sha1(std::string_view text) {
  State state = {0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % kBlock != kBlock - kLength) padded += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (std::size_t i = 0; i < kLength; ++i)
    padded += static_cast<char>(bits >> (8 * (kLength - 1 - i)) & 0xffU);
  for (std::size_t at = 0; at < padded.size(); at += kBlock)
    add_block(state, std::string_view(padded).substr(at, kBlock));
  std::string out;
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15U];
  return out;
}

}  // namespace pods
