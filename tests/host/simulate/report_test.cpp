// The report of a simulation: what it keeps of a run, with the arithmetic; what it reads of another
// run's log; and that nothing breaks out of the page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "api/json/json.hpp"
#include "host/simulate/report/data_text.hpp"
#include "host/simulate/report/other_log.hpp"
#include "host/simulate/report/page.hpp"
#include "host/simulate/run.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCluster = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: { name: f }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: { name: left }
spec:
  cohortName: both
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{ name: f, resources: [{ name: cpu, nominalQuota: 2 }] }]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: { name: right }
spec:
  cohortName: both
  namespaceSelector: {}
  preemption: { reclaimWithinCohort: Any }
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{ name: f, resources: [{ name: cpu, nominalQuota: 1 }] }]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: { name: left, namespace: ns }
spec: { clusterQueue: left }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: { name: right, namespace: ns }
spec: { clusterQueue: right }
)";

std::string workload_event(const char* at, const char* name, const char* queue, int cpu,
                           const char* runtime) {
  return std::string("- at: ") + at +
         "\n  apply: {apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " +
         name + ", namespace: ns, annotations: {sluice.dev/runtime: " + runtime +
         "}}, spec: {queueName: " + queue +
         ", podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i, "
         "resources: {requests: {cpu: " +
         std::to_string(cpu) + "}}}]}}}]}}\n";
}

class ReportTest : public testing::Test {
 protected:
  ReportTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("sluice-report-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ReportTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// left: a takes 2 of 2 from 0 s to 10 s; b borrows 1 of right's from 1 s on, is evicted for d
  /// at 3 s, and runs its 4 s from 5 s, when d has ended.
  SimulateOptions two_teams() const {
    SimulateOptions options;
    options.plugins = std::vector<std::string>();
    options.log = folder_ / "log";
    options.report = folder_ / "report.html";
    options.paths = {
        write("cluster.yaml", kCluster),
        write("trace.yaml", "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nevents:\n" +
                                workload_event("0s", "a", "left", 2, "10s") +
                                workload_event("1s", "b", "left", 1, "4s") +
                                workload_event("3s", "d", "right", 1, "2s"))};
    return options;
  }

  static Result<SimulationEnd> run(const SimulateOptions& options) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    auto done = run_simulation(options);
    testing::internal::GetCapturedStdout();
    testing::internal::GetCapturedStderr();
    return done;
  }

  /// The data that stand in the report.
  json::object data() const {
    const std::string page = read("report.html");
    const std::string head = "<script type=\"application/json\" id=\"data\">";
    const std::size_t from = page.find(head) + head.size();
    return json::parse(page.substr(from, page.find("</script>", from) - from)).as_object();
  }

  /// `left f cpu: 0 2000, 1 3000; nominal 0 2000`, a line for each, in order.
  static std::vector<std::string> use_of(const json::object& run, const json::object& all) {
    std::vector<std::string> out;
    const auto text = [&](const json::value& id) {
      return std::string(all.at("texts").as_array().at(id.to_number<std::size_t>()).as_string());
    };
    const auto points = [](const json::value& list) {
      std::string line;
      std::int64_t at = 0;
      for (std::size_t i = 0; i < list.as_array().size(); i += 2) {
        at += list.as_array()[i].as_int64();
        line += " " + std::to_string(at) + ":" + std::to_string(list.as_array()[i + 1].as_int64());
      }
      return line;
    };
    for (const json::value& each : run.at("use").as_array()) {
      const json::array& series = each.as_array();
      out.push_back(text(series[1]) + " " + text(series[2]) + " " + text(series[3]) +
                    points(series[4]) + (series[5].as_array().empty() ? "" : " of") +
                    points(series[5]));
    }
    return out;
  }

  std::filesystem::path folder_;
};

