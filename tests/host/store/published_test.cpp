#include "host/store/published.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/host/store/fixture.hpp"

namespace sluice::host::test {
namespace {

// E5: the history for watches was bounded in changes, not in what they take: 15,000 small workloads
// that a fast client plays made a host of 568 MB. 30,000 changes of 4,000 bytes and more, which
// would be 120 MB and more, keep no more than the 64 MiB of the default.
TEST(Published, E5_TheHistoryIsBoundedInBytes) {
  Published published(scheme().kinds(), HistoryLimits());
  published.start(1, workload(), 1);
  constexpr std::size_t kBytes = 4000;
  for (std::uint64_t version = 2; version < 30'002; ++version) {
    StoredObject next =
        object(workload(), "a/" + std::to_string(version % 100), std::string(kBytes, 'x'));
    next.version = version;
    RecordPtr record = std::make_shared<const StoredObject>(std::move(next));
    const Change change{ChangeType::kModified, record, nullptr};
    published.apply({&change, 1}, version);
  }
  EXPECT_EQ(published.version(), 30'001U);
  EXPECT_LE(published.history_size() * kBytes, 64U << 20);
  EXPECT_GE(published.history_size() * kBytes, 32U << 20) << "and the recent past is there";
}

}  // namespace
}  // namespace sluice::host::test
