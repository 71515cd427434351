// First start, next start, another address: which keys and tokens are made and which are kept.
#include "host/access/startup.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <utility>

#include "host/access/key_files.hpp"
#include "host/access/key_renewal.hpp"
#include "host/access/pki.hpp"
#include "host/access/tokens.hpp"
#include "host/base/files.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kToday = 1'767'225'600;  // 2026-01-01
constexpr std::int64_t kDaySeconds = 86'400;

class Startup : public testing::Test {
 protected:
  Startup() {
    std::string pattern = (fs::temp_directory_path() / "sluice-access-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Startup() override { fs::remove_all(folder_); }

  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  std::string folder_;
  ServerConfig server_;
};

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

TEST_F(Startup, HalfAPairIsMadeAnew) {
  for (const char* lost : {"server.crt", "server.key"}) {
    const auto first = prepare_keys(server_, folder_, kToday);
    fs::remove(folder_ + "/pki/" + lost);
    const auto next = prepare_keys(server_, folder_, kToday);
    ASSERT_TRUE(first.ok() && next.ok());
    EXPECT_NE(next->certificate, first->certificate) << lost;
    EXPECT_EQ(next->trust, first->trust) << lost;
  }
}

// A clock that was ahead at the first start: nobody gets in before the certificates begin.
TEST_F(Startup, WhatIsNotValidYetIsMadeAnew) {
  for (const std::string& folder : {folder_, std::string()}) {
    const auto ahead = prepare_keys(server_, folder, kToday + 400 * kDaySeconds);
    ASSERT_TRUE(ahead.ok());
    const auto now = prepare_keys(server_, folder, kToday, &*ahead);
    ASSERT_TRUE(now.ok());
    for (const std::string& each : {now->certificate, now->trust, now->client_ca})
      EXPECT_EQ(validity_of(each)->begins, kToday - 3600) << "an hour, as clocks differ";
    EXPECT_TRUE(*is_server_certificate({now->certificate, now->key}, now->trust,
                                       server_names(server_.address)));
    const auto next = prepare_keys(server_, folder, kToday, &*now);
    EXPECT_EQ(next->certificate, now->certificate) << "once is enough";
  }
}

// A clock that is behind for a moment (no battery: 1970) looks the same. What the authority issued,
// and who trusts it, has to be good when the clock is right again.
TEST_F(Startup, AClockThatIsBehindCostsNoAuthority) {
  const auto good = prepare_keys(server_, folder_, kToday);
  ASSERT_TRUE(prepare_keys(server_, folder_, 86'400).ok());
  const auto again = prepare_keys(server_, folder_, kToday);
  ASSERT_TRUE(good.ok() && again.ok());
  EXPECT_EQ(again->authority.key, good->authority.key);
  EXPECT_GE(validity_of(again->trust)->ends, validity_of(good->trust)->ends);
  EXPECT_TRUE(*is_server_certificate({again->certificate, again->key}, good->trust,
                                     server_names(server_.address)));
}

/// The files of a pair as a process leaves them that dies between its two renames.
void tear(const std::string& path, const CertifiedKey& before, const CertifiedKey& after) {
  ASSERT_TRUE(write_pair(before, path).ok());
  ASSERT_TRUE(write_beside(path + ".key", after.key).ok());
  ASSERT_TRUE(write_beside(path + ".crt", after.certificate).ok());
  ASSERT_TRUE(put_in_place(path + ".key").ok());
}

TEST_F(Startup, APairThatWasWrittenByHalfIsFinished) {
  const auto first = prepare_keys(server_, folder_, kToday);
  const auto authority = make_authority("sluice-ca", kToday);
  const auto server = issue_server(*authority, server_names(server_.address), kToday);
  tear(folder_ + "/pki/ca", first->authority, *authority);
  tear(folder_ + "/pki/server", {first->certificate, first->key}, *server);
  const auto next = prepare_keys(server_, folder_, kToday);
  ASSERT_TRUE(next.ok()) << next.error().text;
  EXPECT_EQ(next->authority, *authority);
  EXPECT_EQ(next->certificate, server->certificate);
  EXPECT_FALSE(fs::exists(folder_ + "/pki/ca.crt.new"));
}

// A first start: there was none before.
TEST_F(Startup, AnAuthorityWithoutItsCertificateIsFinished) {
  const auto first = prepare_keys(server_, folder_, kToday);
  fs::rename(folder_ + "/pki/ca.crt", folder_ + "/pki/ca.crt.new");
  const auto next = prepare_keys(server_, folder_, kToday);
  ASSERT_TRUE(first.ok() && next.ok());
  EXPECT_EQ(next->authority, first->authority);
}

// What lies beside a pair that fits is left alone: it may be of a write that never came so far.
TEST_F(Startup, APairThatFitsIsNotReplacedByWhatLiesBeside) {
  const auto first = prepare_keys(server_, folder_, kToday);
  const auto other = make_authority("sluice-ca", kToday);
  ASSERT_TRUE(write_beside(folder_ + "/pki/ca.key", other->key).ok());
  ASSERT_TRUE(write_beside(folder_ + "/pki/ca.crt", other->certificate).ok());
  EXPECT_EQ(prepare_keys(server_, folder_, kToday)->authority, first->authority);
}

TEST_F(Startup, AServerCertificateOfAnotherKeyIsMadeAnewAndAnAuthorityIsNot) {
  const auto first = prepare_keys(server_, folder_, kToday);
  const auto other = make_authority("sluice-ca", kToday);
  write(folder_ + "/pki/server.key", other->key);
  const auto next = prepare_keys(server_, folder_, kToday);
  ASSERT_TRUE(next.ok()) << next.error().text;
  EXPECT_NE(next->certificate, first->certificate);
  EXPECT_EQ(next->trust, first->trust);
  write(folder_ + "/pki/ca.key", other->key);
  const auto refused = prepare_keys(server_, folder_, kToday);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text, testing::HasSubstr("ca.key is not the key of"));
  EXPECT_EQ(content(folder_ + "/pki/ca.crt"), first->trust);
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

// Its own user's, whoever else is named there.
TEST_F(Startup, AKubeconfigWithOtherUsersKeepsItsToken) {
  const auto keys = prepare_keys(server_, folder_, kToday);
  const std::string path = folder_ + "/kubeconfig";
  const auto first = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  const std::string own = content(path);
  const std::string users = "users:\n";
  for (const char* other : {"- name: jane\n  user:\n    token: another\n", "- nobody\n"}) {
    std::string text = own;
    write(path, text.insert(text.find(users) + users.size(), other));
    const auto next = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
    ASSERT_TRUE(first.ok() && next.ok());
    EXPECT_TRUE(same_digest(*first, *next)) << other;
    EXPECT_EQ(content(path), own);
  }
}

TEST_F(Startup, AKubeconfigKeepsItsToken) {
  const auto keys = prepare_keys(server_, folder_, kToday);
  const std::string path = folder_ + "/kubeconfig";
  const auto first = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  ASSERT_TRUE(first.ok()) << first.error().text;
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_NE(content(path).find("server: https://127.0.0.1:6443\n"), std::string::npos);
  EXPECT_NE(content(path).find(to_base64(keys->trust)), std::string::npos);
  // A11: a start on a full disk cannot write it again, and need not.
  const auto written = fs::last_write_time(path) - std::chrono::hours(1);
  fs::last_write_time(path, written);
  ASSERT_TRUE(publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys).ok());
  EXPECT_EQ(fs::last_write_time(path), written);
  const auto moved = publish_kubeconfig(path, folder_, "0.0.0.0:7000", *keys);
  ASSERT_TRUE(moved.ok());
  EXPECT_TRUE(same_digest(*first, *moved));
  EXPECT_NE(content(path).find("server: https://127.0.0.1:7000\n"), std::string::npos);
  ASSERT_TRUE(publish_kubeconfig(path, folder_, "[::1]:7000", *keys).ok());
  EXPECT_NE(content(path).find("server: https://[::1]:7000\n"), std::string::npos);
}

TEST_F(Startup, ALostKubeconfigMakesANewTokenAndTheOldOneIsWorthless) {
  const auto keys = prepare_keys(server_, folder_, kToday);
  const std::string path = folder_ + "/kubeconfig";
  const auto first = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  const std::string old = content(path);
  fs::remove(path);
  const auto second = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(same_digest(*first, *second));
  write(path, old);
  const auto third = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  ASSERT_TRUE(third.ok());
  EXPECT_FALSE(same_digest(*first, *third)) << "a digest that is not ours is not believed";
  TokenTable kept;
  ASSERT_TRUE(kept.add_csv(content(folder_ + "/pki/admin-token"), "f").ok());
  EXPECT_TRUE(kept.has(*third));
  EXPECT_EQ(mode_of(folder_ + "/pki/admin-token"), 0600u);
}

TEST_F(Startup, AnotherAuthorityComesIntoTheKubeconfigAndTheTokenStays) {
  const auto keys = prepare_keys(server_, folder_, kToday);
  const auto others = prepare_keys(server_, "", kToday);
  const std::string path = folder_ + "/kubeconfig";
  const auto token = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  const std::string before = content(path);
  ASSERT_TRUE(update_kubeconfig(path, "127.0.0.1:6443", *others, *token).ok());
  EXPECT_THAT(content(path), testing::HasSubstr(to_base64(others->trust)));
  ASSERT_TRUE(update_kubeconfig(path, "127.0.0.1:6443", *keys, *token).ok());
  EXPECT_EQ(content(path), before);
  // Somebody else's token is none of ours, and a file that was deleted is not wanted.
  ASSERT_TRUE(update_kubeconfig(path, "127.0.0.1:6443", *others, sha256("another")).ok());
  EXPECT_EQ(content(path), before);
  fs::remove(path);
  ASSERT_TRUE(update_kubeconfig(path, "127.0.0.1:6443", *others, *token).ok());
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Startup, AStoreInMemoryNeedsAPlaceForTheKubeconfig) {
  EXPECT_FALSE(kubeconfig_path(server_, "").ok());
  EXPECT_EQ(*kubeconfig_path(server_, "/data"), "/data/kubeconfig");
  server_.kubeconfig = folder_ + "/new/admin.conf";
  EXPECT_EQ(*kubeconfig_path(server_, ""), server_.kubeconfig);
  const auto keys = prepare_keys(server_, "", kToday);
  ASSERT_TRUE(keys.ok());
  ASSERT_TRUE(publish_kubeconfig(server_.kubeconfig, "", "127.0.0.1:1", *keys).ok());
  EXPECT_EQ(mode_of(server_.kubeconfig), 0600u);
  EXPECT_FALSE(fs::exists(folder_ + "/pki"));
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
