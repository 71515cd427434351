// What plugins say of objects that the API server judges by their fields: of pods, and of kinds
// that no host has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <future>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/plugins/clock.hpp"
#include "host/rest/json_patch.hpp"
#include "host/webhook/reviewer.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

class PluginReview : public ::testing::Test {
 protected:
  PluginReview() {
    config.plugins.directory = SLUICE_TEST_PLUGINS;
    auto loaded = Rules::load(config.plugins, std::vector<std::string>{"door"}, clock);
    SLUICE_CHECK(loaded.ok(), loaded.error().text);
    rules = std::move(*loaded);
    store = std::make_unique<LiveStore>(rules->scheme, nullptr);
    reviewer = std::make_unique<Reviewer>(config, *rules, *store, clock);
  }

  static json::object made(const char* version, const char* kind, const std::string& labels) {
    return json::parse(std::string(R"({"apiVersion":")") + version + R"(","kind":")" + kind +
                       R"(","metadata":{"name":"x","labels":{)" + labels +
                       R"(}},"spec":{"containers":[{"name":"c","unheardOf":1}]}})")
        .as_object();
  }
  AdmissionRequest asked(const json::object& object, std::optional<json::object> old) const {
    AdmissionRequest out;
    out.uid = "7";
    out.api_version = api::find_text(object, "apiVersion");
    out.kind = api::find_text(object, "kind");
    out.ns = "default";
    out.name = "x";
    out.user = user;
    out.operation = old ? ReviewedOperation::kUpdate : ReviewedOperation::kCreate;
    out.object = object;
    out.old = std::move(old);
    return out;
  }
  /// As it is after the mutating step.
  json::object mutated(const json::object& object, std::optional<json::object> old = {}) {
    const Verdict verdict = reviewer->review(asked(object, std::move(old)), ReviewStep::kMutating);
    EXPECT_FALSE(verdict.refused);
    json::value out(object);
    EXPECT_TRUE(json_patch(out, verdict.patch).ok());
    return out.get_object();
  }
  std::string refusal(const json::object& object) {
    const Verdict verdict = reviewer->review(asked(object, std::nullopt), ReviewStep::kValidating);
    return verdict.refused ? verdict.refused->text : std::string();
  }
  static std::string labels(const json::object& object) {
    return json::serialize(object.at("metadata").at("labels"));
  }

  /// The reviewer sees the object from now on.
  void publish(std::string_view text) {
    json::object object = json::parse({text.data(), text.size()}).as_object();
    TextPool pool;
    const api::KindInfo* kind =
        rules->scheme.find(api::find_text(object, "apiVersion"), api::find_text(object, "kind"));
    store->put(to_stored(*kind, object, pool));
    std::promise<void> done;
    store->commit([&done](const Result<void>&) { done.set_value(); });
    done.get_future().wait();
  }

  std::string user = "ann";
  VirtualClock clock;
  Configuration config;
  std::unique_ptr<Rules> rules;
  std::unique_ptr<LiveStore> store;
  std::unique_ptr<Reviewer> reviewer;
};

TEST_F(PluginReview, HoldsPodsAndLeavesTheirFieldsToTheApiServer) {
  const json::object held = mutated(made("v1", "Pod", R"("wait":"")"));
  EXPECT_EQ(labels(held), R"({"wait":"","example.com/held":"true"})");
  EXPECT_EQ(json::serialize(held.at("spec").at("schedulingGates")),
            R"([{"name":"example.com/gate"}])");
  EXPECT_EQ(json::serialize(held.at("spec").at("containers")), R"([{"name":"c","unheardOf":1}])");
  EXPECT_EQ(held.at("metadata").at("annotations").at("sluice.dev/created-by"), "ann");
  const json::object plain = made("v1", "Pod", R"("a":"")");
  EXPECT_EQ(mutated(plain), plain);
}

TEST_F(PluginReview, NobodyElseSaysThatAPodIsHeld) {
  EXPECT_EQ(labels(mutated(made("v1", "Pod", R"("a":"","example.com/held":"true")"))),
            R"({"a":""})");
  const json::object held = made("v1", "Pod", R"("example.com/held":"true")");
  EXPECT_EQ(labels(mutated(made("v1", "Pod", R"("a":"")"), held)),
            R"({"a":"","example.com/held":"true"})");
}

// Its template got them when it was started; else its pods would be taken for pods without a job.
TEST_F(PluginReview, PodsOfAJobThatWaitsForQuotaKeepTheMarksOfItsTemplate) {
  constexpr const char* kController = "system:serviceaccount:kube-system:job-controller";
  publish(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"queued","namespace":"default",
      "uid":"u-queued","labels":{"kueue.x-k8s.io/queue-name":"lq"}}})");
  publish(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"started","namespace":"default",
      "uid":"u-started","annotations":{"sluice.dev/started-with":"{}"}}})");
  publish(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"free","namespace":"default",
      "uid":"u-free"}})");
  publish(
      R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"whole",
      "namespace":"default","uid":"u-whole","labels":{"kueue.x-k8s.io/queue-name":"lq"}}})");
  publish(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"part","namespace":"default",
      "uid":"u-part","annotations":{"sluice.dev/created-by":"system:serviceaccount:ray:operator"},
      "ownerReferences":[{"apiVersion":"ray.io/v1","kind":"RayCluster","name":"whole",
      "uid":"u-whole","controller":true}]}})");
  struct Case {
    const char *user, *job, *uid;
    bool keeps;
  };
  for (const Case& each :
       {Case{kController, "queued", "u-queued", true},
        Case{"system:kube-controller-manager", "queued", "u-queued", true},
        Case{kController, "started", "u-started", true}, Case{kController, "free", "u-free", false},
        Case{kController, "queued", "u-of-before", false},
        Case{kController, "part", "u-part", true}, Case{kController, "gone", "u-gone", false},
        Case{"ann", "queued", "u-queued", false},
        Case{"system:serviceaccount:default:ann", "queued", "u-queued", false}}) {
    user = each.user;
    json::object pod = made("v1", "Pod", R"("a":"","kueue.x-k8s.io/podset":"main")");
    pod["metadata"].as_object()["ownerReferences"] =
        json::array{json::object{{"apiVersion", "batch/v1"},
                                 {"kind", "Job"},
                                 {"name", each.job},
                                 {"uid", each.uid},
                                 {"controller", true}}};
    EXPECT_EQ(labels(mutated(pod)).find("podset") != std::string::npos, each.keeps)
        << each.user << " " << each.job;
  }
}

TEST_F(PluginReview, RefusesPodsInItsWords) {
  EXPECT_THAT(refusal(made("v1", "Pod", R"("never":"")")), HasSubstr("never means never"));
  EXPECT_EQ(refusal(made("v1", "Pod", R"("a":"")")), "");
}

TEST_F(PluginReview, SeesKindsThatTheHostDoesNotHave) {
  EXPECT_EQ(labels(mutated(made("example.com/v1", "Thing", R"("wait":"")"))),
            R"({"wait":"","example.com/held":"true"})");
  EXPECT_THAT(refusal(made("example.com/v1", "Thing", R"("never":"")")),
              HasSubstr("Thing.example.com \"x\" is invalid: metadata.labels: Forbidden: never"));
  EXPECT_THAT(refusal(made("example.com/v1", "Other", "")), HasSubstr("has no kind Other"));
}

}  // namespace
}  // namespace sluice::host
