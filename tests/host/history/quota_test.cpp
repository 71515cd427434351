// Stretches of quota: what is told becomes stretches, and stretches become bytes and come back.
#include "host/history/quota.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "host/history/quota_log.hpp"
#include "host/history/quota_row.hpp"
#include "tests/host/history/past.hpp"

namespace sluice::host::test {
namespace {

Quotas cpu(std::int64_t milli) { return {{"spot", "cpu", milli, std::nullopt, std::nullopt}}; }

/// `cq 1-5: spot cpu 4000; …` in seconds; a dash at the end: it goes on.
std::string told(QuotaLog& log) {
  std::string out;
  for (const QuotaStretch& each : log.take()) {
    out += fmt::format("{} {}-", each.holder, each.since / 1'000);
    if (each.until != 0) out += std::to_string(each.until / 1'000);
    for (const QuotaAmount& quota : each.quotas)
      out += fmt::format(" {} {} {}", quota.flavor, quota.resource, quota.nominal);
    out += "; ";
  }
  return out;
}

TEST(QuotaLog, AChangeEndsAStretchAndBeginsOne) {
  QuotaLog log;
  log.has("cq", cpu(4'000), ms(1));
  EXPECT_EQ(told(log), "cq 1- spot cpu 4000; ");
  log.has("cq", cpu(4'000), ms(2));
  EXPECT_EQ(told(log), "") << "the same is nothing new";
  log.has("cq", cpu(8'000), ms(5));
  EXPECT_EQ(told(log), "cq 1-5 spot cpu 4000; cq 5- spot cpu 8000; ");
}

TEST(QuotaLog, OfAQueueThatWentNothingGoesOn) {
  QuotaLog log({{"cq", ms(1), 0, cpu(4'000)}});
  log.gone("other", ms(2));
  log.gone("cq", ms(3));
  log.gone("cq", ms(4));
  EXPECT_EQ(told(log), "cq 1-3 spot cpu 4000; ");
  EXPECT_TRUE(log.queues().empty());
  log.has("cq", {}, ms(7));
  EXPECT_EQ(told(log), "cq 7-; ");
}

TEST(QuotaLog, AClockThatWasSetBackMakesNoTimeNegative) {
  QuotaLog log({{"cq", ms(10), 0, cpu(4'000)}});
  log.has("cq", cpu(8'000), ms(5));
  EXPECT_EQ(told(log), "cq 10-10 spot cpu 4000; cq 10- spot cpu 8000; ");
}

TEST(QuotaRow, ComesBackAsItWas) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<QuotaRow> rows = {
      {1, 2, 4'000, std::nullopt, std::nullopt}, {1, 300, 0, 0, kMost}, {7, 2, kMost, 1, 0}};
  const std::string bytes = pack_quotas(rows);
  EXPECT_EQ(unpack_quotas(bytes), rows);
  EXPECT_EQ(pack_quotas({rows[0]}).size(), 6U) << "few bytes";
  EXPECT_EQ(unpack_quotas(std::string_view(bytes).substr(0, bytes.size() - 1)).size(), 2U);
}

}  // namespace
}  // namespace sluice::host::test
