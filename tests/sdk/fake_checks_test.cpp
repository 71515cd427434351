// The fake host's part in checks, objects, controllers and the plugin's own state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sluice/testing.hpp>

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Says yes to workloads with a permit, an object of their name.
class Permits {
 public:
  explicit Permits(const Context& context) : context_(context) {}

  std::vector<std::string> check_controllers() const { return {"example.com/permit"}; }
  void check_changed(const Check& check, Activity& answer) {
    if (check.gone()) return;
    const Json json = Json::parse(check.json());
    if (json.find("spec.parameters") != nullptr)
      answer.inactive("BadParametersRef", "none, please");
  }
  void begin_check(const CheckQuery& query) {
    const CheckAttempt attempt = query.attempt();
    const auto permit = context_.objects().find(ref(attempt.workload));
    const std::string tier =
        Json::parse(query.workload_json()).string_or("metadata.labels.tier", "");
    context_.state().set("seen/" + attempt.workload, std::to_string(attempt.attempt));
    if (tier == "odd") throw std::runtime_error("an odd tier");
    if (!permit) return void(context_.report(attempt, CheckAnswer::pending("no permit", true)));
    context_.report(attempt, CheckAnswer::ready("permit " + permit->string_or("spec.by", "")));
  }
  void cancel_check(const CheckCancel& cancel) {
    if (cancel.attempt().uid.empty()) throw std::runtime_error("no uid");
    context_.state().remove("seen/" + cancel.attempt().workload);
    context_.info(cancel.why());
  }

  std::vector<std::string> watched_kinds() const { return {"example.com/v1 Permit"}; }
  Again reconcile(const ObjectRef& what) {
    const auto permit = context_.objects().find(what);
    if (!permit) return Again::on_change();
    Json merge = Json::object();
    merge["status"]["known"] = true;
    context_.objects().patch(what, merge, "status").or_throw();
    Json copy = Json::parse(R"({"apiVersion": "v1", "kind": "ConfigMap"})");
    copy["metadata"]["namespace"] = what.ns;
    copy["metadata"]["generateName"] = what.name + "-";
    Json owner = Json::object();
    owner["uid"] = permit->string_or("metadata.uid", "");
    copy["metadata"]["ownerReferences"].push_back(owner);
    context_.objects().create(copy).or_throw();
    if (permit->string_or("spec.by", "") == "nobody") throw std::runtime_error("by nobody");
    return Again::in_seconds(30);
  }
  static ObjectRef ref(const std::string& name) {
    return {"example.com/v1", "Permit", "team-a", name};
  }

 private:
  const Context& context_;
};

const sluice_plugin_t& permits() {
  static const sluice_plugin_t plugin = sluice::detail::Root<Permits>::plugin("permits", "1.0.0");
  return plugin;
}

std::string permit(const std::string& name, const std::string& by) {
  return R"({"apiVersion": "example.com/v1", "kind": "Permit", "metadata": {"namespace": "team-a",
             "name": ")" +
         name + R"("}, "spec": {"by": ")" + by + "\"}}";
}

TEST(FakeChecks, AttemptsBeginAndAreReported) {
  FakeHost host;
  host.objects().put(permit("allowed", "me"));
  TestedPlugin plugin(host, permits());
  EXPECT_THAT(plugin.check_controllers(), ElementsAre("example.com/permit"));
  EXPECT_TRUE(plugin.check_changed("c", R"({"spec": {}})").active);
  EXPECT_EQ(plugin.check_changed("c", R"({"spec": {"parameters": {}}})").reason,
            "BadParametersRef");
  EXPECT_TRUE(plugin.check_changed("c", "").active);
  plugin.begin_check(FakeWorkload("team-a", "allowed"), {.check = "c", .attempt = 5});
  plugin.begin_check(FakeWorkload("team-a", "other"), {.check = "c"});
  EXPECT_EQ(host.state_of("team-a/allowed", "c"), "Ready");
  EXPECT_EQ(host.state_of("team-a/other", "c"), "Pending");
  EXPECT_EQ(host.state_of("team-a/other", "d"), "");
  const auto reports = host.reports();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].attempt, 5u);
  EXPECT_EQ(reports[0].message, "permit me");
  EXPECT_EQ(reports[1].reason, "PreemptionRequired");
  plugin.cancel_check(FakeWorkload("team-a", "other"), {.check = "c"}, "evicted");
  EXPECT_THAT(host.objects().state, ElementsAre(::testing::Pair("seen/allowed", "5")));
}

TEST(FakeChecks, AFaultWritesNothing) {
  FakeHost host;
  TestedPlugin plugin(host, permits());
  EXPECT_THROW(plugin.begin_check(FakeWorkload("team-a", "w").label("tier", "odd")), Fault);
  EXPECT_THAT(host.objects().state, IsEmpty());
  host.objects().put(permit("bad", "nobody"));
  EXPECT_THROW(plugin.reconcile(Permits::ref("bad")), Fault);
  EXPECT_THAT(host.objects().list("ConfigMap"), IsEmpty());
  EXPECT_EQ(host.objects().find("Permit", "team-a", "bad")->find("status"), nullptr);
}

TEST(FakeChecks, SenselessReportsAreRefused) {
  FakeHost host;
  const Context context(host.table(), Json::object());
  const CheckAttempt attempt{"ns", "w", "uid", "c", 1};
  EXPECT_TRUE(context.report(attempt, CheckAnswer::retry("later", 7)));
  EXPECT_EQ(host.reports().back().requeue_after_seconds, 7);
  EXPECT_FALSE(context.report({"ns", "w", "", "c", 1}, CheckAnswer::ready("")));
  CheckAnswer odd = CheckAnswer::ready("");
  odd.preemption_required = true;
  EXPECT_FALSE(context.report(attempt, odd));
  EXPECT_EQ(host.reports().size(), 1u);
  EXPECT_THAT(host.log().back().text, HasSubstr("PreemptionRequired"));
}

