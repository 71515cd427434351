#include "host/store/sqlite_journal.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>

#include "tests/host/store/fixture.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

std::unique_ptr<SqliteJournal> open_journal(const std::string& path,
                                            const SqliteOptions& options = {}) {
  auto out = SqliteJournal::open(path, options);
  EXPECT_TRUE(out.ok()) << out.error().text;
  return out.ok() ? std::move(out).value() : nullptr;
}

std::string refusal(const std::string& path) {
  auto out = SqliteJournal::open(path);
  return out.ok() ? "opened" : out.error().text;
}

// Rows as text: `kind key @version metadata body status hidden`.
std::vector<std::string> load(SqliteJournal& journal, JournalState* state = nullptr) {
  std::vector<std::string> out;
  auto loaded = journal.load([&](const JournalRow& row) {
    std::string text;
    for (const auto part : {row.kind, row.key, row.metadata, row.body, row.status, row.hidden})
      text.append(part).append(" ");
    out.push_back(text + "@" + std::to_string(row.version));
  });
  EXPECT_TRUE(loaded.ok()) << loaded.error().text;
  if (loaded.ok() && state != nullptr) *state = *loaded;
  return out;
}

JournalRow row(const char* kind, const char* key, std::uint64_t version, const char* body = "{}") {
  return {kind, key, version, false, R"({"m":1})", body, "", ""};
}

JournalRow deletion(const char* kind, const char* key, std::uint64_t version) {
  return {kind, key, version, true, "", "", "", ""};
}

JournalRow in_place_of(const JournalRow& before, JournalRow row) {
  row.replaces = row_checksum(before);
  return row;
}

void execute(const std::string& file, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, &error), SQLITE_OK) << error;
  sqlite3_close(database);
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777U : 0;
}

TEST(SqliteJournal, KeepsRowsVersionsAndFields) {
  const TemporaryFolder folder;
  {
    const auto journal = open_journal(folder / "data");
    EXPECT_TRUE(load(*journal).empty());
    const std::vector<JournalRow> first = {row("a/K", "n/x", 2), row("/L", "y", 3, R"({"b":"é"})"),
                                           row("a/K", "n/z", 4)};
    ASSERT_TRUE(journal->write(first, 4, "fields 1").ok());
    const std::vector<JournalRow> second = {
        in_place_of(first[0], row("a/K", "n/x", 5, R"({"b":2})")),
        in_place_of(first[2], deletion("a/K", "n/z", 7)), deletion("a/K", "n/was never there", 6)};
    ASSERT_TRUE(journal->write(second, 7, "").ok());
  }
  const auto journal = open_journal(folder / "data");
  JournalState state;
  EXPECT_THAT(load(*journal, &state),
              ElementsAre(R"(a/K n/x {"m":1} {"b":2}   @5)", R"(/L y {"m":1} {"b":"é"}   @3)"));
  EXPECT_EQ(state.version, 7U);
  EXPECT_EQ(state.kinds,
            (std::map<std::string, std::uint64_t, std::less<>>{{"a/K", 7}, {"/L", 3}}));
  EXPECT_EQ(state.fields, "fields 1");
  // Kinds go on with the numbers they have.
  const std::vector<JournalRow> third = {
      row("new/K", "n/x", 8), in_place_of(row("/L", "y", 3, R"({"b":"é"})"), row("/L", "y", 9))};
  ASSERT_TRUE(journal->write(third, 9, "fields 2").ok());
}

TEST(SqliteJournal, NobodyElseMayReadIt) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  const auto journal = open_journal(folder / "deep/er/data");
  load(*journal);
  const std::vector<JournalRow> rows = {row("a/K", "n/x", 2)};
  ASSERT_TRUE(journal->write(rows, 2, "").ok());
  ::umask(before);
  EXPECT_EQ(mode_of(folder / "deep/er/data"), 0700U);
  for (const auto& entry : fs::directory_iterator(folder / "deep/er/data"))
    EXPECT_EQ(mode_of(entry.path()), 0600U) << entry.path();
  EXPECT_TRUE(fs::exists(folder / "deep/er/data/store.db-wal"));
}

TEST(SqliteJournal, AnOpenFolderIsClosedWhenItIsOursElseRefused) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "empty");
  fs::permissions(folder / "empty", fs::perms(0755));
  open_journal(folder / "empty");
  EXPECT_EQ(mode_of(folder / "empty"), 0700U);
  fs::create_directories(folder / "home/something");
  fs::permissions(folder / "home", fs::perms(0755));
  EXPECT_THAT(refusal(folder / "home"), HasSubstr("chmod 700"));
  EXPECT_EQ(mode_of(folder / "home"), 0755U);
  fs::permissions(folder / "home", fs::perms(0700));
  EXPECT_EQ(refusal(folder / "home"), "opened") << "whatever else is in it";
  std::ofstream(folder / "file") << "x";
  EXPECT_EQ(refusal(folder / "file"), (folder / "file") + ": is a file; a store is a folder");
}

