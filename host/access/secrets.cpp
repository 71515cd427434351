#include "host/access/secrets.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/base/check.hpp"
#include "host/base/fd.hpp"

namespace sluice::host {
namespace {

Error system_error(const std::string& path) { return Error{path + ": " + std::strerror(errno)}; }

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string hex_of(const unsigned char* bytes, std::size_t size) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < size; ++i) {
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
  return out;
}

}  // namespace

Digest sha256(std::string_view text) {
  Digest out{};
  const int done = EVP_Digest(text.data(), text.size(), out.data(), nullptr, EVP_sha256(), nullptr);
  SLUICE_CHECK(done == 1, "SHA-256 is not available");
  return out;
}

std::string to_hex(const Digest& digest) { return hex_of(digest.data(), digest.size()); }

bool from_hex(std::string_view text, Digest& out) {
  if (text.size() != 2 * out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return true;
}

bool same_digest(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> random_token() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    return Error{"no random numbers are available"};
  return hex_of(bytes.data(), bytes.size());
}

std::string to_base64(std::string_view bytes) {
  std::vector<unsigned char> out((bytes.size() + 2) / 3 * 4 + 1);
  const int length =
      EVP_EncodeBlock(out.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                      static_cast<int>(bytes.size()));
  return {reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(length)};
}

Result<std::string> read_small_file(const std::string& path) {
  constexpr std::size_t kMost = 1U << 20;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return system_error(path);
  std::string out;
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path);
    if (got == 0) return out;
    out.append(chunk.data(), static_cast<std::size_t>(got));
    if (out.size() > kMost) return Error{path + ": longer than 1 MiB"};
  }
}

Result<void> make_private_folder(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder(path);
  if (std::filesystem::is_directory(folder, error)) return {};
  if (folder.has_parent_path()) {
    std::filesystem::create_directories(folder.parent_path(), error);
    if (error) return Error{path + ": " + error.message()};
  }
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return system_error(path);
  if (std::filesystem::is_directory(folder, error)) return {};  // somebody else made it meanwhile
  return Error{path + ": is a file; it has to be a folder"};
}

}  // namespace sluice::host
