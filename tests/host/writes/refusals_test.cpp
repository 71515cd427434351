// What a write that cannot be carried out is answered, in full where clients read it, and the
// writes just beside it that can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string>;

constexpr const char* kPlainQueue = R"({"metadata":{"name":"q"},"spec":{"clusterQueue":"cq"}})";

/// A host with ConfigMap m, LocalQueue q, ResourceFlavor f and Job j.
struct Refusing : HostFixture {
  Refusing() {
    for (const auto& [resource, body] :
         {std::pair{"configmaps", R"({"metadata":{"name":"m"}})"},
          {"localqueues", kPlainQueue},
          {"resourceflavors", R"({"metadata":{"name":"f"},"spec":{}})"},
          {"jobs", R"({"metadata":{"name":"j"},"spec":{"suspend":true,"template":{"spec":{
              "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})"}})
      SLUICE_CHECK(create(resource, body).ok(), "refused: ", body);
  }
  /// `CODE text`, or `CODE` when it was accepted.
  std::string answer(const WriteRequest& of) {
    const auto done = machine.write(of);
    return done ? std::to_string(done->code)
                : std::to_string(done.error().code) + " " + done.error().text;
  }
  std::string creates(std::string_view resource, std::string_view body) {
    return answer(request(WriteVerb::kCreate, resource, "", body));
  }
  std::string updates(std::string_view resource, std::string_view name, std::string_view body) {
    return answer(request(WriteVerb::kUpdate, resource, name, body));
  }
  std::string patches(std::string_view resource, std::string_view name, std::string_view body,
                      PatchType type = PatchType::kMerge, std::string_view subresource = "") {
    WriteRequest out = request(WriteVerb::kPatch, resource, name, body);
    out.patch_type = type;
    out.subresource = subresource;
    out.field_manager = "tester";
    return answer(out);
  }
  std::string uid(std::string_view resource, std::string_view key) {
    return at(get(resource, key), "/metadata/uid");
  }
};

TEST(Refusals, ABodyAgreesWithItsUrlOrSaysNothing) {
  Refusing host;
  EXPECT_EQ(host.creates("localqueues", R"({"kind":"Job","metadata":{"name":"x"},"spec":{}})"),
            "400 the body is a Job of , and the URL is of a LocalQueue of kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(host.creates("configmaps", R"({"apiVersion":"v2","metadata":{"name":"x"}})"),
            "400 the body is a  of v2, and the URL is of a ConfigMap of v1");
  EXPECT_EQ(host.creates("configmaps", R"({"metadata":{"name":"x","namespace":"other"}})"),
            "400 the namespace of the provided object does not match the namespace sent on the "
            "request");
  EXPECT_EQ(host.creates("configmaps", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{
      "name":"x","namespace":"default"}})"),
            "201");
  EXPECT_EQ(host.creates("resourceflavors", R"({"metadata":{"name":"x","namespace":"other"},
      "spec":{}})"),
            "201")
      << "it is in none";
  EXPECT_EQ(at(host.get("resourceflavors", "x"), "/metadata/namespace"), "(absent)");
  EXPECT_EQ(host.updates("configmaps", "m", R"({"metadata":{"name":"n"}})"),
            "400 the name of the object (n) does not match the name on the URL (m)");
  EXPECT_EQ(host.updates("configmaps", "m", R"({"data":{"k":"v"}})"), "200");
  EXPECT_EQ(at(host.get("configmaps", "default/m"), "/data/k"), "v");
}

TEST(Refusals, ANewObjectHasANameAndNoVersion) {
  Refusing host;
  EXPECT_EQ(host.creates("configmaps", "[]"),
            "400 the body must be one object, as JSON, YAML or protobuf");
  EXPECT_EQ(host.creates("configmaps", R"({"metadata":{"name":"x","resourceVersion":"1"}})"),
            "400 resourceVersion should not be set on objects to be created");
  EXPECT_THAT(host.creates("configmaps", "{}"),
              HasSubstr("metadata.name: Required value: name or generateName is required"));
  EXPECT_EQ(host.creates("configmaps", R"({"metadata":{"name":"m"}})"),
            "409 configmaps \"m\" already exists");
  EXPECT_EQ(host.creates("resourceflavors", R"({"metadata":{"name":"f"},"spec":{}})"),
            "409 resourceflavors.kueue.x-k8s.io \"f\" already exists");
}