TEST_F(ReportTest, UseIsThatOfTheLedger) {
  ASSERT_TRUE(run(two_teams()).ok());
  const json::object all = data();
  EXPECT_EQ(all.at("unit").as_int64(), 1'000'000'000);  // all times are whole seconds
  EXPECT_EQ(all.at("end").as_int64(), 10);
  // Milli-CPUs: a 2000; with b 3000; b is evicted at 3, starts again at 5, ends at 9; a ends at 10.
  EXPECT_THAT(use_of(all, all), testing::UnorderedElementsAre(
                                    "left f cpu 0:2000 1:3000 3:2000 5:3000 9:2000 10:0 of 0:2000",
                                    "right f cpu 3:1000 5:0 of 0:1000"));
  EXPECT_FALSE(all.contains("other"));
}

TEST_F(ReportTest, AnEvictionNamesWhomItMadeRoomFor) {
  ASSERT_TRUE(run(two_teams()).ok());
  const json::object all = data();
  const json::object& events = all.at("events").as_object();
  const json::array& names = all.at("workloads").at("name").as_array();
  const std::int64_t evicted = all.at("types").at("Evicted").as_int64();
  const json::array& by = events.at("by").as_array();  // pairs of event and workload
  ASSERT_EQ(by.size(), 2U);
  const auto event = by[0].to_number<std::size_t>();
  EXPECT_EQ(events.at("type").as_array().at(event), evicted);
  EXPECT_EQ(names.at(events.at("workload").as_array().at(event).to_number<std::size_t>()), "b");
  EXPECT_EQ(names.at(by[1].to_number<std::size_t>()), "d");
  // Its time is the sum of the steps up to it.
  std::int64_t at = 0;
  for (std::size_t i = 0; i <= event; ++i) at += events.at("at").as_array().at(i).as_int64();
  EXPECT_EQ(at, 3);
}

TEST_F(ReportTest, AgainstItsOwnLogBothRunsAreTheSame) {
  SimulateOptions options = two_teams();
  ASSERT_TRUE(run(options).ok());
  const std::string log = read("log");
  options.against = write("before.log", log);
  ASSERT_TRUE(run(options).ok());
  EXPECT_EQ(read("log"), log);  // a report changes no decision
  const json::object all = data();
  const json::object& other = all.at("other").as_object();
  EXPECT_EQ(json::serialize(other.at("events")), json::serialize(all.at("events")));
  EXPECT_THAT(use_of(other, all),
              testing::UnorderedElementsAre("left f cpu 0:2000 1:3000 3:2000 5:3000 9:2000 10:0",
                                            "right f cpu 3:1000 5:0"));
}

TEST_F(ReportTest, WhatIsOnlyInTheOtherRunIsAddedWithoutAShape) {
  SimulateOptions options = two_teams();
  options.against =
      write("before.log",
            R"({"t":2.5,"type":"QuotaReserved","workload":"ns/x","clusterQueue":"left",)"
            R"("podSets":[{"name":"main","count":1,"flavors":{"cpu":"f"}}],"borrowing":false}
{"t":4.0,"type":"Finished","workload":"ns/x","reason":"Succeeded"}
{"type":"Summary","workloads":1}
)");
  ASSERT_TRUE(run(options).ok());
  const json::object all = data();
  EXPECT_EQ(all.at("unit").as_int64(), 1'000'000);  // because of 2.5 s
  const json::object& workloads = all.at("workloads").as_object();
  EXPECT_EQ(json::serialize(workloads.at("name")), R"(["a","b","d","x"])");
  EXPECT_EQ(workloads.at("shape").as_array().at(3).as_int64(), -1);
  EXPECT_TRUE(all.at("other").at("use").as_array().empty());  // what x asks for is not known
}

TEST_F(ReportTest, ADeletedWorkloadUsesNothing) {
  SimulateOptions options = two_teams();
  options.paths.back() =
      write("trace.yaml", "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nevents:\n" +
                              workload_event("0s", "a", "left", 2, "10s") +
                              "- at: 4s\n  delete: {kind: Workload, namespace: ns, name: a}\n");
  ASSERT_TRUE(run(options).ok());
  const json::object all = data();
  EXPECT_THAT(use_of(all, all), testing::Contains("left f cpu 0:2000 4:0 of 0:2000"));
  EXPECT_THAT(json::serialize(all.at("events").at("type")),
              testing::EndsWith("," + std::to_string(RunEvent::kGone) + "]"));
  // Its log does not tell, so it is taken to be so in the other run, too.
  options.against = write("before.log", read("log"));
  ASSERT_TRUE(run(options).ok());
  EXPECT_THAT(use_of(data().at("other").as_object(), data()),
              testing::ElementsAre("left f cpu 0:2000 4:0"));
}

TEST_F(ReportTest, WhatRanBeforeTheStartIsTakenOver) {
  SimulateOptions options = two_teams();
  options.dump = folder_ / "dump.json";
  options.until = 2 * kSecond;
  ASSERT_TRUE(run(options).ok());
  options.paths.front() = options.dump;
  options.dump.clear();
  options.until.reset();
  ASSERT_TRUE(run(options).ok());
  const json::object all = data();
  EXPECT_THAT(use_of(all, all),
              testing::Contains("left f cpu 1:3000 3:2000 5:3000 9:2000 10:0 of 1:2000"));
  // The last instant before 2 s was at 1 s. a was reserved and admitted at 0, b at 1.
  const json::object& events = all.at("events").as_object();
  std::string first;
  for (std::size_t i = 0; i < 4; ++i)
    first += json::serialize(events.at("at").as_array().at(i)) + ":" +
             json::serialize(events.at("workload").as_array().at(i)) + " ";
  EXPECT_EQ(first, "0:0 0:0 1:1 0:1 ");
}

TEST_F(ReportTest, QuotaThatChangesIsKept) {
  SimulateOptions options = two_teams();
  options.paths.back() =
      write("trace.yaml",
            "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nevents:\n- at: 2s\n  patch: {kind: "
            "ClusterQueue, name: left, merge: {spec: {resourceGroups: [{coveredResources: [cpu], "
            "flavors: "
            "[{name: f, resources: [{name: cpu, nominalQuota: 5}]}]}]}}}\n" +
                workload_event("3s", "a", "left", 2, "1s"));
  ASSERT_TRUE(run(options).ok());
  const json::object all = data();
  EXPECT_THAT(use_of(all, all), testing::Contains("left f cpu 3:2000 4:0 of 0:2000 2:5000"));
}

TEST_F(ReportTest, AWorkloadIsOfTheQueueWhereItGotQuota) {
  SimulateOptions options = two_teams();
  // It comes before there is a way to its queue.
  std::string cluster = kCluster;
  const std::size_t door =
      cluster.find("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue");
  options.paths = {
      write("cluster.yaml", cluster.substr(0, door)),
      write(
          "trace.yaml",
          "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nevents:\n" +
              workload_event("0s", "a", "left", 2, "1s") +
              "- at: 2s\n  apply: {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: "
              "{name: left, namespace: ns}, spec: {clusterQueue: left}}\n")};
  ASSERT_TRUE(run(options).ok());
  const json::object all = data();
  const auto queue = all.at("workloads").at("queue").at(0).to_number<std::size_t>();
  EXPECT_EQ(all.at("texts").as_array().at(queue), "left");
}

TEST_F(ReportTest, TellsBeforeItRunsWhatIsWrong) {
  SimulateOptions options = two_teams();
  options.report = folder_ / "no" / "report.html";
  auto done = run(options);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().text, testing::AllOf(testing::StartsWith("--report: "),
                                                HasSubstr("no/report.html: cannot be written")));
  options = two_teams();
  options.against = write("before.log", "{\"t\":0.0,\"type\":\"Skipped\"}\n\nhello\n");
  done = run(options);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().text, "--against: " + options.against +
                                   ":3: is no JSON object; a decision log as --log writes it has "
                                   "one on each line");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report.html"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "log"));
}

