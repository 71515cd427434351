// OpenAPI documents: complete in themselves, with what clients look for, plugins' parts included,
// and the same in protobuf as in JSON.
#include "host/rest/openapi/open_api.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "api/json/json.hpp"
#include "host/rest/resources.hpp"
#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kProtobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr const char* kProtobufAnswer =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

using test::scheme;

json::value document(const OpenApi& api, std::string_view path) {
  const auto answer = api.find(path, "application/json");
  EXPECT_NE(answer.document, nullptr) << path;
  return answer.document != nullptr ? json::parse(*answer.document->body) : json::value();
}

const json::object& v2() {
  static const json::value made = document(OpenApi(scheme()), "/openapi/v2");
  return made.get_object();
}

const json::object& v3(const std::string& group_version) {
  static const OpenApi api(scheme());
  static std::map<std::string, json::value> made;
  auto& entry = made[group_version];
  if (entry.is_null()) entry = document(api, "/openapi/v3/" + group_version);
  return entry.get_object();
}

/// The value at keys below `from`; null when it is not there.
json::value at(const json::value& from, const std::vector<std::string>& keys) {
  const json::value* now = &from;
  for (const auto& key : keys) {
    const auto* object = now->if_object();
    now = object != nullptr ? api::find(*object, key) : nullptr;
    if (now == nullptr) return nullptr;
  }
  return *now;
}

json::value schema(const json::object& v3_document, const std::string& name) {
  return at(v3_document, {"components", "schemas", name});
}

void each_ref(const json::value& in, const std::function<void(std::string_view)>& each) {
  if (const auto* list = in.if_array()) {
    for (const auto& value : *list) each_ref(value, each);
  }
  const auto* object = in.if_object();
  for (std::size_t i = 0; object != nullptr && i < object->size(); ++i) {
    const auto& member = *(object->begin() + static_cast<std::ptrdiff_t>(i));
    if (member.key() == "$ref" && member.value().is_string()) {
      each(api::view(member.value().get_string()));
    }
    each_ref(member.value(), each);
  }
}

void expect_complete(const json::value& document, const json::value& schemas,
                     std::string_view prefix) {
  std::size_t refs = 0;
  each_ref(document, [&](std::string_view ref) {
    ++refs;
    ASSERT_TRUE(ref.starts_with(prefix)) << ref;
    EXPECT_NE(api::find(schemas.get_object(), ref.substr(prefix.size())), nullptr) << ref;
  });
  EXPECT_GT(refs, 0U);
}

TEST(OpenApi, IndexNamesADocumentForEachGroupVersion) {
  const OpenApi api(scheme());
  const json::value index = document(api, "/openapi/v3");
  std::map<std::string, bool> expected;
  for (const auto& each : served_resources(scheme())) {
    expected[(each.group.empty() ? "api/" : "apis/" + each.group + "/") + each.version] = true;
  }
  const json::object& paths = index.at("paths").get_object();
  EXPECT_EQ(paths.size(), expected.size());
  for (const auto& [name, unused] : expected) {
    const json::value url = at(paths, {name, "serverRelativeURL"});
    ASSERT_TRUE(url.is_string()) << name;
    const std::string_view text = api::view(url.get_string());
    const auto mark = text.find("?hash=");
    ASSERT_NE(mark, std::string_view::npos);
    const auto answer = api.find(text.substr(0, mark), "application/json");
    ASSERT_NE(answer.document, nullptr) << text;
    EXPECT_EQ(answer.document->etag, "\"" + std::string(text.substr(mark + 6)) + "\"");
    const json::value body = json::parse(*answer.document->body);
    EXPECT_EQ(body.at("openapi"), "3.0.0");
    expect_complete(body, at(body, {"components", "schemas"}), "#/components/schemas/");
  }
}

TEST(OpenApi, VersionTwoIsCompleteInItself) {
  EXPECT_EQ(v2().at("swagger"), "2.0");
  expect_complete(v2(), v2().at("definitions"), "#/definitions/");
}

