// Tables: what kubectl prints for each kind, cell by cell.
#include "host/rest/table.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/json/json.hpp"
#include "host/rest/table_cells.hpp"
#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;

using test::scheme;

Time now() { return *parse_time("2026-03-01T12:00:00Z"); }

TableFormat format_of(const std::string& api_version, const std::string& kind) {
  const api::KindInfo* info = scheme().find(api_version, kind);
  EXPECT_NE(info, nullptr) << kind;
  const auto slash = api_version.find('/');
  return {*info, slash == std::string::npos ? api_version : api_version.substr(slash + 1)};
}

/// Names of the columns; those of -o wide in brackets.
std::vector<std::string> columns(const TableFormat& format) {
  std::vector<std::string> out;
  const json::value definitions = json::parse(format.columns());
  for (const auto& each : definitions.as_array()) {
    const std::string name(each.at("name").as_string());
    out.push_back(each.at("priority").as_int64() > 0 ? "(" + name + ")" : name);
  }
  return out;
}

std::string cells(const TableFormat& format, const std::string& object) {
  std::string out;
  format.append_cells(json::parse(object).as_object(), now(), out);
  return out;
}

TEST(Table, HumanDurations) {
  struct Case {
    std::int64_t seconds;
    const char* expected;
  };
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 3600;
  constexpr std::int64_t kDay = 24 * kHour;
  const Case cases[] = {
      {-2, "<invalid>"},
      {-1, "0s"},
      {0, "0s"},
      {119, "119s"},
      {120, "2m"},
      {200, "3m20s"},
      {599, "9m59s"},
      {600, "10m"},
      {179 * kMinute, "179m"},
      {180 * kMinute, "3h"},
      {5 * kHour + 59, "5h"},
      {7 * kHour + 30 * kMinute, "7h30m"},
      {8 * kHour + 30 * kMinute, "8h"},
      {47 * kHour, "47h"},
      {48 * kHour, "2d"},
      {52 * kHour, "2d4h"},
      {8 * kDay + kHour, "8d"},
      {729 * kDay, "729d"},
      {730 * kDay, "2y"},
      {(2 * 365 + 30) * kDay, "2y30d"},
      {8 * 365 * kDay, "8y"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(human_duration(each.seconds * kSecond), each.expected) << each.seconds;
  }
  EXPECT_EQ(age_text("", now()), "<unknown>");
  EXPECT_EQ(age_text("yesterday", now()), "<invalid>");
  EXPECT_EQ(age_text("2026-03-01T11:59:00Z", now()), "60s");
}

TEST(Table, Columns) {
  const std::string kueue = "kueue.x-k8s.io/v1beta2";
  EXPECT_THAT(columns(format_of(kueue, "Workload")),
              ElementsAre("Name", "Queue", "Reserved in", "Admitted", "Finished", "Age", "Reason",
                          "(Priority)", "(Message)"));
  EXPECT_THAT(columns(format_of("kueue.x-k8s.io/v1beta1", "Workload")),
              columns(format_of(kueue, "Workload")));
  EXPECT_THAT(columns(format_of(kueue, "ClusterQueue")),
              ElementsAre("Name", "Cohort", "Strategy", "Pending Workloads", "Admitted Workloads",
                          "(Reserving Workloads)", "(Active)", "(Age)"));
  EXPECT_THAT(columns(format_of(kueue, "LocalQueue")),
              ElementsAre("Name", "ClusterQueue", "Pending Workloads", "Admitted Workloads",
                          "(Reserving Workloads)", "(Active)", "(Age)"));
  EXPECT_THAT(columns(format_of(kueue, "Cohort")), ElementsAre("Name", "Parent", "Age"));
  EXPECT_THAT(columns(format_of(kueue, "ResourceFlavor")),
              ElementsAre("Name", "Age", "(Node Labels)"));
  EXPECT_THAT(columns(format_of("batch/v1", "Job")),
              ElementsAre("Name", "Status", "Completions", "Duration", "Age", "(Containers)",
                          "(Images)", "(Selector)"));
  EXPECT_THAT(columns(format_of("v1", "Pod")),
              ElementsAre("Name", "Ready", "Status", "Restarts", "Age", "(IP)", "(Node)",
                          "(Nominated Node)", "(Readiness Gates)"));
  EXPECT_THAT(columns(format_of("v1", "Event")),
              ElementsAre("Last Seen", "Type", "Reason", "Object", "(Subobject)", "(Source)",
                          "Message", "(First Seen)", "(Count)", "(Name)"));
  EXPECT_THAT(columns(format_of("v1", "Namespace")), ElementsAre("Name", "Status", "Age"));
  EXPECT_THAT(columns(format_of("scheduling.k8s.io/v1", "PriorityClass")),
              ElementsAre("Name", "Value", "Global-Default", "Age", "PreemptionPolicy"));
  EXPECT_THAT(columns(format_of("rbac.authorization.k8s.io/v1", "RoleBinding")),
              ElementsAre("Name", "Role", "Age", "(Users)", "(Groups)", "(ServiceAccounts)"));
  EXPECT_THAT(columns(format_of("ray.io/v1", "RayCluster")),
              ElementsAre("Name", "desired workers", "available workers", "cpus", "memory", "gpus",
                          "(tpus)", "status", "age", "(head pod IP)", "(head service IP)"));
}

/// Every computed column of every kind has a cell that survives an empty object.
TEST(Table, EveryColumnOfEveryKindIsKnown) {
  for (const api::KindInfo* info : scheme().kinds()) {
    for (const auto& version : info->versions) {
      for (const auto& column : version.columns) {
        if (column.json_path.starts_with("=")) {
          EXPECT_NE(computed_cell(column.json_path.substr(1)), nullptr) << column.json_path;
        } else {
          EXPECT_TRUE(api::JsonPath::parse(column.json_path).ok()) << column.json_path;
        }
      }
      const TableFormat format(*info, version.name);
      EXPECT_EQ(json::parse(cells(format, "{}")).as_array().size(),
                json::parse(format.columns()).as_array().size())
          << info->kind;
      json::parse(cells(format, R"({"metadata":7,"spec":[],"status":"x","data":1,"subjects":{}})"));
    }
  }
}

TEST(Table, Workloads) {
  const auto format = format_of("kueue.x-k8s.io/v1beta2", "Workload");
  const auto row = [&](const std::string& status, const std::string& spec = "") {
    return cells(format, R"({"metadata":{"name":"w","creationTimestamp":"2026-03-01T11:55:00Z"},
      "spec":{"queueName":"q","priority":5)" +
                             spec + R"(},"status":{)" + status + "}}");
  };
  const auto condition = [](const std::string& type, const std::string& status,
                            const std::string& reason) {
    return R"({"type":")" + type + R"(","status":")" + status + R"(","reason":")" + reason +
           R"(","message":"because"})";
  };
  EXPECT_EQ(row(""), R"(["w","q",null,null,null,"5m","",5,""])");
  EXPECT_EQ(row(R"("conditions":[)" + condition("QuotaReserved", "False", "Pending") + "]"),
            R"(["w","q",null,null,null,"5m","Pending",5,"because"])");
  EXPECT_EQ(row(R"("admission":{"clusterQueue":"cq"},"conditions":[)" +
                condition("QuotaReserved", "True", "QuotaReserved") + "," +
                condition("Admitted", "True", "Admitted") + "]"),
            R"(["w","q","cq","True",null,"5m","",5,""])");
  EXPECT_EQ(row(R"("admission":{"clusterQueue":"cq"},"conditions":[)" +
                condition("QuotaReserved", "True", "QuotaReserved") + "," +
                condition("Admitted", "False", "NoChecks") + "]"),
            R"(["w","q","cq","False",null,"5m","NoChecks",5,"because"])");
  EXPECT_EQ(row(R"("conditions":[)" + condition("QuotaReserved", "False", "Pending") + "," +
                condition("Requeued", "False", "PodsReadyTimeout") + "]"),
            R"(["w","q",null,null,null,"5m","PodsReadyTimeout",5,"because"])");
  EXPECT_EQ(row(R"("conditions":[)" + condition("Admitted", "True", "Admitted") + "," +
                condition("Finished", "True", "Succeeded") + "]"),
            R"(["w","q",null,"True","True","5m","Succeeded",5,"because"])");
}

