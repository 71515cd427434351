// Kinds of jobs that a page declares: expressions, what a page may say, and what is read in
// objects.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/jobs/count_expression.hpp"
#include "api/jobs/job_page.hpp"
#include "api/json/json.hpp"

namespace sluice::api {
namespace {

namespace json = boost::json;

json::object parsed(const std::string& text) { return json::parse(text).as_object(); }

std::string evaluated(std::string_view text, const json::object& object) {
  const auto expression = CountExpression::parse(text);
  if (!expression) return "refused: " + expression.error().text;
  const auto value = expression->value({object, object, {}});
  return value ? std::to_string(*value) : value.error().text;
}

TEST(CountExpressions, AreWorkedOut) {
  const json::object object = parsed(R"({"n":3,"text":"4","word":"many","half":1.5,"no":null,
      "big":9223372036854775807,"groups":[{"r":2},{"r":5,"h":3},{}],"map":{"a":{"r":1},"b":{"r":7}},
      "annotations":{"x/y":"6"}})");
  const std::pair<const char*, const char*> cases[] = {
      {"7", "7"},
      {".n", "3"},
      {"$.n", "3"},
      {".text", "4"},  // annotations are texts
      {".annotations['x/y']", "6"},
      {".n * 2 + 1", "7"},
      {"1 + .n * 2", "7"},
      {"(1 + .n) * 2", "8"},
      {".n - 5", "-2"},
      {".nothing ?? 8", "8"},
      {".no ?? 8", "8"},
      {".nothing ?? .n * 2", "6"},  // ?? binds closest
      {".nothing ?? .other ?? 9", "9"},
      {"min(.n, 2)", "2"},
      {"max(.n, .missing ?? 10)", "10"},
      {"sum(.groups[*].r)", "7"},                      // 2 + 5; the third says nothing
      {"sum(.groups[*], .r ?? 1 * (.h ?? 1))", "18"},  // 2 + 5 × 3 + 1
      {"sum(.map[*].r)", "8"},
      {"count(.groups[*])", "3"},
      {"count(.missing)", "0"},
      {"@.n ?? 5", "5"},  // nothing is reported
      {"sum(.groups[*].r) >= .n", "1"},
      {".n < 3", "0"},
      {".n == 3", "1"},
      {".missing", ".missing is not there"},
      {".word", "word is \"many\", which is no whole number"},
      {".half", "half is 1.5, which is no whole number"},
      {".groups[*].r", ".groups[*].r leads to several values"},
      {".big + 1", "a number is too large"},
      {"sum(.groups[*], .r)", "groups[2].r is not there"},
      {"",
       "refused: cannot read \"\"; allowed here: a number, a path such as .spec.replicas, min, "
       "max, sum, count, milli, mib, is or ("},
      {"n", "refused: cannot read \"n\"; allowed here: min, max, sum, count, milli, mib or is"},
      {"1 2", "refused: cannot read \"2\"; allowed here: nothing more"},
      {"min(1)", "refused: cannot read \")\"; allowed here: a comma"},
      {"(1", "refused: cannot read \"\"; allowed here: )"},
      {"sum(.a[*], sum(.b[*]))", "refused: a sum or count cannot stand in a sum"},
      {"sum(.a[*], $.n)", "refused: within a sum paths start with a dot, not with $ or @: \"$.n\""},
      {"99999999999999999999",
       "refused: cannot read \"99999999999999999999\"; allowed here: a number that is smaller"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(evaluated(text, object), expected) << text;
  EXPECT_EQ(evaluated(std::string(401, '1'), object),
            "refused: an expression has at most 400 characters");
  EXPECT_EQ(evaluated(std::string(30, '('), object),
            "refused: an expression nests at most 16 deep");
}

constexpr const char* kPage = R"({"group":"example.com","kind":"Training","versions":["v1"],
  "podSets":[
   {"name":"driver","template":".spec.driver","optional":true},
   {"forEach":".spec.groups[*]","name":".name","template":".pods.template",
    "count":".replicas ?? 2","minCount":".least"}],
  "suspend":".spec.run.hold","priorityClass":".spec.run.class",
  "ready":[{"condition":"Running"}],"active":[{"holds":".status.live > 0"}],
  "succeeded":[{"path":".status.phase","in":["Done"]},{"condition":"Complete"}],
  "failed":[{"condition":"Failed"}],"message":".status.why"})";

std::shared_ptr<const JobKind> training() {
  const json::object page = parsed(kPage);
  auto kind = declared_job_kind(page, "example.com", "Training");
  EXPECT_TRUE(kind.ok()) << (kind.ok() ? "" : kind.error().text);
  return *kind;
}

json::object job() {
  return parsed(R"({"metadata":{"name":"t"},"spec":{"groups":[
      {"name":"A","pods":{"template":{"spec":{"x":1}}}},
      {"name":"b","replicas":7,"least":3,
       "pods":{"template":{"spec":{"priorityClassName":"p"}}}}]}})");
}