TEST_F(ReportTest, AWrongLogIsToldWithItsLine) {
  const std::pair<const char*, const char*> kCases[] = {
      {"[]", ":1: is no JSON object"},
      {R"({"t":1,"type":"Admited","workload":"a/b"})",
       R"(:1: type is "Admited"; allowed: QuotaReserved, Admitted, Evicted, Pending, Finished, )"
       "Deactivated, Requeued, WaitingForVictims, ReservationLost, CheckState, Lowered, Skipped, "
       "State and Summary"},
      {R"({"type":"Admitted","workload":"a/b"})", ":1: t is missing"},
      {R"({"t":"1","type":"Admitted","workload":"a/b"})", ":1: t is missing"},
      {R"({"t":1e300,"type":"Admitted","workload":"a/b"})", ":1: t is 1e+300; allowed: ±4e9"},
      {R"({"t":1,"type":"Admitted"})", ":1: workload is missing"},
      {R"({"t":1,"type":"QuotaReserved","workload":"a/b"})", ":1: podSets is missing"},
      {R"({"t":1,"type":"Lowered","workload":"a/b","podSets":[{"count":-1}]})",
       ":1: podSets has an entry that is no {name, count, flavors}"},
      {R"({"type":"Summary"})", ": holds no decision"},
      {"", ": holds no decision"},
  };
  for (const auto& [line, error] : kCases) {
    ReportTables tables;
    const auto log = OtherLog::read(write("log", line), tables);
    ASSERT_FALSE(log.ok()) << line;
    EXPECT_THAT(log.error().text, HasSubstr(error));
  }
  ReportTables tables;
  EXPECT_THAT(OtherLog::read(folder_ / "none", tables).error().text,
              HasSubstr("cannot be read: No such file"));
  EXPECT_THAT(OtherLog::read(folder_, tables).error().text, HasSubstr("is a folder"));
}

TEST_F(ReportTest, NothingBreaksOutOfThePage) {
  SimulateOptions options = two_teams();
  options.against =
      write("before<!--.log", R"({"t":1,"type":"Pending","workload":"x/</script><b>",)"
                              R"("reason":"<!--<script>","message":"</SCRIPT >"})");
  ASSERT_TRUE(run(options).ok());
  const std::string page = read("report.html");
  const std::size_t from = page.find("id=\"data\">") + 10;
  const std::string inside = page.substr(from, page.find("</script>", from) - from);
  EXPECT_THAT(inside, Not(HasSubstr("<")));
  EXPECT_THAT(json::serialize(data().at("workloads").at("name")), HasSubstr("<b>"));
  EXPECT_THAT(page, testing::EndsWith("</script>\n</body>\n</html>\n"));
}