// The version is the one in which it was sent.
TEST(Refusals, WhoIsStrictIsToldWhatIsUnknownInWhichVersion) {
  Refusing host;
  WriteRequest request = host.request(WriteVerb::kCreate, "localqueues", "",
                                      R"({"metadata":{"name":"x"},"spec":{"a":1,"b":2}})");
  request.field_validation = FieldValidation::kStrict;
  for (const char* version : {"v1beta1", "v1beta2"}) {
    request.version = version;
    EXPECT_EQ(host.answer(request),
              std::string("400 LocalQueue in version \"") + version +
                  "\" cannot be handled as a LocalQueue: strict decoding error: unknown field "
                  "\"spec.a\", unknown field \"spec.b\"");
  }
  WriteRequest map =
      host.request(WriteVerb::kCreate, "configmaps", "", R"({"metadata":{"name":"x"},"a":1})");
  map.field_validation = FieldValidation::kStrict;
  EXPECT_EQ(host.answer(map),
            "400 ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding "
            "error: unknown field \"a\"");
}

// A write that is only tried is answered as if it were made.
TEST(Outcomes, OfATrialAreThoseOfTheWrite) {
  Refusing host;
  const std::uint64_t before = host.store.working_version();
  WriteRequest patch = host.request(WriteVerb::kPatch, "configmaps", "m", R"({"data":{"k":"v"}})");
  patch.dry_run = true;
  const auto patched = host.machine.write(patch);
  ASSERT_TRUE(patched.ok());
  EXPECT_EQ(patched->code, 200);
  EXPECT_EQ(at(to_object(patched->object), "/data/k"), "v");
  WriteRequest create =
      host.request(WriteVerb::kCreate, "configmaps", "", R"({"metadata":{"name":"n"}})");
  create.dry_run = true;
  EXPECT_EQ(host.answer(create), "201");
  WriteRequest status =
      host.request(WriteVerb::kPatch, "localqueues", "q", R"({"status":{"pendingWorkloads":3}})");
  status.subresource = "status";
  status.dry_run = true;
  const auto tried = host.machine.write(status);
  ASSERT_TRUE(tried.ok());
  EXPECT_EQ(tried->code, 200);
  EXPECT_EQ(at(to_object(tried->object), "/status/pendingWorkloads"), "3");
  EXPECT_EQ(host.store.working_version(), before);
}

// Kinds of Kubernetes itself may be replaced by who has read nothing; "0" is any version.
TEST(Refusals, AnUpdateIsOfTheObjectThatWasRead) {
  Refusing host;
  const auto map = [](const std::string& metadata) {
    return R"({"metadata":{"name":"m",)" + metadata + "}}";
  };
  const std::string uid = host.uid("configmaps", "default/m");
  EXPECT_EQ(host.updates("configmaps", "m", "[]"),
            "400 the body must be one object, as JSON, YAML or protobuf");
  EXPECT_EQ(host.updates("configmaps", "n", R"({"metadata":{"name":"n"}})"),
            "404 configmaps \"n\" not found");
  EXPECT_EQ(host.updates("configmaps", "m", map(R"("labels":{"a":"1"})")), "200");
  EXPECT_EQ(host.updates("configmaps", "m", map(R"("resourceVersion":"0")")), "200");
  EXPECT_EQ(host.updates("configmaps", "m", map(R"("uid":")" + uid + "\"")), "200");
  EXPECT_THAT(host.updates("configmaps", "m", map(R"("uid":"other")")),
              HasSubstr("409 Operation cannot be fulfilled on configmaps \"m\": Precondition "
                        "failed: UID in precondition: other, UID in object meta: " +
                        uid));
  EXPECT_THAT(host.updates("configmaps", "m", map(R"("resourceVersion":"1")")),
              HasSubstr("409 Operation cannot be fulfilled on configmaps \"m\""));
  EXPECT_THAT(host.updates("localqueues", "q", kPlainQueue),
              HasSubstr("metadata.resourceVersion: Invalid value: 0: must be specified for an "
                        "update"));
  EXPECT_EQ(host.updates("localqueues", "q",
                         R"({"metadata":{"name":"q","resourceVersion":")" +
                             std::to_string(host.version("localqueues", "default/q")) +
                             R"("},"spec":{"clusterQueue":"cq"}})"),
            "200");
}

