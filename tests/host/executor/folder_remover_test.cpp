// What pods leave is removed, whatever it is, and nothing else.
#include "host/executor/process/folder_remover.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/host/temporary_folder.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

struct FolderRemoverTest : ::testing::Test {
  test::TemporaryFolder place;
  fs::path left = place / "left";
  std::atomic<bool> stop = false;

  FolderRemoverTest() { fs::create_directory(left); }

  static void write(const fs::path& file) { std::ofstream(file) << "text"; }
  /// Folders one in the other, a file beside each.
  static void dig(fs::path folder, int levels) {
    for (int i = 0; i < levels; ++i) {
      write(folder / "f");
      folder /= "d";
      fs::create_directory(folder);
    }
  }
};

TEST_F(FolderRemoverTest, AFolderGoesWithAllThatIsInIt) {
  write(left / "file");
  fs::create_directories(left / "a" / "b");
  write(left / "a" / "b" / ".hidden");
  EXPECT_TRUE(remove_tree(left, stop).ok());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(remove_tree(left, stop).ok());  // of nothing
}

TEST_F(FolderRemoverTest, WhatLinksLeadToStays) {
  const fs::path other = place / "other";
  fs::create_directory(other);
  write(other / "kept");
  fs::create_directory_symlink(other, left / "link");
  EXPECT_TRUE(remove_tree(left, stop).ok());
  EXPECT_TRUE(fs::exists(other / "kept"));
  fs::create_directory_symlink(other, left);
  EXPECT_FALSE(remove_tree(left, stop).ok());
  EXPECT_TRUE(fs::exists(other / "kept"));
}

// 1,000 levels, and the names to which deep folders are moved are taken already.
TEST_F(FolderRemoverTest, ADeepTreeTakesFewDescriptors) {
  dig(left, 1000);
  for (int i = 1; i <= 3; ++i) fs::create_directory(left / ("deep-" + std::to_string(i)));
  write(left / "deep-2" / "f");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Result<void> removed = remove_tree(left, stop);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(removed.ok()) << removed.error().text;
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(FolderRemoverTest, AFolderThatItsOwnerClosedGoes) {
  fs::create_directory(left / "closed");
  write(left / "closed" / "f");
  ASSERT_EQ(::chmod((left / "closed").c_str(), 0), 0);
  EXPECT_TRUE(remove_tree(left, stop).ok());
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(FolderRemoverTest, OneThatIsToEndLeavesTheRest) {
  write(left / "file");
  stop = true;
  EXPECT_TRUE(remove_tree(left, stop).ok());
  EXPECT_TRUE(fs::exists(left / "file"));
}

TEST_F(FolderRemoverTest, WhatLinksOfTheRightNameLeadToGoesFirst) {
  for (const char* name : {"logs/u1", "work/u1", "work/u2"}) fs::create_directories(place / name);
  fs::create_directory_symlink(place / "logs/u1", left / "logs");
  fs::create_directory_symlink(place / "work/u2", left / "work");
  FolderRemover remover;
  remover.remove({left, "u1", {"logs", "work", "none"}});
  remover.wait();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(fs::exists(place / "logs/u1"));
  EXPECT_TRUE(fs::exists(place / "work/u2"));
}

}  // namespace
}  // namespace sluice::host
