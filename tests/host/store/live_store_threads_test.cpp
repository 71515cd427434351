// One writer, many readers and watchers: what each of them saw is compared with the model.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <random>
#include <thread>

#include "tests/host/store/model.hpp"

namespace sluice::host::test {
namespace {

constexpr std::uint64_t kTransactions = 1500;
const std::vector<const char*> kKinds = {"Workload", "LocalQueue"};

std::string some_key(std::mt19937_64& random) {
  return (random() % 2 == 0 ? "a/" : "b/") + std::to_string(random() % 40);
}

// The kernel's thread: random transactions, at most `ahead` of them unanswered.
Model write_all(LiveStore& store) {
  Model model;
  std::mt19937_64 random(1);
  std::mutex mutex;
  std::condition_variable answered;
  std::uint64_t open = 0;
  for (std::uint64_t i = 0; i < kTransactions; ++i) {
    for (std::uint64_t changes = 1 + random() % 4; changes != 0; --changes) {
      const api::KindInfo& of = kind(kKinds[random() % kKinds.size()]);
      const std::string key = some_key(random);
      const std::string text = std::to_string(i);
      const bool deleted = random() % 4 == 0;
      if (!deleted)
        store.put(object(of, key, text));
      else if (!store.erase(of, key))
        continue;
      model.add({&of, key, text, deleted, store.working_version()});
    }
    std::unique_lock<std::mutex> lock(mutex);
    answered.wait(lock, [&] { return open < 8; });
    ++open;
    store.commit([&](const Result<void>&) {
      const std::lock_guard<std::mutex> told(mutex);
      --open;
      answered.notify_one();
    });
  }
  std::unique_lock<std::mutex> lock(mutex);
  answered.wait(lock, [&] { return open == 0; });
  return model;
}

struct Seen {
  const api::KindInfo* kind;
  std::uint64_t version;
  Model::Table table;
};

// Lists, half of them in pages; stops after a list that began when the writer was done.
std::vector<Seen> read_all(const LiveStore& store, const std::atomic<bool>& done, unsigned seed) {
  std::vector<Seen> out;
  std::mt19937_64 random(seed);
  for (bool last = false; !last;) {
    last = done;
    const api::KindInfo& of = kind(kKinds[random() % kKinds.size()]);
    Seen seen{&of, 0, {}};
    const std::size_t limit = random() % 2 == 0 ? 0 : 1 + random() % 20;
    std::string after;
    for (bool more = true; more;) {
      const auto page = store.read(of, "", after, limit, seen.version);
      EXPECT_TRUE(page.ok());
      if (!page) return out;
      seen.version = page->version;
      const Model::Table table = table_of(page->objects);
      seen.table.insert(table.begin(), table.end());
      for (const auto& record : page->objects) {
        EXPECT_LE(record->version, page->version);
        EXPECT_GT(record->key, after);
      }
      more = page->more;
      if (more) after = page->objects.back()->key;
    }
    const RecordPtr one = store.get(of, some_key(random));
    EXPECT_TRUE(one == nullptr || one->kind == &of);
    if (out.size() == 2000) out.pop_back();
    out.push_back(std::move(seen));
  }
  return out;
}

// Follows a kind up to the last version, now and then with a new cursor from where it was.
class Follower {
 public:
  Follower(LiveStore& store, const api::KindInfo& of, unsigned seed)
      : store_(store), kind_(of), random_(seed) {
    subscribe();
    thread_ = std::thread([this] { run(); });
  }
  void finish(std::uint64_t last) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      last_ = last;
    }
    woken_.notify_one();
    thread_.join();
  }
  const std::vector<Change>& seen() const { return seen_; }

 private:
  void subscribe() {
    subscription_ = store_.subscribe(kind_, [this] {
      const std::lock_guard<std::mutex> lock(mutex_);
      wake_ = true;
      woken_.notify_one();
    });
  }

  void run() {
    auto cursor = store_.watch(kind_, 1);
    EXPECT_TRUE(cursor.ok());
    for (;;) {
      const std::uint64_t before = cursor->position();
      EXPECT_TRUE(cursor->take(seen_, 1 + random_() % 50));
      EXPECT_GE(cursor->position(), before);
      if (random_() % 10 == 0) {
        subscribe();
        cursor = store_.watch(kind_, cursor->position());
        EXPECT_TRUE(cursor.ok());
      }
      std::unique_lock<std::mutex> lock(mutex_);
      if (cursor->position() == last_) return;
      if (cursor->position() != before) continue;  // there may be more at once
      woken_.wait(lock, [&] { return wake_ || last_ != 0; });
      wake_ = false;
    }
  }

  LiveStore& store_;
  const api::KindInfo& kind_;
  std::mt19937_64 random_;
  std::vector<Change> seen_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool wake_ = false;
  std::uint64_t last_ = 0;
  std::unique_ptr<LiveStore::Subscription> subscription_;
  std::thread thread_;
};

TEST(LiveStoreThreads, ReadersSeeCutsAndWatchersSeeEverythingInOrder) {
  LiveStore store(scheme(), std::make_unique<MemoryJournal>(std::make_shared<MemoryDisk>()));
  std::atomic<bool> done = false;
  std::vector<std::unique_ptr<Follower>> followers;
  for (unsigned i = 0; i < 4; ++i)
    followers.push_back(std::make_unique<Follower>(store, kind(kKinds[i % 2]), i));
  std::vector<std::vector<Seen>> seen(3);
  std::vector<std::thread> readers;
  for (unsigned i = 0; i < seen.size(); ++i)
    readers.emplace_back([&, i] { seen[i] = read_all(store, done, i); });

  const Model model = write_all(store);
  done = true;
  for (auto& reader : readers) reader.join();
  for (auto& follower : followers) follower->finish(store.version());

  EXPECT_EQ(store.version(), store.working_version());
  for (const auto& one : seen) {
    ASSERT_FALSE(one.empty());
    for (std::size_t i = 0; i < one.size(); i += 1 + one.size() / 200)
      EXPECT_EQ(one[i].table, model.at(*one[i].kind, one[i].version)) << one[i].version;
    EXPECT_EQ(one.back().version, store.version());
  }
  for (unsigned i = 0; i < followers.size(); ++i)
    EXPECT_EQ(describe(followers[i]->seen()),
              model.changes(kind(kKinds[i % 2]), 1, store.version()));
}

}  // namespace
}  // namespace sluice::host::test
