// The administrator's kubeconfig: when its token and its authority are others.
#include "host/access/pki.hpp"
#include "host/access/tokens.hpp"
#include "tests/host/access/startup_folder.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;
using test::kToday;
using test::Startup;

// Its own user's, whoever else is named there.
TEST_F(Startup, AKubeconfigWithOtherUsersKeepsItsToken) {
  const auto keys = prepare_keys(server_, folder_, kToday);
  const std::string path = folder_ + "/kubeconfig";
  const auto first = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  const std::string own = content(path);
  const std::string users = "users:\n";
  for (const char* other : {"- name: jane\n  user:\n    token: another\n", "- nobody\n"}) {
    std::string text = own;
    write(path, text.insert(text.find(users) + users.size(), other));
    const auto next = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
    ASSERT_TRUE(first.ok() && next.ok());
    EXPECT_TRUE(same_digest(*first, *next)) << other;
    EXPECT_EQ(content(path), own);
  }
}

TEST_F(Startup, AKubeconfigKeepsItsToken) {
  const auto keys = prepare_keys(server_, folder_, kToday);
  const std::string path = folder_ + "/kubeconfig";
  const auto first = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  ASSERT_TRUE(first.ok()) << first.error().text;
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_NE(content(path).find("server: https://127.0.0.1:6443\n"), std::string::npos);
  EXPECT_NE(content(path).find(to_base64(keys->trust)), std::string::npos);
  // A11: a start on a full disk cannot write it again, and need not.
  const auto written = fs::last_write_time(path) - std::chrono::hours(1);
  fs::last_write_time(path, written);
  ASSERT_TRUE(publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys).ok());
  EXPECT_EQ(fs::last_write_time(path), written);
  const auto moved = publish_kubeconfig(path, folder_, "0.0.0.0:7000", *keys);
  ASSERT_TRUE(moved.ok());
  EXPECT_TRUE(same_digest(*first, *moved));
  EXPECT_NE(content(path).find("server: https://127.0.0.1:7000\n"), std::string::npos);
  ASSERT_TRUE(publish_kubeconfig(path, folder_, "[::1]:7000", *keys).ok());
  EXPECT_NE(content(path).find("server: https://[::1]:7000\n"), std::string::npos);
}

TEST_F(Startup, ALostKubeconfigMakesANewTokenAndTheOldOneIsWorthless) {
  const auto keys = prepare_keys(server_, folder_, kToday);
  const std::string path = folder_ + "/kubeconfig";
  const auto first = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  const std::string old = content(path);
  fs::remove(path);
  const auto second = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(same_digest(*first, *second));
  write(path, old);
  const auto third = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  ASSERT_TRUE(third.ok());
  EXPECT_FALSE(same_digest(*first, *third)) << "a digest that is not ours is not believed";
  TokenTable kept;
  ASSERT_TRUE(kept.add_csv(content(folder_ + "/pki/admin-token"), "f").ok());
  EXPECT_TRUE(kept.has(*third));
  EXPECT_EQ(mode_of(folder_ + "/pki/admin-token"), 0600u);
}

TEST_F(Startup, AnotherAuthorityComesIntoTheKubeconfigAndTheTokenStays) {
  const auto keys = prepare_keys(server_, folder_, kToday);
  const auto others = prepare_keys(server_, "", kToday);
  const std::string path = folder_ + "/kubeconfig";
  const auto token = publish_kubeconfig(path, folder_, "127.0.0.1:6443", *keys);
  const std::string before = content(path);
  ASSERT_TRUE(update_kubeconfig(path, "127.0.0.1:6443", *others, *token).ok());
  EXPECT_THAT(content(path), testing::HasSubstr(to_base64(others->trust)));
  ASSERT_TRUE(update_kubeconfig(path, "127.0.0.1:6443", *keys, *token).ok());
  EXPECT_EQ(content(path), before);
  // Somebody else's token is none of ours, and a file that was deleted is not wanted.
  ASSERT_TRUE(update_kubeconfig(path, "127.0.0.1:6443", *others, sha256("another")).ok());
  EXPECT_EQ(content(path), before);
  fs::remove(path);
  ASSERT_TRUE(update_kubeconfig(path, "127.0.0.1:6443", *others, *token).ok());
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Startup, AStoreInMemoryNeedsAPlaceForTheKubeconfig) {
  EXPECT_FALSE(kubeconfig_path(server_, "").ok());
  EXPECT_EQ(*kubeconfig_path(server_, "/data"), "/data/kubeconfig");
  server_.kubeconfig = folder_ + "/new/admin.conf";
  EXPECT_EQ(*kubeconfig_path(server_, ""), server_.kubeconfig);
  const auto keys = prepare_keys(server_, "", kToday);
  ASSERT_TRUE(keys.ok());
  ASSERT_TRUE(publish_kubeconfig(server_.kubeconfig, "", "127.0.0.1:1", *keys).ok());
  EXPECT_EQ(mode_of(server_.kubeconfig), 0600u);
  EXPECT_FALSE(fs::exists(folder_ + "/pki"));
}

}  // namespace
}  // namespace sluice::host
