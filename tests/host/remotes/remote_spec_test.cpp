// What a plugin may say about a remote, and which credentials are taken.
#include "host/remotes/remote_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

using test::scheme;
using ::testing::HasSubstr;

TEST(RemoteSpec, HasCredentialsAndKinds) {
  const auto spec = parse_remote_spec(
      R"({"kubeconfig":"k","kinds":[{"apiVersion":"batch/v1","kind":"Job","labels":"a=b"}]})",
      scheme());
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->kubeconfig, "k");
  ASSERT_EQ(spec->kinds.size(), 1U);
  EXPECT_EQ(spec->kinds[0].kind->plural, "jobs");
  EXPECT_EQ(spec->kinds[0].labels, "a=b");
}

TEST(RemoteSpec, IsRefusedWithASentence) {
  struct Case {
    const char* spec;
    const char* error;
  };
  const Case cases[] = {
      {"[]", "the spec of a remote is no JSON object"},
      {R"({"kinds":[]})",
       "the spec of a remote has one of kubeconfig and file, as a text that is not empty"},
      {R"({"kubeconfig":"a","file":"b"})",
       "the spec of a remote has one of kubeconfig and file, as a text that is not empty"},
      {R"({"file":"b"})", "kinds: at least one is to be followed"},
      {R"({"file":"b","kinds":[{"apiVersion":"x/v1","kind":"Y"}]})",
       "kinds: this host has no kind Y of x/v1; allowed: kinds that it has"},
  };
  for (const Case& each : cases) {
    const auto spec = parse_remote_spec(each.spec, scheme());
    ASSERT_FALSE(spec) << each.spec;
    EXPECT_EQ(spec.error().text, each.error) << each.spec;
  }
  const auto labels = parse_remote_spec(
      R"({"file":"b","kinds":[{"apiVersion":"v1","kind":"Pod","labels":"a in"}]})", scheme());
  ASSERT_FALSE(labels);
  EXPECT_THAT(labels.error().text, HasSubstr("kinds: labels of Pod: "));
}

std::string kubeconfig(const std::string& cluster, const std::string& user = "token: t") {
  return "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
         "clusters: [{name: k, cluster: {" +
         cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
}

TEST(RemoteCredentials, OfATextNameNoFileAndAskWhoAnswers) {
  struct Case {
    std::string text;
    const char* problem;
    const char* words;
  };
  const std::string server = "server: 'https://127.0.0.1:1'";
  const Case cases[] = {
      {"no", "Kubeconfig", "the kubeconfig"},
      {kubeconfig(server, "exec: {command: aws}"), "Kubeconfig", "gets its credentials from a"},
      {kubeconfig(server, "tokenFile: /etc/shadow"), "Insecure", "tokenFile names a file"},
      {kubeconfig(server + ", certificate-authority: /etc/shadow"), "Insecure",
       "certificate-authority names a file"},
      {kubeconfig(server, "client-key: /etc/shadow"), "Insecure", "client-key names a file"},
      {kubeconfig(server + ", insecure-skip-tls-verify: true"), "Insecure",
       "insecure-skip-tls-verify is not allowed"},
      {kubeconfig("server: 'http://127.0.0.1:1'"), "Insecure",
       "the server is \"http://127.0.0.1:1\"; allowed: https://HOST:PORT"},
  };
  for (const Case& each : cases) {
    RemoteProblem problem;
    EXPECT_FALSE(remote_credentials(each.text, false, {}, problem)) << each.text;
    EXPECT_EQ(problem.what, each.problem) << each.text;
    EXPECT_THAT(problem.message, HasSubstr(each.words));
  }
  RemoteProblem problem;
  const auto config = remote_credentials(kubeconfig(server), false, {}, problem);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->token, "t");
}

}  // namespace
}  // namespace sluice::host