TEST(Table, Queues) {
  EXPECT_EQ(cells(format_of("kueue.x-k8s.io/v1beta2", "ClusterQueue"),
                  R"({"metadata":{"name":"cq","creationTimestamp":"2026-03-01T11:00:00Z"},
      "spec":{"cohortName":"c","queueingStrategy":"StrictFIFO"},
      "status":{"pendingWorkloads":3,"admittedWorkloads":2,"reservingWorkloads":2,
                "conditions":[{"type":"Active","status":"True"}]}})"),
            R"(["cq","c","StrictFIFO",3,2,2,"True","60m"])");
  EXPECT_EQ(cells(format_of("kueue.x-k8s.io/v1beta1", "ClusterQueue"),
                  R"({"metadata":{"name":"cq"},"spec":{"cohort":"c"}})"),
            R"(["cq","c",null,null,null,null,null,"<unknown>"])");
  EXPECT_EQ(cells(format_of("kueue.x-k8s.io/v1beta2", "ResourceFlavor"),
                  R"({"metadata":{"name":"f","creationTimestamp":"2026-03-01T11:59:59Z"},
                      "spec":{"nodeLabels":{"a":"b","c":"d"}}})"),
            R"(["f","1s","a=b,c=d"])");
}

TEST(Table, Jobs) {
  const auto format = format_of("batch/v1", "Job");
  const auto row = [&](const std::string& spec, const std::string& status) {
    return cells(format, R"({"metadata":{"name":"j","creationTimestamp":"2026-03-01T11:50:00Z"},
      "spec":{)" + spec + R"("template":{"spec":{"containers":[{"name":"a","image":"x"},
      {"name":"b","image":"y"}]}},"selector":{"matchLabels":{"u":"1"}}},"status":{)" +
                             status + "}}");
  };
  EXPECT_EQ(row(R"("completions":3,"parallelism":2,)", R"("startTime":"2026-03-01T11:58:00Z",
                "succeeded":1)"),
            R"(["j","Running","1/3","2m","10m","a,b","x,y","u=1"])");
  EXPECT_EQ(row(R"("parallelism":4,)", R"("conditions":[{"type":"Suspended","status":"True"}])"),
            R"(["j","Suspended","0/1 of 4","","10m","a,b","x,y","u=1"])");
  EXPECT_EQ(row(R"("suspend":true,)", ""), R"(["j","Suspended","0/1","","10m","a,b","x,y","u=1"])");
  EXPECT_EQ(row(R"("suspend":true,)", R"("active":1)"),
            R"(["j","Running","0/1","","10m","a,b","x,y","u=1"])");
  EXPECT_EQ(row(R"("completions":1,)", R"("succeeded":1,"startTime":"2026-03-01T11:51:00Z",
      "completionTime":"2026-03-01T11:51:07Z","conditions":[{"type":"Complete","status":"True"}])"),
            R"(["j","Complete","1/1","7s","10m","a,b","x,y","u=1"])");
  EXPECT_EQ(row(R"("completions":1,)", R"("startTime":"2026-03-01T11:51:00Z",
      "conditions":[{"type":"Failed","status":"True",
      "lastTransitionTime":"2026-03-01T11:51:30Z"}])"),
            R"(["j","Failed","0/1","30s","10m","a,b","x,y","u=1"])");
}

