// Damage of the files between two runs of a host: whatever was acknowledged is there, or the store
// is refused with a sentence. Nothing is lost in silence.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "host/store/sqlite_journal.hpp"
#include "host/store/tools.hpp"
#include "tests/host/store/fixture.hpp"
#include "tests/host/temporary_folder.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

using Content = std::map<std::string, std::string>;  // of the objects, by kind and key

Content content_of(const LiveStore& store) {
  Content out;
  for (const char* name : {"Workload", "LocalQueue", "ResourceFlavor"}) {
    const auto listing = store.read(kind(name), "");
    for (const RecordPtr& record : listing->objects)
      out[name + std::string(" ") + record->key] = std::to_string(record->version) +
                                                   record->metadata.text() + *record->body +
                                                   record->status;
  }
  return out;
}

std::unique_ptr<LiveStore> open_store_at(const std::string& path, std::string& refusal,
                                         std::uint32_t checkpoint_pages = 30) {
  auto journal = SqliteJournal::open(path, {.vfs = {}, .checkpoint_pages = checkpoint_pages});
  if (!journal) {
    refusal = journal.error().text;
    return nullptr;
  }
  auto store = std::make_unique<LiveStore>(scheme(), std::move(*journal));
  refusal = store->failure();
  return refusal.empty() ? std::move(store) : nullptr;
}

