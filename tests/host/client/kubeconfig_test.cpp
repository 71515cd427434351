#include "host/client/kubeconfig.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "host/client/endpoint.hpp"

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
           Case{"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                "clusters: [{name: c, cluster: {server: 'https://s'}}]\n"
                "users: [{name: u, user: {exec: {command: aws}}}]\n",
                "user \"u\" gets its credentials from a program (exec), and Sluice runs none"},
           Case{"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                "clusters: [{name: c, cluster: {server: 'https://s'}}]\n"
                "users: [{name: u, user: {username: a, password: b}}]\n",
                "allowed: a token, a tokenFile or a client certificate"},
           Case{"", "is empty"},
       }) {
    const auto config = parse_kubeconfig(c.text, "k");
    ASSERT_FALSE(config) << c.text;
    EXPECT_NE(config.error().text.find(c.error), std::string::npos) << config.error().text;
  }
}

TEST(Kubeconfig, TakesTheContextAskedFor) {
  const auto config = parse_kubeconfig(kText, "k", "here");
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->server, "https://a:1");
  EXPECT_EQ(config->token, "");
  const auto other = parse_kubeconfig(kText, "k", "nowhere");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text,
            "k: the context asked for is \"nowhere\", which is not among contexts: here, there");
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kubeconfig-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }

 private:
  std::filesystem::path path_;
};

TEST(Kubeconfig, ATokenOfAFileIsReadAgain) {
  const Folder folder;
  folder.write("token", "first\n");
  const auto config = parse_kubeconfig(
      "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
      "clusters: [{name: c, cluster: {server: 'https://s'}}]\n"
      "users: [{name: u, user: {tokenFile: token}}]\n",
      folder.path() + "/kubeconfig");
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->token, "first");
  folder.write("token", "second");
  EXPECT_EQ(*present_token(*config), "second");
  folder.write("token", "\n");
  EXPECT_NE(present_token(*config).error().text.find("holds no token"), std::string::npos);
}

TEST(Kubeconfig, APodIsItsServiceAccount) {
  const Folder folder;
  EXPECT_FALSE(service_account("10.0.0.1:443", folder.path())->has_value()) << "no token";
  folder.write("token", "t");
  EXPECT_FALSE(service_account("", folder.path())->has_value()) << "no address";
  EXPECT_FALSE(service_account("10.0.0.1:443", folder.path()).ok()) << "no ca.crt";
  folder.write("ca.crt", "cert");
  folder.write("namespace", "sluice");
  const auto config = service_account("10.0.0.1:443", folder.path());
  ASSERT_TRUE(config && *config);
  EXPECT_EQ((*config)->server, "https://10.0.0.1:443");
  EXPECT_EQ((*config)->ca, "cert");
  EXPECT_EQ((*config)->ns, "sluice");
  EXPECT_EQ(*present_token(**config), "t");
}

TEST(Kubeconfig, WhatTheEnvironmentNamesIsTheOnlyOne) {
  const auto folder = std::filesystem::temp_directory_path() / "sluice-kubeconfig-test";
  std::filesystem::create_directories(folder / ".kube");
  std::ofstream(folder / ".kube/config") << kText;
  setenv("HOME", folder.c_str(), 1);
  unsetenv("KUBECONFIG");
  const std::string there = *find_kubeconfig("");
  setenv("KUBECONFIG", (folder / "mistyped").c_str(), 1);
  const auto missing = find_kubeconfig("");
  unsetenv("KUBECONFIG");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(there, (folder / ".kube/config").string());
  ASSERT_FALSE(missing) << *missing;
  EXPECT_NE(missing.error().text.find("mistyped, which KUBECONFIG names"), std::string::npos);
}

TEST(Endpoint, ASentenceForEachForm) {
  struct Case {
    const char *server, *host, *port, *prefix;
    bool secure;
  };
  for (const Case& c :
       {Case{"https://a:6443", "a", "6443", "", true}, Case{"https://a", "a", "443", "", true},
        Case{"http://a/", "a", "80", "", false}, Case{"https://[::1]:8", "::1", "8", "", true},
        Case{"https://[::1]", "::1", "443", "", true},
        Case{"https://a:1/k8s/clusters/c-1/", "a", "1", "/k8s/clusters/c-1", true},
        Case{"https://a/k8s:1", "a", "443", "/k8s:1", true}}) {
    const auto endpoint = parse_endpoint(c.server);
    ASSERT_TRUE(endpoint) << c.server;
    EXPECT_EQ(endpoint->host, c.host) << c.server;
    EXPECT_EQ(endpoint->port, c.port) << c.server;
    EXPECT_EQ(endpoint->prefix, c.prefix) << c.server;
    EXPECT_EQ(endpoint->secure, c.secure) << c.server;
  }
  for (const char* server : {"", "a:1", "https://", "https://:1", "https://a:", "https://a/b?c"})
    EXPECT_FALSE(parse_endpoint(server)) << server;
}

}  // namespace
}  // namespace sluice::host