TEST(Table, Pods) {
  const auto format = format_of("v1", "Pod");
  struct Case {
    const char *more, *spec, *status, *expected;  // ready, status, restarts
  };
  const char* running = R"("phase":"Running","containerStatuses":[{"ready":true,
    "restartCount":2,"state":{"running":{}},
    "lastState":{"terminated":{"finishedAt":"2026-03-01T11:59:00Z"}}}])";
  const Case cases[] = {
      {"", "", R"("phase":"Pending")", R"("0/1","Pending","0")"},
      {"", "", running, R"-("1/1","Running","2 (60s ago)")-"},
      {R"(,"deletionTimestamp":"2026-03-01T11:59:00Z")", "", running,
       R"-("1/1","Terminating","2 (60s ago)")-"},
      {"", "", R"("phase":"Succeeded","containerStatuses":[{"state":{"terminated":
        {"exitCode":0,"reason":"Completed"}}}])",
       R"("0/1","Completed","0")"},
      {"", "", R"("phase":"Failed","containerStatuses":[{"state":{"terminated":{"exitCode":3}}}])",
       R"("0/1","ExitCode:3","0")"},
      {"", "", R"("phase":"Failed","containerStatuses":[{"state":{"terminated":{"signal":9}}}])",
       R"("0/1","Signal:9","0")"},
      {"", "", R"("phase":"Pending","containerStatuses":[{"state":{"waiting":
        {"reason":"ContainerCreating"}}}])",
       R"("0/1","ContainerCreating","0")"},
      {"", "", R"("phase":"Failed","reason":"Evicted")", R"("0/1","Evicted","0")"},
      {"", "", R"("phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
        "reason":"SchedulingGated"}])",
       R"("0/1","SchedulingGated","0")"},
      {"", R"("initContainers":[{"name":"i"}],)", R"("phase":"Pending","initContainerStatuses":[
        {"state":{"running":{}}}])",
       R"("0/1","Init:0/1","0")"},
      {"", R"("initContainers":[{"name":"i"}],)", R"("phase":"Pending","initContainerStatuses":[
        {"state":{"terminated":{"exitCode":1,"reason":"Error"}}}])",
       R"("0/1","Init:Error","0")"},
      {"", R"("initContainers":[{"name":"i"}],)", R"("phase":"Failed","initContainerStatuses":[
        {"state":{"terminated":{"exitCode":2}}}],
        "containerStatuses":[{"state":{"waiting":{"reason":"PodInitializing"}}}])",
       R"("0/1","Init:ExitCode:2","0")"},
      {"", R"("initContainers":[{"name":"i"}],)", R"("phase":"Failed","reason":"DeadlineExceeded",
        "initContainerStatuses":[{"state":{"terminated":{"exitCode":2}}}])",
       R"("0/1","DeadlineExceeded","0")"},
  };
  for (const Case& each : cases) {
    const std::string row =
        cells(format,
              std::string(R"({"metadata":{"name":"p","creationTimestamp":"2026-03-01T11:00:00Z")") +
                  each.more + R"(},"spec":{)" + each.spec +
                  R"("containers":[{"name":"c"}],"nodeName":"n"},"status":{)" + each.status + "}}");
    EXPECT_EQ(
        row, std::string(R"(["p",)") + each.expected + R"(,"60m","<none>","n","<none>","<none>"])");
  }
}

