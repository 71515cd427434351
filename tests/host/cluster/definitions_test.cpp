// Whole definitions: names, versions, columns; roles; and that a plugin's part is there with it
// only.
#include "host/cluster/definitions.hpp"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <set>
#include <string>

#include "api/json/json.hpp"
#include "host/cluster/roles.hpp"
#include "host/objects/parts.hpp"
#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

json::object definition(const api::Scheme& scheme, std::string_view kind) {
  return definition_of(scheme, *scheme.find_by_name(kind));
}

TEST(Definitions, NamesAndScope) {
  const json::object made = definition(test::scheme(), "LocalQueue");
  EXPECT_EQ(made.at("metadata").at("name"), "localqueues.kueue.x-k8s.io");
  json::object spec = made.at("spec").as_object();
  spec.erase("versions");
  EXPECT_EQ(json::serialize(spec),
            R"({"group":"kueue.x-k8s.io","scope":"Namespaced","names":{"kind":"LocalQueue",)"
            R"("listKind":"LocalQueueList","plural":"localqueues","singular":"localqueue",)"
            R"("shortNames":["queue","queues","lq"]},"conversion":{"strategy":"None"}})");
}

/// All versions are described; served is what needs no converting.
TEST(Definitions, OnlyVersionsThatDifferInNothingAreServed) {
  std::set<std::string> served;
  for (const api::KindInfo* kind : test::scheme().kinds()) {
    if (kind->group != "kueue.x-k8s.io") continue;
    const json::object made = definition_of(test::scheme(), *kind);
    std::size_t stored = 0;
    for (const auto& version : made.at("spec").at("versions").as_array()) {
      const std::string name(version.at("name").as_string());
      if (version.at("served").as_bool()) served.insert(kind->kind + " " + name);
      stored += version.at("storage").as_bool() ? 1 : 0;
      EXPECT_EQ(version.as_object().contains("deprecated"), name == "v1beta1") << kind->kind;
    }
    EXPECT_EQ(made.at("spec").at("versions").as_array().size(), 2u) << kind->kind;
    EXPECT_EQ(stored, 1u) << kind->kind;
  }
  EXPECT_THAT(served,
              ElementsAre("AdmissionCheck v1beta2", "ClusterQueue v1beta2", "Cohort v1beta2",
                          "LocalQueue v1beta2", "ResourceFlavor v1beta1", "ResourceFlavor v1beta2",
                          "Workload v1beta2", "WorkloadPriorityClass v1beta1",
                          "WorkloadPriorityClass v1beta2"));
}

TEST(Definitions, ColumnsThatAnApiServerCanShow) {
  const json::object made = definition(test::scheme(), "Workload");
  std::vector<std::string> names;
  const json::value& version = made.at("spec").at("versions").at(0);
  for (const auto& column : version.at("additionalPrinterColumns").as_array())
    names.emplace_back(column.at("name").as_string());
  EXPECT_THAT(names, ElementsAre("Queue", "Reserved in", "Admitted", "Finished", "Age",
                                 "Priority"));  // and not what Sluice computes
  EXPECT_EQ(json::serialize(version.at("subresources")), R"({"status":{}})");
}

std::vector<std::string> messages(const json::value& version) {
  std::vector<std::string> out;
  const json::object& root = version.at("schema").at("openAPIV3Schema").as_object();
  if (const json::array* rules = api::find_array(root, "x-kubernetes-validations"))
    for (const auto& each : *rules) out.emplace_back(each.at("message").as_string());
  return out;
}

/// What a program demands of whole objects is said of the form that it sees.
TEST(Definitions, RelationsAreSaidOfTheStoredForm) {
  const json::object queue = definition(test::scheme(), "ClusterQueue");
  const json::value& versions = queue.at("spec").at("versions");
  EXPECT_THAT(messages(versions.at(0)),
              ElementsAre("lendingLimit must be nil when cohort is empty"));
  EXPECT_THAT(messages(versions.at(1)), ElementsAre());
  const json::object flavor = definition(test::scheme(), "ResourceFlavor");
  for (const auto& version : flavor.at("spec").at("versions").as_array())
    EXPECT_THAT(messages(version),
                ElementsAre("topologyName is immutable when topologyName is set"));
  const json::object workload = definition(test::scheme(), "Workload");
  EXPECT_THAT(messages(workload.at("spec").at("versions").at(0)),
              Contains("queueName is immutable while workload quota reserved"));
}

/// A version that is made of another one: what it says otherwise has to be converted.
TEST(Definitions, AVersionThatDiffersInATypeOrADefaultIsNotServed) {
  api::Scheme scheme;
  const auto added = scheme.add(R"({"kind":"Can","group":"example.com","plural":"cans",
      "scope":"Cluster","versions":[
        {"version":"v1","storage":true,"fields":[{"path":"spec.litres","type":"integer"},
          {"path":"spec.colour","type":"string","maxLength":5},
          {"path":"spec.pods","type":"array","items":"PodTemplateSpec"}]},
        {"version":"v1same","basedOn":"v1","fields":[{"path":"spec.colour","type":"string"}]},
        {"version":"v1type","basedOn":"v1","fields":[{"path":"spec.litres","type":"quantity"}]},
        {"version":"v1default","basedOn":"v1","fields":[
          {"path":"spec.colour","type":"string","default":"red"}]},
        {"version":"v1more","basedOn":"v1","fields":[{"path":"spec.lid","type":"string"}]},
        {"version":"v1less","basedOn":"v1","without":["spec.litres"]},
        {"version":"v1list","basedOn":"v1","fields":[{"path":"spec.pods","type":"array"}]},
        {"version":"v1moved","basedOn":"v1","moves":[["spec.litres","spec.colour"]]}]})",
                                "test");
  ASSERT_TRUE(added.ok()) << added.error().text;
  std::vector<std::string> served;
  const json::object made = definition(scheme, "Can");
  for (const auto& version : made.at("spec").at("versions").as_array())
    if (version.at("served").as_bool()) served.emplace_back(version.at("name").as_string());
  EXPECT_THAT(served, ElementsAre("v1", "v1same"));
}

