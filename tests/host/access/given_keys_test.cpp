// Certificates and authorities that somebody gave, whole and broken.
#include <fmt/format.h>

#include <algorithm>

#include "host/access/pki.hpp"
#include "tests/host/access/startup_folder.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;
using test::kDaySeconds;
using test::kToday;
using test::Startup;

TEST_F(Startup, ServesWithGivenFiles) {
  const auto authority = make_authority("corp", kToday);
  const auto pair = issue_server(*authority, {"localhost"}, kToday);
  server_.tls.cert_file = folder_ + "/tls.crt";
  server_.tls.key_file = folder_ + "/tls.key";
  server_.tls.client_ca_file = folder_ + "/clients.crt";
  write(server_.tls.cert_file, pair->certificate + authority->certificate);
  write(server_.tls.key_file, pair->key);
  write(server_.tls.client_ca_file, authority->certificate);
  const auto keys = prepare_keys(server_, folder_, kToday);
  ASSERT_TRUE(keys.ok()) << keys.error().text;
  EXPECT_EQ(keys->trust, authority->certificate);
  EXPECT_EQ(keys->client_ca, authority->certificate);
  EXPECT_FALSE(fs::exists(folder_ + "/pki"));
  write(server_.tls.key_file, authority->key);
  const auto wrong = prepare_keys(server_, folder_, kToday);
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().text.find("is not the key of the certificate"), std::string::npos);
}

// The files of server.tls are of the server, of clients, or of both: what is not given is our own.
TEST_F(Startup, WhatIsNotGivenIsMade) {
  const auto authority = make_authority("corp", kToday);
  const auto pair = issue_server(*authority, {"localhost"}, kToday);
  write(folder_ + "/tls.crt", pair->certificate + authority->certificate);
  write(folder_ + "/tls.key", pair->key);
  write(folder_ + "/clients.crt", authority->certificate);
  server_.tls = {folder_ + "/tls.crt", folder_ + "/tls.key", ""};
  const auto given_server = prepare_keys(server_, folder_, kToday);
  ASSERT_TRUE(given_server.ok()) << given_server.error().text;
  EXPECT_EQ(given_server->trust, authority->certificate);
  EXPECT_EQ(given_server->client_ca, content(folder_ + "/pki/ca.crt"));
  EXPECT_FALSE(fs::exists(folder_ + "/pki/server.crt"));
  server_.tls = {"", "", folder_ + "/clients.crt"};
  const auto given_clients = prepare_keys(server_, folder_, kToday);
  ASSERT_TRUE(given_clients.ok()) << given_clients.error().text;
  EXPECT_EQ(given_clients->trust, content(folder_ + "/pki/ca.crt"));
  EXPECT_EQ(given_clients->certificate, content(folder_ + "/pki/server.crt"));
  EXPECT_EQ(given_clients->client_ca, authority->certificate);
}

TEST_F(Startup, FilesThatCannotBeUsedAreNamed) {
  const auto authority = make_authority("corp", kToday);
  write(folder_ + "/ca.crt", authority->certificate);
  write(folder_ + "/ca.key", authority->key);
  write(folder_ + "/broken", "x");
  const std::string none = folder_ + "/none", broken = folder_ + "/broken";
  const struct {
    TlsConfig tls;
    std::string says;
  } rows[] = {
      {{none, folder_ + "/ca.key", ""}, "server.tls: " + none + ": No such file or directory"},
      {{folder_ + "/ca.crt", none, ""}, "server.tls: " + none + ": No such file or directory"},
      {{broken, folder_ + "/ca.key", ""},
       "server.tls: " + broken + " and " + folder_ + "/ca.key: no certificate in PEM form"},
      {{"", "", none}, "server.tls.clientCAFile: " + none + ": No such file or directory"},
      {{"", "", broken}, "server.tls.clientCAFile: " + broken + ": no certificate in PEM form"},
  };
  for (const auto& row : rows) {
    server_.tls = row.tls;
    const auto keys = prepare_keys(server_, folder_, kToday);
    ASSERT_FALSE(keys.ok()) << row.says;
    EXPECT_TRUE(keys.error().text.starts_with(row.says)) << keys.error().text;
  }
}

// What OpenSSL cannot read ends a bundle without a word, and the clients of all that follow it are
// strangers from then on.
TEST_F(Startup, ABundleWithACutCertificateIsRefusedWithItsLine) {
  const auto one = make_authority("one", kToday), two = make_authority("two", kToday);
  const std::string a = one->certificate, b = two->certificate;
  const auto lines = std::count(a.begin(), a.end(), '\n');
  const std::string cut = "the certificate that begins here is cut or broken";
  const struct {
    std::string text;
    std::string says;  // empty: it is taken
  } rows[] = {
      {a + b, ""},
      {"# first\n" + a + "\n# second\n" + b + one->key, ""},
      {a.substr(0, a.size() / 2) + "\n" + b, fmt::format("line 1: {}", cut)},
      {a + b.substr(0, b.size() / 2), fmt::format("line {}: {}", lines + 1, cut)},
      {a + b.substr(0, b.size() / 2) + "\n" + a, fmt::format("line {}: {}", lines + 1, cut)},
      {a + b.substr(0, 15), fmt::format("line {}: {}", lines + 1, cut)},
      {a + b.substr(40), fmt::format("line {}: the end of a certificate", 2 * lines - 1)},
  };
  server_.tls.client_ca_file = folder_ + "/clients.crt";
  for (const auto& row : rows) {
    write(server_.tls.client_ca_file, row.text);
    const auto keys = prepare_keys(server_, folder_, kToday);
    EXPECT_EQ(keys.ok(), row.says.empty()) << row.text;
    if (!keys)
      EXPECT_THAT(keys.error().text,
                  testing::StartsWith("server.tls.clientCAFile: " + server_.tls.client_ca_file +
                                      ": " + row.says));
  }
}

TEST_F(Startup, AGivenServerCertificateThatHasEndedIsWarnedOf) {
  const auto authority = make_authority("corp", kToday);
  const auto pair = issue_server(*authority, {"localhost"}, kToday);
  server_.tls = {folder_ + "/tls.crt", folder_ + "/tls.key", ""};
  write(server_.tls.cert_file, pair->certificate);
  write(server_.tls.key_file, pair->key);
  const struct {
    std::int64_t days;
    std::string says;
  } rows[] = {{-1, "is not valid yet"}, {1, ""}, {364, ""}, {366, "has ended"}};
  for (const auto& row : rows) {
    testing::internal::CaptureStderr();
    ASSERT_TRUE(prepare_keys(server_, folder_, kToday + row.days * kDaySeconds).ok());
    const std::string said = testing::internal::GetCapturedStderr();
    if (row.says.empty())
      EXPECT_THAT(said, testing::Not(testing::HasSubstr("clients will refuse it"))) << row.days;
    else
      EXPECT_THAT(said, testing::HasSubstr("the server certificate " + row.says)) << row.days;
  }
}

}  // namespace
}  // namespace sluice::host
