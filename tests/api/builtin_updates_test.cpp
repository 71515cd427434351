// What an update of a built-in kind may change, as tables.
#include <gmock/gmock.h>

#include "api/builtin/builtin.hpp"
#include "tests/api/builtin_objects.hpp"

namespace sluice::api {
namespace {

using testing::admitted;
using testing::core_scheme;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::job;
using testing::pod;
using testing::problems;

/// What an update by `change` says; `change` is a merge of the spec.
struct JobUpdate {
  const char* name;
  const char* old_spec;
  void (*change)(boost::json::object& job);
  const char* expected;  // empty: allowed
};

const JobUpdate kJobUpdates[] = {
    {"parallelism", "", [](auto& j) { j["spec"].as_object()["parallelism"] = 5; }, ""},
    {"suspend", "", [](auto& j) { j["spec"].as_object()["suspend"] = true; }, ""},
    {"completions", "", [](auto& j) { j["spec"].as_object()["completions"] = 5; },
     "spec.completions: Invalid value: 5: field is immutable"},
    {"completions alone", R"("completionMode":"Indexed","completions":2,"parallelism":2)",
     [](auto& j) { j["spec"].as_object()["completions"] = 5; },
     "spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism"},
    {"completions in tandem", R"("completionMode":"Indexed","completions":2,"parallelism":2)",
     [](auto& j) {
       j["spec"].as_object()["completions"] = 5;
       j["spec"].as_object()["parallelism"] = 5;
     },
     ""},
    {"image", "",
     [](auto& j) {
       j["spec"].at("template").at("spec").at("containers").at(0).as_object()["image"] = "b:2";
     },
     R"(spec.template: Invalid value: "object": field is immutable)"},
    {"node selector of a running job", "",
     [](auto& j) {
       j["spec"].at("template").at("spec").as_object()["nodeSelector"] = {{"a", "b"}};
     },
     R"(spec.template: Invalid value: "object": field is immutable)"},
    {"node selector while it is unsuspended", R"("suspend":true)",
     [](auto& j) {
       j["spec"].as_object()["suspend"] = false;
       j["spec"].at("template").at("spec").as_object()["nodeSelector"] = {{"a", "b"}};
     },
     ""},
    {"node selector of a suspended job that ran", R"("suspend":true)",
     [](auto& j) {
       j["status"] = {{"startTime", "2026-01-01T00:00:00Z"}};
       j["spec"].as_object()["suspend"] = false;
       j["spec"].at("template").at("spec").as_object()["nodeSelector"] = {{"a", "b"}};
     },
     R"(spec.template: Invalid value: "object": field is immutable)"},
    {"image of a suspended job", R"("suspend":true)",
     [](auto& j) {
       j["spec"].at("template").at("spec").at("containers").at(0).as_object()["image"] = "b:2";
     },
     R"(spec.template: Invalid value: "object": field is immutable)"},
    {"labels of a suspended job", R"("suspend":true)",
     [](auto& j) { j["spec"].at("template").at("metadata").at("labels").as_object()["l"] = "1"; },
     ""},
};

TEST(BuiltinKinds, JobUpdates) {
  const auto base = [](const std::string& spec) {
    auto value = job(spec);
    default_job(value, "uid-1");
    return admitted(value);
  };
  for (const JobUpdate& each : kJobUpdates) {
    auto old = base(each.old_spec);
    auto changed = old;
    each.change(changed);
    if (changed.contains("status")) old["status"] = changed["status"];
    const auto found = problems(changed, &old);
    if (*each.expected == '\0') {
      EXPECT_THAT(found, IsEmpty()) << each.name;
    } else {
      EXPECT_THAT(found, ElementsAre(each.expected)) << each.name;
    }
  }
  auto old = base("");
  auto changed = old;
  changed["spec"].as_object()["selector"] = {{"matchLabels", {{"job-name", "x"}}}};
  EXPECT_THAT(problems(changed, &old),
              ElementsAre(R"(spec.selector: Invalid value: {"matchLabels":{"job-name":"x"}}: )"
                          "field is immutable"));
}

TEST(BuiltinKinds, PodUpdates) {
  struct Case {
    const char* name;
    const char* old_spec;
    void (*change)(boost::json::object& spec);
    const char* field;  // of the first problem; empty: allowed
  };
  const Case cases[] = {
      {"image", "", [](auto& s) { s["containers"].at(0).as_object()["image"] = "b:2"; }, ""},
      {"command", "",
       [](auto& s) { s["containers"].at(0).as_object()["command"] = boost::json::array{"a"}; },
       "spec"},
      {"bound", "", [](auto& s) { s["nodeName"] = "n"; }, ""},
      {"bound again", R"("nodeName":"m")", [](auto& s) { s["nodeName"] = "n"; }, "spec.nodeName"},
      {"bound while gated", R"("schedulingGates":[{"name":"g"}])",
       [](auto& s) { s["nodeName"] = "n"; }, "spec.nodeName"},
      {"gate removed", R"("schedulingGates":[{"name":"g"}])",
       [](auto& s) { s.erase("schedulingGates"); }, ""},
      {"gate added", "",
       [](auto& s) {
         s["schedulingGates"] = {{{"name", "g"}}};
       },
       "spec.schedulingGates[0]"},
      {"toleration added", R"("tolerations":[{"key":"a","operator":"Exists"}])",
       [](auto& s) {
         s["tolerations"].as_array().push_back({{"key", "b"}, {"operator", "Exists"}});
       },
       ""},
      {"toleration removed", R"("tolerations":[{"key":"a","operator":"Exists"}])",
       [](auto& s) { s.erase("tolerations"); }, "spec.tolerations"},
      {"deadline set", "", [](auto& s) { s["activeDeadlineSeconds"] = 5; }, ""},
      {"deadline raised", R"("activeDeadlineSeconds":5)",
       [](auto& s) { s["activeDeadlineSeconds"] = 6; }, "spec.activeDeadlineSeconds"},
      {"node selector", "",
       [](auto& s) {
         s["nodeSelector"] = {{"a", "b"}};
       },
       "spec"},
      {"node selector while gated", R"("schedulingGates":[{"name":"g"}])",
       [](auto& s) {
         s["nodeSelector"] = {{"a", "b"}};
       },
       ""},
  };
  for (const Case& each : cases) {
    const auto old = admitted(pod(each.old_spec));
    auto changed = old;
    each.change(changed["spec"].as_object());
    const Outcome outcome = core_scheme().admit(changed, &old);
    if (*each.field == '\0') {
      EXPECT_TRUE(outcome.ok()) << each.name << ": " << outcome.error_text();
    } else {
      ASSERT_FALSE(outcome.ok()) << each.name;
      EXPECT_EQ(outcome.errors[0].field, each.field) << each.name;
    }
  }
}

}  // namespace
}  // namespace sluice::api