TEST(SqliteJournal, OneProcessAtATime) {
  const TemporaryFolder folder;
  const auto journal = open_journal(folder / "data");
  const std::string expected = (folder / "data") + ": process " + std::to_string(::getpid()) +
                               " has this store open; stop it, or choose another store.path";
  EXPECT_EQ(refusal(folder / "data"), expected);
  EXPECT_EQ(refusal(folder / "data//"), expected);
}

TEST(SqliteJournal, RefusesWhatIsNotAStoreOrOfANewerFormat) {
  const TemporaryFolder folder;
  const std::string file = folder / "data/store.db";
  open_journal(folder / "data");
  execute(file, "PRAGMA user_version = 3");
  EXPECT_EQ(refusal(folder / "data"),
            file +
                ": the store has format 3; this sluice knows formats 1, 2 and 4: use the version "
                "that wrote it, or a newer one");
  execute(file, "PRAGMA user_version = 2; PRAGMA application_id = 5");
  EXPECT_EQ(refusal(folder / "data"), file + ": this is a database, but not a store of sluice");
  fs::remove(file);
  std::ofstream(file) << std::string(10'000, 'x');
  EXPECT_THAT(refusal(folder / "data"), HasSubstr(file + ": this file is not a store"));
}

// A20: a second host came in once the lock file was gone.
TEST(SqliteJournal, A20_TheLockDoesNotHangOnItsFile) {
  const TemporaryFolder folder;
  const auto journal = open_journal(folder / "data");
  fs::remove(folder / "data/lock");
  EXPECT_THAT(refusal(folder / "data"), HasSubstr("another process has this store open"));
}

// A5: the value went in as nothing, and the error said only "NOT NULL constraint failed".
TEST(SqliteJournal, A5_AValueThatCannotBeBoundIsNamed) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database.ok());
  const std::string_view huge("x", (1ULL << 31U) + 10);  // refused before it is read
  auto statement = database->prepare("SELECT ?1");
  ASSERT_TRUE(statement.ok());
  statement->bind(1, huge);
  const auto stepped = statement->step();
  ASSERT_FALSE(stepped.ok());
  EXPECT_EQ(stepped.error().text, "a value cannot be stored: string or blob too big");
}

/// Why the store is not loaded, or not even opened.
std::string damage(const std::string& path) {
  auto journal = SqliteJournal::open(path);
  if (!journal) return journal.error().text;
  const auto loaded = (*journal)->load([](const JournalRow&) {});
  return loaded ? std::string() : loaded.error().text;
}

