// In which order pods are started.
#include "host/executor/start_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::host {
namespace {

using ::testing::ElementsAre;

struct StartQueueTest : ::testing::Test {
  StartQueue queue;

  /// Their UIDs are their keys.
  void add(std::initializer_list<const char*> keys) {
    for (const char* key : keys) queue.add({key, key});
  }
  std::vector<std::string> all() {
    std::vector<std::string> out;
    while (const auto pod = queue.next()) out.push_back(pod->key);
    return out;
  }
};

TEST_F(StartQueueTest, NamespacesTakeTurns) {
  add({"a/1", "a/2", "a/3", "b/1", "c/1", "c/2"});
  EXPECT_THAT(all(), ElementsAre("a/1", "b/1", "c/1", "a/2", "c/2", "a/3"));
}

TEST_F(StartQueueTest, WhoComesToAFullLineOfOthersIsNext) {
  add({"b/1", "b/2", "b/3"});
  EXPECT_EQ(queue.next()->key, "b/1");
  add({"a/1", "c/1"});
  EXPECT_THAT(all(), ElementsAre("c/1", "a/1", "b/2", "b/3"));
}

TEST_F(StartQueueTest, APodStandsInItOnce) {
  add({"a/1", "a/2", "a/1"});
  EXPECT_THAT(all(), ElementsAre("a/1", "a/2"));
  EXPECT_TRUE(queue.empty());
}

TEST_F(StartQueueTest, ADroppedPodComesOnlyWhenItIsAddedAgain) {
  add({"a/1", "a/2"});
  queue.drop("a/1");
  queue.drop("a/9");
  EXPECT_EQ(queue.next()->key, "a/2");
  EXPECT_TRUE(queue.empty());
  add({"a/1", "a/3"});
  EXPECT_THAT(all(), ElementsAre("a/1", "a/3"));
}

TEST_F(StartQueueTest, NothingIsLeftOfOneThatIsCleared) {
  add({"a/1", "b/1"});
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.next(), std::nullopt);
}

}  // namespace
}  // namespace sluice::host
