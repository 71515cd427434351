// What a request may not make: objects that are too large, too many of what each write looks at.
// Named after the findings that showed them.
#include <gtest/gtest.h>

#include "host/writes/size_limit.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host {
namespace {

using test::HostFixture;

constexpr const char* kMap = R"({"metadata":{"name":"x"},"data":{"a":"b"}})";

ApiResult<WriteOutcome> patched(HostFixture& host, PatchType type, const std::string& patch,
                                const std::string& manager = "tester", bool dry_run = false) {
  WriteRequest request = host.request(WriteVerb::kPatch, "configmaps", "x", patch);
  request.patch_type = type;
  request.field_manager = manager;
  request.dry_run = dry_run;
  return host.machine.write(std::move(request));
}

// A 2.5 MB text and 2,000 copies of it: 5 GB. The second copy is refused before it is made.
TEST(Limits, A4CopiesAreLimitedInBytes) {
  HostFixture host;
  ASSERT_TRUE(host.create("configmaps", kMap).ok());
  std::string patch =
      R"([{"op":"add","path":"/data/a","value":")" + std::string(2'500'000, 'x') + "\"}";
  for (int i = 0; i < 2'000; ++i)
    patch += R"(,{"op":"copy","from":"/data/a","path":"/data/c)" + std::to_string(i) + "\"}";
  const auto done = patched(host, PatchType::kJson, patch + "]", "tester", true);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, 413);
  EXPECT_NE(done.error().text.find("operation 1 (copy"), std::string::npos) << done.error().text;
  EXPECT_NE(done.error().text.find("limit of 3145728 bytes"), std::string::npos);
}

TEST(Limits, A5AStoredObjectHasALimit) {
  HostFixture host;
  ASSERT_TRUE(host.create("configmaps", kMap).ok());
  // Open fields of a custom kind: nothing but the limit of the object bounds them.
  const std::string large(1'600'000, 'x');
  const std::string cluster =
      R"({"metadata":{"name":"r"},"spec":{"headGroupSpec":{"rayStartParams":{"a":")" + large +
      R"("},"template":{"spec":{"containers":[{"name":"h","image":"i"}]}}}}})";
  const auto made = host.create("rayclusters", cluster);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, 413) << made.error().text.substr(0, 200);
  EXPECT_NE(made.error().text.find("limit of 1572864 bytes"), std::string::npos);
  // Grown by a patch: 12 copies of 200 kB.
  std::string patch = R"([{"op":"add","path":"/metadata/annotations","value":{}},)"
                      R"({"op":"add","path":"/data/a","value":")" +
                      std::string(200'000, 'x') + "\"}";
  for (int i = 0; i < 12; ++i)
    patch += R"(,{"op":"copy","from":"/data/a","path":"/data/c)" + std::to_string(i) + "\"}";
  const auto grown = patched(host, PatchType::kJson, patch + "]");
  ASSERT_FALSE(grown.ok());
  EXPECT_EQ(grown.error().code, 413) << grown.error().text.substr(0, 200);
  EXPECT_EQ(test::at(host.get("configmaps", "default/x"), "/data/a"), "b");
}

// Each of several managers owns the same keys: the list of owners grows with each.
TEST(Limits, A16OwnersOfFieldsCountToTheObject) {
  HostFixture host;
  std::string keys;  // 600 of 240 bytes
  for (int i = 100; i < 700; ++i)
    keys += (i == 100 ? "\"" : ",\"") + std::string(237, 'k') + std::to_string(i) + "\":\"v\"";
  int refused = 0;
  for (int i = 0; i < 13; ++i) {
    const auto done = patched(
        host, PatchType::kApply,
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{)" + keys + "}}",
        "manager" + std::to_string(i));
    if (done.ok()) continue;
    EXPECT_EQ(done.error().code, 413) << done.error().text.substr(0, 200);
    ++refused;
  }
  // 148 kB for the keys and as much for each owner, with some words around: 9 of 13 owners fit.
  EXPECT_EQ(refused, 4);
}