TEST(DeclaredJobs, TheirPodSetsAreRead) {
  const auto kind = training();
  json::object object = job();
  EXPECT_EQ(kind->group_kind(), "example.com/Training");
  auto sets = kind->pod_sets(object);
  ASSERT_EQ(sets.size(), 2u);  // no driver: it has no template
  EXPECT_EQ(sets[0].name, "a");
  EXPECT_EQ(sets[0].count, 2);  // what holds without a number
  EXPECT_FALSE(sets[0].min_count);
  EXPECT_EQ(sets[1].name, "b");
  EXPECT_EQ(sets[1].count, 7);
  EXPECT_EQ(sets[1].min_count, 3);
  EXPECT_EQ(kind->template_path(object, 1), "spec.groups[1].pods.template");
  EXPECT_EQ(*kind->pod_template(object, 0), parsed(R"({"spec":{"x":1}})"));
  EXPECT_EQ(kind->unfit(object), "");
  EXPECT_EQ(kind->priority_class(object), "p");  // of the pods
  object["spec"].as_object()["run"] = {{"class", "own"}};
  EXPECT_EQ(kind->priority_class(object), "own");
  object["spec"].as_object()["driver"] = json::object();
  EXPECT_EQ(kind->pod_sets(object).size(), 3u);
}

TEST(DeclaredJobs, CountsAreSetAndPutBack) {
  const auto kind = training();
  const json::object original = job();
  json::object object = original;
  json::object replaced;
  for (const std::size_t i : {0u, 1u})
    for (auto& [place, before] : kind->set_count(object, i, 4)) replaced[place] = before;
  EXPECT_EQ(replaced, parsed(R"({"groups/0/replicas":null,"groups/1/replicas":7})"));
  EXPECT_EQ(kind->pod_sets(object)[0].count, 4);
  EXPECT_EQ(kind->pod_sets(object)[1].count, 4);
  EXPECT_TRUE(kind->set_count(object, 1, 4).empty());  // it says so already
  restore_counts(object, replaced);
  EXPECT_EQ(object, original);
}

TEST(DeclaredJobs, AreHeldBackWhereThePageSays) {
  const auto kind = training();
  json::object object = job();
  EXPECT_FALSE(kind->suspended(object));
  kind->set_suspended(object, true);
  EXPECT_TRUE(kind->suspended(object));
  EXPECT_EQ(object.at("spec").at("run").at("hold"), true);
  kind->set_suspended(object, false);
  EXPECT_FALSE(kind->suspended(object));

  json::object page = parsed(kPage);
  page["suspend"] = ".metadata.annotations['d/hold']";
  const auto by_annotation = *declared_job_kind(page, "g", "K");
  by_annotation->set_suspended(object, true);
  EXPECT_EQ(object.at("metadata").at("annotations").at("d/hold"), "true");
  EXPECT_TRUE(by_annotation->suspended(object));
}

TEST(DeclaredJobs, WhatCannotBeReadIsTold) {
  const auto kind = training();
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "it has no pod set"},
      {R"({"spec":{"groups":[3]}})", "spec.groups[0] is 3; allowed is an object"},
      {R"({"spec":{"groups":[{"name":"a"}]}})",
       "pod set a: spec.groups[0].pods.template is not there; its pods are described by it"},
      {R"({"spec":{"driver":"x"}})", "pod set driver: spec.driver is no pod template"},
      {R"({"spec":{"groups":[{"pods":{"template":{}}}]}})", "a pod set has no name"},
      {R"({"spec":{"driver":{},"groups":[{"name":"Driver","pods":{"template":{}}}]}})",
       "two pod sets have the name driver"},
      {R"({"spec":{"groups":[{"name":"a","replicas":"few","pods":{"template":{}}}]}})",
       "pod set a: count: spec.groups[0].replicas is \"few\", which is no whole number"},
      {R"({"spec":{"groups":[{"name":"a","replicas":-1,"pods":{"template":{}}}]}})",
       "pod set a: count is -1; allowed is a number from 0 to 2147483647"},
      {R"({"spec":{"driver":{},"run":{"hold":1}}})",
       "spec.run.hold is 1; allowed are true and false"},
  };
  for (const auto& [object, expected] : cases)
    EXPECT_EQ(kind->unfit(parsed(object)), expected) << object;
  json::object many = job();
  json::array& groups = many["spec"].at("groups").as_array();
  while (groups.size() < 19) {
    groups.push_back(groups[0]);
    groups.back().as_object()["name"] = "g" + std::to_string(groups.size());
  }
  EXPECT_EQ(kind->unfit(many), "it has more than 18 pod sets; so many at most can be queued");
}

