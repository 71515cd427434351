// Notes become Events: what they say, that the same note is counted, and how many are written.
#include "host/writes/event_writer.hpp"

#include <gtest/gtest.h>

#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

constexpr Time kStart = 1'767'225'600 * kSecond;  // 2026-01-01T00:00:00Z

/// A host with ConfigMaps a, b and c, and an EventWriter with these limits.
struct Telling : HostFixture {
  CountingIds event_ids;
  EventWriter writer;

  explicit Telling(EventLimits limits = {}) : writer(objects, event_ids, limits) {
    for (const char* name : {"a", "b", "c"}) apply(config_map(name));
  }
  void tell(const std::string& about, const std::string& message, bool warning = false,
            const std::string& reason = "Said") {
    writer.emit({{&kind("configmaps"), "default/" + about}, warning, reason, message});
  }
  std::size_t written() { return store.count(kind("events")); }
  /// `MESSAGE×COUNT` of each Event, in the order in which they were first written.
  std::string told() {
    std::map<std::string, std::string> by_name;  // an Event's name ends with its number
    const ObjectAccess& access = objects;
    for (const std::string& key : access.keys(kind("events"))) {
      const auto event = get("events", key);
      by_name[key.substr(key.find('.'))] = at(event, "/message") + "×" + at(event, "/count");
    }
    std::string out;
    for (const auto& [name, text] : by_name) out += (out.empty() ? "" : " ") + text;
    return out;
  }
};

// CountingIds: the first UID is 00000000-0000-4000-9000-000000000001; the name has its first three
// parts and the last eight digits.
TEST(EventWriter, AnEventSaysWhatHappenedToWhom) {
  Telling host;
  host.machine.begin_instant(kStart + 999 * kMillisecond);
  host.tell("a", "it is so", true);
  const std::string key = "default/a.0000000000004000" + std::string("00000001");
  ASSERT_TRUE(host.exists("events", key));
  const StoredObject* stored = host.store.find(host.kind("events"), key);
  const std::string uid = at(host.get("configmaps", "default/a"), "/metadata/uid");
  EXPECT_EQ(
      to_text(*stored),
      R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"a.000000000000400000000001",)"
      R"("namespace":"default","uid":"00000000-0000-4000-9000-000000000001",)"
      R"("creationTimestamp":"2026-01-01T00:00:00Z","resourceVersion":")" +
          std::to_string(stored->version) +
          R"("},"involvedObject":{"kind":"ConfigMap","name":"a","uid":")" + uid +
          R"(","apiVersion":"v1","namespace":"default"},"reason":"Said","message":"it is so",)"
          R"("source":{"component":"sluice"},"firstTimestamp":"2026-01-01T00:00:00Z",)"
          R"("lastTimestamp":"2026-01-01T00:00:00Z","count":1,"type":"Warning","eventTime":null,)"
          R"("reportingComponent":"sluice","reportingInstance":""})");
}

