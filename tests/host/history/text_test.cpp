#include "host/history/text.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace sluice::host::test {
namespace {

boost::json::object json(const char* text) { return boost::json::parse(text).as_object(); }

const char* const kSummary = R"({"kind":"RunSummary","groupBy":["queue","day"],"groups":[
 {"group":{"queue":"team-a/main","day":"2026-01-01"},"started":2,"running":0,"finished":1,
  "failed":1,"evicted":0,"reservationsLost":0,"deleted":0,"superseded":0,"waitSeconds":90,
  "longestWaitSeconds":80,"runSeconds":7200,"heldHours":{"cpu":8,"memory":1024,
  "nvidia.com/gpu":2},"cpuUsedHours":4,"cpuHeldHoursWhereUseIsKnown":8,
  "memoryPeakBytes":2147483648}],"total":{}})";

TEST(HistoryText, ATableHasALineForEachGroup) {
  const std::string text = history_table(json(kSummary));
  EXPECT_NE(text.find("QUEUE"), std::string::npos);
  EXPECT_NE(text.find("team-a/main  2026-01-01  2"), std::string::npos) << text;
  for (const char* cell : {"45s", "80s", "8.00", "2.00", "4.00", "50%", "2Gi"})
    EXPECT_NE(text.find(cell), std::string::npos) << cell << "\n" << text;
}

const char* const kQuotas = R"({"kind":"QuotaHistory","items":[
 {"clusterQueue":"cq","from":"2026-01-01T00:00:00.123Z","to":"2026-01-02T00:00:00Z","quotas":[
  {"flavor":"spot","resource":"cpu","nominal":4.5,"borrowingLimit":0},
  {"flavor":"spot","resource":"memory","nominal":1099511627776}]},
 {"clusterQueue":"cq","from":"2026-01-02T00:00:00Z","quotas":[]}]})";

TEST(HistoryText, QuotasHaveALineEach) {
  EXPECT_EQ(history_table(json(kQuotas)),
            "  CLUSTERQUEUE  FROM                 TO                   FLAVOR  RESOURCE  NOMINAL  "
            "BORROWING  LENDING\n"
            "  cq            2026-01-01T00:00:00  2026-01-02T00:00:00  spot    cpu       4.5      "
            "0          -\n"
            "  cq            2026-01-01T00:00:00  2026-01-02T00:00:00  spot    memory    1Ti      "
            "-          -\n"
            "  cq            2026-01-02T00:00:00  now                  -       -         -        "
            "-          -\n");
  EXPECT_EQ(history_csv(json(kQuotas)),
            "clusterQueue,from,to,flavor,resource,nominal,borrowingLimit,lendingLimit\r\n"
            "cq,2026-01-01T00:00:00.123Z,2026-01-02T00:00:00Z,spot,cpu,4.5,0,\r\n"
            "cq,2026-01-01T00:00:00.123Z,2026-01-02T00:00:00Z,spot,memory,1099511627776,,\r\n");
}

TEST(HistoryText, CsvHasANameForEachColumn) {
  EXPECT_EQ(history_csv(json(kSummary)),
            "queue,day,started,running,finished,failed,evicted,reservationsLost,deleted,"
            "superseded,waitSeconds,longestWaitSeconds,runSeconds,coreHours,gpuHours,cpuUsedHours,"
            "cpuHeldHoursWhereUseIsKnown,memoryPeakBytes\r\n"
            "team-a/main,2026-01-01,2,0,1,1,0,0,0,0,90,80,7200,8,2,4,8,2147483648\r\n");
}

TEST(HistoryText, CsvQuotesWhatWouldBreakIt) {
  const std::string csv = history_csv(json(
      R"({"kind":"RunSummary","groupBy":["user"],"groups":[{"group":{"user":"a,\"b\"\n"}}]})"));
  EXPECT_NE(csv.find("\r\n\"a,\"\"b\"\"\n\",0,"), std::string::npos) << csv;
}

TEST(HistoryText, ARunHasALineForEachResource) {
  const std::string csv = history_csv(json(
      R"({"kind":"RunList","items":[{"metadata":{"namespace":"a"},"workload":"w","number":1,
          "holds":[{"flavor":"f","resource":"cpu","amount":2,"hours":1},
                   {"flavor":"f","resource":"memory","amount":3,"hours":4}]}]})"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_NE(csv.find(",f,cpu,2,1,,,\r\n"), std::string::npos) << csv;
}

}  // namespace
}  // namespace sluice::host::test