TEST(Refusals, APatchLeavesMetadata) {
  Refusing host;
  const struct {
    PatchType type;
    const char* patch;
  } rows[] = {{PatchType::kMerge, R"({"metadata":null})"},
              {PatchType::kMerge, R"({"metadata":[]})"},
              {PatchType::kStrategic, R"({"metadata":null})"},
              {PatchType::kStrategic, R"({"$patch":"delete"})"},
              {PatchType::kStrategic, R"({"$patch":"replace","data":{}})"},
              {PatchType::kStrategic, R"({"$retainKeys":["data"],"data":{}})"},
              {PatchType::kJson, R"([{"op":"remove","path":"/metadata"}])"},
              {PatchType::kJson, R"([{"op":"replace","path":"/metadata","value":[]}])"},
              {PatchType::kJson, R"([{"op":"replace","path":"","value":{}}])"}};
  for (const auto& row : rows)
    EXPECT_EQ(host.patches("configmaps", "m", row.patch, row.type),
              "400 metadata: the patch leaves no object there")
        << row.patch;
}

TEST(Refusals, MetadataIsAnObject) {
  Refusing host;
  for (const char* body : {R"({"metadata":5})", R"({"metadata":[]})", R"({"metadata":"x"})"}) {
    EXPECT_EQ(host.creates("configmaps", body), "400 metadata: must be an object") << body;
    EXPECT_EQ(host.updates("configmaps", "m", body), "400 metadata: must be an object") << body;
    EXPECT_EQ(host.patches("configmaps", "m", body, PatchType::kApply),
              "400 metadata: must be an object")
        << body;
  }
}

TEST(Refusals, APatchLeavesAnObjectWhereItIs) {
  Refusing host;
  EXPECT_EQ(host.patches("configmaps", "m", "[]"), "400 the patch leaves no object");
  EXPECT_EQ(host.patches("jobs", "j", "[]", PatchType::kStrategic),
            "400 a strategic merge patch is an object");
  EXPECT_THAT(host.patches("localqueues", "q", "{}", PatchType::kStrategic),
              HasSubstr("415 the body of the request was in an unknown format"));
  constexpr const char* kMoved = "400 metadata.name and metadata.namespace cannot be patched";
  EXPECT_EQ(host.patches("configmaps", "m", R"({"metadata":{"name":"n"}})"), kMoved);
  EXPECT_EQ(host.patches("configmaps", "m", R"({"metadata":{"namespace":"other"}})"), kMoved);
  EXPECT_EQ(host.patches("resourceflavors", "f", R"({"metadata":{"name":"g"}})"), kMoved);
  // As another kind it would pass the rules of that one, and be stored as this one.
  constexpr const char* kOther = "400 apiVersion and kind cannot be patched";
  for (const char* body : {R"({"kind":"Secret"})", R"({"kind":null})", R"({"apiVersion":"v2"})"})
    EXPECT_EQ(host.patches("configmaps", "m", body), kOther) << body;
  EXPECT_EQ(host.patches("jobs", "j", R"({"kind":"Pod","apiVersion":"v1"})", PatchType::kStrategic),
            kOther);
  EXPECT_EQ(host.patches("jobs", "j", R"([{"op":"replace","path":"/kind","value":"Pod"}])",
                         PatchType::kJson),
            kOther);
  EXPECT_EQ(host.patches("workloads", "w", R"({"kind":"LocalQueue","status":{}})",
                         PatchType::kMerge, "status")
                .substr(0, 3),
            "404")
      << "there is none";
  EXPECT_EQ(host.patches("resourceflavors", "f", R"({"metadata":{"labels":{"a":"b"}}})"), "200");
  EXPECT_EQ(host.patches("configmaps", "n", "{}"), "404 configmaps \"n\" not found");
  EXPECT_THAT(host.patches("configmaps", "m", R"({"metadata":{"resourceVersion":"1"}})"),
              HasSubstr("409 Operation cannot be fulfilled"));
  EXPECT_EQ(host.patches("configmaps", "m", "{}", PatchType::kMerge, "bogus"),
            "404 configmaps \"m/bogus\" not found");
}

