// Files with secrets: how they are read, and folders for them.
#include "host/access/secrets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/host/temporary_folder.hpp"

namespace sluice::host::test {
namespace {

namespace fs = std::filesystem;

std::string said(const Result<void>& done) { return done.ok() ? "" : done.error().text; }

TEST(SecretFiles, AreReadUpToAMebibyte) {
  const TemporaryFolder folder;
  const std::string file = folder / "large";
  for (const std::size_t bytes : {std::size_t{1'048'576}, std::size_t{1'048'577}}) {
    std::ofstream(file) << std::string(bytes, 'x');
    const auto read = read_small_file(file);
    ASSERT_EQ(read.ok(), bytes == 1'048'576);
    if (read.ok()) {
      EXPECT_EQ(read->size(), bytes);
    } else {
      EXPECT_EQ(read.error().text, file + ": longer than 1 MiB");
    }
  }
  EXPECT_EQ(read_small_file(folder / "none").error().text,
            (folder / "none") + ": No such file or directory");
  EXPECT_EQ(read_small_file(folder / "").error().text, (folder / "") + ": Is a directory");
}

TEST(PrivateFolders, AreMadeWithThoseAboveThem) {
  const TemporaryFolder folder;
  const std::string deep = folder / "a/b/pki";
  EXPECT_EQ(said(make_private_folder(deep)), "");
  EXPECT_EQ(permissions_of(deep), 0700U);
  EXPECT_EQ(said(make_private_folder(deep)), "") << "it is there";
  std::ofstream(folder / "file") << "x";
  EXPECT_EQ(said(make_private_folder(folder / "file")),
            (folder / "file") + ": is a file; it has to be a folder");
  EXPECT_NE(said(make_private_folder(folder / "file/pki")), "");
  EXPECT_NE(said(make_private_folder("/proc/pki")), "") << "nobody makes a folder there";
}

}  // namespace
}  // namespace sluice::host::test
