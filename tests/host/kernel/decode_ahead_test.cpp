// Workloads are decoded by several threads, and come as one thread would hand them out.
#include "host/kernel/decode_ahead.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace sluice::host {
namespace {

struct Ahead : ::testing::TestWithParam<int> {
  api::Scheme scheme;
  Intake intake{scheme, nullptr};
  std::vector<std::unique_ptr<StoredObject>> objects;

  std::vector<const StoredObject*> so_many(std::size_t count) {
    objects.clear();
    std::vector<const StoredObject*> out;
    for (std::size_t i = 0; i < count; ++i) {
      auto object = std::make_unique<StoredObject>();
      const std::string name = "w" + std::to_string(i);
      object->kind = scheme.find_by_name("workloads");
      object->key = "ns/" + name;
      object->metadata = Header(R"({"name":")" + name + R"(","namespace":"ns"})");
      object->body = std::make_shared<const std::string>(R"({"spec":{"queueName":"q"}})");
      out.push_back(object.get());
      objects.push_back(std::move(object));
    }
    return out;
  }
};

// A piece is 256 workloads.
TEST_P(Ahead, HandsOutEachOnceInOrder) {
  for (const std::size_t count : {0U, 1U, 255U, 256U, 257U, 3000U}) {
    DecodeAhead ahead(so_many(count), intake, GetParam());
    for (std::size_t i = 0; i < count; ++i) {
      const auto next = ahead.next();
      ASSERT_TRUE(next) << i << " of " << count;
      ASSERT_EQ(next->first, objects[i].get());
      ASSERT_EQ(next->second->meta.key(), objects[i]->key);
      ASSERT_EQ(next->second->queue_name, "q");
    }
    EXPECT_FALSE(ahead.next()) << "after " << count;
  }
}

TEST_P(Ahead, MayBeLeftBeforeItsEnd) {
  const auto stored = so_many(3000);
  for (const std::size_t taken : {0U, 1U, 700U}) {
    DecodeAhead ahead(stored, intake, GetParam());
    for (std::size_t i = 0; i < taken; ++i) ASSERT_EQ(ahead.next()->first, stored[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Ahead, ::testing::Values(0, 1, 2, 8));

}  // namespace
}  // namespace sluice::host
