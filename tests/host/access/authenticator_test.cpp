// The user of a request: tokens, certificates, impersonation.
#include "host/access/host_authenticator.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "host/base/trusted_file.hpp"

namespace sluice::host {
namespace {

/// Lets the listed requests through: `verb resource namespace/name`.
class Listed final : public Authorizer {
 public:
  explicit Listed(std::vector<std::string> allowed) : allowed_(std::move(allowed)) {}
  AccessAnswer may(const Identity&, const AccessRequest& request) const override {
    const std::string asked = std::string(request.verb) + " " + std::string(request.resource) +
                              " " + std::string(request.ns) + "/" + std::string(request.name);
    return {std::find(allowed_.begin(), allowed_.end(), asked) != allowed_.end(), ""};
  }

 private:
  std::vector<std::string> allowed_;
};

class Authentication : public testing::Test {
 protected:
  Authentication() {
    file_ =
        (std::filesystem::temp_directory_path() / ("sluice-tokens-" + std::to_string(::getpid())))
            .string();
    std::ofstream(file_) << "janes-long-token,jane,7,\"dev\"\n";
  }
  ~Authentication() override { std::remove(file_.c_str()); }

  std::string file_;
  Listed authorizer_{{"impersonate users /joe", "impersonate groups /ops",
                      "impersonate serviceaccounts ns/bot", "impersonate uids /9"}};
  HostAuthenticator authenticator_{authorizer_};
};

// A20: the rights of users were read from a file that every user of the machine could write.
TEST_F(Authentication, A20_ATokenFileThatEverybodyMayWriteIsRefused) {
  const Digest admin = sha256("admins-token");
  ASSERT_TRUE(authenticator_.load(admin, file_).ok());
  std::filesystem::permissions(file_, std::filesystem::perms(0666));
  const auto refused = authenticator_.load(admin, file_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text, "server.tokenFile: " + file_ +
                                      ": everybody may write to it, so it is not believed; chmod "
                                      "o-w " +
                                      file_);
  EXPECT_EQ(doubt_about(file_, true), "everybody can read it");
  std::filesystem::permissions(file_, std::filesystem::perms(0600));
  EXPECT_TRUE(authenticator_.load(admin, file_).ok());
  EXPECT_EQ(doubt_about(file_, true), std::nullopt);
  // As bad: a folder in which every user may replace it.
  const std::string folder = file_ + "-folder";
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms(0777));
  std::ofstream(folder + "/tokens") << "janes-long-token,jane,7\n";
  EXPECT_FALSE(authenticator_.load(admin, folder + "/tokens").ok());
  std::filesystem::permissions(folder, std::filesystem::perms(01777));
  EXPECT_TRUE(authenticator_.load(admin, folder + "/tokens").ok());
  std::filesystem::remove_all(folder);
}

TEST_F(Authentication, BearerTokens) {
  ASSERT_TRUE(authenticator_.load(sha256("admins-token"), file_).ok());
  Credentials credentials;
  credentials.authorization = "Bearer admins-token";
  const auto admin = authenticator_.identify(credentials);
  ASSERT_TRUE(admin.ok());
  EXPECT_EQ(admin->groups, (std::vector<std::string>{"system:masters", "system:authenticated"}));
  credentials.authorization = "bearer   janes-long-token ";
  const auto jane = authenticator_.identify(credentials);
  ASSERT_TRUE(jane.ok());
  EXPECT_EQ(jane->user, "jane");
  EXPECT_EQ(jane->groups, (std::vector<std::string>{"dev", "system:authenticated"}));
  for (const char* wrong : {"Bearer x", "Bearer ", "Bearer", "Basic amFuZTp4", "janes-long-token",
                            "Bearerjanes-long-token", "Wearer janes-long-token"}) {
    credentials.authorization = wrong;
    const auto refused = authenticator_.identify(credentials);
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(refused.error().code, 401);
  }
}

TEST_F(Authentication, NoCredentialsAreNobody) {
  const auto nobody = authenticator_.identify({});
  ASSERT_TRUE(nobody.ok());
  EXPECT_EQ(nobody->user, "");
  EXPECT_TRUE(nobody->groups.empty());
}

TEST_F(Authentication, CertificatesNameUserAndGroups) {
  CertificateSubject subject{"carol", {"dev"}};
  Credentials credentials;
  credentials.certificate = &subject;
  const auto carol = authenticator_.identify(credentials);
  ASSERT_TRUE(carol.ok());
  EXPECT_EQ(carol->user, "carol");
  EXPECT_EQ(carol->groups, (std::vector<std::string>{"dev", "system:authenticated"}));
}

TEST_F(Authentication, AReloadChangesWhoIsKnown) {
  ASSERT_TRUE(authenticator_.load(sha256("admins-token"), file_).ok());
  std::ofstream(file_) << "joes-long-token-1,joe,8\n";
  ASSERT_TRUE(authenticator_.load(sha256("admins-token"), file_).ok());
  EXPECT_FALSE(authenticator_.holder_of("janes-long-token"));
  EXPECT_TRUE(authenticator_.holder_of("joes-long-token-1"));
  std::ofstream(file_) << "broken\n";
  const auto refused = authenticator_.load(sha256("admins-token"), file_);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text.find(file_ + ":1: "), std::string::npos);
  EXPECT_TRUE(authenticator_.holder_of("joes-long-token-1"));
  std::remove(file_.c_str());
  EXPECT_FALSE(authenticator_.load(sha256("admins-token"), file_).ok());
}

