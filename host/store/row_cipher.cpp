#include "host/store/row_cipher.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <charconv>
#include <memory>
#include <optional>

namespace sluice::host {
namespace {

// No JSON begins so.
constexpr std::string_view kMark = "sluice:aes256gcm:v1:";
constexpr std::string_view kPurpose = "sluice store row v1";
constexpr std::size_t kSalt = 32, kTag = 16;

using Bytes = std::array<unsigned char, 32>;
struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* raw(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

/// The key of one writing: it is used once, so the nonce may be all zeros.
struct RowKey {
  Bytes bytes{};
  bool ok = false;

  RowKey(const EncryptionKey& key, std::string_view salt) {
    const std::string text = std::string(kPurpose).append(salt);
    unsigned size = 0;
    ok = HMAC(EVP_sha256(), key.bytes.data(), static_cast<int>(key.bytes.size()), raw(text),
              text.size(), bytes.data(), &size) != nullptr &&
         size == bytes.size();
  }
  ~RowKey() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
  RowKey(const RowKey&) = delete;
  RowKey& operator=(const RowKey&) = delete;
};

constexpr std::array<unsigned char, 12> kNonce{};

/// What the row is: not secret, and not to be changed.
std::string identity_of(const JournalRow& row) {
  std::string out(row.kind);
  out += '\0';
  out.append(row.key) += '\0';
  return out + std::to_string(row.version);
}

std::string joined(const JournalRow& row) {
  std::string out;
  for (const std::string_view text : {row.metadata, row.body, row.status})
    out += std::to_string(text.size()) + ' ';
  for (const std::string_view text : {row.metadata, row.body, row.status, row.hidden})
    out.append(text);
  return out;
}

std::optional<RowTexts> parted(std::string_view text) {
  RowTexts out;
  std::array<std::size_t, 3> sizes{};
  for (std::size_t& size : sizes) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (problem != std::errc() || end == text.data() + text.size() || *end != ' ')
      return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
  std::string* const parts[] = {&out.metadata, &out.body, &out.status};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > text.size()) return std::nullopt;
    *parts[i] = text.substr(0, sizes[i]);
    text.remove_prefix(sizes[i]);
  }
  out.hidden = text;
  return out;
}

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(raw(out), raw(bytes), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

/// Of several texts that mean the same bytes only the one that base64() writes.
std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(raw(out), raw(text), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  const std::size_t filled = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  out.resize(static_cast<std::size_t>(size) - filled);
  if (base64(out) != text) return std::nullopt;
  return out;
}

/// Salt, ciphertext and tag; nothing: the library failed.
std::optional<std::string> encrypt(std::string_view plain, const std::string& identity,
                                   const EncryptionKey& key) {
  std::string out(kSalt + plain.size() + kTag, '\0');
  if (RAND_bytes(raw(out), static_cast<int>(kSalt)) != 1) return std::nullopt;
  const RowKey row_key(key, std::string_view(out).substr(0, kSalt));
  const Cipher cipher(EVP_CIPHER_CTX_new());
  unsigned char* const text = raw(out) + kSalt;
  int size = 0;
  const bool ok =
      row_key.ok && cipher &&
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, row_key.bytes.data(),
                         kNonce.data()) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &size, raw(identity),
                        static_cast<int>(identity.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), text, &size, raw(plain), static_cast<int>(plain.size())) ==
          1 &&
      EVP_EncryptFinal_ex(cipher.get(), text + size, &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTag, text + plain.size()) == 1;
  if (!ok) return std::nullopt;
  return out;
}

/// Nothing: it is not what was encrypted with this key.
std::optional<std::string> decrypt(std::string_view encrypted, const std::string& identity,
                                   const EncryptionKey& key) {
  if (encrypted.size() < kSalt + kTag) return std::nullopt;
  const RowKey row_key(key, encrypted.substr(0, kSalt));
  const std::string_view text = encrypted.substr(kSalt, encrypted.size() - kSalt - kTag);
  std::string tag(encrypted.substr(encrypted.size() - kTag));
  std::string out(text.size(), '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool ok = row_key.ok && cipher &&
                  EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, row_key.bytes.data(),
                                     kNonce.data()) == 1 &&
                  EVP_DecryptUpdate(cipher.get(), nullptr, &size, raw(identity),
                                    static_cast<int>(identity.size())) == 1 &&
                  EVP_DecryptUpdate(cipher.get(), raw(out), &size, raw(text),
                                    static_cast<int>(text.size())) == 1 &&
                  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTag, raw(tag)) == 1 &&
                  EVP_DecryptFinal_ex(cipher.get(), raw(out) + size, &size) == 1;
  if (!ok) return std::nullopt;
  return out;
}

std::string name_of(const JournalRow& row) {
  return std::string(row.kind.substr(row.kind.find('/') + 1)) + " " + std::string(row.key);
}

}  // namespace

bool is_secret_kind(std::string_view kind) { return kind == "/Secret"; }

bool is_encrypted(const JournalRow& row) { return row.body.starts_with(kMark); }

std::string_view key_name_of(const JournalRow& row) {
  const std::string_view rest = row.body.substr(kMark.size());
  return rest.substr(0, rest.find(':'));
}

JournalRow with_texts(JournalRow row, const RowTexts& texts) {
  row.metadata = texts.metadata;
  row.body = texts.body;
  row.status = texts.status;
  row.hidden = texts.hidden;
  return row;
}

Result<std::string> encrypted_body(const JournalRow& row, const EncryptionKey& key) {
  const auto bytes = encrypt(joined(row), identity_of(row), key);
  if (!bytes) return Error{name_of(row) + " cannot be encrypted: OpenSSL failed"};
  return std::string(kMark) + key.name + ":" + base64(*bytes);
}

Result<RowTexts> decrypted(const JournalRow& row, const EncryptionKeys& keys) {
  const std::string name(key_name_of(row));
  const std::string what = name_of(row) + " is encrypted with the key \"" + name + "\"";
  if (keys.empty()) return Error{what + ", and no file of keys is named"};
  const EncryptionKey* key = keys.find(name);
  if (key == nullptr) return Error{what + ", which " + keys.file() + " does not hold"};
  const std::size_t start = kMark.size() + name.size() + 1;
  const auto bytes =
      row.body.size() > start ? from_base64(row.body.substr(start)) : std::optional<std::string>();
  const auto text = bytes ? decrypt(*bytes, identity_of(row), *key) : bytes;
  auto out = text ? parted(*text) : std::optional<RowTexts>();
  if (!out)
    return Error{what + ", and not with the one of that name in " + keys.file() +
                 ", or it was changed on the disk"};
  return std::move(*out);
}

}  // namespace sluice::host
