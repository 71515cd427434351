// What the API does with a write: identity, versions, generation, validation.
#include <gtest/gtest.h>

#include "host/writes/metadata.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

constexpr const char* kFlavor = R"({"metadata":{"name":"f"},"spec":{"nodeLabels":{"a":"b"}}})";
constexpr const char* kQueue = R"({"metadata":{"name":"q"},"spec":{"clusterQueue":"cq"}})";

TEST(Writer, ANewObjectGetsIdentityAndIsAsTheSystemSays) {
  HostFixture host;
  const auto made = host.create(
      "localqueues",
      R"({"metadata":{"name":"q","uid":"mine","creationTimestamp":"2020-01-01T00:00:00Z",
          "generation":7},"spec":{"clusterQueue":"cq"},"status":{"pendingWorkloads":5}})");
  ASSERT_TRUE(made.ok()) << made.error().text;
  EXPECT_EQ(made->code, 201);
  const auto object = host.get("localqueues", "default/q");
  EXPECT_NE(at(object, "/metadata/uid"), "mine");
  EXPECT_EQ(at(object, "/metadata/creationTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(at(object, "/metadata/generation"), "1");
  EXPECT_EQ(at(object, "/metadata/namespace"), "default");
  EXPECT_EQ(at(object, "/status/pendingWorkloads"), "(absent)");
}

TEST(Writer, RefusalsHaveTheCodesOfTheApi) {
  HostFixture host;
  ASSERT_TRUE(host.create("resourceflavors", kFlavor).ok());
  auto strict = host.request(WriteVerb::kCreate, "resourceflavors", "",
                             R"({"metadata":{"name":"g"},"spec":{"bogus":1}})");
  strict.field_validation = FieldValidation::kStrict;
  auto elsewhere = host.request(WriteVerb::kCreate, "localqueues", "", kQueue);
  elsewhere.ns = "nowhere";
  auto stale = host.request(
      WriteVerb::kUpdate, "resourceflavors", "f",
      R"({"metadata":{"name":"f","resourceVersion":"1"},"spec":{"nodeLabels":{"a":"c"}}})");
  auto blind = host.request(WriteVerb::kUpdate, "resourceflavors", "f", kFlavor);
  auto misnamed = host.request(WriteVerb::kUpdate, "resourceflavors", "g", kFlavor);
  auto absent = host.request(WriteVerb::kUpdate, "resourceflavors", "g",
                             R"({"metadata":{"name":"g","resourceVersion":"1"}})");
  auto foreign = host.request(WriteVerb::kDelete, "resourceflavors", "f");
  foreign.deletion.uid = "somebody else's";
  const struct {
    WriteRequest request;
    int code;
    const char* reason;
  } rows[] = {
      {host.request(WriteVerb::kCreate, "resourceflavors", "", kFlavor), 409, "AlreadyExists"},
      {host.request(WriteVerb::kCreate, "resourceflavors", "", R"({"spec":{}})"), 422, "Invalid"},
      {host.request(WriteVerb::kCreate, "resourceflavors", "", R"({"metadata":{"name":"A_b"}})"),
       422, "Invalid"},
      {host.request(WriteVerb::kCreate, "resourceflavors", "", "[1]"), 400, "BadRequest"},
      {strict, 400, "BadRequest"},
      {elsewhere, 404, "NotFound"},
      {stale, 409, "Conflict"},
      {blind, 422, "Invalid"},
      {misnamed, 400, "BadRequest"},
      {absent, 404, "NotFound"},
      {host.request(WriteVerb::kPatch, "resourceflavors", "g", "{}"), 404, "NotFound"},
      {host.request(WriteVerb::kDelete, "resourceflavors", "g"), 404, "NotFound"},
      {foreign, 409, "Conflict"},
  };
  const std::uint64_t before = host.store.working_version();
  for (const auto& row : rows) {
    const auto done = host.machine.write(row.request);
    ASSERT_FALSE(done.ok()) << row.reason;
    EXPECT_EQ(done.error().code, row.code) << done.error().text;
    EXPECT_EQ(done.error().reason, row.reason) << done.error().text;
  }
  EXPECT_EQ(host.store.working_version(), before) << "a refused write changed something";
}

TEST(Writer, OnlyAChangeOfTheSpecMovesTheGenerationAndNoChangeMovesNothing) {
  HostFixture host;
  ASSERT_TRUE(host.create("resourceflavors", kFlavor).ok());
  const struct {
    const char* patch;
    const char* generation;
    bool writes;
  } rows[] = {
      {R"({"metadata":{"labels":{"x":"y"}}})", "1", true},
      {R"({"metadata":{"labels":{"x":"y"}}})", "1", false},
      {R"({"spec":{"nodeLabels":{"a":"c"}}})", "2", true},
      {R"({"metadata":{"generation":9,"uid":null}})", "2", false},
      {R"({})", "2", false},
  };
  for (const auto& row : rows) {
    const std::uint64_t before = host.store.working_version();
    const auto done = host.merge("resourceflavors", "f", row.patch);
    ASSERT_TRUE(done.ok()) << done.error().text;
    EXPECT_EQ(at(host.get("resourceflavors", "f"), "/metadata/generation"), row.generation);
    EXPECT_EQ(host.store.working_version() > before, row.writes) << row.patch;
  }
}

TEST(Writer, StatusAndSpecAreWrittenApart) {
  HostFixture host;
  ASSERT_TRUE(host.create("localqueues", kQueue).ok());
  const char* both = R"({"metadata":{"labels":{"x":"y"}},"status":{"pendingWorkloads":3}})";
  ASSERT_TRUE(host.merge("localqueues", "q", both).ok());
  EXPECT_EQ(at(host.get("localqueues", "default/q"), "/status/pendingWorkloads"), "(absent)");
  EXPECT_EQ(at(host.get("localqueues", "default/q"), "/metadata/labels/x"), "y");
  const char* swapped = R"({"metadata":{"labels":{"x":"z"}},"status":{"pendingWorkloads":3}})";
  ASSERT_TRUE(host.merge("localqueues", "q", swapped, "status").ok());
  EXPECT_EQ(at(host.get("localqueues", "default/q"), "/status/pendingWorkloads"), "3");
  EXPECT_EQ(at(host.get("localqueues", "default/q"), "/metadata/labels/x"), "y");
}

TEST(Writer, ADryRunLeavesNothing) {
  HostFixture host;
  auto request = host.request(WriteVerb::kCreate, "resourceflavors", "", kFlavor);
  request.dry_run = true;
  ASSERT_TRUE(host.machine.write(request).ok());
  EXPECT_FALSE(host.exists("resourceflavors", "f"));
  ASSERT_TRUE(host.create("resourceflavors", kFlavor).ok());
  // What it would be like has the version of what there is: `kubectl diff` compares them.
  auto change = host.request(WriteVerb::kPatch, "resourceflavors", "f",
                             R"({"spec":{"nodeLabels":{"a":"c"}}})");
  change.dry_run = true;
  const auto changed = host.machine.write(change);
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(changed->object.version, host.version("resourceflavors", "f"));
  auto removal = host.request(WriteVerb::kDelete, "resourceflavors", "f");
  removal.dry_run = true;
  ASSERT_TRUE(host.machine.write(removal).ok());
  EXPECT_TRUE(host.exists("resourceflavors", "f"));
}

TEST(Writer, PatchesOfAllKinds) {
  const struct {
    const char* resource;
    PatchType type;
    const char* patch;
    int code;  // 0: accepted
    const char* pointer;
    const char* value;
  } rows[] = {
      {"localqueues", PatchType::kMerge, R"({"metadata":{"labels":{"a":"b"}}})", 0,
       "/metadata/labels/a", "b"},
      {"localqueues", PatchType::kJson,
       R"([{"op":"add","path":"/metadata/labels","value":{"a":"c"}}])", 0, "/metadata/labels/a",
       "c"},
      {"localqueues", PatchType::kJson,
       R"([{"op":"test","path":"/spec/clusterQueue","value":"x"}])", 422, "", ""},
      {"localqueues", PatchType::kStrategic, R"({"metadata":{"labels":{"a":"b"}}})", 415, "", ""},
      {"jobs", PatchType::kStrategic,
       R"({"spec":{"template":{"metadata":{"annotations":{"x":"y"}}},"parallelism":2}})", 0,
       "/spec/parallelism", "2"},
      {"localqueues", PatchType::kApply, R"({"metadata":{"name":"q","labels":{"mine":"yes"}}})", 0,
       "/metadata/labels/mine", "yes"},
      {"localqueues", PatchType::kApply, R"({"metadata":{"name":"q"},"spec":{"clusterQueue":5}})",
       409, "", ""},
  };
  for (const auto& row : rows) {
    HostFixture host;
    ASSERT_TRUE(host.create("localqueues", kQueue).ok());
    ASSERT_TRUE(host.create("jobs", R"({"metadata":{"name":"q"},"spec":{"suspend":true,"template":{
        "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})")
                    .ok());
    auto request = host.request(WriteVerb::kPatch, row.resource, "q", row.patch);
    request.patch_type = row.type;
    request.field_manager = "tester";
    const auto done = host.machine.write(request);
    EXPECT_EQ(done.ok() ? 0 : done.error().code, row.code)
        << row.patch << (done.ok() ? "" : done.error().text);
    if (row.code == 0) {
      EXPECT_EQ(at(host.get(row.resource, "default/q"), row.pointer), row.value)
          << boost::json::serialize(host.get(row.resource, "default/q"));
    }
  }
}

TEST(Writer, AnApplyMakesOwnsAndLetsGo) {
  HostFixture host;
  const auto apply = [&](const char* manager, const char* body, bool force) {
    auto request = host.request(WriteVerb::kPatch, "localqueues", "q", body);
    request.patch_type = PatchType::kApply;
    request.field_manager = manager;
    request.force = force;
    const auto done = host.machine.write(request);
    return done.ok() ? done->code : done.error().code;
  };
  const char* one = R"({"metadata":{"labels":{"a":"1"}},"spec":{"clusterQueue":"cq"}})";
  const char* two = R"({"metadata":{"labels":{"a":"2"}}})";
  const char* none = R"({"spec":{"clusterQueue":"cq"}})";
  EXPECT_EQ(apply("x", one, false), 201);
  const std::uint64_t before = host.store.working_version();
  EXPECT_EQ(apply("x", one, false), 200);
  EXPECT_EQ(host.store.working_version(), before) << "the same again writes nothing";
  EXPECT_EQ(apply("y", two, false), 409);
  EXPECT_EQ(apply("y", two, true), 200);
  EXPECT_EQ(apply("x", none, false), 200);
  EXPECT_EQ(at(host.get("localqueues", "default/q"), "/metadata/labels/a"), "2") << "it is y's now";
  EXPECT_EQ(apply("y", R"({})", false), 200);
  EXPECT_EQ(at(host.get("localqueues", "default/q"), "/metadata/labels/a"), "(absent)");
}

// `cohort` of v1beta1 is `cohortName` of v1beta2: who leaves it out lets go of it, in whichever
// version he had it, and who still wants it keeps it.
TEST(Writer, AnApplyLetsGoOfWhatItHadInAnotherVersion) {
  HostFixture host;
  const auto apply = [&](const char* manager, const char* version, const std::string& spec) {
    auto request =
        host.request(WriteVerb::kPatch, "clusterqueues", "cq", R"({"spec":{)" + spec + "}}");
    request.version = version;
    request.patch_type = PatchType::kApply;
    request.field_manager = manager;
    const auto done = host.machine.write(request);
    EXPECT_TRUE(done.ok()) << (done ? "" : done.error().text);
    return at(host.get("clusterqueues", "cq"), "/spec/cohortName");
  };
  const std::string all = R"("namespaceSelector":{})";
  const std::string old_name = all + R"(,"cohort":"team")";
  const std::string new_name = all + R"(,"cohortName":"team")";
  EXPECT_EQ(apply("m", "v1beta1", old_name), "team");
  EXPECT_EQ(apply("m", "v1beta2", all), "(absent)");
  EXPECT_EQ(apply("m", "v1beta2", new_name), "team");
  EXPECT_EQ(apply("m", "v1beta1", all), "(absent)");
  EXPECT_EQ(apply("m", "v1beta1", old_name), "team");
  EXPECT_EQ(apply("n", "v1beta2", new_name), "team");
  EXPECT_EQ(apply("m", "v1beta1", all), "team") << "n wants it";
  EXPECT_EQ(apply("n", "v1beta2", all), "(absent)");
}

// Controllers of checks apply a condition: of the status, too, everybody owns what he applied.
TEST(Writer, AnApplyOfAStatusOwnsItsFields) {
  HostFixture host;
  ASSERT_TRUE(host.create("admissionchecks",
                          R"({"metadata":{"name":"c"},"spec":{"controllerName":"a/b"}})"));
  const auto apply = [&](const char* manager, const std::string& conditions) {
    auto request = host.request(WriteVerb::kPatch, "admissionchecks", "c",
                                R"({"status":{"conditions":[)" + conditions + "]}}");
    request.subresource = "status";
    request.patch_type = PatchType::kApply;
    request.field_manager = manager;
    const auto done = host.machine.write(request);
    return done.ok() ? done->code : done.error().code;
  };
  const auto active = [](const std::string& status) {
    return R"({"type":"Active","status":")" + status + R"(","reason":"R","message":"",
        "lastTransitionTime":"2026-01-01T00:00:00Z"})";
  };
  EXPECT_EQ(apply("x", active("True")), 200);
  const auto owner = [&](const char* field) {
    return at(host.get("admissionchecks", "c"), std::string("/metadata/managedFields/0/") + field);
  };
  EXPECT_EQ(owner("manager") + " " + owner("subresource") + " " + owner("operation"),
            "x status Apply");
  EXPECT_EQ(apply("y", active("False")), 409);
  EXPECT_EQ(apply("x", ""), 200);
  EXPECT_EQ(at(host.get("admissionchecks", "c"), "/status/conditions/0/type"), "(absent)");
  EXPECT_EQ(apply("y", active("False")), 200);
}

