// Files that have to survive: replaced as a whole or made once, and read by nobody else.
#include "host/base/files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/host/temporary_folder.hpp"

namespace sluice::host::test {
namespace {

namespace fs = std::filesystem;

template <typename T>
std::string said(const Result<T>& done) {
  return done.ok() ? "" : done.error().text;
}

// Also over what a run that was killed has left behind, which others could read.
TEST(Files, AreReplacedAsAWholeAndReadByNobodyElse) {
  const TemporaryFolder folder;
  const std::string file = folder / "token";
  std::ofstream(file + ".new") << "of a run that was killed, and longer than what is written now";
  fs::permissions(file + ".new", fs::perms(0644));
  for (const std::string& content : {std::string("first"), std::string("2nd"), std::string()}) {
    EXPECT_EQ(said(write_durably(file, content)), "");
    EXPECT_EQ(read_file(file), content);
    EXPECT_EQ(permissions_of(file), 0600U);
    EXPECT_FALSE(fs::exists(file + ".new"));
  }
}

// Whoever may write into the folder does not get to say where a secret goes.
TEST(Files, AreNotWrittenThroughALinkThatSomebodyPutThere) {
  const TemporaryFolder folder;
  std::ofstream(folder / "other") << "as it was";
  fs::create_symlink(folder / "other", folder / "token.new");
  EXPECT_EQ(said(write_durably(folder / "token", "secret")), "");
  EXPECT_EQ(read_file(folder / "token"), "secret");
  EXPECT_EQ(read_file(folder / "other"), "as it was");
}

TEST(Files, WithoutAFolderAreWrittenWhereTheProcessIs) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(fs::path(folder / "token").parent_path());
  EXPECT_EQ(said(write_durably("token", "x")), "");
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(folder / "token"));
}

TEST(Files, AreMadeOnce) {
  const TemporaryFolder folder;
  const auto first = create_durably(folder / "owner", "a");
  ASSERT_EQ(said(first), "");
  EXPECT_TRUE(*first);
  const auto second = create_durably(folder / "owner", "b");
  ASSERT_EQ(said(second), "");
  EXPECT_FALSE(*second);
  EXPECT_EQ(read_file(folder / "owner"), "a");
}

TEST(Files, WhatCannotBeIsToldWithItsPlace) {
  const TemporaryFolder folder;
  EXPECT_EQ(said(write_durably(folder / "none/token", "x")),
            "cannot create " + (folder / "none/token.new") + ": No such file or directory");
  EXPECT_EQ(said(sync_folder(folder / "none")),
            "cannot sync the folder " + (folder / "none") + ": No such file or directory");
  EXPECT_EQ(said(sync_folder("")), "") << "the present folder";
  EXPECT_EQ(read_file(folder / "none"), std::nullopt);
  const std::string before = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp";
  ::setenv("TMPDIR", (folder / "none").c_str(), 1);
  EXPECT_EQ(said(temporary_folder()), (folder / "none") +
                                          ": cannot be used for temporary files: No such file or "
                                          "directory; TMPDIR may name another folder");
  ::setenv("TMPDIR", before.c_str(), 1);
  EXPECT_EQ(said(temporary_folder()), "");
}

}  // namespace
}  // namespace sluice::host::test