constexpr const char* kPaint = R"([{
  "kind": "ClusterQueue", "group": "kueue.x-k8s.io",
  "versions": [{"version": "v1beta2", "columns": [
      {"name": "Paint", "path": ".spec.paint"},
      {"name": "Coats", "path": ".status.coats[*].colour"}],
    "fields": [{"path": "spec.paint", "type": "string"}],
    "rules": [{"at": "spec.paint", "rule": "immutable", "message": "it is dry"}]}]},
 {"kind": "Brush", "group": "paint.example.com", "plural": "brushes", "scope": "Cluster",
  "versions": [
    {"version": "v1", "storage": true, "status": true,
     "scale": {"spec": "hairs", "status": "hairs"},
     "fields": [{"path": "spec.hairs", "type": "integer"}, {"path": "status.hairs",
                 "type": "integer"}]},
    {"version": "v1alpha1", "basedOn": "v1"}]}])";

TEST(Definitions, APluginsPartIsThereWithItOnly) {
  api::Scheme scheme;
  ASSERT_TRUE(scheme.add(kPaint, "paint").ok());
  const std::string with = json::serialize(definition(scheme, "ClusterQueue"));
  const std::string without = json::serialize(definition(test::scheme(), "ClusterQueue"));
  for (const char* text : {R"("paint":{"type":"string"})", R"("jsonPath":".spec.paint")",
                           R"("message":"it is dry","fieldPath":".spec.paint")"}) {
    EXPECT_NE(with.find(text), std::string::npos) << text;
    EXPECT_EQ(without.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(with.find("Coats"), std::string::npos) << "an API server would show the first alone";
}

TEST(Definitions, AKindOfAPlugin) {
  api::Scheme scheme;
  ASSERT_TRUE(scheme.add(kPaint, "paint").ok());
  const json::object made = definition(scheme, "Brush");
  for (const auto& version : made.at("spec").at("versions").as_array()) {
    EXPECT_TRUE(version.at("served").as_bool()) << version.at("name");
    EXPECT_EQ(json::serialize(version.at("subresources")),
              R"({"status":{},"scale":{"specReplicasPath":".spec.hairs",)"
              R"("statusReplicasPath":".status.hairs"}})");
  }
}

TEST(Definitions, KindsThatKubernetesHasAreNotDefined) {
  std::set<std::string> groups;
  for (const api::KindInfo* kind : test::scheme().kinds())
    if (is_custom(*kind)) groups.insert(kind->group);
  EXPECT_THAT(groups, ElementsAre("kueue.x-k8s.io", "ray.io", "sluice.dev"));
}

std::set<std::string> names_of(const std::vector<json::object>& objects) {
  std::set<std::string> out;
  for (const auto& each : objects) out.emplace(api::find_text(part(each, "metadata"), "name"));
  return out;
}

TEST(Roles, AreThoseOfAHostAsFarAsSomethingServesThem) {
  const auto names = names_of(user_roles(test::scheme(), {}, {}));
  for (const char* there : {"kueue-batch-admin-role", "kueue-batch-user-role",
                            "kueue-clusterqueue-editor-role", "kueue-job-editor-role"})
    EXPECT_THAT(names, Contains(there));
  for (const char* not_there : {"cluster-admin", "view", "kueue-pending-workloads-cq-viewer-role"})
    EXPECT_THAT(names, Not(Contains(not_there)));
  EXPECT_THAT(names_of(user_roles(test::scheme(), {}, {"visibility.kueue.x-k8s.io"})),
              Contains("kueue-pending-workloads-cq-viewer-role"));
}

TEST(Roles, AKindOfAPluginHasAnEditorAndAViewer) {
  api::Scheme scheme;
  ASSERT_TRUE(scheme.add(kPaint, "paint").ok());
  const auto roles = user_roles(scheme, {scheme.find_by_name("Brush")}, {});
  EXPECT_EQ(
      json::serialize(roles.back()),
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":)"
      R"({"name":"kueue-brush-viewer-role","labels":{)"
      R"("rbac.kueue.x-k8s.io/role":"brush-viewer"}},"rules":[{"apiGroups":["paint.example.com"],)"
      R"("resources":["brushes"],"verbs":["get","list","watch"]},)"
      R"({"apiGroups":["paint.example.com"],"resources":["brushes/status"],)"
      R"("verbs":["get"]}]})");
  EXPECT_THAT(names_of(roles), Contains("kueue-brush-editor-role"));
}

}  // namespace
}  // namespace sluice::host
