// Protobuf bodies: what Go clients really send (protobuf/README.md), and what no client should
// send.
#include "host/rest/protobuf.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "api/json/json.hpp"
#include "api/scheme/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

std::filesystem::path folder() {
  return std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/host/rest/protobuf";
}

std::string contents(const std::string& name) {
  std::ifstream file(folder() / name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_zero(const json::value& value) {
  if (const auto* text = value.if_string()) return text->empty();
  if (const auto* object = value.if_object()) return object->empty();
  if (const auto* flag = value.if_bool()) return !*flag;
  return value.is_null() || (value.is_int64() && value.get_int64() == 0);
}

/// Takes out of Go's JSON what has no meaning: zero values that the decoded form leaves out.
void take_out_zeros(json::value& expected, const json::value& actual) {
  if (auto* list = expected.if_array(); list != nullptr && actual.is_array()) {
    for (std::size_t i = 0; i < std::min(list->size(), actual.get_array().size()); ++i) {
      take_out_zeros((*list)[i], actual.get_array()[i]);
    }
  }
  auto* object = expected.if_object();
  if (object == nullptr) return;
  static const json::object kNone;
  const json::object& other = actual.is_object() ? actual.get_object() : kNone;
  for (auto it = object->begin(); it != object->end();) {
    const json::value* found = other.if_contains(it->key());
    take_out_zeros(it->value(), found != nullptr ? *found : json::value());
    it = found == nullptr && is_zero(it->value()) ? object->erase(it) : it + 1;
  }
}

TEST(Protobuf, DecodesWhatGoSends) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".pb") continue;
    ++count;
    const std::string name = entry.path().stem().string();
    const auto decoded = decode_protobuf(contents(name + ".pb"));
    ASSERT_TRUE(decoded.ok()) << name << ": " << decoded.error().text;
    json::value expected = json::parse(contents(name + ".json"));
    take_out_zeros(expected, *decoded);
    EXPECT_EQ(expected, json::value(*decoded)) << name << "\n"
                                               << json::serialize(*decoded) << "\n"
                                               << json::serialize(expected);
  }
  EXPECT_EQ(count, 25u);
}

TEST(Protobuf, LeavesOutWhatWasNeverSet) {
  const auto job = decode_protobuf(contents("job-plain.pb"));
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(json::value(*job), json::parse(R"({"apiVersion":"batch/v1","kind":"Job",
    "metadata":{"name":"hello"},"spec":{"backoffLimit":0,"suspend":false,"template":{"spec":{
      "volumes":[{"name":"v","emptyDir":{}}],"restartPolicy":"Never","containers":[
        {"name":"hello","image":"busybox","args":["echo",""],"env":[{"name":"EMPTY"}],
         "resources":{"requests":{"cpu":"1500m"}}}]}}}})"));
}

