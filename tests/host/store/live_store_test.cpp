#include "host/store/live_store.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tests/host/store/fixture.hpp"

namespace sluice::host::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const api::KindInfo& flavor() { return kind("ResourceFlavor"); }

TEST(LiveStore, WorkingViewIsAtOncePublishedViewAfterTheCommit) {
  LiveStore store(scheme(), nullptr);
  EXPECT_EQ(store.version(), 1U);
  store.put(object(workload(), "a/x"));
  ASSERT_NE(store.find(workload(), "a/x"), nullptr);
  EXPECT_EQ(store.find(workload(), "a/x")->version, 2U);
  EXPECT_EQ(store.get(workload(), "a/x"), nullptr);
  EXPECT_EQ(store.version(), 1U);
  EXPECT_EQ(commit(store), "");
  EXPECT_EQ(store.get(workload(), "a/x")->version, 2U);
  EXPECT_EQ(store.version(), 2U);
  EXPECT_EQ(store.working_version(), 2U);
}

TEST(LiveStore, ListsByKeyBeforeTheCommitAndAfterIt) {
  LiveStore store(scheme(), nullptr);
  std::string all;
  for (char key = 'j'; key >= 'a'; --key) {
    store.put(object(workload(), std::string("x/") + key));
    all.insert(0, 1, key);
  }
  const auto listed = [&store] {
    std::string out;
    for (const StoredObject* each : store.list(workload())) out += each->key.back();
    return out;
  };
  EXPECT_EQ(listed(), all);
  ASSERT_EQ(commit(store), "");
  EXPECT_EQ(listed(), all);
}

TEST(LiveStore, EveryChangeHasItsVersionAlsoADeletion) {
  LiveStore store(scheme(), nullptr);
  store.put(object(workload(), "a/x", "1"));
  store.put(object(flavor(), "spot"));
  store.put(object(workload(), "a/x", "2"));
  EXPECT_TRUE(store.erase(workload(), "a/x"));
  EXPECT_FALSE(store.erase(workload(), "a/x"));
  EXPECT_EQ(commit(store), "");
  auto cursor = store.watch(workload(), 1);
  ASSERT_TRUE(cursor.ok());
  std::vector<Change> changes;
  EXPECT_TRUE(cursor->take(changes, 100));
  EXPECT_THAT(describe(changes), ElementsAre("+a/x@2", "~a/x@4", "-a/x@5"));
  EXPECT_EQ(text_of(*changes[2].object), "2");  // the last form …
  EXPECT_EQ(changes[2].before->version, 4U);    // … which keeps its own version
  EXPECT_EQ(cursor->position(), 5U);
}

TEST(LiveStore, ReadsByNamespaceAfterAKeyUpToALimit) {
  LiveStore store(scheme(), nullptr);
  for (const char* key : {"b/1", "a/2", "a-b/1", "a/1", "c/1", "a/3"})
    store.put(object(workload(), key));
  ASSERT_EQ(commit(store), "");
  struct Case {
    const char *ns, *after;
    std::size_t limit;
    std::vector<std::string> keys;
    std::size_t remaining;
  };
  const std::vector<Case> cases = {
      {"", "", 0, {"a-b/1", "a/1", "a/2", "a/3", "b/1", "c/1"}, 0},
      {"", "", 2, {"a-b/1", "a/1"}, 4},
      {"", "a/1", 2, {"a/2", "a/3"}, 2},
      {"", "a/2x", 1, {"a/3"}, 2},
      {"", "c/1", 2, {}, 0},
      {"a", "", 0, {"a/1", "a/2", "a/3"}, 0},
      {"a", "", 3, {"a/1", "a/2", "a/3"}, 0},
      {"a", "a/1", 1, {"a/2"}, 1},
      {"a", "b/1", 0, {}, 0},  // a key outside of the namespace
      {"a", "a-b/1", 1, {"a/1"}, 2},
      {"z", "", 0, {}, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.ns) + " after " + c.after + " limit " + std::to_string(c.limit));
    const auto listing = store.read(workload(), c.ns, c.after, c.limit);
    ASSERT_TRUE(listing.ok());
    EXPECT_EQ(keys(listing->objects), c.keys);
    EXPECT_EQ(listing->remaining, c.remaining);
    EXPECT_EQ(listing->more, c.remaining != 0);
    EXPECT_EQ(listing->version, store.version());
  }
}

