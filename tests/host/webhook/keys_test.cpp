// The keys of a webhook over the years: when they are made anew, and that an authority that takes
// over is trusted before it serves.
#include "host/webhook/keys.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/host/temporary_folder.hpp"

namespace sluice::host {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kNow = 1'800'000'000;
const std::vector<std::string> kNames = {"sluice-webhook.a.svc", "127.0.0.1"};

WebhookKeys made(const std::optional<WebhookKeys>& present, std::int64_t now,
                 const std::vector<std::string>& names = kNames) {
  const auto next = renewed(present, names, now);
  EXPECT_TRUE(next.ok()) << next.error().text;
  EXPECT_TRUE(next->has_value());
  return next->value_or(WebhookKeys());
}

bool stays(const WebhookKeys& present, std::int64_t now) {
  const auto next = renewed(present, kNames, now);
  return next.ok() && !next->has_value();
}

bool serves(const WebhookKeys& keys, const std::string& authority,
            const std::vector<std::string>& names = kNames) {
  const auto served = is_server_certificate(keys.server, authority, names);
  return served.ok() && *served;
}

TEST(WebhookKeys, TheServersAreRenewedTwoMonthsBeforeTheyEnd) {
  const WebhookKeys first = made(std::nullopt, kNow);
  EXPECT_TRUE(serves(first, first.trust));
  EXPECT_TRUE(stays(first, kNow));
  EXPECT_TRUE(stays(first, kNow + 300 * kDay));
  const WebhookKeys next = made(first, kNow + 310 * kDay);  // 365 - 60 = 305
  EXPECT_EQ(next.trust, first.trust);
  EXPECT_NE(next.server, first.server);
  EXPECT_TRUE(serves(next, first.trust));
}

TEST(WebhookKeys, AnotherNameIsAnotherCertificateOfTheSameAuthority) {
  const WebhookKeys first = made(std::nullopt, kNow);
  std::vector<std::string> more = kNames;
  more.emplace_back("controller.example");
  const WebhookKeys next = made(first, kNow, more);
  EXPECT_EQ(next.trust, first.trust);
  EXPECT_TRUE(serves(next, first.trust, more));
}

TEST(WebhookKeys, AnAuthorityIsTrustedForADayBeforeItServes) {
  const WebhookKeys first = made(std::nullopt, kNow);
  const std::int64_t late = kNow + 3600 * kDay;  // 3650 - 60 = 3590
  // As it is by then: the certificate was renewed each year.
  const WebhookKeys before = made(first, kNow + 3550 * kDay);
  const WebhookKeys both = made(before, late);
  EXPECT_NE(both.trust, first.trust);
  EXPECT_THAT(both.trust, HasSubstr(first.trust));
  EXPECT_EQ(both.server, before.server);
  EXPECT_TRUE(stays(both, late + kDay / 2));
  const WebhookKeys next = made(both, late + kDay);
  EXPECT_EQ(next.trust, both.trust);
  EXPECT_TRUE(serves(next, both.trust));
  EXPECT_FALSE(serves(next, first.trust));
  EXPECT_TRUE(stays(next, late + kDay));
}

TEST(WebhookKeys, WhatCannotBeUsedIsMadeAnew) {
  const WebhookKeys first = made(std::nullopt, kNow);
  WebhookKeys broken = first;
  broken.authority_key = "no key";
  EXPECT_NE(made(broken, kNow).trust, first.trust);
  broken = first;
  broken.server = made(std::nullopt, kNow).server;  // of another authority
  const WebhookKeys mended = made(broken, kNow + kDay);
  EXPECT_EQ(mended.trust, first.trust);
  EXPECT_TRUE(serves(mended, first.trust));
  EXPECT_NE(made(first, kNow + 4000 * kDay).trust, first.trust);  // all of it ended
}

TEST(WebhookKeys, InFilesAreSomebodyElses) {
  const WebhookKeys keys = made(std::nullopt, kNow);
  const test::TemporaryFolder folder;
  const auto file = [&folder](const char* name, const std::string& text) {
    const std::string path = folder / name;
    std::ofstream(path) << text;
    return path;
  };
  const std::string certificate = file("tls.crt", keys.server.certificate);
  const std::string key = file("tls.key", keys.server.key);
  const std::string trust = file("ca.crt", keys.trust);
  const auto read = keys_of_files(certificate, key, trust);
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->server, keys.server);
  EXPECT_EQ(read->trust, keys.trust);
  // Its issuer stands in the same file, or it is its own.
  const std::string both = file("both.crt", keys.server.certificate + keys.trust);
  EXPECT_EQ(keys_of_files(both, key, "")->trust, keys.trust);
  EXPECT_EQ(keys_of_files(certificate, key, "")->trust, keys.server.certificate);
  struct Case {
    std::string certificate, key, trust;
    const char* error;
  };
  for (const Case& c :
       {Case{folder / "none", key, trust, "/none"}, Case{certificate, trust, trust, "key"},
        Case{trust, key, trust, "is not the key of the certificate in"},
        Case{certificate, key, key, "tls.key"}}) {
    const auto wrong = keys_of_files(c.certificate, c.key, c.trust);
    ASSERT_FALSE(wrong.ok()) << c.error;
    EXPECT_THAT(wrong.error().text, HasSubstr(c.error));
  }
}

TEST(WebhookKeys, AreTheSameOutOfASecret) {
  const WebhookKeys keys = made(std::nullopt, kNow);
  const boost::json::object data = secret_data(keys);
  EXPECT_EQ(keys_of_secret({{"data", data}}), keys);
  for (const auto& member : data) {
    boost::json::object less = data;
    less.erase(member.key());
    EXPECT_EQ(keys_of_secret({{"data", less}}), std::nullopt) << member.key();
  }
  EXPECT_EQ(keys_of_secret({}), std::nullopt);
}

}  // namespace
}  // namespace sluice::host