TEST(OpenApi, EveryStoredKindIsDescribedAndPatchedWithTheParametersThatClientsLookFor) {
  for (const auto& each : served_resources(scheme())) {
    if (each.info == nullptr) continue;
    const std::string place =
        (each.group.empty() ? "api/" : "apis/" + each.group + "/") + each.version;
    const json::object gvk{{"group", each.group}, {"version", each.version}, {"kind", each.kind}};
    const std::string path = "/" + place + (each.namespaced ? "/namespaces/{namespace}/" : "/") +
                             each.plural + "/{name}";
    for (const json::object* api : {&v2(), &v3(place)}) {
      const json::value patch = at(*api, {"paths", path, "patch"});
      ASSERT_TRUE(patch.is_object()) << path;
      EXPECT_EQ(patch.at("x-kubernetes-group-version-kind"), gvk);
      std::map<std::string, json::value> in;
      for (const auto& parameter : patch.at("parameters").get_array()) {
        in[std::string(api::view(parameter.at("name").get_string()))] = parameter.at("in");
      }
      EXPECT_EQ(in["fieldValidation"], "query") << path;
      EXPECT_EQ(in["dryRun"], "query") << path;
    }
    std::size_t found = 0;
    const json::value schemas = at(v3(place), {"components", "schemas"});
    for (const auto& named : schemas.get_object()) {
      const json::value kinds = at(named.value(), {"x-kubernetes-group-version-kind"});
      if (kinds == json::array{gvk}) ++found;
    }
    EXPECT_EQ(found, 1U) << path;
  }
}