TEST(EventWriter, WhatIsInNoNamespaceIsToldInTheDefaultOne) {
  Telling host;
  ASSERT_TRUE(host.create("resourceflavors", R"({"metadata":{"name":"f"},"spec":{}})").ok());
  host.writer.emit({{&host.kind("resourceflavors"), "f"}, false, "Said", "it is so"});
  const auto event = host.get("events", "default/f.000000000000400000000001");
  EXPECT_EQ(at(event, "/involvedObject/name"), "f");
  EXPECT_EQ(at(event, "/involvedObject/apiVersion"), "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(at(event, "/involvedObject/namespace"), "(absent)");
  EXPECT_EQ(at(event, "/metadata/namespace"), "default");
  EXPECT_EQ(at(event, "/type"), "Normal");
}

// A name has at most 200 bytes of the object's and 25 more; a message 1024 bytes.
TEST(EventWriter, LongNamesAndMessagesAreCut) {
  Telling host;
  const std::string name(250, 'n');
  host.apply(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")" +
             name + "\"}}");
  host.tell(name, std::string(1025, 'm'));
  const auto event =
      host.get("events", "default/" + name.substr(0, 200) + ".000000000000400000000001");
  EXPECT_EQ(at(event, "/message"), std::string(1024, 'm'));
  EXPECT_EQ(at(event, "/involvedObject/name"), name);
}

// An ä has two bytes, of which the second one would be the 1025th.
TEST(EventWriter, MessagesAreCutAtACharacter) {
  Telling host;
  host.tell("a", std::string(1023, 'm') + "ä and more");
  const auto event = host.get("events", "default/a.000000000000400000000001");
  EXPECT_EQ(at(event, "/message"), std::string(1023, 'm'));
}

TEST(EventWriter, NobodyIsToldOfWhatIsNotThere) {
  Telling host;
  host.writer.emit({{}, false, "Said", "of no kind"});
  host.tell("nobody", "of none");
  EXPECT_EQ(host.written(), 0U);
  EXPECT_EQ(host.writer.dropped(), 0U);
}

// In a namespace that goes nothing new is written; a flavor of the same name is in none.
TEST(EventWriter, NobodyIsToldInANamespaceThatGoes) {
  Telling host;
  for (const char* ns : {"team", "eam"})
    host.apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + std::string(ns) +
               "\"}}");
  for (const char* ns : {"team", "eam"})
    host.apply(config_map("held", R"(,"finalizers":["a/b"])", ns));
  ASSERT_TRUE(host.create("resourceflavors", R"({"metadata":{"name":"team"},"spec":{}})").ok());
  ASSERT_TRUE(host.remove("namespaces", "team").ok());
  const auto tell_of = [&](const char* of, const char* key) {
    host.writer.emit({{&host.kind(of), key}, false, "Said", key});
  };
  tell_of("configmaps", "team/held");
  EXPECT_EQ(host.told(), "");
  tell_of("resourceflavors", "team");
  tell_of("configmaps", "eam/held");
  EXPECT_EQ(host.told(), "team×1 eam/held×1");
}

