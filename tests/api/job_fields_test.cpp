// Kinds whose objects say in other ways what their pods are like: a path that is a text in each
// object, amounts in fields of their own, and places of their own for what a start puts in.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/jobs/count_expression.hpp"
#include "api/jobs/job_page.hpp"
#include "api/json/json.hpp"

namespace sluice::api {
namespace {

namespace json = boost::json;

json::object object_of_text(const std::string& text) { return json::parse(text).as_object(); }

std::shared_ptr<const JobKind> kind_with(const std::string& pod_sets, const char* more = "") {
  const auto kind = declared_job_kind(
      object_of_text(R"({"group":"example.com","kind":"Training","versions":["v1"],"podSets":[)" +
                     pod_sets + "]" + more + "}"),
      "example.com", "Training");
  EXPECT_TRUE(kind.ok()) << (kind.ok() ? "" : kind.error().text);
  return kind.ok() ? *kind : nullptr;
}

std::string pods_of(const JobKind& kind, json::object job, std::size_t i) {
  json::object made;
  const json::object* found = kind.described(job, i, made);
  return found ? to_json(*found) : "none";
}

TEST(CountExpressions, ReadAmountsAndSizes) {
  const json::object object = object_of_text(R"({"half":"500m","two":2,"point":"0.1","many":"x",
      "heap":"512m","big":"2g","odd":"1500k","mixed":"4Gi","bare":"100","bytes":"1b","minus":"-1m",
      "type":"Python","n":7})");
  const std::pair<const char*, const char*> cases[] = {
      {"milli(.half)", "500"},
      {"milli(.two)", "2000"},
      {"milli(.point)", "100"},
      {"milli(.none) ?? milli(.two) ?? 1", "2000"},
      {"milli(.none) ?? 1000", "1000"},
      {"milli(.many)", "many is \"x\", which is no amount such as 500m or 2"},
      {"mib(.heap)", "512"},
      {"mib(.big)", "2048"},
      {"mib(.odd)", "2"},  // rounded up
      {"mib(.mixed)", "4096"},
      {"mib(.bare)", "100"},
      {"mib(.bytes)", "1"},
      {"mib(.minus)", "minus is \"-1m\", which is no size such as 512m or 2g"},
      {"mib(.none) ?? 1024 * 3", "3072"},
      {"is(.type, 'Python') + is(.type, 'R') + is(.none, 'R')", "1"},
      {".n / 2", "3"},
      {".n / 0", "a division by 0"},
      {"12 / 2 * 3 / 4", "4"},
      {"is(.type)", "refused: cannot read \")\"; allowed here: a comma"},
      {"is(.type, Python)", "refused: cannot read \"Python)\"; allowed here: a text in quotes"},
      {"max(.n, 1) ?? 2", "refused: cannot read \"?? 2\"; allowed here: nothing more"},
  };
  for (const auto& [text, expected] : cases) {
    const auto read = CountExpression::parse(text);
    const auto value = read ? read->value({object, object, {}}) : Result<std::int64_t>(0);
    const std::string got = !read   ? "refused: " + read.error().text
                            : value ? std::to_string(*value)
                                    : value.error().text;
    EXPECT_EQ(got, expected) << text;
  }
}

/// As AppWrapper does it: objects in a list, each with pod sets whose template is a text.
constexpr const char* kWrapped = R"({"forEach":".spec.parts[*]","each":".sets[*]","name":"pods-#",
  "templateAt":".path","count":".replicas ?? 1","pod":".infos[#]"},
 {"forEach":".spec.parts[?(@.object.kind==\"Pod\")]","unless":".sets[0]","name":"pods-#",
  "template":".object","pod":".infos[#]"})";
constexpr const char* kWrapper = R"({"spec":{"parts":[
  {"object":{"kind":"Pair","spec":{"a":{"spec":{"x":1}},"list":[{"spec":{"x":2}}]}},
   "sets":[{"path":"object.spec.a"},{"path":"object.spec.list[0]","replicas":3}]},
  {"object":{"kind":"Service"}},
  {"object":{"kind":"Pod","spec":{"x":3,"nodeSelector":{"disk":"ssd"}}}}]}})";

TEST(DeclaredJobs, ATemplateMayBeWhereATextSays) {
  const auto kind = kind_with(kWrapped);
  json::object job = object_of_text(kWrapper);
  ASSERT_EQ(kind->unfit(job), "");
  const auto sets = kind->pod_sets(job);
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_EQ(sets[0].name, "pods-0");
  EXPECT_EQ(sets[1].count, 3);
  EXPECT_EQ(sets[2].name, "pods-2");  // what says nothing of pod sets, of a kind that is known
  EXPECT_EQ(pods_of(*kind, job, 0), R"({"spec":{"x":1}})");
  EXPECT_EQ(kind->template_path(job, 1), "spec.parts[0].object.spec.list[0]");
  for (const char* path : {"", "object.none", "object.spec[*]", "object.spec.list[7]"}) {
    json::object wrong = job;
    wrong["spec"].at("parts").at(0).at("sets").at(1).as_object()["path"] = path;
    EXPECT_NE(kind->unfit(wrong).find("pod set pods-1: its template is said to be at \"" +
                                      std::string(path) + "\" of spec.parts[0]"),
              std::string::npos)
        << kind->unfit(wrong);
  }
}