TEST(FakeObjects, AreReconciled) {
  FakeHost host;
  TestedPlugin plugin(host, permits());
  EXPECT_THAT(plugin.watched_kinds(), ElementsAre("example.com/v1 Permit"));
  EXPECT_EQ(plugin.reconcile(Permits::ref("gone")).after_ms, 0);
  host.objects().put(permit("p", "me"));
  EXPECT_EQ(plugin.reconcile(Permits::ref("p")).after_ms, 30'000);
  EXPECT_TRUE(host.objects().find("Permit", "team-a", "p")->bool_or("status.known", false));
  EXPECT_EQ(host.objects().list("ConfigMap", "team-a").size(), 1u);
  EXPECT_TRUE(host.objects().remove("Permit", "team-a", "p"));  // and what it owns
  EXPECT_THAT(host.objects().list("ConfigMap"), IsEmpty());
}

TEST(FakeObjects, KeepTheRulesOfTheApi) {
  FakeHost host;
  const Context context(host.table(), Json::object());
  EXPECT_EQ(context.objects().get(Permits::ref("p")).code, ObjectCode::kNotNow);
  const FakeHost::Call call(host);
  const Objects objects = context.objects();
  const Json made = objects.create(Json::parse(permit("p", "me"))).json();
  EXPECT_EQ(objects.create(made).code, ObjectCode::kAlreadyExists);
  EXPECT_EQ(objects.create(Json::object()).code, ObjectCode::kInvalid);
  EXPECT_EQ(objects.get(Permits::ref("q")).code, ObjectCode::kNotFound);
  Json changed = made;
  changed["spec"]["by"] = "you";
  changed["status"]["known"] = true;  // not by this way
  const Json updated = objects.update(changed).json();
  EXPECT_EQ(updated.string_or("spec.by", ""), "you");
  EXPECT_EQ(updated.find("status"), nullptr);
  EXPECT_EQ(objects.update(made).code, ObjectCode::kConflict);  // an old resourceVersion
  Json merge = Json::parse(R"({"spec": {"by": null, "for": "us"}})");
  EXPECT_EQ(objects.patch(Permits::ref("p"), merge).json().find("spec")->dump(), R"({"for":"us"})");
  EXPECT_EQ(objects.remove(Permits::ref("p"), "another").code, ObjectCode::kConflict);
  EXPECT_EQ(objects.remove(Permits::ref("p")).code, ObjectCode::kOk);
  EXPECT_EQ(objects.remove(Permits::ref("p")).code, ObjectCode::kNotFound);
}

TEST(FakeObjects, AreListedByLabels) {
  FakeHost host;
  for (const char* name : {"a", "b", "c"})
    host.objects().put(
        std::string(R"({"kind": "Permit", "metadata": {"namespace": "n", "name": ")") + name +
        R"(", "labels": {"l": ")" + name + R"("}}})");
  const Context context(host.table(), Json::object());
  const FakeHost::Call call(host);
  const auto names = [&](const char* selector) {
    std::string out;
    for (const Json& object : context.objects().list("example.com/v1", "Permit", "", selector))
      out += object.string_or("metadata.name", "");
    return out;
  };
  EXPECT_EQ(names(""), "abc");
  EXPECT_EQ(names("l=b"), "b");
  EXPECT_EQ(names("l!=b"), "ac");
  EXPECT_EQ(names("l,l!=a"), "bc");
  EXPECT_EQ(names("m"), "");
  EXPECT_THROW(names("l in (a)"), ObjectError);
}

TEST(FakeHost, IsASimulationWhenAsked) {
  FakeHost host;
  const Context context(host.table(), Json::object());
  EXPECT_FALSE(context.simulated());
  host.simulate(true);
  EXPECT_TRUE(context.simulated());
}

// D1: the controller of the page about controllers writes its status each time; as with a host,
// what changes nothing is no write, so it comes to rest.
TEST(FakeObjects, D1_APatchThatChangesNothingIsNoWrite) {
  FakeObjects objects;
  objects.put(R"({"apiVersion":"example.com/v1","kind":"Budget","metadata":{"name":"b"}})");
  Json patch = Json::object();
  patch["status"]["spent"] = 3;
  std::string out;
  const std::int64_t before = objects.writes();
  EXPECT_EQ(objects.patch("Budget", "", "b", "status", patch, out), SLUICE_OBJECTS_OK);
  EXPECT_EQ(objects.writes(), before + 1);
  EXPECT_EQ(objects.patch("Budget", "", "b", "status", patch, out), SLUICE_OBJECTS_OK);
  EXPECT_EQ(objects.writes(), before + 1);
  EXPECT_EQ(Json::parse(out).string_or("metadata.name", ""), "b");
  patch["status"]["spent"] = 4;
  EXPECT_EQ(objects.patch("Budget", "", "b", "status", patch, out), SLUICE_OBJECTS_OK);
  EXPECT_EQ(objects.writes(), before + 2);
}

// D2: in the order of its fields, with every standard library.
TEST(CheckAttempt, D2_IsOrderedWithoutTheThreeWayComparisonOfTexts) {
  const CheckAttempt first{"a", "w", "u", "c", 1};
  CheckAttempt second = first;
  EXPECT_EQ(first, second);
  EXPECT_FALSE(first < second);
  second.attempt = 2;
  EXPECT_LT(first, second);
  second.workload_namespace = "0";
  EXPECT_LT(second, first);
}

}  // namespace
}  // namespace sluice::testing