// The same: object, kind of note, reason and message. It is 00:00:00 when it is first told, and
// 00:01:07.5 when it is told again.
TEST(EventWriter, TheSameNoteIsOneEventWithACount) {
  Telling host;
  host.tell("a", "x");
  host.machine.begin_instant(kStart + 67'500 * kMillisecond);
  host.tell("a", "x");
  host.tell("a", "x", true);
  host.tell("a", "y");
  host.tell("b", "x");
  EXPECT_EQ(host.told(), "x×2 x×1 y×1 x×1");
  const auto event = host.get("events", "default/a.000000000000400000000001");
  EXPECT_EQ(at(event, "/firstTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(at(event, "/lastTimestamp"), "2026-01-01T00:01:07Z");
}

// Whoever deletes an Event has read it: what is told again is a new one, which is counted.
TEST(EventWriter, AnEventThatWasDeletedIsWrittenAnew) {
  Telling host({.remembered = 2});
  host.tell("a", "x");
  ASSERT_TRUE(host.remove("events", "a.000000000000400000000001").ok());
  for (int i = 0; i < 3; ++i) host.tell("a", "x");
  EXPECT_EQ(host.told(), "x×3");
  host.tell("a", "y");  // two notes are remembered, x once
  host.tell("a", "x");
  EXPECT_EQ(host.told(), "x×4 y×1");
  // It has one place among those that are remembered: z makes x forgotten, and w makes y.
  for (const char* message : {"z", "w", "y"}) host.tell("a", message);
  EXPECT_EQ(host.told(), "x×4 y×1 z×1 w×1 y×1");
}

// What a Job of many pods says of each of them does not hide how it ended: 25 of 1000, and one.
TEST(EventWriter, AReasonHidesNoOther) {
  Telling host;
  for (int i = 0; i < 1000; ++i) host.tell("a", std::to_string(i), false, "SuccessfulCreate");
  EXPECT_EQ(host.written(), 25U);
  EXPECT_EQ(host.writer.dropped(), 975U);
  host.tell("a", "Job completed", false, "Completed");
  EXPECT_EQ(host.written(), 26U);
  EXPECT_EQ(host.writer.dropped(), 975U);
}

// Two at once of a reason, one more every 10 s; of another object it is another's share.
TEST(EventWriter, AReasonHasItsShareOfAnObject) {
  Telling host({.per_reason_burst = 2});
  for (const char* message : {"1", "2", "3"}) host.tell("a", message);
  host.tell("a", "other", false, "Done");
  host.tell("b", "b");
  EXPECT_EQ(host.told(), "1×1 2×1 other×1 b×1");
  host.machine.begin_instant(kStart + 9 * kSecond);
  host.tell("a", "early");
  host.machine.begin_instant(kStart + 10 * kSecond);
  host.tell("a", "late");
  host.tell("a", "and more");
  EXPECT_EQ(host.told(), "1×1 2×1 other×1 b×1 late×1");
  EXPECT_EQ(host.writer.dropped(), 3U);
}

// Whoever invents a reason for each thing that he says has a hundred.
TEST(EventWriter, InventedReasonsAreBounded) {
  Telling host;
  for (int i = 0; i < 200; ++i) host.tell("a", "x", false, "Reason" + std::to_string(i));
  EXPECT_EQ(host.written(), 100U);
  EXPECT_EQ(host.writer.dropped(), 100U);
}

// Three at once for an object, one more every 10 s, whatever the others had.
TEST(EventWriter, AnObjectHasItsShare) {
  Telling host({.per_object_burst = 3, .per_object_per_second = 0.1});
  for (int i = 0; i < 5; ++i) host.tell("a", std::to_string(i));
  EXPECT_EQ(host.told(), "0×1 1×1 2×1");
  EXPECT_EQ(host.writer.dropped(), 2U);
  host.tell("b", "b");
  host.machine.begin_instant(kStart + 9 * kSecond);
  host.tell("a", "early");
  host.machine.begin_instant(kStart + 10 * kSecond);
  host.tell("a", "late");
  host.tell("a", "and more");
  EXPECT_EQ(host.told(), "0×1 1×1 2×1 b×1 late×1");
  EXPECT_EQ(host.writer.dropped(), 4U);
}

// Two at once for all, and two more each second; what an object may not say costs the others
// nothing.
TEST(EventWriter, AllTogetherHaveARate) {
  Telling host({.per_object_burst = 1, .burst = 2, .per_second = 2});
  for (const char* name : {"a", "a", "a", "b", "c"}) host.tell(name, name);
  EXPECT_EQ(host.told(), "a×1 b×1");
  EXPECT_EQ(host.writer.dropped(), 3U);
  host.machine.begin_instant(kStart + 500 * kMillisecond);
  host.apply(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default",
      "name":"d"}})");
  host.tell("d", "d");
  EXPECT_EQ(host.told(), "a×1 b×1 d×1");
}

// Two notes are remembered: the third makes the first forgotten, which is told anew then.
TEST(EventWriter, TheOldestNotesAreForgotten) {
  Telling host({.remembered = 2});
  for (const char* message : {"x", "y", "x", "y"}) host.tell("a", message);
  EXPECT_EQ(host.told(), "x×2 y×2");
  host.tell("a", "z");
  host.tell("a", "y");
  EXPECT_EQ(host.told(), "x×2 y×3 z×1");
  host.tell("a", "x");  // anew; y, which is older than z, is forgotten
  host.tell("a", "z");
  host.tell("a", "y");
  EXPECT_EQ(host.told(), "x×2 y×3 z×2 x×1 y×1");
}

// So are objects, with what they had of their share: two are remembered, each of which may say one
// thing.
TEST(EventWriter, TheOldestObjectsAreForgotten) {
  Telling host({.per_object_burst = 1, .remembered = 2});
  for (const char* name : {"a", "b", "a", "b"}) host.tell(name, "1");
  EXPECT_EQ(host.writer.dropped(), 2U);
  host.tell("c", "2");  // a is forgotten
  host.tell("b", "3");
  EXPECT_EQ(host.writer.dropped(), 3U) << "b is not";
  host.tell("a", "4");  // b is forgotten
  EXPECT_EQ(host.writer.dropped(), 3U);
  host.tell("c", "5");
  EXPECT_EQ(host.writer.dropped(), 4U) << "c is not";
  host.tell("b", "6");
  EXPECT_EQ(host.writer.dropped(), 4U);
}

}  // namespace
}  // namespace sluice::host::test