TEST(DeclaredJobs, AStartHasAPlaceOfItsOwn) {
  const auto kind = kind_with(kWrapped);
  const json::object before = object_of_text(kWrapper);
  json::object job = before;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto place = kind->start_place(job, i);
    ASSERT_TRUE(place);
    place->spec["nodeSelector"] = json::object{{"pool", std::to_string(i)}};
    place->metadata["labels"] = json::object{{"set", std::to_string(i)}};
  }
  EXPECT_EQ(to_json(job.at("spec").at("parts").at(0).at("infos")),
            R"([{"nodeSelector":{"pool":"0"},"labels":{"set":"0"}},)"
            R"({"nodeSelector":{"pool":"1"},"labels":{"set":"1"}}])");
  EXPECT_EQ(job.at("spec").at("parts").at(0).at("object"),  // as the operator wants it
            before.at("spec").at("parts").at(0).at("object"));
  // What pods are like: both together.
  EXPECT_EQ(pods_of(*kind, job, 2),
            R"({"kind":"Pod","spec":{"x":3,"nodeSelector":{"disk":"ssd","pool":"2"}},)"
            R"("metadata":{"labels":{"set":"2"}}})");
  for (std::size_t i = 0; i < 3; ++i) {
    const auto place = kind->start_place(job, i);
    place->spec.clear();
    kind->tidy_start(job, i);
  }
  EXPECT_EQ(job, before) << to_json(job);
}

/// As SparkApplication does it: what a pod asks for are fields.
constexpr const char* kFields = R"json({"name":"driver","template":".spec.driver.template",
  "pod":".spec.driver","requests":[
   {"resource":"cpu","suffix":"m","amount":"milli(.spec.driver.cores) ?? 1000"},
   {"resource":"memory","suffix":"Mi","amount":"mib(.spec.driver.memory)"},
   {"resource":".spec.driver.gpu.name","amount":".spec.driver.gpu.quantity"}]})json";

TEST(DeclaredJobs, RequestsMayBeFields) {
  const auto kind = kind_with(kFields);
  json::object job = object_of_text(R"({"spec":{"driver":{"cores":2,"memory":"1g",
      "labels":{"l":"1"},"priorityClassName":"high"}}})");
  ASSERT_EQ(kind->unfit(job), "");
  EXPECT_EQ(pods_of(*kind, job, 0),
            R"({"metadata":{"labels":{"l":"1"}},"spec":{"priorityClassName":"high","containers":[)"
            R"({"name":"driver","resources":{"requests":{"cpu":"2000m","memory":"1024Mi"}}}]}})");
  EXPECT_EQ(kind->priority_class(job), "high");
  json::object& driver = job["spec"].at("driver").as_object();
  driver["gpu"] = object_of_text(R"({"name":"example.com/gpu","quantity":2})");
  driver["template"] = object_of_text(R"({"spec":{"containers":[
      {"name":"c","resources":{"requests":{"cpu":"9","disk":"1"}}},{"name":"side"}]}})");
  const std::string pods = pods_of(*kind, job, 0);
  EXPECT_NE(pods.find(R"({"name":"c","resources":{"requests":{"cpu":"2000m","disk":"1",)"
                      R"("memory":"1024Mi","example.com/gpu":"2"}}},{"name":"side"}])"),
            std::string::npos)
      << pods;
  driver["memory"] = "much";
  EXPECT_EQ(kind->unfit(job),
            "pod set driver: request of memory: spec.driver.memory is \"much\", "
            "which is no size such as 512m or 2g");
}

TEST(DeclaredJobs, ATemplateThatIsMadeNeedsAWay) {
  const auto kind = kind_with(
      R"({"name":"a","template":".spec.a.pod","requests":[{"resource":"cpu","amount":1}]})");
  const json::object before = object_of_text(R"({"spec":{"a":{}}})");
  json::object job = before;
  ASSERT_EQ(kind->unfit(job), "");
  kind->start_place(job, 0)->spec["nodeSelector"] = json::object{{"pool", "a"}};
  EXPECT_EQ(to_json(job.at("spec").at("a").at("pod").at("spec")),
            R"({"nodeSelector":{"pool":"a"}})");
  kind->start_place(job, 0)->spec.clear();
  kind->tidy_start(job, 0);
  EXPECT_EQ(job, before);
  EXPECT_EQ(kind->unfit(object_of_text(R"({"spec":{"a":"text"}})")),
            "pod set a: spec.a is no object; a start puts node selectors below it");
}

