#include "host/plugins/signature.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "host/base/digest.hpp"
#include "host/base/trusted_file.hpp"
#include "host/plugins/text_gate.hpp"

namespace sluice::host {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMark = "sluice-plugin-signature/1";
constexpr std::size_t kSignatureBytes = 64;  // of Ed25519, always

/// Read from a PEM file; null: it has none of that kind. A key with a pass phrase is none: nobody
/// is asked for it.
std::shared_ptr<EVP_PKEY> read_pem(std::FILE* file, bool private_key) {
  const auto no_phrase = [](char*, int, int, void*) { return -1; };
  std::rewind(file);
  EVP_PKEY* key = private_key ? PEM_read_PrivateKey(file, nullptr, no_phrase, nullptr)
                              : PEM_read_PUBKEY(file, nullptr, no_phrase, nullptr);
  return {key, EVP_PKEY_free};
}

struct KeyFile {
  std::shared_ptr<EVP_PKEY> key;
  bool secret = false;
};

Result<KeyFile> read_key(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (file == nullptr) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  if (auto believed = check_writers(path); !believed) return believed.error();
  KeyFile out{read_pem(file.get(), false), false};
  if (out.key == nullptr) out = {read_pem(file.get(), true), true};
  if (out.key == nullptr || EVP_PKEY_get_id(out.key.get()) != EVP_PKEY_ED25519)
    return Error{path +
                 ": it holds no Ed25519 key; allowed: a key in PEM without a pass phrase, as "
                 "`openssl genpkey -algorithm ed25519` writes it, or its public half"};
  return out;
}

Result<std::string> id_of(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  if (size <= 0) return Error{"the id of a key cannot be computed"};
  const std::string all =
      to_hex(sha256({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)}));
  OPENSSL_free(der);
  return all.substr(0, 16);
}

std::string signed_text(const PluginFile& file) {
  return fmt::format("sluice-plugin/1 {} {} {}\n", file.metadata.name, file.metadata.version,
                     file.sha256);
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

using Digesting = std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)>;

bool verifies(EVP_PKEY* key, std::string_view text, std::string_view signature) {
  const Digesting context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  return context != nullptr &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(text),
                          text.size()) == 1;
}

/// The 64 bytes; empty: it is no base64 of so many.
std::string decoded(std::string_view base64) {
  std::array<unsigned char, 66> out{};  // EVP_DecodeBlock counts the padding
  if (base64.size() != 88 || !base64.ends_with("==") ||
      EVP_DecodeBlock(out.data(), bytes_of(base64), 88) != 66)
    return {};
  return {reinterpret_cast<const char*>(out.data()), kSignatureBytes};
}

struct Line {
  std::string_view sha256, key;
  std::string signature;  ///< the bytes; empty: it is no signature
  std::string_view whole;
};

Line parse_line(std::string_view line) {
  Line out{{}, {}, {}, line};
  if (!line.starts_with(kMark)) return out;
  line.remove_prefix(std::min(kMark.size() + 1, line.size()));
  for (std::string_view* word : {&out.sha256, &out.key}) {
    const auto space = std::min(line.find(' '), line.size());
    *word = line.substr(0, space);
    line.remove_prefix(std::min(space + 1, line.size()));
  }
  out.signature = decoded(line);
  return out;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    Line line = parse_line(text.substr(0, end));
    if (!line.signature.empty()) out.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string ids_of(const std::vector<PluginKey>& keys) {
  std::string out;
  for (const PluginKey& key : keys)
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", key.id, key.file);
  return out.empty() ? "none" : out;
}

}  // namespace

fs::path signature_path(const fs::path& library) { return library.string() + ".sig"; }

Result<std::vector<PluginKey>> read_plugin_keys(const std::vector<std::string>& files) {
  std::vector<PluginKey> out;
  for (const std::string& path : files) {
    const auto read = read_key(path);
    if (!read) return read.error();
    auto id = id_of(read->key.get());
    if (!id) return id.error().context(path);
    out.push_back({path, std::move(*id), read->key});
  }
  return out;
}

