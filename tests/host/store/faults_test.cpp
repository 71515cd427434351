// The store on a disk that fails, and after power cuts: what was acknowledged is there, what is
// there is whole, and after an error nothing is acknowledged any more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "host/store/sqlite_journal.hpp"
#include "tests/host/store/model.hpp"
#include "tests/host/store/recording_vfs.hpp"
#include "tests/host/temporary_folder.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host::test {
namespace {

const api::KindInfo& queue() { return kind("LocalQueue"); }

// Transaction `number`: objects of several sizes and kinds, put and erased.
void change(LiveStore& store, Model& model, std::size_t number) {
  std::mt19937_64 random(number);
  for (std::size_t i = 0; i < 1 + number % 4; ++i) {
    const api::KindInfo& of = random() % 3 == 0 ? queue() : workload();
    const std::string key = "a/" + std::to_string(random() % 12);
    if (random() % 4 == 0 && store.erase(of, key)) {
      model.add({&of, key, "", true, store.working_version()});
      continue;
    }
    const std::string text = std::to_string(number) + std::string(random() % 3000, 'x');
    store.put(object(of, key, text));
    model.add({&of, key, text, false, store.working_version()});
  }
}

constexpr std::uint32_t kPages = 20;  // of the log, so that it is copied now and then

std::unique_ptr<LiveStore> open(const std::string& path, const std::string& vfs = {}) {
  auto journal = SqliteJournal::open(path, {.vfs = vfs, .checkpoint_pages = kPages});
  EXPECT_TRUE(journal.ok()) << journal.error().text;
  if (!journal) return nullptr;
  auto store = std::make_unique<LiveStore>(scheme(), std::move(journal).value());
  EXPECT_EQ(store->failure(), "");
  return store;
}

/// What a store holds at a version, by kind.
struct Contents {
  std::uint64_t version = 0;
  std::map<const api::KindInfo*, Model::Table> tables;
};

Contents contents_at(const Model& model, std::uint64_t version) {
  Contents out{version, {}};
  for (const api::KindInfo* of : {&workload(), &queue()}) out.tables[of] = model.at(*of, version);
  return out;
}

bool holds(const LiveStore& store, const Contents& contents) {
  for (const auto& [of, table] : contents.tables)
    if (table_of(store.read(*of, "")->objects) != table) return false;
  return store.version() == std::max<std::uint64_t>(1, contents.version);
}

struct Written {
  Model model;
  std::vector<std::uint64_t> versions;  ///< by transaction: the last version of it
  std::size_t acknowledged = 0;         ///< transactions

  /// After so many transactions.
  Contents after(std::size_t transactions) const {
    return contents_at(model, transactions == 0 ? 0 : versions[transactions - 1]);
  }
};

// Transactions one after the other until one fails. Marks in the record: 2n when transaction n
// begins, 2n + 1 when it was acknowledged.
void write(LiveStore& store, RecordingVfs& vfs, Written& run, std::size_t transactions) {
  for (std::size_t i = 0; i < transactions; ++i) {
    change(store, run.model, i);
    run.versions.push_back(store.working_version());
    vfs.mark(2 * i);
    if (!commit(store).empty()) return;
    ++run.acknowledged;
    vfs.mark(2 * i + 1);
  }
}

void write_image(const DiskImage& image, const std::string& path) {
  std::filesystem::remove_all(path);
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, std::filesystem::perms(0700));
  std::ofstream(path + "/store.db").close();  // made and synced before SQLite sees it
  for (const auto& [name, content] : image) std::ofstream(path + "/" + name) << content;
}

const auto kStride = static_cast<std::size_t>(trial::stride());

// Under a sanitizer, too: with fewer the log is not copied into the database on the way.
std::size_t transactions_of_trace() {
  return static_cast<std::size_t>(trial::asked_for("SLUICE_POWER_CUTS").value_or(30));
}

// Cuts the power in one part of the places of a record, on a thread of its own.
class PowerCuts {
 public:
  PowerCuts(const std::vector<RecordingVfs::Operation>& record, const Written& run,
            std::string path)
      : record_(record), run_(run), path_(std::move(path)) {}

  /// After each operation whose number, divided by `parts`, leaves `part`.
  void run(std::size_t part, std::size_t parts) {
    for (std::size_t length = 0; length <= record_.size(); ++length) {
      if (length != 0) play(record_[length - 1]);
      if (length % kStride != 0 || length / kStride % parts != part) continue;
      for (std::size_t outcome = 0; outcome < 2; ++outcome) {
        // Of its own, so that each can be drawn again alone.
        std::mt19937_64 random(2 * length + outcome);
        write_image(disk_.after_power_cut(random), path_);
        if (!is_right()) {
          ADD_FAILURE() << "after operation " << length << ", outcome " << outcome;
          return;
        }
      }
    }
  }