/// As TrainJob does it: a list of patches, of which one is ours.
constexpr const char* kPatched = R"({"name":"node","count":".spec.nodes",
  "requestsFrom":".spec.each",
  "start":".spec.patches[?(@.by==\"us\")].jobs[?(@.name==\"n\")].pod"})";

TEST(DeclaredJobs, AStartMayBeAnEntryOfAList) {
  const auto kind = kind_with(kPatched);
  for (const char* patches : {"", R"(,"patches":[{"by":"them","jobs":[]}])"}) {
    const json::object before = object_of_text(
        std::string(R"({"spec":{"nodes":2,"each":{"cpu":3,"memory":"1Gi"})") + patches + "}}");
    json::object job = before;
    ASSERT_EQ(kind->unfit(job), "");
    EXPECT_EQ(pods_of(*kind, job, 0), R"({"spec":{"containers":[{"name":"node","resources":)"
                                      R"({"requests":{"cpu":"3","memory":"1Gi"}}}]}})");
    for (int again = 0; again < 2; ++again) {
      const auto place = kind->start_place(job, 0);
      ASSERT_TRUE(place);
      place->spec["nodeSelector"] = json::object{{"pool", "a"}};
    }
    const json::array& list = job.at("spec").at("patches").as_array();
    EXPECT_EQ(list.size(), *patches ? 2u : 1u);
    EXPECT_EQ(to_json(list.back()),
              R"({"jobs":[{"pod":{"spec":{"nodeSelector":{"pool":"a"}},"metadata":{}},)"
              R"("name":"n"}],"by":"us"})");
    kind->start_place(job, 0)->spec.clear();
    kind->tidy_start(job, 0);
    EXPECT_EQ(job, before) << to_json(job);
  }
  EXPECT_EQ(kind->unfit(object_of_text(R"({"spec":{"nodes":2}})")),
            "pod set node: the object does not say what its pods ask for");
  EXPECT_EQ(kind->unfit(object_of_text(R"({"spec":{"nodes":2,"each":{},"patches":7}})")),
            "pod set node: spec.patches is no list; a start puts node selectors below it");
}

TEST(DeclaredJobs, APageMayRefuseWhatItCannotTell) {
  const auto kind = kind_with(
      kFields, R"(,"unfit":[{"path":".spec.auto","in":["true"],"message":"it grows by itself"}],
                  "podsMadeElsewhere":true)");
  EXPECT_EQ(kind->unfit(object_of_text(R"({"spec":{"auto":true}})")), "it grows by itself");
  EXPECT_EQ(kind->pods_by_host(), nullptr);
}

TEST(JobPages, SayWhatIsWrongWithPlacesAndRequests) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"name":"m"})", "podSets[0].template: found \"\""},
      {R"({"name":"m","template":".spec.t","templateAt":".spec.p"})",
       "podSets[0]: allowed is one of template, templateAt"},
      {R"({"name":"m","template":".spec.t","pod":".spec.p","start":".spec.p"})",
       "podSets[0]: allowed is one of pod, start"},
      {R"({"name":"m","template":".spec.t","each":".sets[*]"})",
       "podSets[0].each: found \".sets[*]\"; allowed only with forEach"},
      {R"({"name":"m-#","template":".spec.t"})", "podSets[0].name: found \"m-#\""},
      {R"({"name":"m","requestsFrom":".spec.r"})", "podSets[0].start: is not there; without"},
      {R"({"name":"m","requestsFrom":".spec.r","start":".spec.l[*]"})",
       "podSets[0].start: found \".spec.l[*]\"; allowed is a path below .spec that leads to one"},
      {R"({"name":"m","requestsFrom":".spec.r","pod":".status.x"})", "podSets[0].pod: found"},
      {R"({"name":"m","pod":".spec","requests":[]})", "podSets[0].requests: must be a list of 1"},
      {R"({"name":"m","pod":".spec.a","requests":[{"resource":"C","amount":1}]})",
       "podSets[0].requests[0].resource: found \"C\""},
      {R"({"name":"m","pod":".spec.a","requests":[{"resource":"cpu"}]})",
       "podSets[0].requests[0].amount: found null"},
      {R"({"name":"m","pod":".spec.a","requests":[{"resource":"cpu","amount":1,"suffix":"mm"}]})",
       "podSets[0].requests[0].suffix: found \"mm\""},
  };
  for (const auto& [set, expected] : cases) {
    const auto kind = declared_job_kind(object_of_text(R"({"podSets":[)" + std::string(set) + "]}"),
                                        "example.com", "Training");
    ASSERT_FALSE(kind.ok()) << set;
    EXPECT_NE(kind.error().text.find(expected), std::string::npos) << kind.error().text;
  }
  const auto silent = declared_job_kind(
      object_of_text(
          R"({"podSets":[{"name":"m","template":".spec.t"}],"unfit":[{"condition":"A"}]})"),
      "example.com", "Training");
  EXPECT_EQ(silent.error().text,
            "spec.unfit[0].message: is not there; allowed is a text that says what is wrong");
}

}  // namespace
}  // namespace sluice::api