TEST(Table, OtherKinds) {
  struct Case {
    const char *api_version, *kind, *object, *expected;
  };
  const Case cases[] = {
      {"v1", "Event",
       R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Job","name":"j","fieldPath":"f"},
           "type":"Normal","reason":"Started","message":"m \n","count":3,
           "source":{"component":"c","host":"h"},"firstTimestamp":"2026-03-01T11:00:00Z",
           "lastTimestamp":"2026-03-01T11:59:50Z"})",
       R"(["10s","Normal","Started","job/j","f","c, h","m","60m","3","e"])"},
      {"v1", "Event",
       R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p"},"type":"Warning",
           "reason":"R","message":"m","reportingComponent":"k",
           "eventTime":"2026-03-01T11:59:00Z"})",
       R"(["60s","Warning","R","pod/p",null,"k","m","60s","1","e"])"},
      {"v1", "Namespace", R"({"metadata":{"name":"n"},"status":{"phase":"Active"}})",
       R"(["n","Active","<unknown>"])"},
      {"v1", "Node",
       R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/b":"",
           "node-role.kubernetes.io/a":""}},"spec":{"unschedulable":true},
           "status":{"conditions":[{"type":"Ready","status":"True"}],
           "nodeInfo":{"kubeletVersion":"v1"},
           "addresses":[{"type":"InternalIP","address":"::1"}]}})",
       R"(["n","Ready,SchedulingDisabled","a,b","<unknown>","v1","::1","<none>",null,null,null])"},
      {"v1", "Secret", R"({"metadata":{"name":"s"},"type":"Opaque","data":{"a":"","b":""}})",
       R"(["s","Opaque",2,"<unknown>"])"},
      {"v1", "Service",
       R"({"metadata":{"name":"s"},"spec":{"type":"NodePort","clusterIP":"10.0.0.1",
           "ports":[{"port":80,"protocol":"TCP"},{"port":1,"nodePort":2,"protocol":"UDP"}]}})",
       R"(["s","NodePort","10.0.0.1","<none>","80/TCP,1:2/UDP","<unknown>","<none>"])"},
      {"scheduling.k8s.io/v1", "PriorityClass",
       R"({"metadata":{"name":"p"},"value":1000,"preemptionPolicy":"Never"})",
       R"(["p",1000,false,"<unknown>","Never"])"},
      {"rbac.authorization.k8s.io/v1", "ClusterRole",
       R"({"metadata":{"name":"r","creationTimestamp":"2026-03-01T11:00:00Z"}})",
       R"(["r","2026-03-01T11:00:00Z"])"},
      {"rbac.authorization.k8s.io/v1", "RoleBinding",
       R"({"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"},"subjects":[
           {"kind":"User","name":"u"},{"kind":"User","name":"v"},
           {"kind":"ServiceAccount","name":"s","namespace":"n"}]})",
       R"(["b","Role/r","<unknown>","u, v","","n/s"])"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(cells(format_of(each.api_version, each.kind), each.object), each.expected);
  }
}

