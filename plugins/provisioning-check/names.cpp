#include "names.hpp"

#include <array>
#include <bit>

namespace provisioning {

namespace {

constexpr std::size_t kLongestName = 247;
constexpr std::size_t kHashDigits = 5;

using Words = std::array<std::uint32_t, 5>;

std::uint32_t big_endian(const unsigned char* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | static_cast<std::uint32_t>(bytes[3]);
}

/// One block of 64 bytes (FIPS 180-4, 6.1.2).
void add_block(const unsigned char* block, Words& hash) {
  std::array<std::uint32_t, 80> w{};
  for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (std::size_t i = 16; i < 80; ++i)
    w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  auto [a, b, c, d, e] = hash;
  for (std::size_t i = 0; i < 80; ++i) {
    std::uint32_t f = b ^ c ^ d, k = 0xCA62C1D6U;
    if (i < 20) {
      f = (b & c) | (~b & d);
      k = 0x5A827999U;
    } else if (i < 40) {
      k = 0x6ED9EBA1U;
    } else if (i < 60) {
      f = (b & c) | (b & d) | (c & d);
      k = 0x8F1BBCDCU;
    }
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  hash = {hash[0] + a, hash[1] + b, hash[2] + c, hash[3] + d, hash[4] + e};
}

}  // namespace

std::string sha1_hex(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 255U);
  Words hash = {0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U, 0xC3D2E1F0U};
  for (std::size_t i = 0; i < padded.size(); i += 64)
    add_block(reinterpret_cast<const unsigned char*>(padded.data()) + i, hash);
  std::string out;
  for (const std::uint32_t word : hash)
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15U];
  return out;
}

std::string limited_name(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  return name.substr(0, kLongestName - kHashDigits - 1) + "-" +
         sha1_hex(name).substr(0, kHashDigits);
}

std::string request_name(std::string_view workload, std::string_view check, std::int64_t attempt) {
  std::string name(workload);
  name.append("-").append(check).append("-").append(std::to_string(attempt));
  return limited_name(name);
}

std::string template_name(std::string_view request, std::string_view pod_set) {
  std::string name("ppt-");
  return limited_name(name.append(request).append("-").append(pod_set));
}

}  // namespace provisioning
