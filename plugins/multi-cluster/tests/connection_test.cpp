// What a MultiKueueCluster says of how it is reached, and what its condition says.
#include "../connection.hpp"

#include <gtest/gtest.h>

namespace clusters {
namespace {

using sluice::Json;
using sluice::RemoteState;

Json cluster(const std::string& source) {
  return Json::parse(R"({"spec":{"clusterSource":)" + source + "}}");
}

std::string said(const Whence& whence) {
  if (!whence.wrong.empty()) return whence.reason + ": " + whence.wrong;
  return whence.secret.empty() ? "file " + whence.path : "secret " + whence.secret;
}

TEST(Whence, IsASecretOrAFileBelowTheFolder) {
  struct Case {
    const char* source;
    const char* expected;
  };
  const std::string outside =
      "BadKubeConfig: load client config failed: kubeconfig path is not under the allowed prefix "
      "(/etc/keys)";
  const Case cases[] = {
      {R"({"kubeConfig":{"location":"w1"}})", "secret w1"},
      {R"({"kubeConfig":{"location":"w1","locationType":"Secret"}})", "secret w1"},
      {R"({"kubeConfig":{"location":"/etc/keys/w1","locationType":"Path"}})", "file /etc/keys/w1"},
      {R"({"kubeConfig":{"location":"/etc/shadow","locationType":"Path"}})", outside.c_str()},
      {R"({"kubeConfig":{"location":"/etc/keys/../shadow","locationType":"Path"}})",
       outside.c_str()},
      {R"({"kubeConfig":{"location":"/etc/keysalso/w","locationType":"Path"}})", outside.c_str()},
      {R"({"clusterProfileRef":{"name":"p"}})",
       "MultiKueueClusterProfileFeatureDisabled: load client config failed: ClusterProfiles are "
       "not read; give a kubeConfig, in a Secret or a file"},
  };
  for (const Case& each : cases)
    EXPECT_EQ(said(whence_of(cluster(each.source), "/etc/keys")), each.expected) << each.source;
}

TEST(Active, HasAReasonForEachProblem) {
  struct Case {
    const char* problem;
    const char* reason;
    const char* message;
  };
  const Case cases[] = {
      {"Kubeconfig", "BadKubeConfig", "load client config failed: it is so"},
      {"Insecure", "InsecureKubeConfig", "load client config failed: it is so"},
      {"Connection", "ClientConnectionFailed", "it is so"},
      {"Refused", "ClientConnectionFailed", "it is so"},
      {"Missing", "ClientConnectionFailed", "it is so"},
      {"TooLarge", "ClientConnectionFailed", "it is so"},
  };
  for (const Case& each : cases) {
    RemoteState state;
    state.problem = each.problem;
    state.message = "it is so";
    EXPECT_EQ(active_of(state), (Active{false, each.reason, each.message})) << each.problem;
  }
  RemoteState state;
  EXPECT_FALSE(active_of(state));  // it has only just begun
  state.connected = true;
  EXPECT_EQ(active_of(state), (Active{true, "Active", "Connected"}));
}

TEST(CheckActive, NamesWhatIsMissingAndWhatIsNotActive) {
  const std::vector<std::string> all = {"a", "b", "c"};
  EXPECT_EQ(check_active(all, {}, {}), (Active{true, "Active", "The admission check is active"}));
  EXPECT_EQ(check_active(all, {"a"}, {"b"}),
            (Active{true, "SomeActiveClusters", "Missing clusters: [a], Inactive clusters: [b]"}));
  EXPECT_EQ(check_active(all, {}, all),
            (Active{false, "NoUsableClusters", "Inactive clusters: [a b c]"}));
  EXPECT_EQ(check_active(all, {"a", "b", "c"}, {}),
            (Active{false, "NoUsableClusters", "Missing clusters: [a b c]"}));
}

TEST(SecretText, IsBase64) {
  const Json secret = Json::parse(R"({"data":{"kubeconfig":"YWJj","empty":"","wrong":"a b"}})");
  EXPECT_EQ(secret_text(secret, "kubeconfig"), "abc");
  EXPECT_EQ(secret_text(secret, "empty"), "");
  EXPECT_FALSE(secret_text(secret, "wrong"));
  EXPECT_FALSE(secret_text(secret, "other"));
  EXPECT_FALSE(secret_text(Json::object(), "kubeconfig"));
}

}  // namespace
}  // namespace clusters