TEST(OpenApi, SaysWhatTheSchemaChecks) {
  const json::value workload =
      schema(v3("apis/kueue.x-k8s.io/v1beta2"), "io.x-k8s.kueue.v1beta2.Workload");
  const json::value pod_sets = at(workload, {"properties", "spec", "properties", "podSets"});
  EXPECT_EQ(pod_sets.at("type"), "array");
  EXPECT_EQ(pod_sets.at("minItems"), 1);
  EXPECT_EQ(pod_sets.at("x-kubernetes-list-type"), "map");
  EXPECT_EQ(pod_sets.at("x-kubernetes-list-map-keys"), json::array{"name"});
  const json::value& pod_set = pod_sets.at("items");
  EXPECT_EQ(at(pod_set, {"properties", "count", "format"}), "int32");
  EXPECT_EQ(at(pod_set, {"properties", "count", "minimum"}), 0);
  EXPECT_EQ(at(pod_set, {"properties", "name", "default"}), "main");
  EXPECT_EQ(at(pod_set, {"properties", "name", "pattern"}), "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$");
  EXPECT_EQ(pod_set.at("required"), json::array{"template"});
  // Beside a reference nothing may stand, so it is wrapped.
  const json::value pods = at(pod_set, {"properties", "template"});
  EXPECT_EQ(
      pods.at("allOf"),
      (json::array{json::object{{"$ref", "#/components/schemas/io.k8s.shape.PodTemplateSpec"}}}));
  EXPECT_EQ(pods.at("description"), "What each of the pods is like.");
  EXPECT_EQ(at(workload, {"properties", "metadata", "$ref"}),
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");

  const json::value queue =
      schema(v3("apis/kueue.x-k8s.io/v1beta2"), "io.x-k8s.kueue.v1beta2.ClusterQueue");
  const json::value strategy = at(queue, {"properties", "spec", "properties", "queueingStrategy"});
  EXPECT_EQ(strategy.at("default"), "BestEffortFIFO");
  EXPECT_EQ(strategy.at("enum"), (json::array{"StrictFIFO", "BestEffortFIFO"}));
}

TEST(OpenApi, IsWrittenForPeople) {
  const json::object& document = v3("apis/kueue.x-k8s.io/v1beta2");
  const json::value workload = schema(document, "io.x-k8s.kueue.v1beta2.Workload");
  EXPECT_TRUE(at(workload, {"description"}).is_string());
  EXPECT_EQ(at(workload, {"properties", "spec", "properties", "queueName", "description"}),
            "The LocalQueue, in the same namespace.");
  EXPECT_TRUE(
      at(schema(document, "io.k8s.shape.Container"), {"properties", "command", "description"})
          .is_string());
  for (const auto& each : served_resources(scheme())) {
    if (each.info == nullptr) continue;
    EXPECT_FALSE(each.info->description.empty()) << each.kind;
  }
}

TEST(OpenApi, TellsByWhichFieldsCustomKindsAreSelected) {
  const auto fields = [](const char* version) {
    return at(schema(v3(std::string("apis/kueue.x-k8s.io/") + version),
                     std::string("io.x-k8s.kueue.") + version + ".Workload"),
              {"x-kubernetes-selectable-fields"});
  };
  EXPECT_EQ(fields("v1beta2"),
            (json::array{json::object{{"fieldPath", ".status.admission.clusterQueue"}}}));
  EXPECT_TRUE(fields("v1beta1").is_null());
}

TEST(OpenApi, C16DeletionsAnswerAStatus) {
  const std::string item = "/api/v1/namespaces/{namespace}/configmaps/{name}";
  const std::string list = "/api/v1/namespaces/{namespace}/configmaps";
  const auto answer = [](const json::value& document, const std::string& path) {
    return api::to_json(at(document, {"paths", path, "delete", "responses", "200"}));
  };
  const json::value v1 = v3("api/v1");
  EXPECT_THAT(answer(v1, item), HasSubstr("meta.v1.Status"));
  EXPECT_THAT(answer(v1, item), HasSubstr(".ConfigMap\""));  // that something holds
  EXPECT_THAT(answer(v1, list), HasSubstr("meta.v1.Status"));
  EXPECT_EQ(answer(v1, list).find("ConfigMap"), std::string::npos);
  const json::value older = v2();
  for (const std::string& path : {item, list})
    EXPECT_THAT(answer(older, path), HasSubstr("meta.v1.Status"));
}

TEST(OpenApi, VersionsOfAKindAreDescribedApart) {
  const auto spec = [](const char* version) {
    return at(schema(v3(std::string("apis/kueue.x-k8s.io/") + version),
                     std::string("io.x-k8s.kueue.") + version + ".ClusterQueue"),
              {"properties", "spec", "properties"});
  };
  EXPECT_TRUE(at(spec("v1beta1"), {"cohort"}).is_object());
  EXPECT_TRUE(at(spec("v1beta1"), {"cohortName"}).is_null());
  EXPECT_TRUE(at(spec("v1beta2"), {"cohortName"}).is_object());
}

TEST(OpenApi, BuiltInKindsTellHowTheyMerge) {
  const json::value spec = at(v2(), {"definitions", "io.k8s.api.PodSpec"});
  const json::value containers = at(spec, {"properties", "containers"});
  EXPECT_EQ(containers.at("x-kubernetes-patch-strategy"), "merge");
  EXPECT_EQ(containers.at("x-kubernetes-patch-merge-key"), "name");
  EXPECT_EQ(containers.at("x-kubernetes-list-map-keys"), json::array{"name"});
  EXPECT_EQ(at(spec, {"properties", "volumes", "x-kubernetes-patch-strategy"}), "merge,retainKeys");
  EXPECT_EQ(at(spec, {"properties", "restartPolicy", "default"}), "Always");
  const json::value job = at(v2(), {"definitions", "io.k8s.api.batch.v1.Job"});
  EXPECT_EQ(at(job, {"properties", "spec", "$ref"}), "#/definitions/io.k8s.api.JobSpec");
}

TEST(OpenApi, AmountsAreTextsOrNumbers) {
  const std::string quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
  const std::string either = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
  EXPECT_EQ(at(v2(), {"definitions", quantity, "type"}), "string");
  EXPECT_EQ(at(v2(), {"definitions", either, "format"}), "int-or-string");
  EXPECT_EQ(at(v2(), {"definitions", "io.k8s.api.ResourceRequirements", "properties", "limits",
                      "additionalProperties", "$ref"}),
            ("#/definitions/" + quantity).c_str());
  EXPECT_EQ(schema(v3("api/v1"), quantity).at("oneOf").get_array().size(), 2U);
}

TEST(OpenApi, ListsHaveItemsOfTheirKind) {
  const json::value list = at(v2(), {"definitions", "io.k8s.api.core.v1.PodList"});
  EXPECT_EQ(at(list, {"properties", "items", "items", "$ref"}),
            "#/definitions/io.k8s.api.core.v1.Pod");
}

TEST(OpenApi, ContributionsOfPluginsShowUp) {
  api::Scheme with;
  const auto added = with.add(R"([
    {"kind": "ClusterQueue", "group": "kueue.x-k8s.io", "versions": [{"version": "v1beta2",
      "fields": [{"path": "spec.paint", "type": "object", "default": {},
                  "description": "How it looks."},
                 {"path": "spec.paint.colour", "type": "string", "default": "Grey",
                  "enum": ["Grey", "Red"]}]}]},
    {"kind": "Gauge", "group": "example.com", "plural": "gauges", "scope": "Namespaced",
     "description": "Shows a number.",
     "versions": [{"version": "v1", "storage": true, "status": true,
                   "fields": [{"path": "spec", "type": "object"},
                              {"path": "spec.limit", "type": "quantity", "required": true}]}]}])",
                              "painter");
  ASSERT_TRUE(added.ok()) << added.error().text;
  const OpenApi api(with);
  const json::value queues = document(api, "/openapi/v3/apis/kueue.x-k8s.io/v1beta2");
  const json::value paint = at(schema(queues.get_object(), "io.x-k8s.kueue.v1beta2.ClusterQueue"),
                               {"properties", "spec", "properties", "paint"});
  EXPECT_EQ(paint.at("description"), "How it looks.");
  EXPECT_EQ(paint.at("default"), (json::object{{"colour", "Grey"}}));
  EXPECT_EQ(at(paint, {"properties", "colour", "enum"}), (json::array{"Grey", "Red"}));
  const json::value gauges = document(api, "/openapi/v3/apis/example.com/v1");
  const json::value gauge = schema(gauges.get_object(), "com.example.v1.Gauge");
  EXPECT_EQ(gauge.at("description"), "Shows a number.");
  EXPECT_EQ(at(gauge, {"properties", "spec", "required"}), json::array{"limit"});
  EXPECT_TRUE(
      at(gauges,
         {"paths", "/apis/example.com/v1/namespaces/{namespace}/gauges/{name}/status", "patch"})
          .is_object());
  const json::value all = document(api, "/openapi/v2");
  EXPECT_TRUE(at(all, {"definitions", "com.example.v1.Gauge"}).is_object());
  EXPECT_TRUE(at(v2(), {"definitions", "com.example.v1.Gauge"}).is_null());
}

