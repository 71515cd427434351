// ForkStore: the host's objects at one version, under what is written over them.
#include "host/whatif/fork_store.hpp"

#include <gmock/gmock.h>

#include "tests/host/whatif/live_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> keys(const ObjectStore& store, const api::KindInfo& kind) {
  std::vector<std::string> out;
  for (const StoredObject* each : store.list(kind)) out.push_back(each->key);
  EXPECT_EQ(out.size(), store.count(kind));
  return out;
}

struct Forked {
  Forked() {
    for (const char* name : {"a", "c", "e"}) flavor(name);
    world.settle();
    version = world.store.version();
  }
  void flavor(const std::string& name) {
    world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":
        {"name":")" +
                name + "\"}}");
  }
  std::unique_ptr<ForkStore> fork() {
    auto made = ForkStore::make(world.rules->scheme, world.store, version);
    SLUICE_CHECK(made.ok(), made.ok() ? "" : made.error().text);
    return std::move(*made);
  }
  StoredObject named(const std::string& name) {
    StoredObject out = *world.store.find(kind, "a");
    out.key = name;
    return out;
  }

  LiveWorld world;
  const api::KindInfo& kind = world.kind("resourceflavors");
  std::uint64_t version = 0;
};

TEST(ForkStore, SharesTheRecordsOfItsVersion) {
  Forked forked;
  forked.flavor("b");  // later
  forked.world.settle();
  const auto fork = forked.fork();
  EXPECT_THAT(keys(*fork, forked.kind), ElementsAre("a", "c", "e"));
  EXPECT_EQ(fork->version(), forked.version);
  EXPECT_EQ(fork->find(forked.kind, "b"), nullptr);
  EXPECT_EQ(fork->find(forked.kind, "c"), forked.world.store.get(forked.kind, "c").get());
}

TEST(ForkStore, WhatIsWrittenLiesOverThem) {
  Forked forked;
  const auto fork = forked.fork();
  fork->put(forked.named("d"));
  fork->put(forked.named("c"));
  EXPECT_THAT(keys(*fork, forked.kind), ElementsAre("a", "c", "d", "e"));
  EXPECT_EQ(fork->find(forked.kind, "d")->version, forked.version + 1);
  EXPECT_EQ(fork->find(forked.kind, "c")->version, forked.version + 2);
  EXPECT_TRUE(fork->erase(forked.kind, "c"));
  EXPECT_TRUE(fork->erase(forked.kind, "d"));
  EXPECT_TRUE(fork->erase(forked.kind, "a"));
  EXPECT_FALSE(fork->erase(forked.kind, "a"));
  EXPECT_THAT(keys(*fork, forked.kind), ElementsAre("e"));
  fork->put(forked.named("a"));
  EXPECT_THAT(keys(*fork, forked.kind), ElementsAre("a", "e"));
  EXPECT_THAT(keys(forked.world.store, forked.kind), ElementsAre("a", "c", "e"));
}

TEST(ForkStore, AVersionThatIsNotThereIsAnError) {
  Forked forked;
  forked.version += 10;
  EXPECT_FALSE(
      ForkStore::make(forked.world.rules->scheme, forked.world.store, forked.version).ok());
}

}  // namespace
}  // namespace sluice::host::test