TEST(Refusals, AnApplyMakesAnObjectOnlyForWhoMayCreateIt) {
  Refusing host;
  const auto apply = [&host](const char* name, const char* body, const char* subresource = "") {
    return host.patches("configmaps", name, body, PatchType::kApply, subresource);
  };
  EXPECT_EQ(apply("n", "[]"), "400 an apply patch is one object");
  EXPECT_EQ(apply("n", "{}", "status"), "404 configmaps \"n\" not found");
  EXPECT_THAT(apply("m", R"({"metadata":{"uid":"other"}})"), HasSubstr("409 "));
  WriteRequest request = host.request(WriteVerb::kPatch, "configmaps", "n", "{}");
  request.patch_type = PatchType::kApply;
  request.field_manager = "tester";
  request.user = "eve";
  request.may_create = false;
  EXPECT_EQ(host.answer(request),
            "403 configmaps \"n\" is forbidden: there is none, and user \"eve\" may not create it");
  request.may_create = true;
  EXPECT_EQ(host.answer(request), "201");
  request.may_create = false;
  EXPECT_EQ(host.answer(request), "200") << "it is there";
}

// That a status says Finished ends a workload; of any other kind it is a condition like others.
TEST(Outcomes, OnlyAWorkloadEndsByItsStatus) {
  Refusing host;
  ASSERT_EQ(host.creates("workloads", R"({"metadata":{"name":"w"},"spec":{"queueName":"q",
      "podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c"}]}}}]}})"),
            "201");
  const auto state = [&host] {
    return host.kernel.engine().state(*host.kernel.engine().find("default/w"));
  };
  const auto says = [&host](const char* resource, const char* name, const std::string& status) {
    return host.patches(resource, name,
                        R"({"status":{"conditions":[{"type":"Finished","status":")" + status +
                            R"(","reason":"Done","message":"it is","lastTransitionTime":
        "2026-01-01T00:00:00Z"}]}})",
                        PatchType::kMerge, "status");
  };
  EXPECT_EQ(says("localqueues", "q", "True"), "200");
  EXPECT_EQ(says("workloads", "w", "False"), "200");
  EXPECT_NE(state(), WorkloadState::kFinished);
  EXPECT_EQ(says("workloads", "w", "True"), "200");
  EXPECT_EQ(state(), WorkloadState::kFinished);
}

// The Scale of a Job is its parallelism.
TEST(Refusals, AScaleIsOneNumber) {
  Refusing host;
  const auto scale = [&host](const char* resource, const char* name, const std::string& body) {
    return host.patches(resource, name, body, PatchType::kMerge, "scale");
  };
  EXPECT_EQ(scale("jobs", "j", R"({"spec":{"replicas":3}})"), "200");
  EXPECT_EQ(at(host.get("jobs", "default/j"), "/spec/parallelism"), "3");
  EXPECT_EQ(at(host.get("jobs", "default/j"), "/spec/suspend"), "true") << "the rest stays";
  const auto patched = [&host](const std::string& body) {
    return host.patches("jobs", "j", body, PatchType::kJson, "scale");
  };
  EXPECT_EQ(patched(R"([{"op":"test","path":"/spec/replicas","value":3},
                        {"op":"replace","path":"/spec/replicas","value":2}])"),
            "200");
  EXPECT_EQ(at(host.get("jobs", "default/j"), "/spec/parallelism"), "2");
  EXPECT_THAT(patched(R"([{"op":"remove","path":"/spec/replicas"}])"),
              HasSubstr("spec.replicas: Required value"));
  EXPECT_THAT(scale("jobs", "j", R"({"metadata":{"name":"k"},"spec":{"replicas":3}})"),
              HasSubstr("400 the name of the object (k) does not match the name on the URL (j)"));
  EXPECT_EQ(scale("jobs", "k", R"({"spec":{"replicas":3}})"),
            "404 jobs.batch \"k/scale\" not found");
  EXPECT_EQ(scale("configmaps", "m", R"({"spec":{"replicas":3}})"),
            "404 configmaps \"m/scale\" not found");
  for (const char* body : {"{}", R"({"spec":{}})", R"({"spec":{"replicas":"3"}})", "[]"})
    EXPECT_THAT(scale("jobs", "j", body), HasSubstr("spec.replicas: Required value")) << body;
  EXPECT_THAT(scale("jobs", "j", R"({"metadata":{"resourceVersion":"1"},"spec":{"replicas":4}})"),
              HasSubstr("409 Operation cannot be fulfilled on jobs.batch \"j\""));
}

