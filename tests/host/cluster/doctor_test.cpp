// What is told of a cluster: each thing that can be wrong, by the answers of its API server.
#include "host/cluster/doctor.hpp"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <map>

#include "core/base/base64.hpp"
#include "host/access/pki.hpp"
#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";
constexpr const char* kLease =
    "/apis/coordination.k8s.io/v1/namespaces/sluice-system/leases/sluice-controller";
constexpr const char* kKueuesLease =
    "/apis/coordination.k8s.io/v1/namespaces/kueue-system/leases/c1f6bfd2.kueue.x-k8s.io";
constexpr const char* kMutating =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/sluice-controller";
constexpr const char* kValidating =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/sluice-controller";
constexpr const char* kTry = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues?dryRun=All";
constexpr const char* kOld = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues?limit=1";
constexpr const char* kAccount =
    "/api/v1/namespaces/sluice-system/serviceaccounts/sluice-controller";
constexpr const char* kReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr const char* kPages = "/apis/sluice.dev/v1alpha1/jobkinds";
constexpr std::int64_t kNow = 1'800'000'000;  // 2027-01-15T08:00:00Z

std::string status(const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message + "\"}";
}

std::string lease(const std::string& holder, const std::string& renewed) {
  return R"({"spec":{"leaseDurationSeconds":15,"holderIdentity":")" + holder +
         R"(","renewTime":")" + renewed + R"("}})";
}

/// A cluster in which all is well, but for what a test changes.
struct Patient {
  std::map<std::string, std::pair<int, std::string>> answers;
  std::string refused;  ///< what a question for a right holds to be answered with no
  std::string authority = make_authority("ca", kNow)->certificate;

  Patient() {
    answers["/version"] = {200, R"({"major":"1","minor":"34+","gitVersion":"v1.34.1"})"};
    for (const api::KindInfo* kind : test::scheme().kinds())
      answers[kDefinitions + kind->plural + "." + kind->group] = {
          200, R"({"status":{"conditions":[{"type":"Established","status":"True"}]}})"};
    answers[kLease] = {200, lease("one", "2027-01-15T07:59:50.000000Z")};
    answers[kMutating] = answers[kValidating] = {200, webhooks(base64_text(authority), "Fail")};
    answers[kTry] = {422, status("admission webhook objects.sluice.dev denied the request: bad")};
    answers[kOld] = {200, "{}"};
    answers[kAccount] = {200, "{}"};
    answers[kPages] = {200, R"({"items":[]})"};
  }
  /// `jobs`: the kinds that it is asked about, PLURAL.GROUP; empty: all.
  static std::string webhooks(const std::string& trust, const std::string& policy,
                              std::vector<std::string> jobs = {}) {
    if (jobs.empty())
      for (const api::KindInfo* kind : test::scheme().kinds())
        if (kind->job) jobs.push_back(kind->plural + "." + kind->group);
    json::array rules;
    for (const std::string& each : jobs)
      rules.push_back(
          json::object{{"apiGroups", json::array{each.substr(each.find('.') + 1).c_str()}},
                       {"resources", json::array{each.substr(0, each.find('.')).c_str()}}});
    return json::serialize(
        json::object{{"webhooks", json::array{json::object{{"name", "jobs.sluice.dev"},
                                                           {"failurePolicy", policy},
                                                           {"clientConfig", {{"caBundle", trust}}},
                                                           {"rules", std::move(rules)}}}}});
  }

  static json::array rules() {
    return {json::object{{"apiGroups", json::array{"batch"}},
                         {"resources", json::array{"jobs", "jobs/status"}},
                         {"verbs", json::array{"list", "patch"}}}};
  }

  std::vector<Finding> findings() const {
    DoctorOrder order;
    order.rights.anywhere = order.rights.own = rules();
    order.scheme = &test::scheme();
    order.now = kNow * kSecond;
    return examine(order, [this](const ClusterRequest& request) {
      const auto found = answers.find(request.path);
      ClusterAnswer out;
      if (request.path == kReviews && found == answers.end()) {
        const bool allowed = refused.empty() || request.body.find(refused) == std::string::npos;
        out.status = 201;
        out.body = allowed ? R"({"status":{"allowed":true}})" : R"({"status":{"allowed":false}})";
        return out;
      }
      out.status = found == answers.end() ? 404 : found->second.first;
      out.body = found == answers.end() ? status("not found") : found->second.second;
      return out;
    });
  }
  std::string told() const { return findings_text(findings()); }
};

