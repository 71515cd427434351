// The metadata that the system keeps, and when two forms of an object differ: pure functions.
#include "host/writes/metadata.hpp"

#include <gtest/gtest.h>

#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

boost::json::object object_from(const std::string& text) {
  return boost::json::parse(text).as_object();
}

TEST(Metadata, WhatTheSystemSetsIsNobodyElses) {
  const std::string all = R"("uid":"u","creationTimestamp":"c","generation":1,
      "deletionTimestamp":"d","deletionGracePeriodSeconds":2,"selfLink":"s")";
  auto made =
      object_from(R"({"metadata":{"name":"n","resourceVersion":"9",)" + all + R"(},"spec":{}})");
  drop_system_metadata(made);
  EXPECT_EQ(boost::json::serialize(made), R"({"metadata":{"name":"n"},"spec":{}})");
  // Of a change: all six as they were, and none where there was none.
  const auto before = object_from(R"({"metadata":{"name":"n",)" + all + "}}");
  auto changed = object_from(R"({"metadata":{"name":"m","resourceVersion":"9","uid":"mine",
      "generation":7}})");
  keep_system_metadata(before, changed);
  EXPECT_EQ(changed, object_from(R"({"metadata":{"name":"m",)" + all + "}}"));
  auto forged = object_from(R"({"metadata":{"name":"m",)" + all + "}}");
  keep_system_metadata(object_from("{}"), forged);
  EXPECT_EQ(forged, object_from(R"({"metadata":{"name":"m"}})"));
}

TEST(Metadata, AnObjectDiffersByWhatAReaderSees) {
  const struct {
    const char* before;
    const char* after;
    bool differs, body_differs;
  } rows[] = {
      {R"({"spec":{"a":1}})", R"({"spec":{"a":1}})", false, false},
      {R"({"spec":{"a":1}})", R"({"spec":{"a":2}})", true, true},
      {R"({"spec":{}})", R"({"spec":{},"data":{}})", true, true},
      {R"({"spec":{},"data":{}})", R"({"spec":{}})", true, true},
      {R"({"spec":{}})", R"({"data":{}})", true, true},
      {R"({"apiVersion":"a","kind":"k"})", R"({"apiVersion":"b","kind":"l"})", false, false},
      // A status that is empty is none.
      {R"({})", R"({"status":{}})", false, false},
      {R"({"status":null})", R"({"status":{}})", false, false},
      {R"({})", R"({"status":{"a":1}})", true, false},
      {R"({"status":{"a":1}})", R"({"status":null})", true, false},
      {R"({"status":{"a":1}})", R"({"status":{"a":1}})", false, false},
      {R"({"status":{"a":1}})", R"({"status":{"a":2}})", true, false},
      {R"({})", R"({"status":"x"})", true, false},
      // The version is not part of what is written.
      {R"({"metadata":{"name":"n","resourceVersion":"1"}})", R"({"metadata":{"name":"n"}})", false,
       false},
      {R"({"metadata":{"name":"n"}})", R"({"metadata":{"name":"n","resourceVersion":"1"}})", false,
       false},
      {R"({"metadata":{"labels":{}}})", R"({"metadata":{"labels":{"a":"b"}}})", true, false},
      {R"({})", R"({"metadata":{}})", false, false},
      {R"({"metadata":{"name":"n"}})", R"({})", true, false},
  };
  for (const auto& row : rows) {
    const auto before = object_from(row.before), after = object_from(row.after);
    EXPECT_EQ(object_differs(before, after), row.differs) << row.before << " " << row.after;
    EXPECT_EQ(body_differs(before, after), row.body_differs) << row.before << " " << row.after;
  }
}

TEST(Metadata, AGenerationIsOneMoreThanTheLast) {
  auto object = object_from("{}");
  advance_generation(object);
  EXPECT_EQ(at(object, "/metadata/generation"), "1");
  advance_generation(object);
  EXPECT_EQ(at(object, "/metadata/generation"), "2");
}