TEST(Writer, GenerateNameDrawsNames) {
  HostFixture host;
  const char* body = R"({"metadata":{"generateName":"f-"},"spec":{}})";
  const auto one = host.create("resourceflavors", body);
  const auto two = host.create("resourceflavors", body);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->object.key.size(), 7U);
  EXPECT_NE(one->object.key, two->object.key);
}

TEST(Writer, WhoeverWritesTheClaimsStay) {
  const char* const claimed =
      R"({"metadata":{"annotations":{"sluice.dev/claimed-by":"a,b","x":"1"}}})";
  const auto after = [&](std::string_view written) {
    auto object = boost::json::parse(written).get_object();
    keep_system_metadata(boost::json::parse(claimed).get_object(), object);
    return at(object, "/metadata/annotations/sluice.dev~1claimed-by");
  };
  EXPECT_EQ(after(R"({"metadata":{}})"), "a,b");
  EXPECT_EQ(after(claimed), "a,b");
  EXPECT_EQ(after(R"({"metadata":{"annotations":{"sluice.dev/claimed-by":"z"}}})"), "a,b");
}

TEST(Writer, NobodyMakesAWorkloadStandAside) {
  const char* const forged =
      R"({"metadata":{"annotations":{"sluice.dev/takes-no-part":"true","x":"1"}}})";
  auto made = boost::json::parse(forged).get_object();
  drop_system_metadata(made);
  EXPECT_EQ(at(made, "/metadata/annotations/sluice.dev~1takes-no-part"), "(absent)");
  auto changed = boost::json::parse(forged).get_object();
  keep_system_metadata(boost::json::parse(R"({"metadata":{}})").get_object(), changed);
  EXPECT_EQ(at(changed, "/metadata/annotations/sluice.dev~1takes-no-part"), "(absent)");
  EXPECT_EQ(at(changed, "/metadata/annotations/x"), "1");
}

