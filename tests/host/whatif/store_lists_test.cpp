// Lists of every store, whole and of one namespace: in order of keys, and no name of a namespace is
// the beginning of another's.
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "host/kernel/staged_changes.hpp"
#include "host/store/live_store.hpp"
#include "host/whatif/fork_store.hpp"
#include "tests/host/store/fixture.hpp"

namespace sluice::host::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const api::KindInfo& listed() { return kind("Workload"); }

void fill(ObjectStore& store) {
  // '-' comes before '/': a-b/1 comes before a/1.
  for (const char* key : {"b/1", "a/2", "a-b/1", "gone/1", "a/1", "a/3"})
    store.put(test::object(listed(), key));
  store.erase(listed(), "gone/1");
  store.erase(listed(), "a/3");
}

std::vector<std::string> keys_in(const ObjectStore& store, const std::string& ns) {
  std::vector<std::string> out;
  for (const StoredObject* each : store.list_in(listed(), ns)) out.push_back(each->key);
  return out;
}

void expect_lists(const ObjectStore& store, const std::string& which) {
  EXPECT_THAT(keys_in(store, ""), ElementsAre("a-b/1", "a/1", "a/2", "b/1")) << which;
  EXPECT_THAT(keys_in(store, "a"), ElementsAre("a/1", "a/2")) << which;
  EXPECT_THAT(keys_in(store, "a-b"), ElementsAre("a-b/1")) << which;
  EXPECT_THAT(keys_in(store, "gone"), IsEmpty()) << which;
  EXPECT_THAT(keys_in(store, "a-"), IsEmpty()) << which;
  EXPECT_EQ(store.count(listed()), 4u) << which;
}

TEST(StoreLists, OfANamespaceAreItsOwn) {
  MemoryStore memory;
  fill(memory);
  expect_lists(memory, "in memory");
  LiveStore live(scheme(), nullptr);
  fill(live);
  expect_lists(live, "live, before the commit");
  ASSERT_EQ(commit(live), "");
  expect_lists(live, "live, after it");
  const auto fork = ForkStore::make(scheme(), live, live.version());
  ASSERT_TRUE(fork.ok());
  expect_lists(**fork, "a fork");
}

TEST(StoreLists, OfWhatIsStagedAreThoseBelowAsTheyWillBe) {
  LiveStore live(scheme(), nullptr);
  for (const char* key : {"a/1", "a/3", "b/1", "gone/1"}) live.put(test::object(listed(), key));
  ASSERT_EQ(commit(live), "");
  StagedChanges staged(live);
  for (const char* key : {"a/2", "a-b/1", "a/1", "new/1"}) staged.put(test::object(listed(), key));
  for (const char* key : {"a/3", "gone/1", "new/1"}) EXPECT_TRUE(staged.erase(listed(), key));
  expect_lists(staged, "staged");
  const auto fork = ForkStore::make(scheme(), live, live.version());
  ASSERT_TRUE(fork.ok());
  for (const char* key : {"a/2", "a-b/1"}) (*fork)->put(test::object(listed(), key));
  for (const char* key : {"a/3", "gone/1"}) (*fork)->erase(listed(), key);
  expect_lists(**fork, "a changed fork");
}

}  // namespace
}  // namespace sluice::host::test