TEST(Refusals, ADeletionIsOfTheObjectThatWasMeant) {
  Refusing host;
  const auto remove =
      [&host](const char* resource, const char* name, const std::string& wanted_uid = "",
              const std::string& wanted_version = "", const char* subresource = "") {
        WriteRequest out = host.request(WriteVerb::kDelete, resource, name);
        out.deletion.uid = wanted_uid;
        out.deletion.resource_version = wanted_version;
        out.subresource = subresource;
        return host.answer(out);
      };
  const std::string uid = host.uid("configmaps", "default/m");
  const std::string version = std::to_string(host.version("configmaps", "default/m"));
  EXPECT_EQ(remove("configmaps", "n"), "404 configmaps \"n\" not found");
  EXPECT_EQ(remove("resourceflavors", "g"), "404 resourceflavors.kueue.x-k8s.io \"g\" not found");
  EXPECT_EQ(remove("configmaps", "m", "", "", "bogus"), "404 configmaps \"m/bogus\" not found");
  EXPECT_EQ(remove("configmaps", "m", "other"),
            "409 Operation cannot be fulfilled on configmaps \"m\": the UID in the precondition "
            "(other) does not match the UID in record (" +
                uid + "); the object might have been deleted and then recreated");
  EXPECT_EQ(remove("configmaps", "m", "", "1"),
            "409 Operation cannot be fulfilled on configmaps \"m\": the ResourceVersion in the "
            "precondition (1) does not match the ResourceVersion in record (" +
                version + "); the object might have been modified");
  EXPECT_TRUE(host.exists("configmaps", "default/m"));
  EXPECT_EQ(remove("configmaps", "m", uid, version), "200");
  EXPECT_FALSE(host.exists("configmaps", "default/m"));
}

// The answer shows what was deleted: as it was, or as it is while something holds it.
TEST(Outcomes, OfADeletionShowTheObject) {
  Refusing host;
  ASSERT_TRUE(host.merge("localqueues", "q", R"({"metadata":{"finalizers":["a/b"]}})").ok());
  const auto held = host.remove("localqueues", "q");
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(held->removed);
  EXPECT_EQ(at(to_object(held->object), "/metadata/deletionTimestamp"), "2026-01-01T00:00:00Z");
  const auto gone = host.remove("configmaps", "m");
  ASSERT_TRUE(gone.ok());
  EXPECT_TRUE(gone->removed);
  EXPECT_EQ(gone->object.key, "default/m");
  WriteRequest silent =
      host.request(WriteVerb::kCreate, "configmaps", "", R"({"metadata":{"name":"n"}})");
  silent.wants_answer = false;
  const auto made = host.machine.write(silent);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->code, 201);
  EXPECT_EQ(made->object.kind, nullptr);
}

// What was found while the body was decoded is told with the rest, unless nothing is to be told.
TEST(Outcomes, TellWhatWasFoundInTheBody) {
  Refusing host;
  WriteRequest request = host.request(WriteVerb::kPatch, "configmaps", "m", "{}");
  request.decoding_problems = {"duplicate field \"a\""};
  auto done = host.machine.write(request);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->warnings, std::vector<std::string>{"duplicate field \"a\""});
  request.field_validation = FieldValidation::kIgnore;
  done = host.machine.write(request);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->warnings, std::vector<std::string>{});
}