constexpr const char* kBareWorkload =
    R"({"metadata":{"name":"w"},"spec":{"queueName":"q","podSets":[{"name":"main","count":1,
        "template":{"spec":{"containers":[{"name":"c"}]}}}]}})";

// A3: what the system believes, only the system writes. A user who tries gets a warning, and is not
// refused.
TEST(A3Marks, AUsersAreLeftOutAndTheSystemsStay) {
  HostFixture host;
  WriteRequest create = host.request(WriteVerb::kCreate, "workloads", "", kBareWorkload);
  create.field_validation = FieldValidation::kStrict;
  auto& metadata = create.body.at("metadata").get_object();
  metadata["annotations"] = {{"sluice.dev/started-with", "{}"}, {"sluice.dev/runtime", "9s"}};
  metadata["labels"] = {{"kueue.x-k8s.io/job-uid", "somebody"}, {"mine", "1"}};
  const auto made = host.machine.write(create);
  ASSERT_TRUE(made.ok()) << made.error().text;
  EXPECT_EQ(made->warnings,
            (std::vector<std::string>{
                "metadata.annotations[sluice.dev/started-with]: only the system sets this; what "
                "was sent is left out",
                "metadata.labels[kueue.x-k8s.io/job-uid]: only the system sets this; what was "
                "sent is left out"}));
  auto object = host.get("workloads", "default/w");
  EXPECT_EQ(at(object, "/metadata/annotations"), R"({"sluice.dev/runtime":"9s"})");
  EXPECT_EQ(at(object, "/metadata/labels"), R"({"mine":"1"})");

  object["metadata"].at("labels").get_object()["kueue.x-k8s.io/job-uid"] = "job";
  ASSERT_TRUE(static_cast<ObjectAccess&>(host.objects).update(object).ok());
  for (const char* patch :
       {R"({"metadata":{"labels":null}})",
        R"({"metadata":{"labels":{"kueue.x-k8s.io/job-uid":"other","mine":null}}})"}) {
    ASSERT_TRUE(host.merge("workloads", "w", patch).ok());
    EXPECT_EQ(at(host.get("workloads", "default/w"), "/metadata/labels"),
              R"({"kueue.x-k8s.io/job-uid":"job"})");
  }
}