TEST(Metadata, FinalizersAreTexts) {
  auto object = object_from(R"({"metadata":{"finalizers":["a/b",1,"c/d"]}})");
  EXPECT_EQ(finalizers_of(object), (std::vector<std::string>{"a/b", "c/d"}));
  EXPECT_TRUE(has_finalizer(object, "c/d"));
  EXPECT_FALSE(has_finalizer(object, "c"));
  add_finalizer(object, "c/d");
  EXPECT_EQ(at(object, "/metadata/finalizers"), R"(["a/b",1,"c/d"])");
  remove_finalizer(object, "a/b");
  remove_finalizer(object, "x/y");
  EXPECT_EQ(at(object, "/metadata/finalizers"), R"([1,"c/d"])");
  auto single = object_from(R"({"metadata":{"finalizers":"none"}})");
  EXPECT_EQ(finalizers_of(single), std::vector<std::string>{});
  add_finalizer(single, "a/b");
  EXPECT_EQ(at(single, "/metadata/finalizers"), R"(["a/b"])");
  remove_finalizer(single, "a/b");
  EXPECT_EQ(at(single, "/metadata/finalizers"), "(absent)");
  remove_finalizer(single, "a/b");
  EXPECT_EQ(boost::json::serialize(single), R"({"metadata":{}})");
  EXPECT_EQ(finalizers_of(object_from("{}")), std::vector<std::string>{});
}

// Times of objects are whole seconds: 10.9 s and 30 s of grace are 40.
TEST(Metadata, AMarkSaysWhenItsTimeIsOver) {
  auto object = object_from("{}");
  mark_for_deletion(object, 10'900 * kMillisecond, 30);
  EXPECT_EQ(boost::json::serialize(object),
            R"({"metadata":{"deletionTimestamp":"1970-01-01T00:00:40Z",)"
            R"("deletionGracePeriodSeconds":30}})");
}

TEST(Identity, OfAnObjectIsGivenWhereItIsMissing) {
  auto made = object_from(R"({"metadata":{"resourceVersion":"9","generation":7}})");
  give_identity(made, "u", 10'900 * kMillisecond);
  EXPECT_EQ(made, object_from(R"({"metadata":{"generation":7,"uid":"u",
                                  "creationTimestamp":"1970-01-01T00:00:10Z"}})"));
  give_identity(made, "v", 20 * kSecond);
  EXPECT_EQ(at(made, "/metadata/uid"), "u");
  EXPECT_EQ(at(made, "/metadata/creationTimestamp"), "1970-01-01T00:00:10Z");
  auto fresh = object_from("{}");
  give_identity(fresh, "u", 0);
  EXPECT_EQ(at(fresh, "/metadata/generation"), "1");
}

// The same in the form that is stored, where the decoded form is told as well. It is 10 s past
// 1970.
TEST(Identity, OfAStoredFormIsGivenWhereItIsMissing) {
  constexpr const char* kUid = R"("uid":"own")";
  constexpr const char* kTime = R"("creationTimestamp":"1970-01-01T00:00:01Z")";
  const struct {
    std::string metadata;
    std::optional<Time> created;
    const char* uid;
    const char* time;
  } rows[] = {
      {"", 10 * kSecond, "given", "1970-01-01T00:00:10Z"},
      {"", std::nullopt, "given", "(absent)"},
      {kUid, 10 * kSecond, "own", "1970-01-01T00:00:10Z"},
      {kUid, std::nullopt, "own", "(absent)"},
      {kTime, 10 * kSecond, "given", "1970-01-01T00:00:01Z"},
      {std::string(kUid) + "," + kTime, 10 * kSecond, "own", "1970-01-01T00:00:01Z"},
  };
  HostFixture host;
  for (const auto& row : rows) {
    const std::string more = row.metadata.empty() ? "" : "," + row.metadata;
    PreparedObject prepared = host.intake.encode(
        host.kind("resourceflavors"),
        object_from(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
                        "metadata":{"name":"f")" +
                    more + R"(},"spec":{}})"));
    give_identity(prepared, "given", row.created);
    const auto object = to_object(prepared.stored);
    EXPECT_EQ(at(object, "/metadata/uid"), row.uid) << row.metadata;
    EXPECT_EQ(at(object, "/metadata/creationTimestamp"), row.time) << row.metadata;
    EXPECT_EQ(at(object, "/metadata/name"), "f");
    EXPECT_TRUE(prepared.has_uid);
    EXPECT_EQ(prepared.has_creation_time, std::string(row.time) != "(absent)");
    const auto& typed = std::get<std::unique_ptr<api::ResourceFlavor>>(prepared.typed);
    EXPECT_EQ(typed->meta.uid, row.uid);
    const std::string told =
        typed->meta.creation_time ? format_time(*typed->meta.creation_time) : "(absent)";
    EXPECT_EQ(told, row.time);
  }
}

}  // namespace
}  // namespace sluice::host::test