TEST(SqliteJournal, FindsDamage) {
  const TemporaryFolder folder;
  const std::string file = folder / "data/store.db";
  {
    const auto journal = open_journal(folder / "data");
    load(*journal);
    std::vector<std::string> keys;
    std::vector<JournalRow> rows;
    for (int i = 0; i < 1000; ++i) keys.push_back("n/" + std::to_string(i));
    for (const std::string& key : keys) rows.push_back(row("a/K", key.c_str(), 2));
    ASSERT_TRUE(journal->write(rows, 2, "").ok());
  }
  fs::copy_file(file, folder / "whole");
  // One letter of one row: the structure is whole, the checksum is not.
  execute(file, R"(UPDATE objects SET body = '{ }' WHERE key = 'n/500')");
  {
    const auto journal = open_journal(folder / "data");
    const auto loaded = journal->load([](const JournalRow&) {});
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().text, file + ": a/K n/500 is damaged: its checksum does not match");
  }
  // Pages of zeros.
  fs::copy_file(folder / "whole", file, fs::copy_options::overwrite_existing);
  const auto size = fs::file_size(file);
  ASSERT_GT(size, 40'960U);
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(20'480);
  out << std::string(8192, '\0');
  out.close();
  EXPECT_THAT(damage(folder / "data"), HasSubstr("the file is damaged"));
  // Cut short.
  fs::copy_file(folder / "whole", file, fs::copy_options::overwrite_existing);
  fs::resize_file(file, size / 2);
  EXPECT_THAT(damage(folder / "data"), HasSubstr("the file is damaged"));
}

TEST(SqliteJournal, TheLogIsCopiedIntoTheDatabaseAsItGrows) {
  const TemporaryFolder folder;
  const auto journal = open_journal(folder / "data", {.vfs = {}, .checkpoint_pages = 50});
  load(*journal);
  for (std::uint64_t i = 0; i < 500; ++i) {
    const std::string key = "n/" + std::to_string(i);
    const std::vector<JournalRow> rows = {row("a/K", key.c_str(), i + 2)};
    ASSERT_TRUE(journal->write(rows, i + 2, "").ok());
  }
  EXPECT_LT(fs::file_size(folder / "data/store.db-wal"), 100U * 4200U);
  EXPECT_GT(fs::file_size(folder / "data/store.db"), 4096U * 4U);
}

// 40 writes of 100 kB, some 1,000 pages of log, which is to be copied when it has 100,000; where
// the disk has no room, when it has 500: it starts over then, and grows no further.
TEST(SqliteJournal, OnAFullDiskTheLogIsCopiedSooner) {
  constexpr std::size_t kPage = 4096 + 24;
  const std::string body = R"({"b":")" + std::string(100'000, 'x') + "\"}";
  for (const bool full : {false, true}) {
    const TemporaryFolder folder;
    const auto journal = open_journal(
        folder / "data",
        {.vfs = {}, .checkpoint_pages = 100'000, .keep_free = full ? std::int64_t{1} << 60 : 0});
    load(*journal);
    EXPECT_EQ(journal->no_room().empty(), !full);
    for (std::uint64_t i = 0; i < 40; ++i) {
      const std::string key = "n/" + std::to_string(i);
      const std::vector<JournalRow> rows = {row("a/K", key.c_str(), i + 2, body.c_str())};
      ASSERT_TRUE(journal->write(rows, i + 2, "").ok());
    }
    const auto pages = fs::file_size(folder / "data/store.db-wal") / kPage;
    EXPECT_EQ(pages < 700, full) << pages;
  }
}

// Its sums are in stores: a row, of all its texts and its version.
TEST(SqliteJournal, ARowHasAChecksumThatStaysTheSame) {
  const JournalRow row = {"a/K", "n/x", 7, false, R"({"m":1})", R"({"b":2})", R"({"s":3})", "[4]"};
  EXPECT_EQ(row_checksum(row), 0xc30e19618e9ad76eU);
}

// What the database holds of a row is what is said to be replaced, or the row is new.
TEST(SqliteJournal, AChangeOfWhatIsNotThereIsRefused) {
  const JournalRow second = row("a/K", "n/x", 2), third = row("a/K", "n/x", 3);
  const struct {
    const char* what;
    JournalRow wrong;
  } rows[] = {
      {"new, and there already", row("a/K", "n/x", 5)},
      {"in place of another", in_place_of(third, row("a/K", "n/x", 5))},
      {"deleted, and another", in_place_of(third, deletion("a/K", "n/x", 5))},
      {"deleted, and not there", in_place_of(second, deletion("a/K", "n/y", 5))},
  };
  for (const auto& each : rows) {
    const TemporaryFolder folder;
    const std::string file = folder / "data/store.db";
    {
      const auto journal = open_journal(folder / "data");
      load(*journal);
      const std::vector<JournalRow> steps[] = {{second},
                                               {in_place_of(second, third)},
                                               {in_place_of(third, deletion("a/K", "n/x", 4))},
                                               {second}};
      for (const auto& step : steps) ASSERT_TRUE(journal->write(step, 4, "").ok());
      const std::vector<JournalRow> wrong = {each.wrong}, right = {row("a/K", "n/z", 6)};
      EXPECT_EQ(journal->write(wrong, 5, "").error().text,
                file + ": a/K " + std::string(each.wrong.key) +
                    ": the database does not hold what was written before: it is damaged")
          << each.what;
      EXPECT_EQ(journal->write(right, 6, "").error().text, file + ": an earlier write failed");
    }
    EXPECT_GT(fs::file_size(file + "-wal"), 0U) << "left as it is, for whoever looks";
    EXPECT_THAT(load(*open_journal(folder / "data")), ElementsAre(HasSubstr("n/x")));
  }
}

TEST(SqliteJournal, OpeningAStoreIsNoTransaction) {
  const TemporaryFolder folder;
  for (int i = 0; i < 3; ++i) {
    load(*open_journal(folder / "data"));
    const auto mark = Mark::read(folder / "data/store.mark");
    ASSERT_TRUE(mark.ok() && mark->has_value());
    EXPECT_EQ((*mark)->commits, 0U);
  }
}

// A copy that is taken while the store is open and written is a store of one moment.
TEST(SqliteJournal, CanBeCopiedWhileItIsOpen) {
  const TemporaryFolder folder;
  const auto journal = open_journal(folder / "data");
  load(*journal);
  const std::vector<JournalRow> first = {row("a/K", "n/x", 2)};
  ASSERT_TRUE(journal->write(first, 2, "").ok());
  fs::create_directory(folder / "copy");
  fs::permissions(folder / "copy", fs::perms(0700));
  ASSERT_TRUE(create_private_file(folder / "copy/store.db").ok());
  {
    auto source = Database::open(folder / "data/store.db", Database::Mode::kRead);
    auto target = Database::open(folder / "copy/store.db", Database::Mode::kWrite);
    ASSERT_TRUE(source.ok() && target.ok());
    const auto copied = source->copy_to(*target);
    ASSERT_TRUE(copied.ok()) << copied.error().text;
  }
  const std::vector<JournalRow> second = {row("a/K", "n/y", 3)};
  ASSERT_TRUE(journal->write(second, 3, "").ok());
  const auto copy = open_journal(folder / "copy");
  EXPECT_EQ(load(*copy).size(), 1U);
}

}  // namespace
}  // namespace sluice::host::test
