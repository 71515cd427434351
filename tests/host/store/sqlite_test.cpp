// Database and Statement: what they say when SQLite refuses, and what is read where nothing is.
#include "host/store/sqlite.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>

#include "host/store/folder.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host::test {
namespace {

std::string opened(const std::string& file, Database::Mode mode) {
  const auto database = Database::open(file, mode);
  return database.ok() ? "" : database.error().text;
}

// A reason of the system is said where there is one, and SQLite's own words always.
TEST(Sqlite, AnErrorSaysWhatAPersonCanDoAbout) {
  const TemporaryFolder folder;
  EXPECT_EQ(opened(folder / "none", Database::Mode::kWrite),
            (folder / "none") +
                ": the file cannot be opened: No such file or directory (SQLite: unable to open "
                "database file, 14)");
  auto memory = Database::in_memory();
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->execute("nonsense").error().text, "near \"nonsense\": syntax error, 1");
  EXPECT_EQ(memory->prepare("SELECT absent").error().text, "no such column: absent, 1");
  EXPECT_EQ(memory->text("SELECT absent").error().text, "no such column: absent, 1");
  EXPECT_EQ(memory->integer("SELECT absent").error().text, "no such column: absent, 1");
  ASSERT_TRUE(create_private_file(folder / "file").ok());
  auto reading = Database::open(folder / "file", Database::Mode::kRead);
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(reading->execute("CREATE TABLE t (x)").error().text,
            "the file cannot be written (SQLite: attempt to write a readonly database, 8)");
}

TEST(Sqlite, WhereThereIsNoRowThereIsNothing) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database.ok());
  EXPECT_EQ(*database->integer("SELECT 7 WHERE 0"), 0);
  EXPECT_EQ(*database->text("SELECT 'x' WHERE 0"), "");
  EXPECT_EQ(*database->integer("SELECT 7"), 7);
  EXPECT_EQ(*database->text("SELECT 'x'"), "x");
  auto nothing = database->prepare("SELECT NULL, NULL");
  ASSERT_TRUE(nothing.ok() && *nothing->step());
  EXPECT_EQ(nothing->text(0), "");
  EXPECT_EQ(nothing->bytes(1), "");
}

// Texts and bytes may be empty, and hold any byte.
TEST(Sqlite, WhatIsBoundIsWhatIsRead) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database.ok());
  auto statement = database->prepare("SELECT ?1, ?2, ?3, ?4, typeof(?4), typeof(?5), typeof(?6)");
  ASSERT_TRUE(statement.ok());
  const std::string_view zero("a\0b", 3);
  statement->bind(1, std::int64_t{-5});
  statement->bind(2, zero);
  statement->bind_bytes(3, zero);
  statement->bind_nothing(4);
  statement->bind(5, std::string_view());
  statement->bind_bytes(6, std::string_view());
  ASSERT_TRUE(*statement->step());
  EXPECT_EQ(statement->integer(0), -5);
  EXPECT_EQ(statement->text(1), zero);
  EXPECT_EQ(statement->bytes(2), zero);
  EXPECT_EQ(statement->text(4), "null");
  EXPECT_EQ(statement->text(5), "text");
  EXPECT_EQ(statement->text(6), "blob");
  EXPECT_FALSE(*statement->step());
}

// The first place that takes nothing is what is told, until the statement begins anew.
TEST(Sqlite, APlaceThatIsNotThereCannotBeBound) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database.ok());
  auto statement = database->prepare("SELECT ?1");
  ASSERT_TRUE(statement.ok());
  const std::string_view huge("x", (1ULL << 31U) + 10);  // refused before it is read
  const char* const kNoPlace = "a value cannot be stored: column index out of range";
  const std::function<void()> binds[] = {[&] { statement->bind(2, std::int64_t{1}); },
                                         [&] { statement->bind(2, std::string_view("x")); },
                                         [&] { statement->bind_bytes(2, "x"); },
                                         [&] { statement->bind_nothing(2); }};
  for (const auto& wrong : binds) {
    wrong();
    statement->bind(1, std::int64_t{1});
    statement->bind(1, std::string_view("x"));
    statement->bind_bytes(1, "x");
    statement->bind_nothing(1);
    statement->bind(1, huge);
    EXPECT_EQ(statement->run().error().text, kNoPlace);
    EXPECT_TRUE(statement->run().ok());
  }
}

// Somebody else holds the target: what was copied so far is no copy.
TEST(Sqlite, ACopyThatIsNotCompleteIsAnError) {
  const TemporaryFolder folder;
  const std::string file = folder / "copy";
  ASSERT_TRUE(create_private_file(file).ok());
  auto source = Database::in_memory();
  auto other = Database::open(file, Database::Mode::kWrite);
  auto target = Database::open(file, Database::Mode::kWrite);
  ASSERT_TRUE(source.ok() && other.ok() && target.ok());
  ASSERT_TRUE(source->execute("CREATE TABLE t (x); INSERT INTO t VALUES (5)").ok());
  ASSERT_TRUE(other->execute("BEGIN IMMEDIATE").ok());
  sqlite3_busy_timeout(target->handle(), 0);
  EXPECT_FALSE(source->copy_to(*target).ok());
  ASSERT_TRUE(other->execute("COMMIT").ok());
  ASSERT_TRUE(source->copy_to(*target).ok());
  EXPECT_EQ(*target->integer("SELECT x FROM t"), 5);
}

}  // namespace
}  // namespace sluice::host::test