// Fields that another version has are the user's own, whatever annotation carries them.
TEST(A3Marks, FieldsOfAnotherVersionAreNoMarks) {
  HostFixture host;
  WriteRequest create = host.request(
      WriteVerb::kCreate, "admissionchecks", "",
      R"({"metadata":{"name":"c"},"spec":{"controllerName":"x/y","retryDelayMinutes":3}})");
  create.version = "v1beta1";
  ASSERT_TRUE(host.machine.write(create).ok());
  const auto delay = [&host] {
    return at(host.get("admissionchecks", "c"), "/metadata/annotations/sluice.dev~1v1beta1-fields");
  };
  EXPECT_EQ(delay(), R"({"spec.retryDelayMinutes":3})");
  ASSERT_TRUE(host.merge("admissionchecks", "c", R"({"metadata":{"labels":{"a":"b"}}})").ok());
  EXPECT_EQ(delay(), R"({"spec.retryDelayMinutes":3})");
}

// C2: what has no effect is said, and does not refuse a strict write.
TEST(C2NoEffect, WhoWritesItIsTold) {
  const struct {
    const char* resource;
    const char* body;
    std::vector<std::string> warnings;
  } rows[] = {
      {"resourceflavors",
       R"({"metadata":{"name":"f"},"spec":{"nodeLabels":{"a":"b"},"topologyName":"t"}})",
       {"spec.topologyName: has no effect: pods are not placed by topology"}},
      {"localqueues",
       R"({"metadata":{"name":"q"},"spec":{"clusterQueue":"cq","fairSharing":{"weight":2}}})",
       {"spec.fairSharing: has no effect: past use does not decide about the order: priority and "
        "time do"}},
      {"jobs",
       R"({"metadata":{"name":"j"},"spec":{"template":{"metadata":{"annotations":{
           "kueue.x-k8s.io/podset-required-topology":"rack"}},"spec":{"restartPolicy":"Never",
           "containers":[{"name":"c","image":"i",
           "resources":{"claims":[{"name":"gpu"}]}}]}}}})",
       {"spec.template.metadata.annotations[kueue.x-k8s.io/podset-required-topology]: has no "
        "effect: the workload waits, since the demand could not be kept",
        "spec.template.spec: resource claims: has no effect: devices that are claimed are not "
        "counted; the workload waits"}},
      {"resourceflavors", R"({"metadata":{"name":"plain"},"spec":{}})", {}},
  };
  for (const auto& row : rows) {
    HostFixture host;
    WriteRequest create = host.request(WriteVerb::kCreate, row.resource, "", row.body);
    create.field_validation = FieldValidation::kStrict;
    const auto made = host.machine.write(create);
    ASSERT_TRUE(made.ok()) << made.error().text;
    EXPECT_EQ(made->warnings, row.warnings) << row.body;
  }
}