Result<std::string> sign_plugin(const PluginFile& file, const std::string& key_file) {
  const auto read = read_key(key_file);
  if (!read) return read.error();
  if (!read->secret)
    return Error{key_file +
                 ": it is the public half of a key, which verifies; signing takes the "
                 "private one"};
  const auto id = id_of(read->key.get());
  if (!id) return id.error().context(key_file);
  const std::string text = signed_text(file);
  std::array<unsigned char, kSignatureBytes> signature{};
  std::size_t size = signature.size();
  const Digesting context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, read->key.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, bytes_of(text), text.size()) != 1)
    return Error{key_file + ": it does not sign"};
  std::array<unsigned char, 89> base64{};
  EVP_EncodeBlock(base64.data(), signature.data(), static_cast<int>(size));
  return fmt::format("{} {} {} {}\n", kMark, file.sha256, *id,
                     reinterpret_cast<const char*>(base64.data()));
}

std::string signatures_for(std::string_view signatures, std::string_view sha256) {
  std::string out;
  for (const Line& line : lines_of(signatures))
    if (line.sha256 == sha256) out.append(line.whole).append("\n");
  return out;
}

std::string with_signature(std::string_view signatures, std::string_view sha256,
                           const std::string& line) {
  const std::vector<Line> added = lines_of(line);
  std::string out;
  for (const Line& old : lines_of(signatures))
    if (old.sha256 == sha256 && (added.empty() || old.key != added.front().key))
      out.append(old.whole).append("\n");
  return out + line;
}

Result<PluginKey> signer_of(const PluginFile& file, std::string_view signatures,
                            const std::vector<PluginKey>& keys) {
  if (signatures.empty())
    return Error{fmt::format("it is not signed; allowed: by one of the keys {}", ids_of(keys))};
  const std::vector<Line> lines = lines_of(signatures);
  if (lines.empty())
    return Error{fmt::format("its signature is damaged: no line is `{} SHA256 KEY BASE64`", kMark)};
  const std::string text = signed_text(file);
  std::string others;  // keys that nobody here has
  for (const Line& line : lines) {
    if (line.sha256 != file.sha256) continue;
    bool known = false;
    for (const PluginKey& key : keys) {
      if (key.id != line.key) continue;
      known = true;
      if (verifies(static_cast<EVP_PKEY*>(key.of.get()), text, line.signature)) return key;
    }
    if (known)
      return Error{
          fmt::format("the signature by the key {} is forged or damaged: it is not for {} "
                      "{} with these bytes",
                      line.key, file.metadata.name, file.metadata.version)};
    others.append(others.empty() ? "" : ", ").append(line.key);
  }
  if (!others.empty())
    return Error{
        fmt::format("it is signed by {}; allowed: the keys {}", shown_text(others), ids_of(keys))};
  return Error{fmt::format(
      "its signature is for other bytes, those with the SHA-256 {}: the file was changed, or the "
      "signature belongs to another; the file's SHA-256 is {}",
      shown_text(lines.front().sha256), file.sha256)};
}

Result<std::string> read_signatures(const fs::path& library) {
  const fs::path path = signature_path(library);
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    if (errno == ENOENT) return std::string();
    return Error{fmt::format("{}: {}", path.string(), std::strerror(errno))};
  }
  std::string text(kMaxSignatureBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxSignatureBytes)
    return Error{fmt::format("{}: it has more than {} bytes", path.string(), kMaxSignatureBytes)};
  return text;
}

Result<PluginFile> read_trusted_plugin(const fs::path& folder, const PluginConfig& plugin) {
  auto file = read_plugin_file(folder / (plugin.name + ".so"));
  if (!file) return file.error();
  if (auto trusted = check_writers(file->path.string()); !trusted && plugin.sha256.empty())
    return trusted.error();
  if (auto fit = verify_plugin_file(*file, plugin.name, plugin.sha256); !fit) return fit.error();
  if (!plugin.trust.require || !plugin.sha256.empty()) return file;
  const auto keys = read_plugin_keys(plugin.trust.keys);
  if (!keys) return keys.error().context("plugins.trust.keys");
  const auto signatures = read_signatures(file->path);
  if (!signatures) return signatures.error();
  if (auto signer = signer_of(*file, *signatures, *keys); !signer)
    return signer.error().context(file->path.string());
  return file;
}

}  // namespace sluice::host
