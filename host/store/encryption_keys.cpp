#include "host/store/encryption_keys.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/text.hpp"
#include "host/base/fd.hpp"
#include "host/base/files.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kMostBytes = 64 * 1024;
constexpr std::size_t kLongestName = 64;
constexpr std::string_view kBlanks = " \t\r";  // lines may end as on Windows

bool is_name(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !text.empty() && text.size() <= kLongestName &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// 32 bytes are 44 characters, of which the last one fills up.
bool decode(std::string_view text, std::array<unsigned char, 32>& out) {
  std::array<unsigned char, 33> bytes{};
  if (text.size() != 44 || text[43] != '=' || text[42] == '=') return false;
  const int size = EVP_DecodeBlock(
      bytes.data(), reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(44));
  if (size != 33) return false;
  std::copy_n(bytes.begin(), out.size(), out.begin());
  return true;
}

/// What is on one descriptor is judged and read, whatever its name means meanwhile.
Result<std::string> read_private(const std::string& file, int descriptor) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return system_error(file);
  if (!S_ISREG(info.st_mode)) return Error{file + ": is no file"};
  if ((info.st_mode & 077U) != 0)
    return Error{file + ": other users may read it; allowed: mode 0600 (chmod 600)"};
  std::string out(kMostBytes + 1, '\0');
  std::size_t size = 0;
  for (ssize_t n = 1; n != 0 && size < out.size();) {
    n = ::read(descriptor, out.data() + size, out.size() - size);
    if (n < 0 && errno != EINTR) return system_error(file);
    if (n > 0) size += static_cast<std::size_t>(n);
  }
  if (size > kMostBytes) return Error{file + ": longer than 64 KiB"};
  out.resize(size);
  return out;
}

}  // namespace

Result<EncryptionKeys> EncryptionKeys::read(const std::string& file) {
  const Fd descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor) return system_error(file);
  const auto text = read_private(file, descriptor.get());
  if (!text) return text.error();
  return parse(*text, file);
}

Result<EncryptionKeys> EncryptionKeys::parse(std::string_view text, const std::string& file) {
  EncryptionKeys out;
  out.file_ = file;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end), kBlanks);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string place = file + ":" + std::to_string(number) + ": ";
    EncryptionKey key;
    key.name = line.substr(0, colon);
    if (!is_name(key.name) || colon == line.size())
      return Error{place +
                   "allowed: NAME:KEY, with a name of up to 64 letters, digits, '.', '_' and '-'"};
    if (!decode(trim(line.substr(colon + 1), kBlanks), key.bytes))
      return Error{place + "the key \"" + key.name +
                   "\" is not 32 bytes in base64 (openssl rand -base64 32)"};
    if (out.find(key.name) != nullptr)
      return Error{place + "the key \"" + key.name + "\" is there twice"};
    out.keys_.push_back(std::move(key));
  }
  if (out.empty()) return Error{file + ": holds no key; allowed: a line NAME:KEY for each"};
  return out;
}

const EncryptionKey* EncryptionKeys::find(std::string_view name) const {
  const auto found = std::find_if(keys_.begin(), keys_.end(),
                                  [&](const EncryptionKey& key) { return key.name == name; });
  return found == keys_.end() ? nullptr : &*found;
}

void EncryptionKeys::add(const EncryptionKeys& others) {
  if (file_.empty()) file_ = others.file_;
  for (const EncryptionKey& key : others.keys_)
    if (find(key.name) == nullptr) keys_.push_back(key);
}

}  // namespace sluice::host
