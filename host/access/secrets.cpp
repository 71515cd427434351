#include "host/access/secrets.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "core/base/text.hpp"
#include "host/base/fd.hpp"
#include "host/base/files.hpp"

namespace sluice::host {

bool from_hex(std::string_view text, Digest& out) {
  if (text.size() != 2 * out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return true;
}

bool same_digest(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> random_token() {
  Digest bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    return Error{"no random numbers are available"};
  return to_hex(bytes);
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