/// Of a workload whose queue has room for it: what its condition QuotaReserved says.
api::Condition quota_of(const std::string& annotations, const std::string& pod_set,
                        const std::string& spec = "") {
  HostFixture host;
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
      "metadata":{"name":"f"},"spec":{}})");
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
      "metadata":{"name":"cq"},"spec":{"namespaceSelector":{},"resourceGroups":[{
      "coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu",
      "nominalQuota":9}]}]}]}})");
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
      "metadata":{"name":"q","namespace":"default"},"spec":{"clusterQueue":"cq"}})");
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",
      "namespace":"default","annotations":{)" +
             annotations + R"(}},"spec":{"queueName":"q",)" + spec +
             R"("podSets":[{"name":"main","count":1,)" + pod_set + "}]}}");
  host.kernel.run_to_rest();
  const auto status = host.kernel.engine().status(*host.kernel.engine().find("default/w"));
  const api::Condition* quota = status.condition("QuotaReserved");
  return quota ? *quota : api::Condition();
}

std::string why_pending(const std::string& annotations, const std::string& pod_set,
                        const std::string& spec = "") {
  const api::Condition quota = quota_of(annotations, pod_set, spec);
  return quota.status == "False" ? quota.message : "";
}

std::string pod(const std::string& cpu = "1", const std::string& resources = "",
                const std::string& annotations = "") {
  return R"("template":{"metadata":{"annotations":{)" + annotations +
         R"(}},"spec":{"containers":[{"name":"c","resources":{)" + resources +
         R"("requests":{"cpu":")" + cpu + R"("}}}]}})";
}

