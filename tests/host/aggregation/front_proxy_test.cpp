// Whom a controller believes that a user asks: what the ConfigMap of the API servers says, and what
// stands in a request beside which certificate.
#include "host/aggregation/front_proxy.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

boost::json::object config_map(const std::string& data) {
  return boost::json::parse(R"({"kind":"ConfigMap","data":)" + data + "}").as_object();
}

constexpr const char* kUsual =
    R"({"requestheader-client-ca-file":"PEM","requestheader-allowed-names":"[\"front-proxy\"]",)"
    R"("requestheader-username-headers":"[\"X-Remote-User\",\"X-Old-User\"]",)"
    R"("requestheader-uid-headers":"[\"X-Remote-Uid\"]",)"
    R"("requestheader-group-headers":"[\"X-Remote-Group\"]",)"
    R"("requestheader-extra-headers-prefix":"[\"X-Remote-Extra-\"]","client-ca-file":"OTHER"})";

FrontProxy usual() { return *front_proxy_of(config_map(kUsual)); }

Request passed_on(std::vector<std::pair<std::string, std::string>> headers,
                  const char* common_name = "front-proxy") {
  Request out;
  out.headers = std::move(headers);
  if (common_name) out.certificate = CertificateSubject{common_name, {}};
  return out;
}

TEST(FrontProxy, IsWhatTheConfigMapSays) {
  const FrontProxy proxy = usual();
  EXPECT_EQ(proxy.client_ca, "PEM");  // not that of clients
  EXPECT_THAT(proxy.allowed_names, ElementsAre("front-proxy"));
  EXPECT_THAT(proxy.user_headers, ElementsAre("x-remote-user", "x-old-user"));
  EXPECT_THAT(proxy.group_headers, ElementsAre("x-remote-group"));
}

TEST(FrontProxy, WhatIsMissingOrNoListIsNamed) {
  struct Case {
    const char *data, *error;
  };
  for (const auto& [data, error] : std::vector<Case>{
           {"{}", "requestheader-client-ca-file is missing"},
           {R"({"requestheader-client-ca-file":"PEM"})", "requestheader-username-headers is mi"},
           {R"({"requestheader-client-ca-file":"PEM","requestheader-username-headers":"X-User"})",
            "requestheader-username-headers: found X-User; allowed: a list"},
           {R"({"requestheader-client-ca-file":"PEM","requestheader-allowed-names":"[1]"})",
            "requestheader-allowed-names: found [1]; allowed: a list"}}) {
    const auto proxy = front_proxy_of(config_map(data));
    ASSERT_FALSE(proxy.ok()) << data;
    EXPECT_THAT(proxy.error().text, HasSubstr(error));
  }
}

TEST(FrontProxy, TheUserIsWhoTheHeadersName) {
  const auto user =
      proxied_user(usual(), passed_on({{"x-remote-group", "a"},
                                       {"x-old-user", "old"},
                                       {"x-remote-user", "ann"},
                                       {"x-remote-group", "b"},
                                       {"x-remote-uid", "7"},
                                       {"x-remote-extra-example.com%2fScopes", "read"},
                                       {"x-remote-extra-example.com%2fscopes", "write"},
                                       {"x-remote-extra-", "no key"}}));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->who.user, "ann");
  EXPECT_EQ(user->who.uid, "7");
  EXPECT_THAT(user->who.groups, ElementsAre("a", "b"));
  ASSERT_EQ(user->extra.size(), 1U);
  EXPECT_THAT(user->extra.at("example.com/scopes"), ElementsAre("read", "write"));
}

TEST(FrontProxy, TheFirstHeaderWithAValueCounts) {
  const auto user =
      proxied_user(usual(), passed_on({{"x-remote-user", ""}, {"x-old-user", "old"}}));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->who.user, "old");
  EXPECT_THAT(user->who.groups, IsEmpty());
}

TEST(FrontProxy, WithoutItsCertificateNobodyIsBelieved) {
  struct Case {
    const char *common_name, *header;
    bool any_name, believed;
  };
  for (const auto& [common_name, header, any_name, believed] :
       std::vector<Case>{{"front-proxy", "x-remote-user", false, true},
                         {nullptr, "x-remote-user", false, false},
                         {nullptr, "x-remote-user", true, false},  // any name, but of a certificate
                         {"other", "x-remote-user", false, false},
                         {"other", "x-remote-user", true, true},
                         {"front-proxy", "x-user", false, false}}) {
    FrontProxy proxy = usual();
    if (any_name) proxy.allowed_names.clear();
    const auto user = proxied_user(proxy, passed_on({{header, "ann"}}, common_name));
    EXPECT_EQ(user.ok(), believed) << (common_name ? common_name : "none") << " " << header;
    if (believed) continue;
    EXPECT_EQ(user.error().code, 401);
  }
}

}  // namespace
}  // namespace sluice::host