TEST(DeclaredJobs, TheirEndIsRead) {
  const auto kind = training();
  struct Case {
    const char* status;
    const char* end;
  };
  const Case cases[] = {
      {R"({})", "-"},
      {R"({"phase":"Going"})", "-"},
      {R"({"phase":"Done"})", "good: Job finished successfully"},
      {R"({"phase":"Done","why":"all well"})", "good: all well"},
      {R"({"conditions":[{"type":"Complete","status":"True","message":"m"}]})", "good: m"},
      {R"({"conditions":[{"type":"Complete","status":"False"}]})", "-"},
      {R"({"conditions":[{"type":"Failed","status":"True"}]})", "bad: Job failed"},
  };
  for (const Case& c : cases) {
    json::object object = job();
    object["status"] = json::parse(c.status);
    const auto end = kind->end(object);
    EXPECT_EQ(end ? (end->succeeded ? "good: " : "bad: ") + end->message : "-", c.end) << c.status;
  }
}

TEST(DeclaredJobs, PodsAreReadByTheConditionsOrByWhoeverRunsThem) {
  const auto kind = training();
  json::object object = job();
  const auto says = [&](const char* status) {
    object["status"] = json::parse(status);
    std::string out = kind->active(object) ? "active" : "idle";
    out += kind->pods_ready(object, 9) ? " ready" : " not ready";
    for (const auto& done : kind->finished_pods(object))
      out += " " + done.pod_set + "=" + std::to_string(done.count);
    return out;
  };
  EXPECT_EQ(says("{}"), "idle not ready");
  EXPECT_EQ(says(R"({"live":2})"), "active not ready");
  EXPECT_EQ(says(R"({"conditions":[{"type":"Running","status":"True"}]})"), "idle ready");
  // 2 pods of a, 7 of b.
  EXPECT_EQ(says(R"({"podSets":[{"name":"a","active":2,"ready":2},
                                {"name":"b","active":6,"ready":6,"succeeded":1}]})"),
            "active ready b=1");
  EXPECT_EQ(says(R"({"podSets":[{"name":"b","active":8,"ready":8}]})"), "active not ready");
}

// 7 pods of b, in groups of two that its operator counts; of a it says nothing, and what the host
// counts itself is what holds.
TEST(DeclaredJobs, WhatTheirOperatorReportsAsOverIsGivenBack) {
  json::object page = parsed(kPage);
  json::object& sets = page["podSets"].at(1).as_object();
  sets["reports"] = ".status.groups[*]";
  sets["finished"] = "@.done ?? 0 * (.size ?? 2)";
  const auto kind = *declared_job_kind(page, "g", "K");
  json::object object = job();
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", ""},
      {R"({"groups":[{"name":"b"}]})", ""},
      {R"({"groups":[{"name":"b","done":0},{"name":"a"}]})", ""},
      {R"({"groups":[{"name":"x","done":3},{"name":"b","done":3}]})", " b=6"},
      {R"({"groups":[{"name":"B","done":1},{"name":"A","done":1}]})", " a=2 b=2"},
      {R"({"groups":[{"name":"b","done":4}]})", " b=7"},  // no more than there are
      {R"({"groups":[{"name":"b","done":-1}]})", ""},
      {R"({"groups":[{"name":"b","done":"many"},3]})", ""},
      {R"({"groups":{"b":1}})", ""},
      {R"({"groups":[{"name":"b","done":3}],"podSets":[{"name":"b","succeeded":1}]})", " b=1"},
  };
  for (const auto& [status, given_back] : cases) {
    object["status"] = json::parse(status);
    std::string out;
    for (const auto& done : kind->finished_pods(object))
      out += " " + done.pod_set + "=" + std::to_string(done.count);
    EXPECT_EQ(out, given_back) << status;
    EXPECT_EQ(kind->unfit(object), "") << "what others report holds nobody back";
  }
}

