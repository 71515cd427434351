// Keys of our own that a wrong clock, or a death between two files, left behind.
#include "host/access/key_files.hpp"

#include "host/access/pki.hpp"
#include "host/base/files.hpp"
#include "tests/host/access/startup_folder.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;
using test::kDaySeconds;
using test::kToday;
using test::Startup;

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

}  // namespace
}  // namespace sluice::host