TEST(LiveStore, PagesOfOneVersionAreOneCut) {
  LiveStore store(scheme(), nullptr);
  for (const char* key : {"a/1", "a/3", "a/5", "b/1"}) store.put(object(workload(), key, "old"));
  ASSERT_EQ(commit(store), "");
  const auto first = store.read(workload(), "", "", 1);
  ASSERT_TRUE(first.ok());
  store.put(object(workload(), "a/2", "new"));
  store.put(object(workload(), "a/3", "new"));
  store.put(object(workload(), "a/3", "newer"));
  store.erase(workload(), "a/5");
  store.put(object(workload(), "a/5", "new"));
  store.erase(workload(), "b/1");
  store.put(object(workload(), "b/2", "new"));
  store.erase(workload(), "b/2");
  ASSERT_EQ(commit(store), "");

  const auto rest = store.read(workload(), "", "a/1", 2, first->version);
  ASSERT_TRUE(rest.ok());
  EXPECT_THAT(keys(rest->objects), ElementsAre("a/3", "a/5"));
  for (const RecordPtr& record : rest->objects) EXPECT_EQ(text_of(*record), "old");
  EXPECT_EQ(rest->remaining, 1U);
  EXPECT_EQ(rest->version, first->version);
  const auto last = store.read(workload(), "", "a/5", 2, first->version);
  ASSERT_TRUE(last.ok());
  EXPECT_THAT(keys(last->objects), ElementsAre("b/1"));
  EXPECT_FALSE(last->more);
  EXPECT_THAT(keys(store.read(workload(), "")->objects), ElementsAre("a/1", "a/2", "a/3", "a/5"));
}