/// A flavor or a LocalQueue, as an earlier stage has encoded it.
WriteRequest prepared(HostFixture& host, std::string_view resource, const std::string& metadata,
                      const std::string& ns = "default") {
  const api::KindInfo& kind = host.kind(resource);
  WriteRequest out = host.request(WriteVerb::kCreate, resource, "");
  out.restore = true;
  const std::string where = kind.namespaced ? R"("namespace":")" + ns + R"(",)" : "";
  const std::string text = R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":")" + kind.kind +
                           R"(","metadata":{)" + where + metadata + R"(},"spec":{)" +
                           (kind.namespaced ? R"("clusterQueue":"cq")" : "") + "}}";
  out.prepared = std::make_shared<PreparedObject>(
      host.intake.encode(kind, boost::json::parse(text).as_object()));
  return out;
}

TEST(Prepared, ObjectsAreJudgedByWhatIsThere) {
  Refusing host;
  EXPECT_EQ(host.answer(prepared(host, "localqueues", R"("name":"x")", "nowhere")),
            "404 namespaces \"nowhere\" not found");
  EXPECT_EQ(host.answer(prepared(host, "localqueues", R"("name":"q")")),
            "409 localqueues.kueue.x-k8s.io \"q\" already exists");
  EXPECT_EQ(host.answer(prepared(host, "resourceflavors", R"("name":"f")")),
            "409 resourceflavors.kueue.x-k8s.io \"f\" already exists");
  EXPECT_EQ(host.answer(prepared(host, "localqueues", R"("name":"x")")), "201");
  EXPECT_EQ(at(host.get("localqueues", "default/x"), "/metadata/creationTimestamp"),
            "2026-01-01T00:00:00Z");
  EXPECT_EQ(host.uid("localqueues", "default/x").size(), 36U);
  EXPECT_EQ(host.answer(prepared(host, "resourceflavors", R"("name":"x","uid":"own")")), "201");
  EXPECT_EQ(host.uid("resourceflavors", "x"), "own");
}

// Whatever cannot be said of the encoded form alone is done with the whole object.
TEST(Prepared, ObjectsOfSomebodyHaveOwnersAndCanBeTried) {
  Refusing host;
  WriteRequest owned = prepared(host, "resourceflavors", R"("name":"x")");
  owned.field_manager = "tester";
  EXPECT_EQ(host.answer(owned), "201");
  EXPECT_EQ(at(host.get("resourceflavors", "x"), "/metadata/managedFields/0/manager"), "tester");
  WriteRequest tried = prepared(host, "resourceflavors", R"("name":"y")");
  tried.dry_run = true;
  EXPECT_EQ(host.answer(tried), "201");
  EXPECT_FALSE(host.exists("resourceflavors", "y"));
  host.machine.set_guard([](const Identity&, const api::KindInfo& kind, const boost::json::object*,
                            const boost::json::object&) -> std::optional<ApiError> {
    return forbidden(kind, "y", "as told");
  });
  EXPECT_EQ(host.answer(prepared(host, "resourceflavors", R"("name":"y")")),
            "403 resourceflavors.kueue.x-k8s.io \"y\" is forbidden: as told");
}

