// Keys, and libraries of other versions, for tests of signatures and of installing. What fails to
// be made is a failure of the test. One thread.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "host/plugins/plugin_file.hpp"
#include "host/plugins/signature.hpp"

namespace sluice::host::test {

/// Writes a key of the type to `path` and its public half to `path`.pub.
inline void make_key(const std::string& path, const char* type = "ED25519") {
  EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr);
  EVP_PKEY* key = nullptr;
  ASSERT_EQ(EVP_PKEY_keygen_init(context), 1);
  ASSERT_EQ(EVP_PKEY_keygen(context, &key), 1);
  std::FILE* secret = std::fopen(path.c_str(), "w");
  std::FILE* open = std::fopen((path + ".pub").c_str(), "w");
  EXPECT_EQ(PEM_write_PrivateKey(secret, key, nullptr, nullptr, 0, nullptr, nullptr), 1);
  EXPECT_EQ(PEM_write_PUBKEY(open, key), 1);
  std::fclose(secret);
  std::fclose(open);
  EVP_PKEY_free(key);
  EVP_PKEY_CTX_free(context);
}

inline std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The library of that name with the first `from` in it made `to`, of the same length.
inline PluginFile edited(const std::string& name, const std::string& from, const std::string& to) {
  std::string bytes = bytes_of_file(SLUICE_TEST_PLUGINS "/" + name + ".so");
  const auto at = bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) bytes.replace(at, from.size(), to);
  auto file = parse_plugin_file(name + ".so", std::move(bytes));
  EXPECT_TRUE(file.ok()) << file.error().text;
  return std::move(*file);
}

/// The section's record, not another text: the name fills 64 bytes.
inline PluginFile filter_of_version(const std::string& version) {
  const std::string name = std::string("filter") + std::string(58, '\0');
  return edited("filter", name + "1.2.3", name + version);
}

}  // namespace sluice::host::test
