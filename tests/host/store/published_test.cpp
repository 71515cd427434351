#include "host/store/published.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>

#include "tests/host/store/fixture.hpp"

namespace sluice::host::test {
namespace {

constexpr std::size_t kBytes = 4000;

/// The object's change of that version, of kBytes and more.
void publish(Published& published, const std::string& key, std::uint64_t version) {
  StoredObject next = object(workload(), key, std::string(kBytes, 'x'));
  next.version = version;
  const Change change{ChangeType::kModified, std::make_shared<const StoredObject>(std::move(next)),
                      nullptr};
  published.apply({&change, 1}, version);
}

/// 30,000 changes of 100 objects, of 4,000 bytes and more: 120 MB and more.
std::size_t bytes_kept_of_many_changes(HistoryLimits limits) {
  Published published(scheme().kinds(), limits);
  published.start(1, workload(), 1);
  for (std::uint64_t version = 2; version < 30'002; ++version)
    publish(published, "a/" + std::to_string(version % 100), version);
  EXPECT_EQ(published.version(), 30'001U);
  return published.history_size() * kBytes;
}

// E5: the history for watches was bounded in changes, not in what they take: 15,000 small workloads
// that a fast client plays made a host of 568 MB.
TEST(Published, E5_TheHistoryIsBoundedInBytes) {
  const std::size_t kept = bytes_kept_of_many_changes({.old_after = 3600 * kSecond});
  EXPECT_LE(kept, 64U << 20);
  EXPECT_GE(kept, 32U << 20) << "and the recent past is there";
}

// Everything is older than no time at all: of that 16 MiB are kept.
TEST(Published, OfWhatIsOldLessIsKept) {
  const std::size_t kept = bytes_kept_of_many_changes({.old_after = -1});
  EXPECT_LE(kept, 16U << 20);
  EXPECT_GE(kept, 8U << 20);
}

/// The least limit with which the last `changes` changes of one object are all kept.
std::size_t least_limit_for(std::size_t changes) {
  const auto are_kept = [&](std::size_t bytes) {
    Published published(scheme().kinds(), {.bytes = bytes, .old_after = 3600 * kSecond});
    published.start(1, workload(), 1);
    for (std::uint64_t version = 2; version < changes + 2; ++version)
      publish(published, "a/b", version);
    return published.history_size() == changes;
  };
  std::size_t too_few = 0;
  std::size_t enough = 4 * kBytes * changes;
  EXPECT_TRUE(are_kept(enough));
  while (too_few + 1 < enough) {
    const std::size_t middle = std::midpoint(too_few, enough);
    (are_kept(middle) ? enough : too_few) = middle;
  }
  return enough;
}

// Three changes of the same size need three times the limit of one: none more is left out.
TEST(Published, WhatFillsTheLimitToTheLastByteIsKept) {
  EXPECT_EQ(least_limit_for(3), 3 * least_limit_for(1));
}

}  // namespace
}  // namespace sluice::host::test