TEST(DeclaredJobs, MorePodsMaySucceedThanRunAtATime) {
  json::object page = parsed(kPage);
  page["podSets"].at(1).as_object()["total"] = ".completions ?? 0";
  const auto kind = *declared_job_kind(page, "g", "K");
  json::object object = job();
  json::object& b = object["spec"].at("groups").at(1).as_object();
  const auto over = [&](int succeeded) {
    json::object status{{"podSets", {{{"name", "b"}, {"succeeded", succeeded}}}}};
    object["status"] = std::move(status);
    const auto done = kind->finished_pods(object);
    return done.empty() ? 0 : done.front().count;
  };
  EXPECT_EQ(kind->pod_sets(object)[1].to_succeed(), 7);  // no fewer than run at a time
  EXPECT_EQ(over(3), 3);
  b["completions"] = 10;
  EXPECT_EQ(kind->pod_sets(object)[1].count, 7);
  EXPECT_EQ(kind->pod_sets(object)[1].to_succeed(), 10);
  EXPECT_EQ(over(3), 0);  // 7 are left, as many as run
  EXPECT_EQ(over(5), 2);
  EXPECT_EQ(over(10), 7);
  b["completions"] = "all";
  EXPECT_EQ(kind->unfit(object),
            "pod set b: total: spec.groups[1].completions is \"all\", which is no whole number");
}

TEST(DeclaredJobs, WhatStandsBesideAnEndIsWrittenWithIt) {
  json::object page = parsed(kPage);
  json::object beside{{"path", ".status.state.terminal"}, {"value", "Completed"}};
  page["succeeded"].at(0).as_object()["also"] = json::array{beside};
  page["failed"].at(0).as_object()["also"] = json::array{beside};
  const auto kind = *declared_job_kind(page, "g", "K");
  for (const JobStage stage : {JobStage::kSucceeded, JobStage::kFailed}) {
    const json::object status = kind->status_with(job(), {stage, {}, "pod x failed"}, 0);
    EXPECT_EQ(status.at("state").at("terminal"), "Completed");
    EXPECT_EQ(status.at("why"), "pod x failed");
  }
  EXPECT_FALSE(kind->status_with(job(), {JobStage::kReady, {}, {}}, 0).contains("state"));
}

TEST(DeclaredJobs, WhatOnlyAnOperatorCanDoHoldsBackOnAHost) {
  json::object page = parsed(kPage);
  json::object test{{"holds", "count(.spec.program) > count(.spec.driver)"},
                    {"message", "no driver"}};
  page["unfitOnHost"] = json::array{test};
  const auto kind = *declared_job_kind(page, "g", "K");
  json::object object = job();
  EXPECT_EQ(kind->unfit_on_host(object), "");
  object["spec"].as_object()["program"] = "p";
  EXPECT_EQ(kind->unfit_on_host(object), "no driver");
  EXPECT_EQ(kind->unfit(object), "");
  object["spec"].as_object()["driver"] = json::object();
  EXPECT_EQ(kind->unfit_on_host(object), "");
}

TEST(DeclaredJobs, TheirStatusIsWrittenByThePage) {
  const auto kind = training();
  json::object object = job();
  const auto write = [&](JobStage stage, const char* message = "") {
    object["status"] = kind->status_with(object, {stage, {{"a", 2, 5, 1, 1, 0, 0}}, message}, 0);
    return object.at("status").as_object();
  };
  json::object status = write(JobStage::kStarted);
  EXPECT_EQ(to_json(status.at("podSets")),
            R"([{"name":"a","count":2,"total":5,"active":1,"ready":1,"succeeded":0,"failed":0}])");
  EXPECT_FALSE(status.contains("conditions"));
  EXPECT_TRUE(kind->running_since(object));
  status = write(JobStage::kReady);
  EXPECT_EQ(status.at("conditions").at(0).at("type"), "Running");
  EXPECT_EQ(status.at("conditions").at(0).at("status"), "True");
  status = write(JobStage::kStopped);
  EXPECT_EQ(status.at("conditions").at(0).at("status"), "False");
  EXPECT_FALSE(kind->running_since(object));
  const json::object stopped = object;
  write(JobStage::kSucceeded);
  ASSERT_TRUE(kind->end(object));
  EXPECT_TRUE(kind->end(object)->succeeded);
  EXPECT_EQ(object.at("status").at("phase"), "Done");
  object = stopped;
  write(JobStage::kFailed, "pod x failed");
  ASSERT_TRUE(kind->end(object));
  EXPECT_EQ(kind->end(object)->message, "pod x failed");
  EXPECT_FALSE(kind->end(object)->succeeded);
}

