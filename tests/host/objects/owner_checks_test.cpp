// Who may make pods and workloads that a job controls, or take them away from it.
#include "host/objects/owner_checks.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <map>
#include <string>

#include "api/json/json.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

/// Job `train` with UID `u` is in namespace `ns`; nothing else is there.
class OneJob final : public ObjectReader {
 public:
  const api::Scheme& scheme() const override { return scheme_; }
  std::optional<json::object> get(const api::KindInfo& kind, std::string_view key) const override {
    if (kind.kind != "Job" || key != "ns/train") return std::nullopt;
    return json::parse(R"({"metadata":{"name":"train","uid":"u"}})").get_object();
  }
  bool exists(const api::KindInfo& kind, std::string_view key) const override {
    return get(kind, key).has_value();
  }

 private:
  api::Scheme scheme_;
};

constexpr const char* kOfTrain =
    R"({"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"u","controller":true})";
constexpr const char* kOfFoo =
    R"({"apiVersion":"x.y/v1","kind":"Foo","name":"train","uid":"u","controller":true})";
constexpr const char* kFreeOfTrain =
    R"({"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"u"})";
constexpr const char* kOfGone =
    R"({"apiVersion":"batch/v1","kind":"Job","name":"gone","uid":"v","controller":true})";
constexpr const char* kOfSet =
    R"({"apiVersion":"apps/v1","kind":"ReplicaSet","name":"s","uid":"s","controller":true})";
constexpr const char* kOfMap = R"({"apiVersion":"v1","kind":"ConfigMap","name":"m","uid":"m"})";

json::object owned(const std::string& owners) {
  return json::parse(R"({"metadata":{"name":"x","namespace":"ns","ownerReferences":[)" + owners +
                     "]}}")
      .get_object();
}

std::string said(const char* kind, std::string_view user, const std::string& before,
                 const std::string& after) {
  const OneJob objects;
  std::vector<api::Problem> problems;
  const json::object old = owned(before), now = owned(after);
  check_owners(objects, *objects.scheme().find_by_name(kind), user, &old, now, problems);
  return problems.empty() ? "" : problems.front().text();
}

TEST(OwnerChecks, OfPods) {
  const struct {
    std::string before, after, says;
  } cases[] = {
      {"", kOfSet, ""},
      {"", kOfMap, ""},
      {"", kOfTrain, "only its controller makes pods of a Job"},
      {"", kOfGone, "only its controller makes pods of a Job"},
      {kOfFoo, kOfTrain, "only its controller makes pods of a Job"},  // with the same UID
      {kFreeOfTrain, kOfTrain, "only its controller makes pods of a Job"},
      {kOfTrain, kFreeOfTrain, "the pod is one of Job train"},
      {kOfTrain, kOfTrain, ""},
      {kOfTrain, std::string(kOfTrain) + "," + kOfMap, "has no other owner"},
      {kOfSet, std::string(kOfSet) + "," + kOfMap, ""},
      {kOfTrain, "", "the pod is one of Job train, and stays so while that is there"},
      {kOfTrain, kOfMap, "the pod is one of Job train"},
      {kOfGone, "", ""},
      {kOfSet, "", ""},
  };
  for (const auto& each : cases) {
    const std::string text = said("Pod", "jane", each.before, each.after);
    EXPECT_THAT(text, HasSubstr(each.says)) << each.before << " " << each.after;
    EXPECT_EQ(text.empty(), each.says.empty()) << text;
    for (const char* controller : {"", "system:serviceaccount:kube-system:job-controller"})
      EXPECT_EQ(said("Pod", controller, each.before, each.after), "");
  }
}

TEST(OwnerChecks, OfWorkloads) {
  EXPECT_THAT(said("Workload", "jane", "", kOfTrain), HasSubstr("only the system makes workloads"));
  EXPECT_THAT(said("Workload", "jane", kOfTrain, ""), HasSubstr("runs on the quota of this"));
  EXPECT_EQ(said("Workload", "jane", kOfGone, ""), "");
  EXPECT_EQ(said("Workload", "jane", kOfTrain, kOfTrain), "");
  EXPECT_THAT(said("Workload", "jane", kOfTrain, std::string(kOfTrain) + "," + kOfMap),
              HasSubstr("has no other owner"));
  for (const char* collector : {"system:serviceaccount:kube-system:generic-garbage-collector",
                                "system:kube-controller-manager"})
    EXPECT_EQ(said("Workload", collector, kOfTrain, ""), "") << collector;
}

}  // namespace
}  // namespace sluice::host