// C2: a demand that cannot be kept, or devices that are not counted: the workload waits, and says
// so.
TEST(C2NoEffect, WhatWouldChangeSafetyOrQuotaWaits) {
  EXPECT_EQ(why_pending("", pod()), "") << "admitted";
  EXPECT_EQ(why_pending("", pod("1", R"("claims":[{"name":"gpu"}],)")),
            "It claims devices (resource claims), which are not counted here: to admit it could "
            "hand out more than there is");
  EXPECT_EQ(why_pending("", pod("1", "", R"("kueue.x-k8s.io/podset-required-topology":"rack")")),
            "It requires a topology (annotation kueue.x-k8s.io/podset-required-topology), and pods "
            "are not placed by topology here");
  EXPECT_EQ(why_pending("", R"("topologyRequest":{"required":"rack"},)" + pod()),
            "It requires a topology (topologyRequest), and pods are not placed by topology here");
  EXPECT_THAT(why_pending("", R"("topologyRequest":{"podsetSliceRequiredTopologyConstraints":)"
                              R"([{"topology":"rack","size":2}]},)" +
                                  pod()),
              HasSubstr("It requires a topology"));
  EXPECT_THAT(why_pending("", pod("1", "",
                                  R"("kueue.x-k8s.io/podset-slice-required-topology-constraints":)"
                                  R"("[]")")),
              HasSubstr("It requires a topology"));
  EXPECT_EQ(why_pending("", pod("1", "", R"("kueue.x-k8s.io/podset-preferred-topology":"rack")")),
            "")
      << "a wish, not a demand";
  EXPECT_EQ(why_pending("", pod(), R"("preemptionGates":[{"name":"g"}],)"),
            "It has spec.preemptionGates, which nobody here opens");
  EXPECT_EQ(why_pending(R"("kueue.x-k8s.io/admission-gated-by":"budget")", pod()),
            "Admission is gated by: budget");
}