TEST(UseSeriesTest, KeepsWhatHeldForATime) {
  std::vector<UseSeries::Point> points;
  UseSeries::put(points, 1, 0);  // nothing was used before, either
  EXPECT_TRUE(points.empty());
  UseSeries::put(points, 1, 5);
  UseSeries::put(points, 2, 5);  // as before
  UseSeries::put(points, 3, 7);
  UseSeries::put(points, 3, 6);  // 7 held for no time
  UseSeries::put(points, 4, 9);
  UseSeries::put(points, 4, 6);  // and so did 9, so that nothing changed at 4
  EXPECT_THAT(points, testing::ElementsAre(UseSeries::Point{1, 5}, UseSeries::Point{3, 6}));
}

TEST(UseOfEventsTest, WhatIsLoweredStaysInItsQueue) {
  ReportTables tables;
  const StringId cpu = tables.texts.intern("cpu");
  ReportShape shape;
  shape.pods.push_back({tables.texts.intern("main"), 3, {{cpu, 1000}}});
  std::vector<ReportWorkload> workloads(1);
  workloads[0].shape = tables.shape(shape);
  api::PodSetAssignment pods;
  pods.count = 3;
  pods.flavors.set("cpu", "f");
  pods.flavors.set("pods", "f");
  const std::uint32_t three = tables.place("q", false, {pods});
  pods.count = 2;
  const std::uint32_t two = tables.place("", false, {pods});
  const auto event = [](Duration at, DecisionType type, std::uint32_t what) {
    return RunEvent{at, 0, static_cast<std::uint8_t>(type), what, kNotThere};
  };
  const UseRecord use = use_of_events(
      {event(1, DecisionType::kQuotaReserved, three), event(1, DecisionType::kAdmitted, 0),
       event(4, DecisionType::kLowered, two), event(9, DecisionType::kEvicted, 0)},
      workloads, tables);
  ASSERT_EQ(use.all().size(), 2U);
  // 3 pods of 1000 each, then 2; and the pods themselves.
  EXPECT_EQ(use.all()[0].resource, cpu);
  EXPECT_THAT(use.all()[0].use,
              testing::ElementsAre(UseSeries::Point{1, 3000}, UseSeries::Point{4, 2000},
                                   UseSeries::Point{9, 0}));
  EXPECT_THAT(use.all()[1].use, testing::ElementsAre(UseSeries::Point{1, 3}, UseSeries::Point{4, 2},
                                                     UseSeries::Point{9, 0}));
}

TEST(ReportPageTest, ModulesBecomeOne) {
  const EmbeddedText files[] = {
      {"lib/a.js",
       "// A.\nexport const A = 1;\nconst own = 2;\nexport function f(x) {\n  return x;\n}\n"},
      {"ui/b.js", "import { A as first, f } from '../lib/a.js';\nexport class B {}\n"},
      {"main.js",
       "import {\n  B,\n} from './ui/b.js';\nimport { f } from './lib/a.js';\nrun(B, f);\n"},
  };
  EXPECT_EQ(
      bundle_modules(files, "main.js"),
      "// lib/a.js\nconst $m0 = (() => {\n// A.\nconst A = 1;\nconst own = 2;\nfunction f(x) {\n"
      "  return x;\n}\nreturn { A, f };\n})();\n"
      "// ui/b.js\nconst $m1 = (() => {\nconst { A: first, f } = $m0;\nclass B {}\n"
      "return { B };\n})();\n"
      "// main.js\nconst $m2 = (() => {\nconst {\n  B,\n} = $m1;\nconst { f } = $m0;\n"
      "run(B, f);\nreturn {  };\n})();\n");
}

TEST(ReportPageTest, AsksForNothingAndCannotBeEnded) {
  const ReportPage page = report_page();
  const std::size_t code = page.after.find("<script type=\"module\">") + 22;
  const std::string inside = page.after.substr(code, page.after.rfind("</script>") - code);
  EXPECT_THAT(inside, Not(HasSubstr("</script")));
  EXPECT_THAT(inside, Not(HasSubstr("<!--")));
  EXPECT_THAT(inside, Not(HasSubstr("\nimport ")));
  EXPECT_THAT(inside, Not(HasSubstr("\nexport ")));
  EXPECT_THAT(page.before, HasSubstr("default-src 'none'; script-src 'sha256-"));
  for (const std::string& part : {page.before, page.after}) {
    EXPECT_THAT(part, Not(HasSubstr("src=")));
    EXPECT_THAT(part, Not(HasSubstr("http://")));
    EXPECT_THAT(part, Not(HasSubstr("https://")));
  }
}

}  // namespace
}  // namespace sluice::host
