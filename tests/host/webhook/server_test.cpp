// The server of a webhook, asked over TLS as an API server does.
#include "host/webhook/server.hpp"

#include <gmock/gmock.h>

#include "host/kube/caller.hpp"
#include "host/webhook/review.hpp"
#include "tests/host/webhook/review_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

WebhookKeys keys() {
  const auto made = renewed(std::nullopt, {"127.0.0.1"}, SystemPluginClock().now() / kSecond);
  SLUICE_CHECK(made.ok() && *made, "no keys");
  return **made;
}

struct Asker {
  Asker(const std::string& address, const WebhookKeys& trusted)
      : config(to(address, trusted)), caller(*link_target(config), config, 20 * kSecond) {
    caller.start();
  }
  static Kubeconfig to(const std::string& address, const WebhookKeys& trusted) {
    Kubeconfig out;
    out.server = "https://" + address;
    out.ca = trusted.trust;
    return out;
  }
  ClusterAnswer post(const char* path, std::string body) {
    ClusterRequest request;
    request.method = "POST";
    request.path = path;
    request.content_type = "application/json";
    request.body = std::move(body);
    return caller.ask(std::move(request));
  }
  ClusterAnswer get(const char* path) {
    ClusterRequest request;
    request.path = path;
    return caller.ask(std::move(request));
  }
  Kubeconfig config;
  ClusterCaller caller;
};

std::string review_of(const std::string& job) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"7",)"
         R"("operation":"CREATE","namespace":"default","kind":{"group":"batch","version":"v1",)"
         R"("kind":"Job"},"userInfo":{"username":"ann"},"object":)" +
         job + "}}";
}

TEST(WebhookServer, AnswersOnceItKnowsTheCluster) {
  ReviewWorld world;
  world.publish();
  const SystemPluginClock clock;
  auto server =
      WebhookServer::make(Configuration(), *world.rules, world.store, clock, "127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.error().text;
  EXPECT_EQ((*server)->address(), "");
  const WebhookKeys first = keys();
  ASSERT_TRUE((*server)->use(first).ok());
  Asker asker((*server)->address(), first);
  const std::string job = review_of(JobWorld::job("a", 1, JobWorld::queued()));
  EXPECT_EQ(asker.post("/mutate", job).status, 503);
  EXPECT_EQ(asker.get("/readyz").status, 503);
  EXPECT_EQ(asker.get("/livez").status, 200);
  // What is stored has to be readable before the server is ready.
  EXPECT_EQ(asker
                .post("/convert",
                      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview",
                           "request":{"uid":"7","desiredAPIVersion":"kueue.x-k8s.io/v1beta1",
                           "objects":[]}})")
                .status,
            200);
  (*server)->ready();
  EXPECT_EQ(asker.get("/readyz").status, 200);
  const ClusterAnswer mutated = asker.post("/mutate", job);
  EXPECT_EQ(mutated.status, 200) << mutated.body;
  EXPECT_THAT(mutated.body, HasSubstr(R"("patchType":"JSONPatch")"));
  EXPECT_THAT(asker.post("/validate", job).body, HasSubstr(R"("allowed":true)"));
  (*server)->set_self("ann");
  std::string decided = job;
  decided.replace(decided.find("\"object\""), 0, R"("options":{"fieldManager":"sluice"},)");
  EXPECT_THAT(asker.post("/mutate", decided).body, Not(HasSubstr("patch")));
}

TEST(WebhookServer, WhatIsNoQuestionIsToldSo) {
  ReviewWorld world;
  const SystemPluginClock clock;
  auto server =
      WebhookServer::make(Configuration(), *world.rules, world.store, clock, "127.0.0.1:0");
  ASSERT_TRUE(server.ok());
  const WebhookKeys first = keys();
  ASSERT_TRUE((*server)->use(first).ok());
  (*server)->ready();
  Asker asker((*server)->address(), first);
  EXPECT_THAT(asker.post("/elsewhere", "{}").body, HasSubstr("allowed: /mutate, /validate"));
  EXPECT_EQ(asker.get("/mutate").status, 405);
  EXPECT_EQ(asker.post("/mutate", "{").status, 400);
  EXPECT_EQ(asker.post("/validate", std::string(kMostReviewBytes + 1, ' ')).status, 413);
  EXPECT_EQ(asker.post("/convert", "{}").status, 400);
}

TEST(WebhookServer, NewKeysAreForWhoeverConnectsNext) {
  ReviewWorld world;
  const SystemPluginClock clock;
  auto server =
      WebhookServer::make(Configuration(), *world.rules, world.store, clock, "127.0.0.1:0");
  ASSERT_TRUE(server.ok());
  const WebhookKeys first = keys(), next = keys();
  ASSERT_TRUE((*server)->use(first).ok());
  const std::string address = (*server)->address();
  EXPECT_EQ(Asker(address, first).get("/livez").status, 200);
  ASSERT_TRUE((*server)->use(next).ok());
  EXPECT_EQ((*server)->address(), address);
  EXPECT_EQ(Asker(address, next).get("/livez").status, 200);
  EXPECT_EQ(Asker(address, first).get("/livez").status, 0);
}

}  // namespace
}  // namespace sluice::host::test