/// Who is gated waits for others, who said so; who is held waits for what nobody gives here.
TEST(C2NoEffect, AGateHasAReasonOfItsOwn) {
  EXPECT_EQ(quota_of(R"("kueue.x-k8s.io/admission-gated-by":"budget")", pod()).reason,
            "AdmissionGated");
  EXPECT_EQ(quota_of("", pod(), R"("preemptionGates":[{"name":"g"}],)").reason, "OnHold");
  // An annotation may have 256 KiB, a message 32 KiB: it ends with a whole character.
  std::string gates;
  for (int i = 0; i < 20'000; ++i) gates += "é";
  const std::string message =
      quota_of(R"("kueue.x-k8s.io/admission-gated-by":")" + gates + "\"", pod()).message;
  EXPECT_LE(message.size(), 32'768U);
  EXPECT_EQ(message.substr(message.size() - 2), "é");
}

/// Whoever waits for a condition can tell whether it is about what he wrote.
TEST(Conditions, SayWhichGenerationWasLookedAt) {
  EXPECT_EQ(quota_of("", pod()).observed_generation, 1) << "it has quota";
  EXPECT_EQ(quota_of("", pod("10")).observed_generation, 1) << "it waits";
}

// B18: cpu above 2^63 - 2 milli counts as that much (one more means unlimited): no quota has it.
TEST(B18HugeRequest, WaitsAsInKueue) {
  EXPECT_EQ(why_pending("", pod("9223372036854776")),
            "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor f, "
            "previously considered podsets requests (0) + current podset request "
            "(9223372036854775806m) > maximum capacity (9)");
}

TEST(Events, TheSameNoteIsCountedAndAFloodIsDropped) {
  HostFixture host;
  ASSERT_TRUE(host.create("localqueues", kQueue).ok());
  const ObjectRef queue{&host.kind("localqueues"), "default/q"};
  for (int i = 0; i < 3; ++i) host.objects.emit({queue, false, "Ready", "it is ready"});
  const ObjectAccess& objects = host.objects;
  const auto keys = objects.keys(host.kind("events"));
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(at(host.get("events", keys[0]), "/count"), "3");
  EXPECT_EQ(at(host.get("events", keys[0]), "/involvedObject/name"), "q");
  for (int i = 0; i < 100; ++i)
    host.objects.emit({queue, true, "Flood", "message " + std::to_string(i)});
  // Of one reason 25 at once, whatever was said for another: one Event and 25 of the 100.
  EXPECT_EQ(objects.keys(host.kind("events")).size(), 26U);
  EXPECT_EQ(host.events.dropped(), 75U);
}

}  // namespace
}  // namespace sluice::host::test
