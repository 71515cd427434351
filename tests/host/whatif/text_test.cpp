// When something would start, as a person reads it: from the document's times and words alone.
#include "host/whatif/text.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <string>
#include <vector>

namespace sluice::host {
namespace {

using testing::HasSubstr;

struct StartCase {
  std::string start;  // of a workload that would wait, asked at 12:00:00
  std::string line;
};

std::string told(const std::string& start) {
  const std::string document = R"({"status": {"time": "2026-01-01T12:00:00Z", "workloads": [{
      "object": {"kind": "Job", "namespace": "a", "name": "j"}, "decision": "Waits", "start": )" +
                               start + "}]}}";
  return what_if_text(boost::json::parse(document).as_object());
}

TEST(WhatIfText, SaysWhenItWouldStart) {
  const std::vector<StartCase> cases = {
      {R"({"earliest": "2026-01-01T12:01:30Z", "latest": "2026-01-01T12:01:30Z", "percent": 100})",
       "Start  in 1m30s (2026-01-01T12:01:30Z), if nothing else is submitted\n"},
      {R"({"earliest": "2026-01-01T12:00:10Z", "latest": "2026-01-01T13:00:00Z", "percent": 86})",
       "Start  between in 10s (2026-01-01T12:00:10Z) and in 1h (2026-01-01T13:00:00Z), 86 % sure, "
       "if nothing else is submitted\n"},
      {R"({"earliest": "2026-01-01T12:00:10Z", "because": "unknown: 1 job says no time"})",
       "Start  not before in 10s (2026-01-01T12:00:10Z); unknown: 1 job says no time\n"},
      {R"({"earliest": "2026-01-01T12:00:00Z", "because": "unknown: 1 job says no time"})",
       "Start  perhaps at once; unknown: 1 job says no time\n"},
      {R"({"because": "it can never start"})", "Start  it can never start\n"},
  };
  for (const StartCase& each : cases) EXPECT_THAT(told(each.start), HasSubstr(each.line));
}

TEST(WhatIfText, OfAQueueHasALineForEach) {
  const std::string document = R"({
    "spec": {"waiting": {"clusterQueue": "shared"}},
    "status": {"time": "2026-01-01T12:00:00Z", "workloads": [
      {"object": {"kind": "Workload", "namespace": "a", "name": "first"}, "decision": "Waits",
       "start": {"earliest": "2026-01-01T12:01:00Z", "latest": "2026-01-01T12:01:00Z",
                 "percent": 100}},
      {"object": {"kind": "Workload", "namespace": "b", "name": "second"}, "decision": "Waits",
       "start": {"because": "it can never start"}}]}})";
  EXPECT_EQ(what_if_text(boost::json::parse(document).as_object()),
            "  WORKLOAD  START\n"
            "  a/first   in 1m (2026-01-01T12:01:00Z)\n"
            "  b/second  it can never start\n"
            "\n"
            "This holds if nothing else is submitted.\n");
}

TEST(WhatIfText, OfAnEmptyQueueSaysSo) {
  const std::string document = R"({"spec": {"waiting": {"clusterQueue": "shared"}}, "status": {}})";
  EXPECT_EQ(what_if_text(boost::json::parse(document).as_object()),
            "Nothing waits there that you may see.\n");
}

}  // namespace
}  // namespace sluice::host
