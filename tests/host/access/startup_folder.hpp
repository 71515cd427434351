// Startup: the fixture of a host that starts in a folder of its own; the folder goes with the test.
// One thread.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "host/access/startup.hpp"

namespace sluice::host::test {

inline constexpr std::int64_t kToday = 1'767'225'600;  // 2026-01-01
inline constexpr std::int64_t kDaySeconds = 86'400;

class Startup : public testing::Test {
 protected:
  Startup() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "sluice-access-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Startup() override { std::filesystem::remove_all(folder_); }

  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  std::string folder_;
  ServerConfig server_;
};

}  // namespace sluice::host::test
