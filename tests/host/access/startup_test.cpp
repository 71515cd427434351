// First start, next start, another address: which keys are made and which are kept.
#include "host/access/startup.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <utility>

#include "host/access/key_renewal.hpp"
#include "host/access/pki.hpp"
#include "tests/host/access/startup_folder.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;
using test::kDaySeconds;
using test::kToday;
using test::Startup;

TEST_F(Startup, MakesKeysOnceThatOthersCannotRead) {
  const auto first = prepare_keys(server_, folder_, kToday);
  ASSERT_TRUE(first.ok()) << first.error().text;
  EXPECT_EQ(mode_of(folder_ + "/pki"), 0700u);
  for (const char* name : {"ca.key", "ca.crt", "server.key", "server.crt"})
    EXPECT_EQ(mode_of(folder_ + "/pki/" + name), 0600u) << name;
  const auto second = prepare_keys(server_, folder_, kToday + kDaySeconds);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->certificate, first->certificate);
  EXPECT_EQ(second->trust, first->trust);
  EXPECT_EQ(second->client_ca, first->trust);
}

TEST_F(Startup, RenewsWhatEndsSoon) {
  const auto first = prepare_keys(server_, folder_, kToday);
  const auto later = prepare_keys(server_, folder_, kToday + 330 * kDaySeconds);
  ASSERT_TRUE(first.ok() && later.ok());
  EXPECT_NE(later->certificate, first->certificate);
  EXPECT_EQ(later->trust, first->trust) << "clients need no new kubeconfig";
}

// A18: the certificate was renewed at a start or a reload only, so a host that ran for a year
// locked all clients out. 400 days, a look each day: it lasts 365 and is renewed 60 before its end,
// on day 306.
TEST_F(Startup, A18_CertificatesAreRenewedWhileTheHostRuns) {
  for (const std::string& folder : {folder_, std::string()}) {
    KeyRenewal renewal(folder);
    const auto first = renewal.prepare(server_, kToday);
    ASSERT_TRUE(first.ok());
    renewal.set(server_, *first);
    std::vector<std::int64_t> renewed;
    ServerKeys served = *first;
    const auto apply = [&](const ServerKeys& keys) -> Result<void> {
      served = keys;
      return {};
    };
    for (std::int64_t day = 1; day <= 400; ++day) {
      const std::int64_t now = kToday + day * kDaySeconds;
      if (renewal.look(now, apply)) renewed.push_back(day);
      ASSERT_GT(*expiry_of(served.certificate), now + 59 * kDaySeconds) << day;
    }
    EXPECT_EQ(renewed, std::vector<std::int64_t>{306});
    // A client that trusted the first one trusts this one, and clients' certificates stay good.
    EXPECT_EQ(served.trust, first->trust);
    EXPECT_EQ(served.client_ca, first->client_ca);
    EXPECT_TRUE(*is_server_certificate({served.certificate, served.key}, first->trust,
                                       server_names(server_.address)));
    // A reload keeps what is in force.
    EXPECT_EQ(renewal.prepare(server_, kToday + 401 * kDaySeconds)->certificate,
              served.certificate);
  }
}

TEST_F(Startup, A18_WhatCannotBePutInForceIsTriedAgainAndChangesNothing) {
  KeyRenewal renewal("");
  renewal.set(server_, *renewal.prepare(server_, kToday));
  const std::string before = renewal.keys().certificate;
  const std::int64_t late = kToday + 350 * kDaySeconds;
  EXPECT_FALSE(renewal.look(late, [](const ServerKeys&) -> Result<void> { return Error{"no"}; }));
  EXPECT_EQ(renewal.keys().certificate, before);
  EXPECT_TRUE(renewal.look(late, [](const ServerKeys&) -> Result<void> { return {}; }));
  EXPECT_NE(renewal.keys().certificate, before);
}

TEST_F(Startup, A18_TheHostLooksByItself) {
  KeyRenewal renewal("");
  renewal.set(server_, *renewal.prepare(server_, kToday));
  std::promise<std::string> applied;
  renewal.start([] { return kToday + 350 * kDaySeconds; },
                [&applied, first = true](const ServerKeys& keys) mutable -> Result<void> {
                  if (std::exchange(first, false)) applied.set_value(keys.certificate);
                  return {};
                },
                kMillisecond);
  const std::string certificate = applied.get_future().get();
  renewal.stop();
  EXPECT_EQ(renewal.keys().certificate, certificate);
}

// Another program replaces the files of server.tls.
TEST_F(Startup, A18_FilesThatWereRenewedAreReadAgain) {
  const auto authority = make_authority("corp", kToday);
  server_.tls = {folder_ + "/tls.crt", folder_ + "/tls.key", folder_ + "/clients.crt"};
  write(server_.tls.client_ca_file, authority->certificate);
  const auto put = [&](std::int64_t now) {
    const auto pair = issue_server(*authority, {"localhost"}, now);
    write(server_.tls.cert_file, pair->certificate);
    write(server_.tls.key_file, pair->key);
    return pair->certificate;
  };
  put(kToday);
  KeyRenewal renewal(folder_);
  renewal.set(server_, *renewal.prepare(server_, kToday));
  const auto apply = [](const ServerKeys&) -> Result<void> { return {}; };
  EXPECT_FALSE(renewal.look(kToday + kDaySeconds, apply));
  const std::string next = put(kToday + kDaySeconds);
  EXPECT_TRUE(renewal.look(kToday + kDaySeconds, apply));
  EXPECT_EQ(renewal.keys().certificate, next);
}