 private:
  void play(const RecordingVfs::Operation& operation) {
    disk_.play(operation);
    if (operation.type != RecordingVfs::Operation::Type::kMark) return;
    (operation.mark % 2 == 0 ? begun_ : acknowledged_) = operation.mark / 2 + 1;
    possible_.clear();
    for (std::size_t i = acknowledged_; i <= begun_; ++i) possible_.push_back(run_.after(i));
  }

  bool is_right() const {
    const auto store = open(path_);
    return store != nullptr &&
           std::any_of(possible_.begin(), possible_.end(),
                       [&](const Contents& contents) { return holds(*store, contents); });
  }

  const std::vector<RecordingVfs::Operation>& record_;
  const Written& run_;
  const std::string path_;
  RecordedDisk disk_;
  std::size_t begun_ = 0, acknowledged_ = 0;  // transactions
  std::vector<Contents> possible_ = {Contents{}};
};

// Every operation is a place where the power may go, each with two outcomes.
TEST(StoreFaults, AfterAPowerCutTheStoreIsAtATransactionThatWasAcknowledgedOrBegun) {
  const std::size_t transactions = transactions_of_trace();
  const TemporaryFolder folder(TemporaryFolder::Where::kMemory);
  RecordingVfs vfs;
  Written run;
  {
    const auto store = open(folder / "data", vfs.name());
    ASSERT_NE(store, nullptr);
    write(*store, vfs, run, transactions);
  }
  ASSERT_EQ(run.acknowledged, transactions);
  const auto& record = vfs.record();
  const std::size_t parts = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::size_t part = 0; part < parts; ++part)
    threads.emplace_back([&, part] {
      PowerCuts(record, run, folder / ("cut-" + std::to_string(part))).run(part, parts);
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("power cuts: %zu operations of %zu transactions, each with two outcomes\n",
              record.size(), transactions);
  EXPECT_GT(record.size(), 200U);
  const auto copies = std::count_if(record.begin(), record.end(), [](const auto& operation) {
    return operation.file == "store.db";
  });
  EXPECT_GT(copies, 20);  // the log was copied into the database on the way
}

// The same with every write, or every sync, as the one that fails.
void fail_everywhere(RecordingVfs::Failure failure, const std::string& expected) {
  const TemporaryFolder folder(TemporaryFolder::Where::kMemory);
  bool finished = false;
  for (std::size_t at = 1; !finished; at += kStride) {
    SCOPED_TRACE("call " + std::to_string(at) + " fails");
    std::filesystem::remove_all(folder / "data");
    RecordingVfs vfs;
    Written run;
    {
      const auto store = open(folder / "data", vfs.name());
      ASSERT_NE(store, nullptr);
      vfs.fail(failure, at);
      write(*store, vfs, run, 30);
      if (!vfs.failed()) {
        finished = true;
        EXPECT_EQ(run.acknowledged, 30U);
        EXPECT_GT(at, 40U);
      } else {
        EXPECT_NE(store->failure().find(expected), std::string::npos) << store->failure();
        // What was published is still there to be read; nothing is acknowledged, or tried, again.
        EXPECT_TRUE(holds(*store, run.after(run.acknowledged)));
        const std::size_t calls = vfs.calls();
        EXPECT_NE(commit(*store), "");
        store->put(object(workload(), "a/late"));
        EXPECT_NE(commit(*store), "");
        EXPECT_EQ(vfs.calls(), calls);
      }
    }
    const auto store = open(folder / "data");
    ASSERT_NE(store, nullptr);
    bool found = false;
    for (std::size_t i = run.acknowledged; i <= run.versions.size() && !found; ++i)
      found = holds(*store, run.after(i));
    EXPECT_TRUE(found) << "version " << store->version();
  }
}

TEST(StoreFaults, AFailedWriteEndsAllWriting) {
  fail_everywhere(RecordingVfs::Failure::kWrite, "reading or writing failed");
}
TEST(StoreFaults, AFullDiskEndsAllWriting) {
  fail_everywhere(RecordingVfs::Failure::kFull, "the disk is full");
}
TEST(StoreFaults, AFailedSyncEndsAllWriting) {
  fail_everywhere(RecordingVfs::Failure::kSync, "reading or writing failed");
}

}  // namespace
}  // namespace sluice::host::test