TEST(JsonPaths, LeadToValues) {
  const auto object = json::parse(R"({"a":{"b.c":1,"l":[{"t":"x","v":1},{"t":"y","v":2,"n":3}]},
                                      "m":{"p":7,"q":8}})")
                          .as_object();
  const std::pair<const char*, const char*> cases[] = {
      {".a['b.c']", "[1]"},
      {R"(.a.b\.c)", "[1]"},
      {"{.a.l[0].t}", R"(["x"])"},
      {".a.l[-1].v", "[2]"},
      {".a.l[*].v", "[1,2]"},
      {"$.a.l[?(@.t=='y')].v", "[2]"},
      {R"(.a.l[?(@.t=="x")].v)", "[1]"},
      {".a.l[?(@.t!='y')].v", "[1]"},
      {".a.l[?(@.n==3)].t", R"(["y"])"},
      {".m[*]", "[7,8]"},
      {".a.l[5].v", "[]"},
      {".a.x.y", "[]"},
      {".m[0]", "[]"},
  };
  for (const auto& [path, expected] : cases) {
    const auto parsed = api::JsonPath::parse(path);
    ASSERT_TRUE(parsed.ok()) << path;
    json::array found;
    for (const auto* each : parsed->find(object)) found.push_back(*each);
    EXPECT_EQ(json::serialize(found), expected) << path;
  }
  for (const char* bad : {"a", ".a[", ".a[x]", ".a[?(b)]", ".a[?(@.x>1)]", ".a[?(@x==1)]"}) {
    EXPECT_FALSE(api::JsonPath::parse(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace sluice::host
