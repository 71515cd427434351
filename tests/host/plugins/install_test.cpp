// Installing: what is put in place, what is not, and that the folder is never left in between.
#include "host/plugins/install.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <map>

#include "tests/host/plugins/signed_plugins.hpp"
#include "tests/host/plugins/support.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;
using test::filter_of_version;
using test::make_key;
using ::testing::HasSubstr;

constexpr const char* kSteps[] = {"write", "signature", "rename"};

class Installing : public ::testing::Test {
 protected:
  void SetUp() override {
    make_key(own / "key");
    fs::create_directory(folder);
  }
  std::string line(const PluginFile& of) const {
    const auto made = sign_plugin(of, own / "key");
    EXPECT_TRUE(made.ok());
    return *made;
  }
  /// All that is in the folder.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> out;
    for (const auto& each : fs::directory_iterator(folder))
      out[each.path().filename().string()] = test::bytes_of_file(each.path());
    return out;
  }
  /// Empty: it is there.
  std::string put(const PluginFile& file, bool replace = false, const PlacingStep& step = {}) {
    const auto placed = place_plugin(file, line(file), folder, replace, step);
    return placed ? "" : placed.error().text;
  }
  /// The version that a host which trusts the key would load; empty: none.
  std::string loadable() const {
    PluginConfig plugin;
    plugin.name = "filter";
    plugin.trust = {{own / "key.pub"}, true};
    const auto read = read_trusted_plugin(folder, plugin);
    return read ? read->metadata.version : "";
  }

  test::TemporaryFolder own;
  const fs::path folder = own / "plugins";
  const PluginFile first = filter_of_version("1.2.3");
  const PluginFile second = filter_of_version("1.2.4");
};

TEST_F(Installing, PutsLibraryAndSignatureInPlace) {
  const auto placed = place_plugin(first, line(first), folder, false);
  ASSERT_TRUE(placed.ok()) << placed.error().text;
  EXPECT_EQ(placed->path, folder / "filter.so");
  EXPECT_EQ(placed->replaced, "");
  EXPECT_EQ(contents(), (std::map<std::string, std::string>{{"filter.so", first.bytes},
                                                            {"filter.so.sig", line(first)}}));
  EXPECT_EQ(fs::status(folder / "filter.so").permissions(), fs::perms(0644));
  EXPECT_EQ(loadable(), "1.2.3");
  const auto again = place_plugin(first, line(first), folder, false);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->was_there);
}

TEST_F(Installing, ANewerVersionReplacesAnOlderOne) {
  ASSERT_EQ(put(first), "");
  const auto placed = place_plugin(second, line(second), folder, false);
  ASSERT_TRUE(placed.ok()) << placed.error().text;
  EXPECT_EQ(placed->replaced, "1.2.3");
  EXPECT_EQ(loadable(), "1.2.4");
  const auto before = contents();
  EXPECT_EQ(put(first), (folder / "filter.so").string() +
                            ": version 1.2.4 is there, and 1.2.3 is not newer; --replace puts it "
                            "in its place");
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(put(first, true), "");
  EXPECT_EQ(loadable(), "1.2.3");
  EXPECT_THAT(contents()["filter.so.sig"], HasSubstr(first.sha256));
  // What was signed for the one before the last is not kept for ever.
  EXPECT_EQ(put(second), "");
  EXPECT_EQ(put(filter_of_version("1.2.5")), "");
  EXPECT_EQ(contents()["filter.so.sig"].find(first.sha256), std::string::npos);
}

TEST_F(Installing, WhatIsNoPluginIsReplacedOnlyOnDemand) {
  std::ofstream(folder / "filter.so") << "mine\n";
  EXPECT_THAT(put(first), HasSubstr("what is there is no plugin; --replace"));
  EXPECT_EQ(contents()["filter.so"], "mine\n");
  EXPECT_EQ(put(first, true), "");
}

TEST_F(Installing, AnErrorAtAnyStepLeavesTheFolderAsItWas) {
  for (const bool there : {false, true}) {
    if (there) {
      ASSERT_EQ(put(first), "");
    }
    const auto before = contents();
    for (const char* step : kSteps) {
      EXPECT_EQ(put(second, false,
                    [&](std::string_view name) -> Result<void> {
                      if (name == step) return Error{"the disk is gone"};
                      return {};
                    }),
                "the disk is gone")
          << step;
      EXPECT_EQ(contents(), before) << step;
    }
  }
}

TEST_F(Installing, ADeathAtAnyStepLeavesTheOldOneWhole) {
  ASSERT_EQ(put(first), "");
  for (const char* step : kSteps) {
    const pid_t child = ::fork();
    if (child == 0) {
      put(second, false, [&](std::string_view name) -> Result<void> {
        if (name == step) ::_exit(7);
        return {};
      });
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), 7) << step;
    EXPECT_EQ(loadable(), "1.2.3") << step;
    EXPECT_EQ(contents()["filter.so"], first.bytes) << step;
    EXPECT_EQ(plugin_names(folder), std::vector<std::string>{"filter"}) << step;
  }
  EXPECT_EQ(put(second), "") << "what dead ones left is in nobody's way";
  EXPECT_EQ(loadable(), "1.2.4");
  EXPECT_EQ(contents().size(), 2U);
}

TEST_F(Installing, ADiskThatIsFullLeavesTheFolderAsItWas) {
  ASSERT_EQ(put(first), "");
  const auto before = contents();
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit least{4096, 4096};  // of bytes in a file: the library has more
    ::setrlimit(RLIMIT_FSIZE, &least);
    ::_exit(put(second).empty() ? 0 : 7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(contents(), before);
}

TEST_F(Installing, AFolderThatDoesNotTakeItIsNamed) {
  const auto nowhere = place_plugin(first, "", own / "nowhere", false);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().text, (own / "nowhere") + ": No such file or directory");
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(put(first), HasSubstr("everybody may put another file in its place"));
  EXPECT_TRUE(contents().empty());
}

TEST_F(Installing, OneAtATime) {
  const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  EXPECT_THAT(put(first), HasSubstr("another install works in it"));
  ::close(lock);
  EXPECT_EQ(put(first), "");
}

TEST_F(Installing, CandidatesHaveToFitThisHost) {
  EXPECT_TRUE(check_candidate(first).ok());
  const auto newer = check_candidate(
      test::edited("filter", "provides flavor-filter/1", "provides flavor-filter/9"));
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().text,
            "filter.so: it provides flavor-filter/9, which this host does not know: it was built "
            "for a newer one");
  const auto other = read_plugin_file(SLUICE_TEST_PLUGINS "/other-abi.so");
  const auto refused = check_candidate(*other);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text, HasSubstr("built for plugin ABI 99"));
}

TEST(Versions, AreComparedByTheirNumbers) {
  const std::vector<std::string> rising = {"0.9",   "1.0.0-alpha", "1.0.0-rc", "1.0.0",
                                           "1.0.1", "1.2.0",       "1.10.0",   "2"};
  for (std::size_t i = 0; i < rising.size(); ++i)
    for (std::size_t j = 0; j < rising.size(); ++j) {
      const int found = compare_versions(rising[i], rising[j]);
      EXPECT_EQ(found < 0, i < j) << rising[i] << " " << rising[j];
      EXPECT_EQ(found > 0, i > j) << rising[i] << " " << rising[j];
    }
  EXPECT_EQ(compare_versions("1.2", "1.2.0"), 0);
}

}  // namespace
}  // namespace sluice::host