TEST(JobPages, SayWhatIsWrongWithThem) {
  const std::string set = R"({"name":"m","template":".spec.t"})";
  const auto page = [&](const std::string& sets, const std::string& more) {
    return R"({"group":"example.com","kind":"Training","versions":["v1"],"podSets":)" + sets +
           (more.empty() ? "" : "," + more) + "}";
  };
  const std::pair<std::string, const char*> cases[] = {
      {page("[" + set + "]", ""), ""},
      {page("[]", ""), "spec.podSets: found 0 entries; allowed are 1 to 18"},
      {page("[3]", ""), "spec.podSets[0]: must be an object"},
      {page("[" + set + "]", R"("sets":1)"), "spec: unknown key \"sets\"; allowed are group, "},
      {page(R"([{"name":"m","template":".spec.t","replicas":1}])", ""),
       "spec.podSets[0]: unknown key \"replicas\""},
      {page(R"([{"name":"M","template":".spec.t"}])", ""), "spec.podSets[0].name: found \"M\""},
      {page(R"([{"name":"m","template":"spec.t"}])", ""),
       "spec.podSets[0].template: found \"spec.t\""},
      {page(R"([{"name":"m","template":".spec.l[*]"}])", ""), "allowed is a path of names alone"},
      {page(R"([{"name":"m","template":".spec.t","count":".a +"}])", ""),
       "spec.podSets[0].count: cannot read \"\""},
      {page(R"([{"name":"m","template":".spec.t","count":".spec.a * 2","minCount":1}])", ""),
       "spec.podSets[0].minCount: a job can start with fewer pods only where count is one path"},
      {page(R"([{"name":"m","template":".spec.t","count":"@.a"}])", ""),
       "spec.podSets[0].count: found \"@.a\"; a path may start with @ only in finished"},
      {page(R"([{"name":"m","template":".spec.t","finished":"@.a"}])", ""), "beside reports"},
      {page(R"([{"name":"m","template":".spec.t","reports":".status.l[*]"}])", ""),
       "spec.podSets[0]: allowed are both of reports, finished, or none"},
      {page(R"([{"name":"m","template":".spec.t","reports":".status.l[*]","finished":"@.a"}])", ""),
       ""},
      {page("[" + set + "]", R"("suspend":".status.x")"), "spec.suspend: found \".status.x\""},
      {page("[" + set + "]", R"("ready":[{}])"),
       "spec.ready[0]: allowed is one of condition, path"},
      {page("[" + set + "]", R"("ready":[{"path":".status.a"}])"), "spec.ready[0].in: must list"},
      {page("[" + set + "]", R"("succeeded":[{"condition":"A"}])"),
       "spec: succeeded and failed belong together"},
      {page("[" + set + "]",
            R"("succeeded":[{"holds":".status.a > 0"}],"failed":[{"condition":"F"}])"),
       "spec.succeeded[0]: the host writes it"},
      {page("[" + set + "]",
            R"("ready":[{"condition":"A","also":[{"path":".spec.a","value":"b"}]}])"),
       "spec.ready[0].also[0].path: found \".spec.a\"; allowed is a path of names below .status"},
      {page("[" + set + "]", R"("unfitOnHost":[{"condition":"A"}])"),
       "spec.unfitOnHost[0].message: is not there"},
  };
  for (const auto& [text, expected] : cases) {
    const auto read = declared_kind(parsed(text), "trainings.example.com");
    const std::string error = read ? "" : read.error().text;
    EXPECT_NE(error.find(expected), std::string::npos) << text << "\n" << error;
    EXPECT_EQ(error.empty(), std::string_view(expected).empty()) << error;
  }
  const json::object good = parsed(cases[0].first);
  for (const char* name : {"trainings", "trainings.other.com", ".example.com", "Tra.example.com"})
    EXPECT_FALSE(declared_kind(good, name).ok()) << name;
}

}  // namespace
}  // namespace sluice::api
