// What is said of a workload's clusters to whoever asks.
#include "../telling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clusters {
namespace {

using sluice::Json;
using ::testing::ElementsAre;

constexpr std::int64_t kSecond = 1'000'000'000;

Telling reachable(const char* conditions = nullptr) {
  Telling out;
  out.cluster = "a";
  out.reachable = true;
  if (conditions != nullptr)
    out.workload = Json::parse(R"({"status":{"conditions":[)" + std::string(conditions) + "]}}");
  return out;
}

TEST(Telling, OfACopyThatWaits) {
  EXPECT_THAT(told_by(reachable("")),
              ElementsAre("It waits in cluster a, where its turn has not come yet"));
  EXPECT_THAT(told_by(reachable(R"({"type":"QuotaReserved","status":"False","reason":"Pending",
                                    "message":"1 more needed"})")),
              ElementsAre("It waits in cluster a, Pending: 1 more needed"));
}

TEST(Telling, OfACopyThatHasQuotaAndWhatHoldsItUp) {
  Telling told = reachable(R"({"type":"QuotaReserved","status":"True"})");
  EXPECT_THAT(told_by(told), ElementsAre("It has its quota in cluster a, and is not admitted yet"));
  (*told.workload)["status"]["admissionChecks"] = Json::parse(
      R"([{"name":"ok","state":"Ready"},{"name":"nodes","state":"Pending","message":"2 of 3"}])");
  EXPECT_THAT(told_by(told),
              ElementsAre("It has its quota in cluster a; its check nodes is Pending (2 of 3)"));
}

TEST(Telling, OfTheJobWhereItRuns) {
  Telling told = reachable(R"({"type":"Admitted","status":"True"})");
  told.chosen = true;
  EXPECT_THAT(told_by(told),
              ElementsAre("It is admitted in cluster a", "Its job is on its way there"));
  told.job_write = {false, true, 0, 403, "jobs is forbidden"};
  EXPECT_THAT(told_by(told), ElementsAre("It is admitted in cluster a",
                                         "Cluster a refuses its job: jobs is forbidden"));
  told.job = Json::parse(R"({"status":{"active":2}})");
  EXPECT_THAT(told_by(told),
              ElementsAre("It is admitted in cluster a", "2 pods of its job are active there"));
}

TEST(Telling, OfAnEndAndAnEviction) {
  EXPECT_THAT(told_by(reachable(R"({"type":"Finished","status":"True","reason":"Succeeded"})")),
              ElementsAre("It has ended in cluster a, Succeeded"));
  EXPECT_THAT(told_by(reachable(R"({"type":"Evicted","status":"True","reason":"Preempted",
                                    "message":"for another"})")),
              ElementsAre("It was evicted in cluster a, Preempted: for another"));
}

TEST(Telling, OfAClusterThatRefusesOrIsLost) {
  Telling told = reachable();
  EXPECT_THAT(told_by(told), ElementsAre("It is on its way to cluster a"));
  told.workload_write = {false, true, 0, 404, "no namespace"};
  EXPECT_THAT(told_by(told), ElementsAre("Cluster a refuses the workload: no namespace"));
  told.reachable = false;
  told.lost_since = 1'000 * kSecond;
  told.given_up_at = 1'900 * kSecond;
  EXPECT_THAT(told_by(told), ElementsAre("Cluster a cannot be reached since 1970-01-01T00:16:40Z; "
                                         "MultiKueueCluster a says why"));
  told.chosen = true;
  EXPECT_THAT(told_by(told),
              ElementsAre("Cluster a cannot be reached since 1970-01-01T00:16:40Z; "
                          "MultiKueueCluster a says why. What runs there runs on, and at "
                          "1970-01-01T00:31:40Z it is tried elsewhere"));
}

}  // namespace
}  // namespace clusters