TEST(Limits, A16AsManyAsKubernetesAllows) {
  HostFixture host;
  const auto map_with = [&](const std::string& metadata) {
    const auto done = host.create("configmaps", R"({"metadata":{"name":"y",)" + metadata + "}}");
    return done.ok() ? std::string() : std::to_string(done.error().code) + done.error().text;
  };
  const auto many = [](int n, const std::string& before, const std::string& after) {
    std::string out;
    for (int i = 0; i < n; ++i) out += (i == 0 ? "" : ",") + before + std::to_string(i) + after;
    return out;
  };
  const struct {
    std::string metadata;
    const char* says;
  } rows[] = {
      {R"("annotations":{"a":")" + std::string(262'144, 'x') + "\"}",
       "may not be more than 262144 bytes in all, got 262145"},
      {R"("labels":{)" + many(1'001, "\"l", "\":\"v\"") + "}", "must have at most 1000 items"},
      {R"("finalizers":[)" + many(101, "\"a/f", "\"") + "]", "must have at most 100 items"},
      {R"("finalizers":["not a name"])", "metadata.finalizers[0]: Invalid value"},
      {R"("ownerReferences":[)" +
           many(5'001, R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":")", "\"}") + "]",
       "must have at most 5000 items"},
  };
  for (const auto& row : rows) {
    const std::string refusal = map_with(row.metadata);
    EXPECT_EQ(refusal.substr(0, 3), "422") << row.says;
    EXPECT_NE(refusal.find(row.says), std::string::npos) << refusal.substr(0, 300);
  }
  EXPECT_EQ(map_with(R"("annotations":{"a":")" + std::string(262'143, 'x') + "\"}"), "");
  const auto event = host.create(
      "events", R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod"},"message":")" +
                    std::string(1'025, 'x') + "\"}");
  ASSERT_FALSE(event.ok());
  EXPECT_NE(event.error().text.find("message: Too long: may not be more than 1024 bytes"),
            std::string::npos)
      << event.error().text;
}

TEST(Limits, A16FieldManagersAreLimited) {
  HostFixture host;
  for (int i = 0; i <= 100; ++i) {
    const auto done = patched(
        host, PatchType::kApply,
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"k":"v"}})",
        "manager" + std::to_string(i));
    EXPECT_EQ(done.ok(), i < 100) << i;
    if (done.ok()) continue;
    EXPECT_EQ(done.error().code, 422);
    EXPECT_NE(done.error().text.find("must have at most 100"), std::string::npos);
  }
}

// What a request may nest can be read again: fields of 90 levels, and owners of as many.
TEST(Limits, WhatIsStoredIsReadAgainHoweverDeep) {
  HostFixture host;
  ASSERT_TRUE(host.create("configmaps", kMap).ok());
  std::string fields;
  for (int i = 0; i < 90; ++i) fields += R"({"f:a":)";
  fields += "{}" + std::string(90, '}');
  boost::system::error_code error;
  WriteRequest request = host.request(WriteVerb::kPatch, "configmaps", "x");
  request.body = api::parse_deep(
      R"({"metadata":{"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",)"
      R"("fieldsType":"FieldsV1","fieldsV1":)" +
          fields + "}]}}",
      error);
  ASSERT_FALSE(error);
  request.field_manager = "tester";
  const auto done = host.machine.write(std::move(request));
  ASSERT_TRUE(done.ok()) << done.error().text;
  EXPECT_EQ(test::at(host.get("configmaps", "default/x"), "/data/a"), "b");
  ASSERT_TRUE(host.merge("configmaps", "x", R"({"data":{"a":"c"}})").ok());
  EXPECT_EQ(test::at(host.get("configmaps", "default/x"), "/data/a"), "c");
}

// A request with 200,000 mistakes is answered with the first of them.
TEST(Limits, A7NobodyReadsSoManyMistakes) {
  HostFixture host;
  std::string fields;
  for (int i = 0; i < 50'000; ++i) fields += ",\"u" + std::to_string(i) + "\":1";
  WriteRequest request =
      host.request(WriteVerb::kCreate, "localqueues", "",
                   R"({"metadata":{"name":"q"},"spec":{"clusterQueue":"c")" + fields + "}}");
  const auto done = host.machine.write(std::move(request));
  ASSERT_TRUE(done.ok()) << done.error().text.substr(0, 200);
  EXPECT_EQ(done->warnings.size(), 200U);
}

// An event that came after those of the namespace were deleted kept it for an hour.
TEST(Limits, NothingIsToldInANamespaceThatGoes) {
  HostFixture host;
  host.apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})");
  host.apply(R"({"apiVersion":"v1","kind":"ConfigMap",
    "metadata":{"name":"x","namespace":"team","finalizers":["a/b"]}})");
  const EventNote note{{&host.kind("configmaps"), "team/x"}, false, "Said", "something"};
  static_cast<ObjectAccess&>(host.objects).emit(note);
  EXPECT_EQ(host.store.count(host.kind("events")), 1U);
  ASSERT_TRUE(host.remove("namespaces", "team").ok());
  ASSERT_TRUE(host.exists("configmaps", "team/x")) << "its finalizer keeps it";
  static_cast<ObjectAccess&>(host.objects).emit(note);
  EXPECT_EQ(host.store.count(host.kind("events")), 0U);
}

}  // namespace
}  // namespace sluice::host
