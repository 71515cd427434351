// Routes whose answers are computed: pending workloads of a queue, and explanations.
#include <gmock/gmock.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "tests/host/apiserver/api_fixture.hpp"

namespace sluice::host {
namespace {

using test::Answer;

/// Answers with what it was asked.
class EchoInsight final : public Insight {
 public:
  void pending_workloads(std::string ns, std::string queue, std::int64_t offset, std::int64_t limit,
                         Done done) override {
    done(boost::json::value{
        {"apiVersion", ""}, {"ns", ns}, {"queue", queue}, {"offset", offset}, {"limit", limit}});
  }
  void explain(std::string ns, std::string workload, MayKnow may_know, Done done) override {
    boost::json::array known;
    for (const char* each : {"open", "closed"})
      if (may_know(each)) known.emplace_back(each);
    ++explained;
    boost::json::object out{{"ns", ns}, {"workload", workload}, {"known", known}};
    out["checks"] = {{{"name", "c"}, {"details", ++asked}}};
    if (asked < answers_at) out["checks"].as_array()[0].as_object()["awaited"] = true;
    done(boost::json::value(std::move(out)));
  }
  void await(std::string, std::string, boost::json::object document, Done done) override {
    auto& check = document["checks"].as_array()[0].as_object();
    check["details"] = ++asked;
    if (asked >= answers_at) check.erase("awaited");
    done(boost::json::value(std::move(document)));
  }
  int explained = 0, asked = 0, answers_at = 0;
};

class InsightRoutes : public test::ApiFixture {
 protected:
  InsightRoutes() {
    api_.detach();
    ApiBackend with = backend();
    with.insight = &insight_;
    api_.attach(std::move(with));
  }
  Answer as(const std::string& user, const std::string& path) const {
    return client().get(path, "Authorization: Bearer " + user + "\r\n");
  }
  EchoInsight insight_;
};

const std::string kVisibility = "/apis/visibility.kueue.x-k8s.io/";
const std::string kExplain = "/apis/sluice.dev/v1alpha1/namespaces/";

TEST_F(InsightRoutes, PendingWorkloads) {
  for (const std::string& version : std::vector<std::string>{"v1beta1", "v1beta2"}) {
    const auto cluster = json(get(kVisibility + version + "/clusterqueues/cq/pendingworkloads"));
    EXPECT_EQ(cluster.at("apiVersion").as_string(), "visibility.kueue.x-k8s.io/" + version);
    EXPECT_EQ(cluster.at("ns"), "");
    EXPECT_EQ(cluster.at("queue"), "cq");
    EXPECT_EQ(cluster.at("offset"), 0);
    EXPECT_EQ(cluster.at("limit"), 1000);
    const auto local =
        json(as("reader", kVisibility + version +
                              "/namespaces/open/localqueues/lq/pendingworkloads?offset=3&limit=5"));
    EXPECT_EQ(local.at("ns"), "open");
    EXPECT_EQ(local.at("offset"), 3);
    EXPECT_EQ(local.at("limit"), 5);
  }
}

TEST_F(InsightRoutes, PendingWorkloadsRefused) {
  const std::string path = kVisibility + "v1beta2/clusterqueues/cq/pendingworkloads";
  EXPECT_EQ(as("reader", path).status, 403);
  EXPECT_EQ(get(path + "?offset=-1").status, 400);
  EXPECT_EQ(get(path + "?limit=many").status, 400);
  EXPECT_EQ(send("POST", path, "{}").status, 405);
}

TEST_F(InsightRoutes, WhoeverMayReadTheWorkloadMayAskAndHearsOfNamespacesThatHeMayRead) {
  struct Case {
    const char *user, *ns;
    int status;
    const char* known;
  };
  for (const auto& [user, ns, status, known] : std::vector<Case>{
           {"admin", "open", 200, R"(["open","closed"])"},
           {"reader", "open", 200, R"(["open"])"},
           {"reader", "closed", 403, ""},
           {"stranger", "open", 403, ""},
       }) {
    const Answer answer = as(user, kExplain + ns + "/workloads/w/explain");
    ASSERT_EQ(answer.status, status) << user << " in " << ns;
    if (status != 200) continue;
    const auto seen = json(answer);
    EXPECT_EQ(seen.at("workload"), "w");
    EXPECT_EQ(boost::json::serialize(seen.at("known")), known) << user;
  }
}

TEST_F(InsightRoutes, WhatIsAwaitedOfAnotherPlaceIsAskedForAgainForATimeAndNothingElse) {
  const auto details = [&] {
    const auto seen = json(get(kExplain + "open/workloads/w/explain"));
    const auto& check = seen.at("checks").as_array().at(0).as_object();
    return std::pair(check.at("details").as_int64(), check.contains("awaited"));
  };
  insight_.answers_at = 3;
  EXPECT_EQ(details(), std::pair(std::int64_t{3}, false));
  insight_.asked = 0;
  insight_.answers_at = 1'000;
  EXPECT_EQ(details(), std::pair(std::int64_t{10}, true)) << "1.5 s are over";
  EXPECT_EQ(insight_.explained, 2) << "once for each who asked";
}

/// Answers with the user and the number of objects.
class EchoWhatIf final : public WhatIf {
 public:
  void ask(WhatIfRequest request, Done done) override {
    request.question["status"] =
        boost::json::object{{"who", request.who.user},
                            {"strict", request.field_validation == FieldValidation::kStrict}};
    done(boost::json::value(std::move(request.question)));
  }
};

class WhatIfRoute : public InsightRoutes {
 protected:
  WhatIfRoute() {
    api_.detach();
    ApiBackend with = backend();
    with.what_if = &what_if_;
    api_.attach(std::move(with));
  }
  Answer post(const std::string& user, const std::string& body,
              const std::string& query = "") const {
    return client().request(
        "POST", kWhatIfs + query, body,
        "Authorization: Bearer " + user + "\r\nContent-Type: application/json\r\n");
  }
  const std::string kWhatIfs = "/apis/sluice.dev/v1alpha1/whatifs";
  const std::string kQuestion =
      R"({"apiVersion":"sluice.dev/v1alpha1","kind":"WhatIf","spec":{"objects":[]}})";
  EchoWhatIf what_if_;
};

TEST_F(WhatIfRoute, IsOpenToAllWhoAreKnown) {
  for (const char* user : {"admin", "reader", "stranger"}) {
    const Answer answer = post(user, kQuestion, "?fieldValidation=Strict");
    ASSERT_EQ(answer.status, 201) << user;
    EXPECT_EQ(json(answer).at("status").at("who"), user);
    EXPECT_EQ(json(answer).at("status").at("strict"), true);
  }
  EXPECT_EQ(post("bad", kQuestion).status, 401);
}

TEST_F(WhatIfRoute, IsPostedAndIsAWhatIf) {
  EXPECT_EQ(get(kWhatIfs).status, 405);
  EXPECT_EQ(get(kWhatIfs + "/name").status, 404);
  EXPECT_EQ(post("admin", "7").status, 400);
  EXPECT_EQ(post("admin", "{").status, 400);
  EXPECT_EQ(post("admin", R"({"apiVersion":"v1","kind":"Pod"})").status, 400);
  EXPECT_EQ(post("admin", kQuestion, "?fieldValidation=Perhaps").status, 400);
  api_.detach();
  api_.attach(backend());
  EXPECT_EQ(post("admin", kQuestion).status, 404);
}

TEST_F(InsightRoutes, WithoutInsightThereIsNoSuchResource) {
  api_.detach();
  api_.attach(backend());
  EXPECT_EQ(get(kExplain + "open/workloads/w/explain").status, 404);
  EXPECT_EQ(get(kVisibility + "v1beta2/clusterqueues/cq/pendingworkloads").status, 404);
}

}  // namespace
}  // namespace sluice::host