TEST(Protobuf, StoredKindsAreAdmittedAsTheirJsonIs) {
  const api::Scheme scheme;
  for (const char* name : {"job-plain", "namespace-plain", "configmap", "lease", "node"}) {
    json::object decoded = *decode_protobuf(contents(std::string(name) + ".pb"));
    json::object parsed = json::parse(contents(std::string(name) + ".json")).get_object();
    for (json::object* each : {&decoded, &parsed}) {
      if (each->contains("metadata")) (*each)["metadata"] = {{"name", "x"}};
    }
    const api::AdmitOptions strict{.unknown_fields = api::UnknownFields::kRefuse};
    EXPECT_EQ(scheme.admit(decoded, nullptr, strict).error_text(),
              scheme.admit(parsed, nullptr, strict).error_text())
        << name;
  }
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::string bytes(std::uint32_t number, const std::string& content) {
  return varint(number << 3 | 2) + varint(content.size()) + content;
}

std::string integer(std::uint32_t number, std::uint64_t value) {
  return varint(number << 3) + varint(value);
}

std::string body(const std::string& api_version, const std::string& kind, const std::string& raw) {
  return std::string("k8s\0", 4) + bytes(1, bytes(1, api_version) + bytes(2, kind)) + bytes(2, raw);
}

TEST(Protobuf, MalformedBodiesAreRefused) {
  const std::string name = bytes(1, bytes(1, "x"));
  const std::string spec = bytes(2, bytes(2, bytes(1, "v")));
  const std::pair<std::string, std::string> cases[] = {
      {"", "does not begin with"},
      {"{}", "does not begin with"},
      {std::string("k8s\0", 4) + "\xFF", "the envelope is cut off or malformed"},
      {std::string("k8s\0", 4), "kind \"\" in version \"\" has no protobuf form"},
      {body("v1", "Thing", ""), "kind \"Thing\" in version \"v1\" has no protobuf form"},
      {body("v1", "Job", ""), "kind \"Job\" in version \"v1\" has no protobuf form"},
      {body("batch/v1", "Job", "\x0A"), "is cut off or malformed"},
      {body("batch/v1", "Job", integer(1, 5)), "metadata: has the wrong wire type"},
      {body("batch/v1", "Job", bytes(1, bytes(1, "\xFF\xFE"))), "metadata.name: is not UTF-8"},
      {body("batch/v1", "Job", bytes(1, bytes(11, integer(1, 1)))),
       "metadata.labels: has the wrong wire type"},
      {body("batch/v1", "Job", bytes(1, bytes(11, bytes(1, "\xFF")))),
       "metadata.labels: has a key that is not UTF-8"},
      {body("batch/v1", "Job", bytes(1, bytes(8, integer(1, 1ULL << 62)))),
       "metadata.creationTimestamp: is a time out of range"},
      {body("batch/v1", "Job", bytes(2, bytes(2, "x"))), "spec.completions: has the wrong wire"},
      {body("batch/v1", "Job", bytes(1, bytes(17, bytes(7, bytes(1, "{"))))),
       "metadata.managedFields.fieldsV1: holds no JSON"},
      {body("v1", "Service", bytes(2, bytes(1, bytes(4, integer(1, 7))))),
       "spec.ports.targetPort: is neither an integer nor a text"},
      {body("batch/v1", "Job", name) + bytes(3, "gzip"), "encodings of the content"},
      {body("batch/v1", "Job", std::string(1, '\x0B')), "is cut off or malformed"},  // a group
      {body("batch/v1", "Job", std::string(1, '\x02')), "is cut off or malformed"},  // number 0
  };
  for (const auto& [input, expected] : cases) {
    const auto decoded = decode_protobuf(input);
    ASSERT_FALSE(decoded.ok()) << expected;
    EXPECT_EQ(decoded.error().code, 400);
    EXPECT_EQ(decoded.error().reason, "BadRequest");
    EXPECT_THAT(decoded.error().text, HasSubstr(expected));
  }
}

TEST(Protobuf, BoundsSizeAndNumberOfValues) {
  const auto large = decode_protobuf(std::string(100, 'x'), {.bytes = 99});
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, 413);

  std::string containers;
  for (int i = 0; i < 1000; ++i) containers += bytes(2, "");
  const std::string pod = body("v1", "Pod", bytes(2, containers));
  EXPECT_TRUE(decode_protobuf(pod, {.values = 1001}).ok());
  const auto many = decode_protobuf(pod, {.values = 1000});
  ASSERT_FALSE(many.ok());
  EXPECT_THAT(many.error().text, HasSubstr("spec.containers: holds too many values"));
}

TEST(Protobuf, UnknownFieldsOfNewerClientsAreSkipped) {
  const std::string metadata = bytes(1, bytes(1, "x") + integer(900, 3) + bytes(901, "y"));
  const auto decoded = decode_protobuf(body("v1", "Namespace",
                                            metadata + varint(77 << 3 | 1) + std::string(8, 'x') +
                                                varint(78 << 3 | 5) + std::string(4, 'x')));
  ASSERT_TRUE(decoded.ok()) << decoded.error().text;
  EXPECT_EQ(json::serialize(*decoded),
            R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x"}})");
}

TEST(Protobuf, PiecesOfAMessageAreJoinedAndPackedNumbersRead) {
  const std::string raw = bytes(1, bytes(1, "x")) + bytes(1, bytes(3, "ns"));
  const auto decoded = decode_protobuf(body("v1", "ConfigMap", raw));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(json::serialize(*decoded),
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"ns"}})");
  // securityContext.supplementalGroups: 5 and 300 in one piece.
  const auto packed =
      decode_protobuf(body("v1", "Pod", bytes(2, bytes(14, bytes(4, varint(5) + varint(300))))));
  ASSERT_TRUE(packed.ok()) << packed.error().text;
  EXPECT_EQ(packed->at("spec").at("securityContext").at("supplementalGroups"),
            json::value({5, 300}));
}

TEST(Protobuf, EveryTruncationAndManyMutationsAreAnswered) {
  std::mt19937 random(7);
  for (const char* name : {"pod.pb", "node.pb", "event.pb", "selfsubjectaccessreview.pb"}) {
    const std::string good = contents(name);
    for (std::size_t size = 0; size < good.size(); size += 7) {
      const auto decoded = decode_protobuf(std::string_view(good).substr(0, size));
      EXPECT_EQ(decoded.ok() ? 400 : decoded.error().code, 400);
    }
    for (int i = 0; i < 300; ++i) {
      std::string bad = good;
      for (int j = 0; j < 4; ++j) bad[random() % bad.size()] = static_cast<char>(random());
      const auto decoded = decode_protobuf(bad);
      EXPECT_EQ(decoded.ok() ? 400 : decoded.error().code, 400);
    }
  }
}

}  // namespace
}  // namespace sluice::host