// 60 days before its end, which is 305 after it was made.
TEST_F(Startup, WhatLastsForSixtyDaysIsKept) {
  const auto first = prepare_keys(server_, folder_, kToday);
  const auto last = prepare_keys(server_, folder_, kToday + 305 * kDaySeconds);
  ASSERT_TRUE(first.ok() && last.ok());
  EXPECT_EQ(last->certificate, first->certificate);
  const auto next = prepare_keys(server_, folder_, kToday + 305 * kDaySeconds + 1);
  ASSERT_TRUE(next.ok());
  EXPECT_NE(next->certificate, first->certificate);
}

TEST_F(Startup, AnotherHostNeedsAnotherCertificate) {
  const auto first = prepare_keys(server_, folder_, kToday);
  server_.address = "192.0.2.7:6443";
  const auto second = prepare_keys(server_, folder_, kToday);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(second->certificate, first->certificate);
  EXPECT_EQ(server_names(server_.address),
            (std::vector<std::string>{"127.0.0.1", "::1", "localhost", "192.0.2.7"}));
  EXPECT_EQ(server_names("host.example:6443"),
            (std::vector<std::string>{"127.0.0.1", "::1", "localhost", "host.example"}));
  EXPECT_EQ(server_names("no_name:6443").size(), 3U) << "a certificate cannot have it";
  EXPECT_EQ(server_names("127.0.0.1:6443").size(), 3U) << "it is there already";
  std::string longest;  // four labels of 60 and one of 9: 4 × 61 + 9
  for (int i = 0; i < 4; ++i) longest += std::string(60, 'n') + ".";
  longest += std::string(9, 'n');
  EXPECT_EQ(server_names(longest + ":6443").size(), 4U);
  EXPECT_EQ(server_names(longest + "n:6443").size(), 3U) << "254 are too long";
}

/// IPv4 addresses of this machine's interfaces that are up.
std::vector<std::string> addresses_that_are_up() {
  std::vector<std::string> out;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    if ((each->ifa_flags & IFF_UP) == 0) continue;
    const auto* four = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    std::array<char, INET_ADDRSTRLEN> text{};
    out.emplace_back(::inet_ntop(AF_INET, &four->sin_addr, text.data(), text.size()));
  }
  ::freeifaddrs(list);
  return out;
}

// A host that listens everywhere is called by any of its addresses, and by its name.
TEST_F(Startup, ACertificateNamesAllThatAHostIsCalledBy) {
  std::array<char, 256> name{};
  ASSERT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  for (const char* everywhere : {"0.0.0.0:6443", "[::]:6443"}) {
    const auto names = server_names(everywhere);
    for (const std::string& each : addresses_that_are_up())
      EXPECT_EQ(std::count(names.begin(), names.end(), each), 1) << each;
    for (const std::string& each : names) EXPECT_FALSE(each.starts_with("fe80:")) << each;
    EXPECT_EQ(std::count(names.begin(), names.end(), name.data()), 1);
    EXPECT_EQ(std::count(names.begin(), names.end(), "0.0.0.0"), 0);
  }
}

TEST_F(Startup, NeverReplacesFilesThatItCannotUse) {
  ASSERT_TRUE(prepare_keys(server_, folder_, kToday).ok());
  write(folder_ + "/pki/ca.key", "broken");
  const auto again = prepare_keys(server_, folder_, kToday);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().text.find("pki/ca.key"), std::string::npos) << again.error().text;
  EXPECT_EQ(content(folder_ + "/pki/ca.key"), "broken");
}

TEST_F(Startup, TightensAKeyThatOthersCouldRead) {
  ASSERT_TRUE(prepare_keys(server_, folder_, kToday).ok());
  fs::permissions(folder_ + "/pki/server.key", fs::perms(0644));
  testing::internal::CaptureStderr();
  ASSERT_TRUE(prepare_keys(server_, folder_, kToday).ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("a file with a secret was readable by others; now it is not"));
  EXPECT_EQ(mode_of(folder_ + "/pki/server.key"), 0600u);
}

TEST(Exposure, PlainHttpStaysOnThisMachine) {
  struct Case {
    std::string address, plain;
    bool allowed;
  };
  for (const Case& each : std::vector<Case>{
           {"127.0.0.1:6443", "", true},
           {"0.0.0.0:6443", "", true},
           {"[::]:6443", "", true},
           {"localhost:0", "localhost:8080", true},
           {"127.0.0.1:6443", "127.0.0.5:8080", true},
           {"127.0.0.1:6443", "[::1]:8080", true},
           {"127.0.0.1:6443", "0.0.0.0:8080", false},
           {"127.0.0.1:6443", "[::]:8080", false},
           {"127.0.0.1:6443", "192.0.2.1:8080", false},
           {"127.0.0.1:6443", "127.example.com:8080", false},
           {"example.com:6443", "", false},
       }) {
    ServerConfig server;
    server.address = each.address;
    server.insecure_http = each.plain;
    EXPECT_EQ(check_exposure(server).ok(), each.allowed) << each.address << " " << each.plain;
  }
}

}  // namespace
}  // namespace sluice::host