// As controllers write: objects in hub form, by the system.
TEST(Access, ToObjectsIsRefusedInWords) {
  Refusing host;
  ObjectAccess& objects = host.objects;
  const auto said = [](const ApiResult<void>& done) {
    return done ? "" : std::to_string(done.error().code) + " " + done.error().text;
  };
  const auto parsed = [](const char* text) { return boost::json::parse(text).as_object(); };
  const auto unheard = parsed(R"({"apiVersion":"v1","kind":"Unheard","metadata":{"name":"x"}})");
  EXPECT_EQ(said(objects.create(unheard)), "400 no kind Unheard in v1");
  EXPECT_EQ(said(objects.update(unheard)), "400 no kind Unheard in v1");
  EXPECT_EQ(said(objects.update(parsed(R"({"apiVersion":"v1","kind":"ConfigMap",
                "metadata":{"name":"x","namespace":"default"}})"))),
            "404 configmaps \"x\" not found");
  EXPECT_EQ(said(objects.update(parsed(R"({"apiVersion":"v1","kind":"Namespace",
                "metadata":{"name":"x"}})"))),
            "404 namespaces \"x\" not found");
  EXPECT_EQ(said(objects.update(parsed(R"({"apiVersion":"kueue.x-k8s.io/v1beta2",
                "kind":"LocalQueue","metadata":{"name":"q","namespace":"default"},
                "spec":{"clusterQueue":"A B"}})")))
                .substr(0, 4),
            "422 ");
  const api::KindInfo& queues = host.kind("localqueues");
  EXPECT_EQ(said(objects.update_status(queues, "default/x", {})),
            "404 localqueues.kueue.x-k8s.io \"x\" not found");
  EXPECT_EQ(said(objects.remove(queues, "default/x")), "") << "there is none";
  EXPECT_EQ(said(objects.remove(host.kind("namespaces"), "kube-system")),
            "403 namespaces \"kube-system\" is forbidden: this namespace may not be deleted");
  const api::AdmissionCheckState check;
  EXPECT_THAT(said(objects.finish_workload("default/w", "Done", "it is")),
              "404 workloads.kueue.x-k8s.io \"w\" not found");
  EXPECT_THAT(said(objects.report_check("default/w", check)),
              HasSubstr("409 Operation cannot be fulfilled on workloads.kueue.x-k8s.io \"w\": "));
}

TEST(Access, AStatusThatIsAsItWasIsNotWritten) {
  Refusing host;
  ObjectAccess& objects = host.objects;
  const api::KindInfo& queues = host.kind("localqueues");
  const auto tell = [&](int pending) {
    EXPECT_TRUE(objects.update_status(queues, "default/q", {{"pendingWorkloads", pending}}).ok());
    return at(host.get("localqueues", "default/q"), "/status/pendingWorkloads");
  };
  EXPECT_EQ(tell(1), "1");
  const std::uint64_t version = host.store.working_version();
  EXPECT_EQ(tell(1), "1");
  EXPECT_EQ(host.store.working_version(), version);
  EXPECT_EQ(tell(2), "2");
  EXPECT_EQ(at(host.get("localqueues", "default/q"), "/spec/clusterQueue"), "cq");
}

TEST(Access, KeysAreOfOneNamespaceOrOfAll) {
  Refusing host;
  host.apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default2"}})");
  host.apply(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m",
      "namespace":"default2"}})");
  const ObjectAccess& objects = host.objects;
  EXPECT_EQ(objects.keys(host.kind("configmaps"), "default"), Names{"default/m"});
  EXPECT_EQ(objects.keys(host.kind("configmaps"), "default2"), Names{"default2/m"});
  EXPECT_EQ(objects.keys(host.kind("configmaps")), (Names{"default/m", "default2/m"}));
}

// A status of a workload is read by the engine, whoever writes it.
TEST(Access, AStatusMayEndAWorkload) {
  Refusing host;
  ObjectAccess& objects = host.objects;
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",
      "namespace":"default"},"spec":{"queueName":"q","podSets":[{"name":"main","count":1,
      "template":{"spec":{"containers":[{"name":"c"}]}}}]}})");
  const auto told = boost::json::parse(R"({"conditions":[{"type":"Finished","status":"True",
      "reason":"Done","message":"it is","lastTransitionTime":"2026-01-01T00:00:00Z"}]})");
  ASSERT_TRUE(objects.update_status(host.kind("workloads"), "default/w", told.as_object()).ok());
  EXPECT_EQ(host.kernel.engine().state(*host.kernel.engine().find("default/w")),
            WorkloadState::kFinished);
}

// A workload ends once: what is said of its end later changes nothing.
TEST(Access, AWorkloadEndsOnce) {
  Refusing host;
  ObjectAccess& objects = host.objects;
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",
      "namespace":"default"},"spec":{"queueName":"q","podSets":[{"name":"main","count":1,
      "template":{"spec":{"containers":[{"name":"c"}]}}}]}})");
  EXPECT_TRUE(objects.finish_workload("default/w", "Done", "it is").ok());
  EXPECT_TRUE(objects.finish_workload("default/w", "Again", "it is not").ok());
  const auto status = host.kernel.engine().status(*host.kernel.engine().find("default/w"));
  EXPECT_EQ(status.condition("Finished")->reason, "Done");
}

}  // namespace
}  // namespace sluice::host::test