TEST(Doctor, FindsNothingWhereAllIsWell) {
  const Patient patient;
  EXPECT_FALSE(any_wrong(patient.findings())) << patient.told();
  EXPECT_THAT(patient.told(), HasSubstr("ok       lease        one decides\n"));
  EXPECT_THAT(patient.told(), HasSubstr("API servers are answered"));
  EXPECT_THAT(patient.told(), HasSubstr("ok       rights       system:serviceaccount:sluice-system:"
                                        "sluice-controller may decide\n"));
  EXPECT_THAT(patient.told(), Not(HasSubstr("→")));
}

/// What a cluster lacks is no fault of a host of its own, and must not be applied to it.
TEST(Doctor, KnowsAHostOfItsOwn) {
  Patient host;
  host.answers.clear();
  host.answers["/version"] = {200,
                              R"({"major":"1","minor":"33","gitVersion":"v1.33.0+sluice-0.1.0"})"};
  host.answers["/readyz?verbose"] = {200, "ok"};
  EXPECT_FALSE(any_wrong(host.findings())) << host.told();
  EXPECT_THAT(host.told(), HasSubstr("a host of Sluice, which decides by itself"));
  EXPECT_THAT(host.told(), HasSubstr("ok       host         it is ready\n"));
  EXPECT_THAT(host.told(), Not(HasSubstr("sluice manifests")));
  host.answers["/readyz?verbose"] = {500, "[-]store failed"};
  EXPECT_TRUE(any_wrong(host.findings()));
  EXPECT_THAT(host.told(), HasSubstr("wrong    host         it is not ready"));
}

TEST(Doctor, SaysWhatIsWrongAndWhatToDo) {
  struct Case {
    const char* path;
    int code;
    std::string body;
    const char* told;
    const char* remedy;
  };
  const std::string ended =
      base64_text(make_authority("ca", kNow - 4000 * std::int64_t{86'400})->certificate);
  const Case cases[] = {
      {"/version", 0, "connection refused", "connection refused", "look at the server"},
      {"/version", 200, R"({"major":"1","minor":"29","gitVersion":"v1.29.0"})", "v1.29.0",
       "1.30 or later"},
      {"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cohorts.kueue.x-k8s.io", 404, "{}",
       "are not there: cohorts", "sluice manifests"},
      {"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cohorts.kueue.x-k8s.io", 200, "{}",
       "are not established: cohorts", "kubectl describe"},
      {"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cohorts.kueue.x-k8s.io", 200,
       R"({"spec":{"conversion":{"webhook":{"clientConfig":{"service":
           {"name":"kueue-webhook-service"}}}}}})",
       "are Kueue's, and are converted by its webhook: cohorts", "sluice manifests"},
      {kLease, 404, "{}", "nobody decides", "start sluice controller"},
      {kLease, 200, lease("one", "2027-01-15T07:00:00.000000Z"), "one held it last",
       "kubectl -n sluice-system get pods"},
      {kLease, 200, lease("", "2027-01-15T08:00:00.000000Z"), "nobody holds it", "kubectl"},
      {kKueuesLease, 200, lease("kueue", "2027-01-15T07:59:59.000000Z"), "Kueue decides here, too",
       "--replicas 0"},
      {kMutating, 404, "{}", "may begin before they are held", "sluice manifests"},
      {kMutating, 200, Patient::webhooks("", "Fail"), "does not say whom to trust", "look at its"},
      {kMutating, 200, Patient::webhooks("bm90aGluZw==", "Fail"), "caBundle: ", "take caBundle"},
      {kMutating, 200, Patient::webhooks(ended, "Fail"), "ends at", "delete secret"},
      {kMutating, 200, Patient::webhooks("", "Ignore"), "is passed by while nobody", "to Fail"},
      {kTry, 500, status("failed calling webhook: no endpoints available for service"),
       "no endpoints", "no controller is ready"},
      {kTry, 500, status("failed calling webhook: x509: signed by unknown authority"), "x509",
       "do not trust it (yet)"},
      {kTry, 500, status("failed calling webhook: context deadline exceeded"), "deadline",
       "port 9443"},
      {kTry, 201, "{}", "negative quota was taken", "sluice manifests"},
      {kOld, 500, status("conversion webhook failed: connection refused"), "conversion webhook",
       "no controller is ready"},
  };
  for (const Case& c : cases) {
    Patient patient;
    patient.answers[c.path] = {c.code, c.body};
    EXPECT_TRUE(any_wrong(patient.findings())) << c.told;
    EXPECT_THAT(patient.told(), HasSubstr(c.told));
    EXPECT_THAT(patient.told(), HasSubstr(c.remedy));
  }
}

