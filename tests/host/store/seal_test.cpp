// Seals and marks: their texts, which stores of earlier versions hold, and what a mark says of the
// store beside it.
#include "host/store/seal.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/host/temporary_folder.hpp"

namespace sluice::host::test {
namespace {

namespace fs = std::filesystem;

constexpr Seal kSome = {1, 0xab, 3, ~std::uint64_t{0}};
constexpr const char* kText =
    "sluice-seal 1 0000000000000001 00000000000000ab 0000000000000003 ffffffffffffffff "
    "3565bf6282f6a085";

TEST(Seal, IsATextThatStaysTheSame) {
  EXPECT_EQ(to_text(kSome), kText);
  EXPECT_EQ(parse_seal(kText), kSome);
}

TEST(Seal, WithAnyLetterChangedIsNone) {
  const std::string text = kText;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_FALSE(parse_seal(changed)) << changed;
  }
  EXPECT_FALSE(parse_seal(text.substr(0, text.size() - 1)));
  EXPECT_FALSE(parse_seal(text + "0"));
  EXPECT_FALSE(parse_seal(""));
}

// The sum of the rows, each kind with its version, and the fields: stores hold these numbers.
TEST(Seal, ADigestIsOfAllThatAStoreHolds) {
  EXPECT_EQ(digest_of(0, {}, ""), 0x24b23c33d8bdb5b0U);
  EXPECT_EQ(digest_of(7, {{"/Namespace", 4}, {"a/K", 9}}, "fields 1"), 0x5dbc799636c28687U);
}

TEST(Seal, AStoreMayBeAheadOfItsMarkAndNotBehind) {
  const struct {
    Seal found, mark;
    const char* says;  // as far as the way out
  } rows[] = {
      {{5, 7, 1, 1}, {5, 7, 1, 1}, ""},
      {{6, 8, 1, 2}, {5, 7, 1, 1}, ""},
      {{5, 7, 1, 2},
       {5, 7, 1, 1},
       "this is not the store that wrote store.mark: both are at transaction 5, with other "
       "content"},
      {{4, 6, 1, 2},
       {5, 7, 1, 1},
       "acknowledged changes are missing: the store ends at version 6 (transaction 4), but version "
       "7 (transaction 5) was acknowledged: its write-ahead log is damaged, cut short or gone"},
  };
  for (const auto& row : rows) {
    const auto checked = check_against_mark(row.found, row.mark);
    const std::string text = checked.ok() ? "" : checked.error().text;
    EXPECT_EQ(text.substr(0, text.find(';')), row.says);
  }
}

std::string read_mark(const std::string& path) {
  const auto mark = Mark::read(path);
  if (!mark) return mark.error().text;
  return *mark ? to_text(**mark) : "none";
}

TEST(Mark, SaysWhatWasAcknowledgedLast) {
  const TemporaryFolder folder;
  const std::string path = folder / "store.mark";
  EXPECT_EQ(read_mark(path), "none");
  {
    auto first = Mark::open(path, {});
    ASSERT_TRUE(first.ok()) << first.error().text;
    EXPECT_EQ(read_mark(path), to_text(Seal()));
    Mark moved;
    moved = std::move(*first);
    ASSERT_TRUE(moved.set(kSome).ok());
  }
  EXPECT_EQ(read_mark(path), kText);
  ASSERT_TRUE(Mark::open(path, kSome).ok()) << "it is there already";
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), std::string(kText) + "\n");
}

TEST(Mark, ThatCannotBeUnderstoodIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder / "store.mark";
  const std::string damaged =
      path +
      ": is damaged, so nobody can tell whether the store beside it is complete; if `sluice store "
      "check` finds nothing else, remove it";
  for (const std::string& text :
       {std::string(kText), std::string(kText) + "\n\n", "\n" + damaged}) {
    std::ofstream(path) << text;
    EXPECT_EQ(read_mark(path), damaged) << text;
  }
  std::ofstream(path).close();
  EXPECT_EQ(read_mark(path), "none") << "a first start that ended before it was written";
  EXPECT_EQ(read_mark(path + "/below a file"), "none");
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(read_mark(path), path + ": cannot be read: Is a directory");
  EXPECT_EQ(Mark::open(path, kSome).error().text, path + ": cannot be opened: Is a directory");
  EXPECT_EQ(Mark::open(folder / "no/store.mark", kSome).error().text,
            (folder / "no/store.mark") + ": cannot be made: No such file or directory");
  EXPECT_EQ(Mark().set(kSome).error().text, "store.mark cannot be written: Bad file descriptor");
}

}  // namespace
}  // namespace sluice::host::test
