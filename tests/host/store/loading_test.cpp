#include "host/store/loading.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <random>

#include "host/store/live_store.hpp"
#include "tests/host/store/fixture.hpp"

namespace sluice::host::test {
namespace {

RecordPtr with_key(const std::string& key) {
  return std::make_shared<const StoredObject>(object(kind("Workload"), key, "1"));
}

std::vector<std::string> sorted(const std::vector<std::string>& keys) {
  std::vector<RecordPtr> records;
  for (const std::string& key : keys) records.push_back(with_key(key));
  EXPECT_TRUE(sort_by_key(records).ok());
  std::vector<std::string> out;
  for (const RecordPtr& each : records) out.push_back(each->key);
  return out;
}

TEST(SortByKey, OrdersAsTextsDo) {
  using Keys = std::vector<std::string>;
  EXPECT_EQ(sorted({}), Keys());
  EXPECT_EQ(sorted({"b", "a"}), Keys({"a", "b"}));
  EXPECT_EQ(sorted({"ns/b", "ns/", "ns/a", "ns"}), Keys({"ns", "ns/", "ns/a", "ns/b"}));
  EXPECT_EQ(sorted({"ns/\xc3\xa4", "ns/z"}), Keys({"ns/z", "ns/\xc3\xa4"}));
  std::mt19937 random(5);
  Keys keys;
  for (int i = 0; i < 3000; ++i) {
    std::string key = "default/";
    for (std::size_t n = random() % 30; n > 0; --n) key += static_cast<char>('a' + random() % 2);
    keys.push_back(key + "/" + std::to_string(i));
  }
  Keys expected = keys;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(sorted(keys), expected);
}

TEST(SortByKey, FindsAKeyThatIsThereTwice) {
  std::vector<RecordPtr> records = {with_key("ns/a"), with_key("ns/b"), with_key("ns/a")};
  const auto done = sort_by_key(records);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().text, "Workload ns/a is there twice: the file is damaged");
}

/// Notes what it is shown, by batch.
class Collector final : public LoadObserver {
 public:
  void begin(std::size_t lanes) override { lanes_.resize(lanes); }
  void read(std::size_t lane, std::size_t batch, std::span<const RecordPtr> records) override {
    for (const RecordPtr& each : records) lanes_[lane][batch].push_back(each.get());
  }
  std::vector<const StoredObject*> all() const {
    std::map<std::size_t, std::vector<const StoredObject*>> batches;
    for (const auto& lane : lanes_) batches.insert(lane.begin(), lane.end());
    std::vector<const StoredObject*> out;
    for (const auto& [number, records] : batches)
      out.insert(out.end(), records.begin(), records.end());
    return out;
  }

 private:
  std::vector<std::map<std::size_t, std::vector<const StoredObject*>>> lanes_;
};

TEST(Loading, EveryRecordIsInBothViewsAndSeenOnce) {
  const auto disk = std::make_shared<MemoryDisk>();
  const std::size_t count = 3000;
  {
    LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
    for (std::size_t i = 0; i < count; ++i)
      store.put(object(kind(i % 3 == 0 ? "ClusterQueue" : "Workload"),
                       (i % 3 == 0 ? "c" : "ns/w") + std::to_string(i), std::to_string(i % 7)));
    store.commit(nullptr);
  }
  Collector seen;
  LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk), {}, &seen);
  const std::vector<const StoredObject*> all = seen.all();
  EXPECT_EQ(all.size(), count);
  for (const StoredObject* each : all) {
    EXPECT_EQ(store.find(*each->kind, each->key), each);
    EXPECT_EQ(store.get(*each->kind, each->key).get(), each);
  }
  // In the order of the journal, which here is that of kinds and keys.
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return std::pair(a->kind->kind, a->key) < std::pair(b->kind->kind, b->key);
  }));
  EXPECT_EQ(store.count(kind("Workload")), 2000U);
  const auto listing = store.read(kind("Workload"), "ns");
  ASSERT_TRUE(listing.ok());
  EXPECT_EQ(listing->objects.size(), 2000U);
}

// More than are on their way at a time, so that those who read take up what others are done with;
// each has its own texts, of a length of its own.
TEST(Loading, EveryRecordHasItsOwnTexts) {
  const auto disk = std::make_shared<MemoryDisk>();
  const auto word = [](std::size_t i) { return std::string(1 + i % 13, 'a') + std::to_string(i); };
  const std::size_t count = 10'000;
  for (std::size_t i = 0; i < count; ++i)
    disk->rows[{"kueue.x-k8s.io/Workload", "ns/" + word(i)}] = {
        R"({"name":")" + word(i) + "\"}", R"({"a":")" + word(i + 1) + "\"}",
        R"({"text":")" + word(i + 2) + "\"}", R"({"h":")" + word(i + 3) + "\"}", i + 2};
  const LiveStore store(scheme(), std::make_unique<MemoryJournal>(disk));
  ASSERT_EQ(store.failure(), "");
  for (std::size_t i = 0; i < count; ++i) {
    const StoredObject* found = store.find(kind("Workload"), "ns/" + word(i));
    ASSERT_NE(found, nullptr) << i;
    EXPECT_EQ(found->version, i + 2);
    EXPECT_EQ(found->metadata.text(), R"({"name":")" + word(i) + "\"}");
    EXPECT_EQ(*found->body, R"({"a":")" + word(i + 1) + "\"}");
    EXPECT_EQ(text_of(*found), word(i + 2));
    EXPECT_EQ(found->hidden, R"({"h":")" + word(i + 3) + "\"}");
  }
}

}  // namespace
}  // namespace sluice::host::test