TEST(OpenApi, AnswersInTheFormThatIsAccepted) {
  const OpenApi api(scheme());
  const auto type = [&](const char* path, const std::string& accept) -> std::string {
    const auto answer = api.find(path, accept);
    if (!answer.exists) return "404";
    return answer.document != nullptr ? answer.document->content_type : "406";
  };
  EXPECT_EQ(type("/openapi/v2", kProtobuf), kProtobufAnswer);
  EXPECT_EQ(type("/openapi/v2", kProtobufAnswer), kProtobufAnswer);
  EXPECT_EQ(type("/openapi/v2", std::string("application/json, ") + kProtobuf), "application/json");
  EXPECT_EQ(type("/openapi/v2/", "*/*"), "application/json");
  EXPECT_EQ(type("/openapi/v2", ""), "application/json");
  EXPECT_EQ(type("/openapi/v2", "text/html"), "406");
  EXPECT_EQ(type("/openapi/v3", "application/json"), "application/json");
  EXPECT_EQ(
      type("/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"),
      "406");
  EXPECT_EQ(type("/openapi/v3/apis/none.example/v1", "*/*"), "404");
  EXPECT_EQ(type("/openapi", "*/*"), "404");
}

TEST(OpenApi, IsMadeOnceForAllThreads) {
  const OpenApi api(scheme());
  std::vector<const ApiDocument*> found(4);
  {
    std::vector<std::jthread> threads;
    for (auto& each : found) {
      threads.emplace_back([&] { each = api.find("/openapi/v2", "*/*").document; });
    }
  }
  for (const ApiDocument* each : found) EXPECT_EQ(each, found.front());
  EXPECT_NE(found.front(), nullptr);
}

// ---- protobuf, read with a reader of its own

struct Field {
  std::uint32_t number = 0;
  std::uint64_t integer = 0;
  std::string_view bytes;
};

std::uint64_t take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

std::vector<Field> fields(std::string_view message) {
  std::vector<Field> out;
  while (!message.empty()) {
    const std::uint64_t tag = take_varint(message);
    Field field{static_cast<std::uint32_t>(tag >> 3), 0, {}};
    if ((tag & 7) == 0) {
      field.integer = take_varint(message);
    } else {
      const std::size_t size = (tag & 7) == 1 ? 8 : take_varint(message);
      EXPECT_TRUE((tag & 7) == 1 || (tag & 7) == 2);
      EXPECT_LE(size, message.size());
      field.bytes = message.substr(0, size);
      message.remove_prefix(std::min(size, message.size()));
    }
    out.push_back(field);
  }
  return out;
}

/// The bytes of all fields with that number.
std::vector<std::string_view> all(std::string_view message, std::uint32_t number) {
  std::vector<std::string_view> out;
  for (const Field& each : fields(message)) {
    if (each.number == number) out.push_back(each.bytes);
  }
  return out;
}

