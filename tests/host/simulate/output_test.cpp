#include "host/simulate/output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace sluice::host {
namespace {

class PendingOutputTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  static std::string read(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(PendingOutputTest, AppearsAtCommit) {
  auto output = PendingOutput::open(path("log"));
  ASSERT_TRUE(output.ok());
  std::string expected;
  for (int i = 0; i < 300'000; ++i) {  // more than the buffer holds
    const std::string line = "line " + std::to_string(i) + "\n";
    output->append(line);
    expected += line;
  }
  EXPECT_FALSE(std::filesystem::exists(path("log")));
  ASSERT_TRUE(output->commit().ok());
  EXPECT_EQ(read(path("log")), expected);
  EXPECT_EQ(files(), 1U);
}

TEST_F(PendingOutputTest, LeavesNothingWithoutCommit) {
  std::ofstream(path("log")) << "earlier";
  {
    auto output = PendingOutput::open(path("log"));
    ASSERT_TRUE(output.ok());
    output->append(std::string(3 << 20, 'x'));
  }
  EXPECT_EQ(read(path("log")), "earlier");
  EXPECT_EQ(files(), 1U);
}

TEST_F(PendingOutputTest, ReplacesNoDevice) {
  auto output = PendingOutput::open("/dev/null");
  ASSERT_TRUE(output.ok());
  output->append("gone");
  EXPECT_TRUE(output->commit().ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(PendingOutputTest, SaysAtOnceWhatCannotBeWritten) {
  const auto missing = PendingOutput::open(path("no/such/folder"));
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().text, testing::HasSubstr("cannot be written: No such file"));
  const auto folder = PendingOutput::open(folder_.string());
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().text, testing::HasSubstr("is a folder"));
}

}  // namespace
}  // namespace sluice::host
