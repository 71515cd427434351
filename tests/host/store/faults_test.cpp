// The store on a disk that fails, and after power cuts: what was acknowledged is there, what is
// there is whole, and after an error nothing is acknowledged any more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

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

std::unique_ptr<LiveStore> open(const std::string& path, const SqliteOptions& options = {}) {
  auto journal = SqliteJournal::open(path, options);
  EXPECT_TRUE(journal.ok()) << journal.error().text;
  if (!journal) return nullptr;
  auto store = std::make_unique<LiveStore>(scheme(), std::move(journal).value());
  EXPECT_EQ(store->failure(), "");
  return store;
}

bool is_model_at(const LiveStore& store, const Model& model, std::uint64_t version) {
  for (const api::KindInfo* of : {&workload(), &queue()})
    if (table_of(store.read(*of, "")->objects) != model.at(*of, version)) return false;
  return store.version() == std::max<std::uint64_t>(1, version);
}

struct Written {
  Model model;
  std::vector<std::uint64_t> versions;  ///< by transaction: the last version of it
  std::size_t acknowledged = 0;         ///< transactions
};

constexpr std::uint32_t kPages = 20;  // of the log, so that it is copied now and then

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

// Every operation is a place where the power may go, each with several outcomes.
TEST(StoreFaults, AfterAPowerCutTheStoreIsAtATransactionThatWasAcknowledgedOrBegun) {
  const std::size_t transactions = transactions_of_trace();
  const TemporaryFolder folder(TemporaryFolder::Where::kMemory);
  RecordingVfs vfs;
  Written run;
  {
    const auto store = open(folder / "data", {.vfs = vfs.name(), .checkpoint_pages = kPages});
    ASSERT_NE(store, nullptr);
    write(*store, vfs, run, transactions);
  }
  ASSERT_EQ(run.acknowledged, transactions);
  const auto& record = vfs.record();
  std::mt19937_64 random(1);
  std::size_t begun = 0, acknowledged = 0, copies = 0;
  for (std::size_t length = 0; length <= record.size(); ++length) {
    if (length != 0 && record[length - 1].type == RecordingVfs::Operation::Type::kMark) {
      const std::size_t mark = record[length - 1].mark;
      (mark % 2 == 0 ? begun : acknowledged) = mark / 2 + 1;
    }
    copies += length != 0 && record[length - 1].file == "store.db" ? 1 : 0;
    if (length % kStride != 0) continue;
    for (int outcome = 0; outcome < 2; ++outcome) {
      write_image(image_after_power_cut(record, length, random), folder / "cut");
      const auto store = open(folder / "cut");
      ASSERT_NE(store, nullptr) << "after operation " << length;
      bool found = false;
      for (std::size_t i = acknowledged; i <= begun && !found; ++i)
        found = is_model_at(*store, run.model, i == 0 ? 0 : run.versions[i - 1]);
      ASSERT_TRUE(found) << "after operation " << length << ": version " << store->version();
    }
  }
  std::printf("power cuts: %zu operations of %zu transactions, each with two outcomes\n",
              record.size(), transactions);
  EXPECT_GT(record.size(), 200U);
  EXPECT_GT(copies, 20U);  // the log was copied into the database on the way
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
      const auto store = open(folder / "data", {.vfs = vfs.name(), .checkpoint_pages = kPages});
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
        const std::size_t acknowledged = run.acknowledged;
        EXPECT_TRUE(
            is_model_at(*store, run.model, acknowledged == 0 ? 0 : run.versions[acknowledged - 1]));
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
      found = is_model_at(*store, run.model, i == 0 ? 0 : run.versions[i - 1]);
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