std::string_view one(std::string_view message, std::initializer_list<std::uint32_t> numbers) {
  for (const std::uint32_t number : numbers) {
    const auto found = all(message, number);
    EXPECT_EQ(found.size(), 1U) << "field " << number;
    message = found.empty() ? std::string_view() : found.front();
  }
  return message;
}

/// Entries of a map, each {1: name, 2: value}.
std::map<std::string, std::string_view> entries(std::string_view map, std::uint32_t number) {
  std::map<std::string, std::string_view> out;
  for (const auto entry : all(map, number)) {
    out[std::string(one(entry, {1}))] = one(entry, {2});
  }
  return out;
}

class OpenApiProtobuf : public ::testing::Test {
 protected:
  static const OpenApi& api() {
    static const OpenApi made(scheme());
    return made;
  }
  const std::string_view document{*api().find("/openapi/v2", kProtobuf).document->body};
};

TEST_F(OpenApiProtobuf, HasTheSamePathsAndDefinitions) {
  EXPECT_EQ(one(document, {1}), "2.0");
  EXPECT_EQ(one(document, {2, 1}), "Sluice");
  const auto definitions = entries(one(document, {9}), 1);
  const auto paths = entries(one(document, {8}), 2);
  EXPECT_EQ(definitions.size(), v2().at("definitions").get_object().size());
  EXPECT_EQ(paths.size(), v2().at("paths").get_object().size());
  for (const auto& [name, message] : definitions) {
    const json::value expected = at(v2(), {"definitions", name});
    ASSERT_TRUE(expected.is_object()) << name;
    const json::value properties = at(expected, {"properties"});
    const std::size_t count = properties.is_object() ? properties.get_object().size() : 0;
    const auto held = all(message, 25);
    EXPECT_EQ(held.empty() ? 0 : entries(held.front(), 1).size(), count) << name;
  }
}

TEST_F(OpenApiProtobuf, HoldsWhatASchemaSays) {
  const auto definitions = entries(one(document, {9}), 1);
  const auto workload = definitions.at("io.x-k8s.kueue.v1beta2.Workload");
  const auto extensions = entries(workload, 31);
  EXPECT_EQ(
      json::parse(json::string_view(one(extensions.at("x-kubernetes-group-version-kind"), {2}))),
      at(v2(),
         {"definitions", "io.x-k8s.kueue.v1beta2.Workload", "x-kubernetes-group-version-kind"}));
  const auto spec = entries(one(workload, {25}), 1).at("spec");
  EXPECT_EQ(one(spec, {22, 1}), "object");
  const auto pod_sets = entries(one(spec, {25}), 1).at("podSets");
  EXPECT_EQ(one(pod_sets, {22, 1}), "array");
  const auto pod_set = one(pod_sets, {23, 1});
  EXPECT_THAT(all(pod_set, 19), ElementsAre("template"));
  const auto inner = entries(one(pod_set, {25}), 1);
  EXPECT_EQ(one(inner.at("name"), {5, 2}), "\"main\"");
  EXPECT_EQ(one(inner.at("template"), {1}), "#/definitions/io.k8s.shape.PodTemplateSpec");
  EXPECT_EQ(one(inner.at("count"), {9}), std::string_view("\0\0\0\0\0\0\0\0", 8));
  const auto limits =
      entries(one(definitions.at("io.k8s.api.ResourceRequirements"), {25}), 1).at("limits");
  EXPECT_EQ(one(limits, {21, 1, 1}), "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity");
}

TEST_F(OpenApiProtobuf, HoldsWhatAPatchTakes) {
  const auto paths = entries(one(document, {8}), 2);
  const auto path = paths.at("/apis/batch/v1/namespaces/{namespace}/jobs/{name}");
  EXPECT_EQ(all(path, 9).size(), 2U);
  const auto patch = one(path, {8});
  std::vector<std::string> query;
  std::size_t bodies = 0;
  for (const auto item : all(patch, 8)) {
    const auto parameter = one(item, {1});
    if (!all(parameter, 1).empty()) {
      ++bodies;
    } else {
      query.emplace_back(one(parameter, {2, 3, 4}));
    }
  }
  EXPECT_THAT(query, ElementsAre("dryRun", "fieldManager", "fieldValidation", "force"));
  EXPECT_EQ(bodies, 1U);
  EXPECT_THAT(std::string(one(entries(patch, 13).at("x-kubernetes-group-version-kind"), {2})),
              HasSubstr(R"("kind":"Job")"));
}

}  // namespace
}  // namespace sluice::host
