// The host's certificates: which clients accept them, for what, and how long.
#include "host/access/pki.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

namespace sluice::host {
namespace {

constexpr std::int64_t kNow = 1'767'225'600;  // 2026-01-01
constexpr std::int64_t kDay = 86'400;

std::shared_ptr<X509> read(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return {certificate, X509_free};
}

/// As TLS verifies the other side.
bool accepted(const std::string& certificate, const std::string& authority, int purpose,
              std::int64_t now) {
  const auto leaf = read(certificate);
  const auto root = read(authority);
  X509_STORE* store = X509_STORE_new();
  X509_STORE_add_cert(store, root.get());
  X509_STORE_CTX* context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, store, leaf.get(), nullptr);
  X509_STORE_CTX_set_purpose(context, purpose);
  X509_STORE_CTX_set_time(context, 0, now);
  const bool good = X509_verify_cert(context) == 1;
  X509_STORE_CTX_free(context);
  X509_STORE_free(store);
  return good;
}

TEST(Pki, ServerCertificatesServeTheirNamesForAYear) {
  const auto authority = make_authority("test-ca", kNow);
  ASSERT_TRUE(authority.ok()) << authority.error().text;
  const auto server = issue_server(*authority, {"127.0.0.1", "::1", "localhost"}, kNow);
  ASSERT_TRUE(server.ok()) << server.error().text;
  EXPECT_TRUE(accepted(server->certificate, authority->certificate, X509_PURPOSE_SSL_SERVER, kNow));
  EXPECT_TRUE(accepted(server->certificate, authority->certificate, X509_PURPOSE_SSL_SERVER,
                       kNow + 364 * kDay));
  EXPECT_FALSE(accepted(server->certificate, authority->certificate, X509_PURPOSE_SSL_SERVER,
                        kNow + 366 * kDay));
  EXPECT_FALSE(
      accepted(server->certificate, authority->certificate, X509_PURPOSE_SSL_CLIENT, kNow));
  EXPECT_EQ(*expiry_of(server->certificate), kNow + 365 * kDay);
  const auto leaf = read(server->certificate);
  EXPECT_EQ(X509_check_ip_asc(leaf.get(), "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(leaf.get(), "::1", 0), 1);
  EXPECT_EQ(X509_check_host(leaf.get(), "localhost", 0, 0, nullptr), 1);
  EXPECT_NE(X509_check_host(leaf.get(), "example.com", 0, 0, nullptr), 1);
}

// A name may have 64 letters; and a certificate names no host without a name.
TEST(Pki, WhatACertificateCannotSayIsAnError) {
  const auto authority = make_authority("test-ca", kNow);
  EXPECT_TRUE(make_authority(std::string(64, 'n'), kNow).ok());
  EXPECT_FALSE(make_authority(std::string(65, 'n'), kNow).ok());
  EXPECT_FALSE(issue_server(*authority, {""}, kNow).ok());
}

TEST(Pki, AnotherAuthorityIsNotAccepted) {
  const auto authority = make_authority("test-ca", kNow);
  const auto other = make_authority("test-ca", kNow);
  const auto server = issue_server(*authority, {"localhost"}, kNow);
  EXPECT_TRUE(*is_server_certificate(*server, authority->certificate, {"localhost"}));
  EXPECT_FALSE(*is_server_certificate(*server, other->certificate, {"localhost"}));
  EXPECT_FALSE(*is_server_certificate(*server, authority->certificate, {"localhost", "10.0.0.1"}));
  EXPECT_FALSE(accepted(server->certificate, other->certificate, X509_PURPOSE_SSL_SERVER, kNow));
}

TEST(Pki, KeysAndCertificatesBelongTogether) {
  const auto authority = make_authority("test-ca", kNow);
  const auto other = make_authority("test-ca", kNow);
  EXPECT_TRUE(*belong_together(*authority));
  EXPECT_FALSE(*belong_together({authority->certificate, other->key}));
  EXPECT_FALSE(belong_together({"no certificate", other->key}).ok());
  EXPECT_FALSE(belong_together({authority->certificate, "no key"}).ok());
  EXPECT_FALSE(issue_server({"", ""}, {"localhost"}, kNow).ok());
  EXPECT_FALSE(expiry_of("").ok());
}

// Not of what failed before, of which OpenSSL keeps a list.
TEST(Pki, AnErrorIsOfWhatFailedLast) {
  const auto authority = make_authority("test-ca", kNow);
  const auto other = make_authority("test-ca", kNow);
  const std::string no_certificate = expiry_of("").error().text;
  EXPECT_TRUE(no_certificate.starts_with("no certificate in PEM form: error:")) << no_certificate;
  const std::string no_key = belong_together({authority->certificate, "no key"}).error().text;
  EXPECT_TRUE(no_key.starts_with("no private key in PEM form without a passphrase: error:"))
      << no_key;
  EXPECT_EQ(expiry_of("").error().text, no_certificate);
  EXPECT_FALSE(*belong_together({authority->certificate, other->key}));
  EXPECT_EQ(expiry_of("").error().text, no_certificate);
  const auto server = issue_server(*authority, {"localhost"}, kNow);
  EXPECT_FALSE(*is_server_certificate(*server, other->certificate, {"localhost"}));
  EXPECT_EQ(expiry_of("").error().text, no_certificate);
}

TEST(Pki, ClientsTrustTheIssuersInAFile) {
  const auto authority = make_authority("test-ca", kNow);
  const auto server = issue_server(*authority, {"localhost"}, kNow);
  EXPECT_EQ(trust_anchor_of(server->certificate + authority->certificate), authority->certificate);
  EXPECT_EQ(trust_anchor_of(server->certificate), server->certificate);
}

}  // namespace
}  // namespace sluice::host