TEST_F(Authentication, ImpersonationByThoseWhoMay) {
  ASSERT_TRUE(authenticator_.load(sha256("admins-token"), "").ok());
  Credentials credentials;
  credentials.authorization = "Bearer admins-token";
  credentials.impersonate_user = "joe";
  credentials.impersonate_groups = {"ops"};
  credentials.impersonate_uid = "9";
  const auto joe = authenticator_.identify(credentials);
  ASSERT_TRUE(joe.ok()) << joe.error().text;
  EXPECT_EQ(joe->user, "joe");
  EXPECT_EQ(joe->uid, "9");
  EXPECT_EQ(joe->groups, (std::vector<std::string>{"ops", "system:authenticated"}));
  credentials.impersonate_groups = {"ops", "system:masters"};
  const auto refused = authenticator_.identify(credentials);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, 403);
  EXPECT_EQ(refused.error().text,
            "groups \"system:masters\" is forbidden: User \"sluice-admin\" cannot impersonate "
            "resource \"groups\" in API group \"\" at the cluster scope");
}

TEST_F(Authentication, ImpersonationOfServiceAccounts) {
  ASSERT_TRUE(authenticator_.load(sha256("admins-token"), "").ok());
  Credentials credentials;
  credentials.authorization = "Bearer admins-token";
  credentials.impersonate_user = "system:serviceaccount:ns:bot";
  const auto bot = authenticator_.identify(credentials);
  ASSERT_TRUE(bot.ok());
  EXPECT_EQ(bot->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:ns",
                                      "system:authenticated"}));
  credentials.impersonate_user = "system:serviceaccount:other:bot";
  EXPECT_EQ(authenticator_.identify(credentials).error().code, 403);
}

// A name of two parts is a service account's, any other is a user's: that is what is asked for.
TEST_F(Authentication, AServiceAccountHasANamespaceAndAName) {
  ASSERT_TRUE(authenticator_.load(sha256("admins-token"), "").ok());
  const struct {
    const char *user, *asked;
  } rows[] = {
      {"a:b", R"(serviceaccounts "b" is forbidden)"},
      {"ns:other", R"(serviceaccounts "other" is forbidden)"},
      {"a", R"(users "system:serviceaccount:a" is forbidden)"},
      {":b", R"(users "system:serviceaccount::b" is forbidden)"},
      {"a:", R"(users "system:serviceaccount:a:" is forbidden)"},
      {"", R"(users "system:serviceaccount:" is forbidden)"},
  };
  for (const auto& row : rows) {
    Credentials credentials;
    credentials.authorization = "Bearer admins-token";
    const std::string user = std::string("system:serviceaccount:") + row.user;
    credentials.impersonate_user = user;
    const auto refused = authenticator_.identify(credentials);
    ASSERT_FALSE(refused.ok()) << row.user;
    EXPECT_TRUE(refused.error().text.starts_with(row.asked)) << refused.error().text;
  }
}

TEST_F(Authentication, ImpersonationThatCannotBe) {
  ASSERT_TRUE(authenticator_.load(sha256("admins-token"), "").ok());
  Credentials credentials;
  credentials.impersonate_user = "joe";
  EXPECT_EQ(authenticator_.identify(credentials).error().code, 401) << "nobody impersonates";
  credentials.authorization = "Bearer admins-token";
  credentials.impersonate_extra = true;
  EXPECT_EQ(authenticator_.identify(credentials).error().code, 403);
  credentials.impersonate_extra = false;
  credentials.impersonate_user = "";
  credentials.impersonate_groups = {"ops"};
  EXPECT_EQ(authenticator_.identify(credentials).error().code, 400);
}

}  // namespace
}  // namespace sluice::host