std::string refusal_of(const std::string& path) {
  std::string out;
  return open_store_at(path, out) ? "" : out;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void damage_with(const std::string& file, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

/// The files of a host that was killed after a few hundred commits, part of them still in the log.
class KilledHost : public testing::Test {
 protected:
  KilledHost() {
    std::string refusal;
    const auto store = open_store_at(path_, refusal);
    EXPECT_EQ(refusal, "");
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
      const char* const kinds[] = {"Workload", "LocalQueue", "ResourceFlavor"};
      const api::KindInfo& of = kind(kinds[random() % 3]);
      const std::string key = "team/" + std::to_string(random() % 60);
      if (random() % 4 != 0 || !store->erase(of, key))
        store->put(object(of, key, std::string(random() % 900, 'x')));
      if (i % 3 == 0) {
        EXPECT_EQ(commit(*store), "");
      }
    }
    EXPECT_EQ(commit(*store), "");
    acknowledged_ = content_of(*store);
    version_ = store->version();
    for (const char* name : {"store.db", "store.db-wal", "store.mark"})
      files_[name] = file_text(path_ + "/" + name);
    fs::create_directory(path_ + "/pki");
  }

  /// A folder with these files.
  std::string put(const std::map<std::string, std::string>& files) {
    const std::string path = folder_ / ("copy-" + std::to_string(++copies_));
    fs::create_directories(path + "/pki");
    fs::permissions(path, fs::perms::owner_all);
    for (const auto& [name, text] : files) put_file(path + "/" + name, text);
    if (!fs::exists(path + "/store.db")) put_file(path + "/store.db", "");
    return path;
  }

  std::vector<std::string> problems(const std::string& path) {
    const auto report = check_store(path, scheme());
    return report ? report->problems : std::vector<std::string>{report.error().text};
  }

  TemporaryFolder folder_{TemporaryFolder::Where::kMemory};
  std::string path_ = folder_ / "data";
  std::map<std::string, std::string> files_;
  Content acknowledged_;
  std::uint64_t version_ = 0;
  int copies_ = 0;
};

TEST_F(KilledHost, IsThereAgainWhenNothingIsDamaged) {
  std::string refusal;
  const auto store = open_store_at(put(files_), refusal);
  ASSERT_EQ(refusal, "");
  EXPECT_EQ(content_of(*store), acknowledged_);
  EXPECT_EQ(store->version(), version_);
}

// A12: one bit in the middle of the log ended it there, and the rest was lost without a word.
TEST_F(KilledHost, A12_ALogWithAFlippedBitIsRefused) {
  auto files = files_;
  std::string& log = files["store.db-wal"];
  ASSERT_GT(log.size(), 10'000U);
  log[log.size() / 2] = static_cast<char>(log[log.size() / 2] ^ 4);
  const std::string path = put(files);
  const std::string refusal = refusal_of(path);
  EXPECT_THAT(refusal, HasSubstr("store.db: acknowledged changes are missing: the store ends at "));
  EXPECT_THAT(refusal, HasSubstr("but version " + std::to_string(version_)));
  EXPECT_THAT(refusal, HasSubstr("go back to a backup, or, to go on without what is lost, remove"));
  EXPECT_THAT(problems(path), Contains(HasSubstr("acknowledged changes are missing")));
  // Refusing changes nothing: what is behind the damage can still be looked at.
  EXPECT_EQ(file_text(path + "/store.db-wal"), log);
  EXPECT_THAT(refusal_of(path), HasSubstr("acknowledged changes are missing"));
  // And an operator who decides to go on goes on.
  fs::remove(path + "/store.mark");
  EXPECT_EQ(refusal_of(path), "");
}

TEST_F(KilledHost, A12_ALogThatIsGoneOrEmptyIsRefused) {
  for (const bool emptied : {true, false}) {
    auto files = files_;
    if (emptied)
      files["store.db-wal"].clear();
    else
      files.erase("store.db-wal");
    const std::string path = put(files);
    EXPECT_THAT(refusal_of(path), HasSubstr("acknowledged changes are missing")) << emptied;
    EXPECT_THAT(problems(path), Contains(HasSubstr("acknowledged changes are missing")));
  }
}

TEST_F(KilledHost, A12_ADatabaseOfNoBytesIsNoFreshStore) {
  const std::string what = "/store.db: is empty or missing, but ";
  auto files = files_;
  files["store.db"].clear();
  std::string path = put(files);
  EXPECT_EQ(refusal_of(path), path + what + path +
                                  "/store.mark tells that there was a store: go back to a backup, "
                                  "or, to begin with nothing, move " +
                                  path + " away");
  // Keys alone show it too, and a log that must not be removed.
  path = put({});
  EXPECT_THAT(refusal_of(path), HasSubstr(what + path + "/pki tells"));
  path = put({{"store.db-wal", files["store.db-wal"]}});
  fs::remove(path + "/pki");
  EXPECT_THAT(refusal_of(path), HasSubstr("/store.db-wal is there: go back to a backup"));
}

// With the log went the tables, when nothing was copied into the database yet.
TEST(StoreDamage, A12_TheLogOfAFirstStartIsNotLostInSilence) {
  const TemporaryFolder folder(TemporaryFolder::Where::kMemory);
  std::string refusal;
  const auto store = open_store_at(folder / "data", refusal, 10'000);
  store->put(object(workload(), "team/a"));
  ASSERT_EQ(commit(*store), "");
  fs::create_directory(folder / "copy");
  fs::permissions(folder / "copy", fs::perms::owner_all);
  for (const char* name : {"store.db", "store.mark"})
    fs::copy_file((folder / "data/") + name, (folder / "copy/") + name);
  EXPECT_THAT(refusal_of(folder / "copy"), HasSubstr("/store.mark tells that there was a store"));
}

TEST_F(KilledHost, AMarkOfAnotherStoreIsRefused) {
  const std::string other = folder_ / "other";
  std::string refusal;
  {
    const auto store = open_store_at(other, refusal);
    store->put(object(workload(), "team/a"));
    ASSERT_EQ(commit(*store), "");
  }
  auto files = files_;
  files["store.mark"] = file_text(other + "/store.mark");
  EXPECT_EQ(refusal_of(put(files)), "");  // of an earlier transaction: nothing is missing
  fs::copy_file(path_ + "/store.mark", other + "/store.mark", fs::copy_options::overwrite_existing);
  EXPECT_THAT(refusal_of(other), HasSubstr("acknowledged changes are missing"));
  files["store.mark"] = "";  // a first start that ended between making and writing it
  EXPECT_EQ(refusal_of(put(files)), "");
}

TEST_F(KilledHost, AStoreOfTheFirstFormatIsOpenedAndSealed) {
  const std::string path = put(files_);
  ASSERT_EQ(refusal_of(path), "");
  damage_with(path + "/store.db", "DELETE FROM meta WHERE name = 'seal'; PRAGMA user_version = 1");
  fs::remove(path + "/store.mark");
  EXPECT_THAT(problems(path), Not(Contains(HasSubstr("damaged"))));
  std::string refusal;
  {
    const auto store = open_store_at(path, refusal);
    ASSERT_EQ(refusal, "");
    EXPECT_EQ(content_of(*store), acknowledged_);
    store->put(object(workload(), "team/new"));
    EXPECT_EQ(commit(*store), "");
  }
  EXPECT_THAT(problems(path), Not(Contains(HasSubstr("damaged"))));
  damage_with(path + "/store.db", "DELETE FROM objects WHERE id % 9 = 0");
  EXPECT_THAT(refusal_of(path), HasSubstr("which is not what was written last"));
  EXPECT_THAT(problems(path), Contains(HasSubstr("which is not what was written last")));
}

// What a checksum of rows does not see: rows that are not there, an index that does not find them,
// kinds and fields of another text.
TEST_F(KilledHost, WhatIsNotWhatWasWrittenLastIsRefused) {
  const struct {
    const char *sql, *says;
  } cases[] = {
      {"DELETE FROM objects WHERE key = (SELECT max(key) FROM objects)", "was written last"},
      {"UPDATE kinds SET version = version + 4096 WHERE id = 1", "was written last"},
      {"UPDATE kinds SET name = name || 'x'", "its checksum does not match"},
      {"UPDATE kinds SET id = 9 WHERE id = 3", "the table of kinds is damaged"},
      {"UPDATE objects SET kind = 0 WHERE id = (SELECT max(id) FROM objects)",
       "is of a kind that is not there"},
      {"UPDATE objects SET kind = 4 WHERE id = (SELECT max(id) FROM objects)",
       "is of a kind that is not there"},
      {"UPDATE meta SET value = value || ' ' WHERE name = 'fields'", "was written last"},
      {"UPDATE meta SET value = replace(value, '0', '1') WHERE name = 'seal'",
       "its seal cannot be"},
      {"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'hidden', "
       "'hiddem')",
       ""},
  };
  for (const auto& each : cases) {
    const std::string path = put(files_);
    ASSERT_EQ(refusal_of(path), "");  // and copies the log
    damage_with(path + "/store.db", each.sql);
    const std::string refusal = refusal_of(path);
    EXPECT_NE(refusal, "") << each.sql;
    EXPECT_THAT(refusal, HasSubstr(each.says)) << each.sql;
    EXPECT_NE(problems(path).size(), 0U) << each.sql;
  }
}

// The property behind all of them, for any bit of any file. SLUICE_BIT_FLIPS=1000 flips so many
// instead of 300, SLUICE_FIRST_SEED=N others.
TEST_F(KilledHost, A12_AnyFlippedBitIsRefusedOrChangesNothing) {
  const int rounds = trial::amount("SLUICE_BIT_FLIPS", 300);
  const int first_seed = trial::asked_for("SLUICE_FIRST_SEED").value_or(0);
  std::mt19937 random(static_cast<unsigned>(20'261'122 + first_seed));
  int refused = 0, harmless = 0;
  for (int round = 0; round < rounds; ++round) {
    auto files = files_;
    auto file = std::next(files.begin(), round % 3);
    const std::size_t bit = random() % (8 * file->second.size());
    char& byte = file->second[bit / 8];
    byte = static_cast<char>(byte ^ (1 << bit % 8));
    const std::string place = file->first + " bit " + std::to_string(bit);
    const std::string path = put(files);

    std::string refusal;
    {
      const auto store = open_store_at(path, refusal);
      if (!store) {
        EXPECT_GT(refusal.size(), 20U) << place;
        ++refused;
        continue;
      }
      ++harmless;
      ASSERT_EQ(content_of(*store), acknowledged_) << place;
      ASSERT_EQ(store->version(), version_) << place;
      for (const auto& [name, text] : acknowledged_)  // each can still be changed
        if (name.starts_with("Workload ")) store->put(object(workload(), name.substr(9), "new"));
      ASSERT_EQ(commit(*store), "") << place;
    }
    ASSERT_EQ(refusal_of(path), "") << place;
    fs::remove_all(path);
  }
  EXPECT_GT(refused, rounds / 3);
  EXPECT_GT(harmless, rounds / 30);  // pages that the log has anew, and what no page uses
  RecordProperty("refused", refused);
  RecordProperty("harmless", harmless);
}

}  // namespace
}  // namespace sluice::host::test