TEST(Doctor, NamesEachRightThatTheAccountLacks) {
  Patient patient;
  patient.refused = R"("verb":"patch")";
  EXPECT_TRUE(any_wrong(patient.findings()));
  EXPECT_THAT(patient.told(),
              HasSubstr("may not: patch jobs.batch; patch jobs/status.batch; patch jobs.batch in "
                        "sluice-system; patch jobs/status.batch in sluice-system\n"));
  patient.refused = R"("subresource":"status")";
  EXPECT_THAT(patient.told(), HasSubstr("may not: list, patch jobs/status.batch; list, patch "));
  patient.refused = R"("namespace":"sluice-system")";
  EXPECT_THAT(patient.told(), HasSubstr("may not: list, patch jobs.batch in sluice-system; "));
  // A controller that runs elsewhere is somebody else, of whom nothing is known.
  patient.answers[kAccount] = {404, "{}"};
  EXPECT_FALSE(any_wrong(patient.findings())) << patient.told();
}

/// As when the manifests were given again without the pages of kinds of jobs.
TEST(Doctor, NamesTheJobsThatTheWebhooksDoNotHold) {
  Patient patient;
  patient.answers[kMutating] = {
      200, Patient::webhooks(base64_text(patient.authority), "Fail", {"jobs.batch"})};
  EXPECT_TRUE(any_wrong(patient.findings()));
  EXPECT_THAT(patient.told(), HasSubstr("not asked about rayclusters.ray.io: jobs with a queue may "
                                        "begin before they are held\n"));
  EXPECT_THAT(patient.told(), HasSubstr("--only MutatingWebhookConfiguration,"));
}

TEST(Doctor, TellsWhichPageIsNotServed) {
  Patient patient;
  patient.answers[kPages] = {200,
                             R"({"items":[{"metadata":{"name":"new.example.com"}},
          {"metadata":{"name":"good.example.com"},
           "status":{"conditions":[{"type":"Served","status":"True"}]}},
          {"metadata":{"name":"bad.example.com"},"status":{"conditions":
           [{"type":"Served","status":"False","message":"no right to list it"}]}}]})"};
  EXPECT_TRUE(any_wrong(patient.findings()));
  EXPECT_THAT(patient.told(), HasSubstr("wrong    job kinds    bad.example.com is not served: its "
                                        "jobs run without quota\n"));
  EXPECT_THAT(patient.told(), HasSubstr("→ no right to list it\n"));
  EXPECT_THAT(patient.told(), HasSubstr("unknown  job kinds    new.example.com: no controller"));
  EXPECT_THAT(patient.told(), Not(HasSubstr("good.example.com")));
}

TEST(Doctor, WhatMayNotBeSeenIsNotWrong) {
  for (const char* path :
       {kAccount, kReviews, kPages, kLease, kMutating, kValidating, kTry, kOld}) {
    Patient patient;
    patient.answers[path] = {403, status("you may not")};
    EXPECT_FALSE(any_wrong(patient.findings())) << path;
    EXPECT_FALSE(sees_nothing(patient.findings())) << path;
    EXPECT_THAT(patient.told(), HasSubstr("unknown")) << path;
    EXPECT_THAT(patient.told(), HasSubstr("you may not")) << path;
  }
}

TEST(Doctor, AUserWhoMaySeeNothingIsNotToldThatNothingIsWrong) {
  Patient patient;
  for (auto& [path, answer] : patient.answers)
    if (path != "/version") answer = {403, status("you may not")};
  EXPECT_TRUE(sees_nothing(patient.findings())) << patient.told();
}

}  // namespace
}  // namespace sluice::host