// More objects than one look at the table takes.
TEST(LiveStore, ReadsLongListsInOneCut) {
  LiveStore store(scheme(), nullptr);
  for (int i = 0; i < 10'000; ++i) store.put(object(workload(), "a/" + std::to_string(i)));
  ASSERT_EQ(commit(store), "");
  const auto listing = store.read(workload(), "");
  ASSERT_TRUE(listing.ok());
  EXPECT_EQ(listing->objects.size(), 10'000U);
  EXPECT_TRUE(std::is_sorted(listing->objects.begin(), listing->objects.end(),
                             [](const auto& a, const auto& b) { return a->key < b->key; }));
  const auto half = store.read(workload(), "", "", 5000);
  EXPECT_EQ(half->objects.size(), 5000U);
  EXPECT_EQ(half->remaining, 5000U);
  EXPECT_TRUE(half->more);
  const auto rest = store.read(workload(), "", half->objects.back()->key, 5000, half->version);
  EXPECT_EQ(rest->objects.size(), 5000U);
  EXPECT_EQ(rest->remaining, 0U);
  EXPECT_FALSE(rest->more);
}

TEST(LiveStore, WhatFellOutOfTheHistoryIsExpiredKindByKind) {
  LiveStore store(scheme(), nullptr, {.changes = 3, .bytes = 1U << 20});
  store.put(object(flavor(), "spot"));                                                  // 2
  for (int i = 0; i < 3; ++i) store.put(object(workload(), "a/x", std::to_string(i)));  // 3, 4, 5
  ASSERT_EQ(commit(store), "");
  auto behind = store.watch(workload(), 2);
  ASSERT_TRUE(behind.ok());
  auto resting = store.watch(flavor(), 2);
  ASSERT_TRUE(resting.ok());
  EXPECT_FALSE(store.watch(flavor(), 1).ok());
  EXPECT_FALSE(store.watch(workload(), 6).ok());
  const auto page = store.read(workload(), "", "", 1);

  store.put(object(workload(), "a/x", "3"));  // 6: 3 is forgotten
  ASSERT_EQ(commit(store), "");
  std::vector<Change> changes;
  EXPECT_FALSE(behind->take(changes, 100));
  EXPECT_THAT(changes, IsEmpty());
  EXPECT_TRUE(resting->take(changes, 100));
  EXPECT_EQ(resting->position(), 6U);  // what it has not seen is not of its kind
  EXPECT_TRUE(store.watch(workload(), 3).ok());
  EXPECT_TRUE(store.read(workload(), "", "", 1, page->version).ok());
  const auto expired = store.read(workload(), "", "", 1, 2);
  ASSERT_FALSE(expired.ok());
  EXPECT_EQ(expired.error().text,
            "resource version 2 is too old: changes of Workload are kept from 3 on");
  const auto future = store.read(workload(), "", "", 1, 7);
  ASSERT_FALSE(future.ok());
  EXPECT_EQ(future.error().text, "resource version 7 does not exist yet: the last is 6");
}

// 5,000 bytes of any text that an object has: three changes fit into 20,000, if that.
TEST(LiveStore, HistoryIsBoundedInBytes) {
  const std::string large(5000, 'x');
  const std::function<void(StoredObject&)> rows[] = {
      [&](StoredObject& each) { each.status = "\"" + large + "\""; },
      [&](StoredObject& each) { each.hidden = "\"" + large + "\""; },
      [&](StoredObject& each) { each.body = std::make_shared<const std::string>(large); },
      [&](StoredObject& each) { each.metadata = Header(R"({"name":")" + large + "\"}"); },
      [&](StoredObject& each) { each.key += large; },
  };
  for (const auto& make_large : rows) {
    LiveStore store(scheme(), nullptr, {.changes = 1000, .bytes = 20'000});
    for (int i = 0; i < 100; ++i) {
      StoredObject next = object(workload(), "a/x");
      make_large(next);
      store.put(std::move(next));
    }
    ASSERT_EQ(commit(store), "");
    EXPECT_FALSE(store.watch(workload(), 90).ok()) << &make_large - rows;
    EXPECT_TRUE(store.watch(workload(), 99).ok()) << &make_large - rows;
  }
}

// What is put, changed and erased is counted, and counted again at the next start.
TEST(LiveStore, KnowsHowMuchItHolds) {
  const auto disk = std::make_shared<MemoryDisk>();
  for (const bool again : {false, true}) {
    LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
    if (!again) {
      store.put(object(workload(), "a/x", "1"));
      store.put(object(workload(), "a/x", "12345"));
      store.put(object(workload(), "a/y", "1"));
      store.put(object(workload(), "b/x", "1"));
      store.put(object(flavor(), "spot", "1"));
      EXPECT_EQ(store.use("a").objects, 2U);
      store.erase(workload(), "a/y");
      ASSERT_EQ(commit(store), "");
    }
    // Of 28 bytes are those that say one letter, beside their key: 29 + 4, 29 and 30.
    EXPECT_EQ(store.use("a").objects, 1U);
    EXPECT_EQ(store.use("a").bytes, 33U);
    EXPECT_EQ(store.use("b").bytes, 29U);
    EXPECT_EQ(store.use().objects, 3U);
    EXPECT_EQ(store.use().bytes, 33U + 29U + 30U);
    EXPECT_EQ(store.use("spot").objects, 0U);
  }
}

TEST(LiveStore, CursorsTakeInPieces) {
  LiveStore store(scheme(), nullptr);
  auto cursor = store.watch(workload(), 1);
  ASSERT_TRUE(cursor.ok());
  for (const char* key : {"a/1", "a/2", "a/3"}) store.put(object(workload(), key));
  ASSERT_EQ(commit(store), "");
  std::vector<Change> changes;
  EXPECT_TRUE(cursor->take(changes, 2));
  EXPECT_EQ(cursor->position(), 3U);
  EXPECT_TRUE(cursor->take(changes, 2));
  EXPECT_THAT(describe(changes), ElementsAre("+a/1@2", "+a/2@3", "+a/3@4"));
  EXPECT_TRUE(cursor->take(changes, 2));
  EXPECT_EQ(changes.size(), 3U);
}

TEST(LiveStore, SubscriptionsAreWokenForTheirKindUntilTheyEnd) {
  LiveStore store(scheme(), nullptr);
  std::atomic<int> workloads = 0, flavors = 0;
  auto first = store.subscribe(workload(), [&] { ++workloads; });
  auto second = store.subscribe(flavor(), [&] { ++flavors; });
  store.put(object(workload(), "a/x"));
  store.put(object(workload(), "a/y"));
  ASSERT_EQ(commit(store), "");  // told after the watchers
  EXPECT_EQ(workloads, 1);
  EXPECT_EQ(flavors, 0);
  first.reset();
  store.put(object(workload(), "a/x"));
  store.put(object(flavor(), "spot"));
  ASSERT_EQ(commit(store), "");
  EXPECT_EQ(workloads, 1);
  EXPECT_EQ(flavors, 1);
}

TEST(LiveStore, ASubscriptionMayEndItself) {
  LiveStore store(scheme(), nullptr);
  std::unique_ptr<LiveStore::Subscription> once;
  int calls = 0;
  once = store.subscribe(workload(), [&] {
    ++calls;
    once.reset();
  });
  for (int i = 0; i < 3; ++i) {
    store.put(object(workload(), "a/x"));
    ASSERT_EQ(commit(store), "");
  }
  EXPECT_EQ(calls, 1);
}

TEST(LiveStore, ClosedItHasWrittenWhatWasCommittedAndLetsGoOfTheJournal) {
  const auto disk = std::make_shared<MemoryDisk>();
  LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
  store.put(object(workload(), "a/x"));
  store.commit([](const Result<void>&) {});
  store.close();
  EXPECT_EQ(disk->rows.size(), 1U);
  EXPECT_EQ(disk.use_count(), 1) << "nobody writes there any more";
}

TEST(LiveStore, ComesBackFromTheJournal) {
  const auto disk = std::make_shared<MemoryDisk>();
  {
    LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
    store.put(object(workload(), "a/x", "1"));
    store.put(object(workload(), "a/y", "1"));
    store.put(object(flavor(), "spot"));
    ASSERT_EQ(commit(store), "");
    store.put(object(workload(), "a/x", "2"));
    store.erase(workload(), "a/y");
    ASSERT_EQ(commit(store), "");
    store.put(object(workload(), "a/z", "never committed"));
  }
  LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
  EXPECT_EQ(store.version(), 6U);
  EXPECT_THAT(keys(store.read(workload(), "")->objects), ElementsAre("a/x"));
  EXPECT_EQ(store.get(workload(), "a/x")->version, 5U);
  EXPECT_EQ(text_of(*store.find(workload(), "a/x")), "2");
  // A watch that has seen the last change of a kind goes on; one that has not cannot.
  EXPECT_TRUE(store.watch(flavor(), 4).ok());
  EXPECT_FALSE(store.watch(flavor(), 3).ok());
  EXPECT_TRUE(store.watch(workload(), 6).ok());
  EXPECT_FALSE(store.watch(workload(), 5).ok());
  store.put(object(workload(), "a/z"));
  EXPECT_EQ(store.find(workload(), "a/z")->version, 7U);
}

TEST(LiveStore, KindsTheSchemeDoesNotKnowStayInTheJournal) {
  const auto disk = std::make_shared<MemoryDisk>();
  disk->rows[{"example.com/Widget", "a/x"}] = {"{}", "{}", "", "", 5};
  disk->state.version = 5;
  disk->state.kinds["example.com/Widget"] = 5;
  {
    LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
    EXPECT_EQ(store.version(), 5U);
    store.put(object(workload(), "a/x"));
    ASSERT_EQ(commit(store), "");
  }
  EXPECT_EQ(disk->rows.size(), 2U);
}

TEST(LiveStore, KeepsWhatIsHiddenUnlessGivenAnother) {
  LiveStore store(scheme(), nullptr);
  StoredObject first = object(workload(), "a/x");
  first.hidden = R"({"spec":{"extra":1}})";
  store.put(first);
  store.put(object(workload(), "a/x", "2"));
  EXPECT_EQ(store.find(workload(), "a/x")->hidden, R"({"spec":{"extra":1}})");
  first.hidden = "{}";
  store.put(first);
  EXPECT_EQ(store.find(workload(), "a/x")->hidden, "{}");
}

// A plugin that adds a field is there, away, and there again.
TEST(LiveStore, FieldsOfAnAbsentPluginAreHiddenAndComeBack) {
  api::Scheme painted;
  ASSERT_TRUE(painted
                  .add(R"({"kind": "Workload", "group": "kueue.x-k8s.io", "versions":
                      [{"version": "v1beta2", "fields": [
                        {"path": "spec.paint", "type": "string"}]}]})",
                       "paint")
                  .ok());
  const api::KindInfo& kind_there = *painted.find_by_name("Workload");
  const auto disk = std::make_shared<MemoryDisk>();
  const auto body_of = [&](const LiveStore& store, const api::KindInfo& of, const char* key) {
    const RecordPtr record = store.get(of, key);
    return record ? *record->body + record->hidden : "none";
  };
  {
    LiveStore store(painted, std::make_unique<MemoryJournal>(disk));
    StoredObject it = object(kind_there, "a/x");
    it.status.clear();
    it.metadata = Header(R"({"name":"x","namespace":"a"})");
    it.body = std::make_shared<const std::string>(R"({"spec":{"paint":"red","queueName":"q"}})");
    store.put(it);
    it.key = "a/y";
    it.metadata = Header(R"({"name":"y","namespace":"a"})");
    it.body = std::make_shared<const std::string>(R"({"spec":{"queueName":"q"}})");
    store.put(it);
    ASSERT_EQ(commit(store), "");
  }
  const std::string hidden = R"([{"at":["spec","paint"],"value":"red"}])";
  {
    LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
    EXPECT_EQ(body_of(store, workload(), "a/x"), R"({"spec":{"queueName":"q"}})" + hidden);
    EXPECT_EQ(body_of(store, workload(), "a/y"), R"({"spec":{"queueName":"q"}})");
    // A change of this one object, which a watch goes on to see.
    auto cursor = store.watch(workload(), 3);
    ASSERT_TRUE(cursor.ok());
    std::vector<Change> changes;
    EXPECT_TRUE(cursor->take(changes, 10));
    EXPECT_THAT(describe(changes), ElementsAre("~a/x@4"));
    // A write while it is away keeps what is hidden.
    StoredObject next = *store.find(workload(), "a/x");
    next.body = std::make_shared<const std::string>(R"({"spec":{"queueName":"r"}})");
    next.hidden.clear();
    store.put(next);
    ASSERT_EQ(commit(store), "");
  }
  {
    LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
    EXPECT_EQ(store.version(), 5U);  // nothing to do for the same fields
  }
  LiveStore store(painted, std::make_unique<MemoryJournal>(disk));
  EXPECT_EQ(body_of(store, kind_there, "a/x"), R"({"spec":{"queueName":"r","paint":"red"}})");
  EXPECT_EQ(store.version(), 6U);
}

TEST(LiveStore, OnceFailedNothingIsAcknowledgedAnyMore) {
  const auto disk = std::make_shared<MemoryDisk>();
  disk->fail_at = 2;
  LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
  store.put(object(workload(), "a/x", "1"));
  EXPECT_EQ(commit(store), "");
  EXPECT_EQ(store.failure(), "");
  store.put(object(workload(), "a/x", "2"));
  EXPECT_EQ(commit(store), "the disk is gone");
  EXPECT_EQ(store.failure(), "the disk is gone");
  store.put(object(workload(), "a/y", "3"));
  EXPECT_EQ(commit(store), "the disk is gone");
  EXPECT_EQ(commit(store), "the disk is gone");  // an empty one too
  EXPECT_EQ(disk->writes, 2U);
  EXPECT_EQ(store.version(), 2U);
  EXPECT_EQ(text_of(*store.get(workload(), "a/x")), "1");
  EXPECT_EQ(store.backlog(), 0U);
}

TEST(LiveStore, AnUnreadableJournalIsAFailedStore) {
  const auto disk = std::make_shared<MemoryDisk>();
  disk->unreadable = true;
  LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
  EXPECT_EQ(store.failure(), "unreadable");
  store.put(object(workload(), "a/x"));
  EXPECT_EQ(commit(store), "unreadable");
}

TEST(LiveStore, TheEndWritesWhatWasCommitted) {
  const auto disk = std::make_shared<MemoryDisk>();
  std::atomic<int> done = 0;
  {
    LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
    for (int i = 0; i < 100; ++i) {
      store.put(object(workload(), "a/" + std::to_string(i)));
      store.commit([&done](const Result<void>& result) { done += result.ok() ? 1 : 0; });
    }
    store.commit(nullptr);
  }
  EXPECT_EQ(done, 100);
  EXPECT_EQ(disk->rows.size(), 100U);
}

}  // namespace
}  // namespace sluice::host::test
