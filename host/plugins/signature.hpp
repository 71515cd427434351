// Signatures: who vouches for the bytes of a plugin's library.
//
// A signature is a line of NAME.so.sig, beside the library:
//
//   sluice-plugin-signature/1 SHA256 KEY BASE64
//
// SHA256 is that of the library's bytes, KEY the key's id; both only tell who is meant. What is
// signed (Ed25519) is the text "sluice-plugin/1 NAME VERSION SHA256\n" with the name and version
// of the file's metadata and the SHA-256 of its bytes, computed anew, so that a line holds for that
// one file. There may be several lines; those of other keys and for other bytes do no harm.
//
// A PluginFile holds the bytes that were read, once; its digest is theirs, and they are what is
// loaded (library.hpp). So what was verified is what runs, whatever becomes of the file meanwhile.
// Plain values and functions; any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/config/config.hpp"
#include "host/plugins/plugin_file.hpp"

namespace sluice::host {

inline constexpr std::size_t kMaxSignatureBytes = 64 * 1024;

/// The public half of a key; `of` belongs to OpenSSL.
struct PluginKey {
  std::string file;  ///< where it was read
  std::string id;    ///< 16 hexadecimal digits of the SHA-256 of its DER form
  std::shared_ptr<void> of;
};

/// Where the signatures of a library lie.
std::filesystem::path signature_path(const std::filesystem::path& library);

/// Public keys, or private ones of which the public half is taken; PEM. An error names the file
/// that holds none, or that other users may write.
Result<std::vector<PluginKey>> read_plugin_keys(const std::vector<std::string>& files);

/// The line for the file, by the private key in `key_file`.
Result<std::string> sign_plugin(const PluginFile& file, const std::string& key_file);

/// The lines of `signatures` that name these bytes, each with its end.
std::string signatures_for(std::string_view signatures, std::string_view sha256);

/// The key among `keys` that signed the file in a line of `signatures`. The error says why none
/// did, and does not name the file.
Result<PluginKey> signer_of(const PluginFile& file, std::string_view signatures,
                            const std::vector<PluginKey>& keys);

/// `signatures` with `line` in place of what its key said of the same bytes, and without what is
/// said of others.
std::string with_signature(std::string_view signatures, std::string_view sha256,
                           const std::string& line);

/// The text of NAME.so.sig; empty: there is none. The error names the file.
Result<std::string> read_signatures(const std::filesystem::path& library);

/// The file NAME.so of the folder, as far as it may be loaded under this configuration: its form,
/// who may write it, its name, its pin, its signature. Nothing of it has run. The error names it.
Result<PluginFile> read_trusted_plugin(const std::filesystem::path& folder,
                                       const PluginConfig& plugin);

}  // namespace sluice::host
