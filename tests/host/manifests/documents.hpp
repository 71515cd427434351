// Texts and files read into comparable lines, for the tests of this folder.
// A Folder belongs to the test that made it.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "host/manifests/manifests.hpp"

namespace sluice::host::testing {

/// The documents of a text as JSON, or one line `error: …`.
inline std::vector<std::string> read(const std::string& text, const std::string& name = "in.yaml",
                                     const ManifestLimits& limits = {}) {
  std::vector<std::string> out;
  const auto loaded = load_text(text, name, limits, [&](Document&& document) -> Result<void> {
    out.push_back(boost::json::serialize(document.object));
    return {};
  });
  if (!loaded) out.push_back("error: " + loaded.error().text);
  return out;
}

/// A folder of its own that is removed at the end.
class Folder {
 public:
  Folder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            (std::string("sluice-manifests-") + test->test_suite_name() + "-" + test->name() + "-" +
             std::to_string(::getpid()));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string add(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace sluice::host::testing
