#include "host/client/kubeconfig.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

constexpr const char* kText = R"(
apiVersion: v1
kind: Config
current-context: there
contexts:
- name: here
  context: {cluster: a, user: a}
- name: there
  context: {cluster: b, user: b, namespace: team-a}
clusters:
- name: a
  cluster: {server: "https://a:1"}
- name: b
  cluster:
    server: https://b:2
    certificate-authority-data: Y2VydA==
users:
- name: b
  user: {token: secret, client-certificate-data: Yw==, client-key-data: a2V5}
)";

TEST(Kubeconfig, TakesTheCurrentContext) {
  const auto config = parse_kubeconfig(kText, "k");
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->server, "https://b:2");
  EXPECT_EQ(config->ca, "cert");
  EXPECT_EQ(config->token, "secret");
  EXPECT_EQ(config->client_certificate, "c");
  EXPECT_EQ(config->client_key, "key");
  EXPECT_EQ(config->ns, "team-a");
  EXPECT_TRUE(config->verify);
}

TEST(Kubeconfig, SaysWhatIsWrong) {
  struct Case {
    const char *text, *error;
  };
  for (const Case& c : {
           Case{"current-context: x\n", "current-context is \"x\", which is not among contexts"},
           Case{"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n",
                "the cluster of context \"x\" is missing"},
           Case{"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
                "clusters: [{name: c, cluster: {server: s, certificate-authority-data: '*'}}]\n",
                "certificate-authority-data is not base64"},
           Case{"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
                "clusters: [{name: c, cluster: {certificate-authority: /no/such}}]\n",
                "cannot read /no/such"},
           Case{"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
                "clusters: [{name: c, cluster: {server: s}}]\n",
                "k: the server is \"s\"; allowed: https://HOST:PORT"},
           Case{"", "is empty"},
       }) {
    const auto config = parse_kubeconfig(c.text, "k");
    ASSERT_FALSE(config) << c.text;
    EXPECT_NE(config.error().text.find(c.error), std::string::npos) << config.error().text;
  }
}

}  // namespace
}  // namespace sluice::host
