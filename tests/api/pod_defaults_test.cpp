// What pods ask for when they are made: templates beside the LimitRanges of the namespace and the
// RuntimeClasses.
#include "api/codec/pod_defaults.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace sluice::api {
namespace {

namespace json = boost::json;

json::object of_text(const std::string& text) { return json::parse(text).get_object(); }

/// `cpu=1000 memory=5 `, or why no such pod is made.
std::string made(const PodDefaults& defaults, const std::string& spec) {
  PodTemplateCache templates;
  const auto pod = defaults.read("ns", of_text(R"({"spec":)" + spec + "}"), templates);
  if (!pod->invalid_resources.empty()) return pod->invalid_resources;
  std::string out;
  for (const ResourceRequest& each : pod->requests)
    out += each.resource + "=" + std::to_string(each.amount) + " ";
  return out;
}

std::string limited(const std::string& limits, const std::string& spec) {
  PodDefaults defaults;
  defaults.put_limit_range("ns", "limits", of_text(R"({"spec":{"limits":[)" + limits + "]}}"));
  return made(defaults, spec);
}

const std::string kOneCpu = R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}]})";

TEST(PodDefaults, ContainersGetWhatTheyDoNotSay) {
  struct Case {
    const char* what;
    const char* limits;
    const char* spec;
    const char* requests;
  };
  for (const Case& each : {
           Case{"a request where none is, for each container",
                R"({"type":"Container","defaultRequest":{"cpu":"3"}})",
                R"({"containers":[{},{"resources":{"requests":{"cpu":"1"}}}],
                    "initContainers":[{"resources":{"requests":{"memory":"7"}}}]})",
                "cpu=4000 memory=7 "},
           Case{"a limit of its own comes first, as the API server fills it in before",
                R"({"type":"Container","defaultRequest":{"cpu":"3"}})",
                R"({"containers":[{"resources":{"limits":{"cpu":"4"}}}]})", "cpu=4000 "},
           Case{"a default limit stands in for a request that is not there",
                R"({"type":"Container","default":{"cpu":"2"}})", R"({"containers":[{}]})",
                "cpu=2000 "},
           Case{"and so do the maximum and then the minimum",
                R"({"type":"Container","max":{"cpu":"2"},"min":{"cpu":"1","memory":"5"}})",
                R"({"containers":[{}]})", "cpu=2000 memory=5 "},
           Case{"what is not about containers gives them nothing",
                R"({"type":"PersistentVolumeClaim","default":{"cpu":"2"}})",
                R"({"containers":[{}]})", ""},
       })
    EXPECT_EQ(limited(each.limits, each.spec), each.requests) << each.what;
}

TEST(PodDefaults, BeyondALimitNoPodIsMade) {
  const std::string refused = "resources didn't satisfy LimitRange constraints: ";
  struct Case {
    const char* limits;
    std::string spec;
    std::string said;
  };
  for (const Case& each : {
           Case{R"({"type":"Container","max":{"cpu":"500m"}})", kOneCpu,
                "resources validation failed: spec.containers[0].resources.requests: Invalid "
                "value: \"1\": must be less than or equal to cpu limit of 500m"},
           Case{R"({"type":"Container","max":{"cpu":"1"}})",
                R"({"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}}]})",
                refused + "spec.containers[0].resources.limits: cpu 2 is above the maximum of 1"},
           Case{R"({"type":"Container","min":{"cpu":"2"}})",
                R"({"containers":[],"initContainers":[{},{"resources":{"requests":{"cpu":"1"}}}]})",
                refused +
                    "spec.initContainers[1].resources.requests: cpu 1 is below the minimum of 2"},
           // 1 + 1 of both containers.
           Case{R"({"type":"Pod","max":{"cpu":"1500m"}})",
                R"({"containers":[{"resources":{"requests":{"cpu":"1"}}},
                                  {"resources":{"requests":{"cpu":"1"}}}]})",
                refused + "all requests: cpu 2 is above the maximum of 1500m"},
           Case{R"({"type":"Pod","min":{"cpu":"2"}})", kOneCpu,
                refused + "all requests: cpu 1 is below the minimum of 2"},
           Case{R"({"type":"Pod","min":{"cpu":"1"},"max":{"cpu":"1"}})", kOneCpu, "cpu=1000 "},
       })
    EXPECT_EQ(limited(each.limits, each.spec), each.said) << each.limits;
}

TEST(PodDefaults, OfSeveralLimitRangesTheNarrowestAndTheFirstDefaultCount) {
  PodDefaults defaults;
  const auto put = [&](const char* name, const std::string& limits) {
    defaults.put_limit_range("ns", name, of_text(R"({"spec":{"limits":[)" + limits + "]}}"));
  };
  put("b", R"({"type":"Container","defaultRequest":{"cpu":"2"}},{"type":"Pod","max":{"cpu":"5"}})");
  put("a", R"({"type":"Container","defaultRequest":{"cpu":"1"}},{"type":"Pod","max":{"cpu":"3"}})");
  EXPECT_EQ(made(defaults, R"({"containers":[{}]})"), "cpu=1000 ");
  const std::string four = R"({"containers":[{"resources":{"requests":{"cpu":"4"}}}]})";
  EXPECT_EQ(made(defaults, four),
            "resources didn't satisfy LimitRange constraints: all requests: cpu 4 is above the "
            "maximum of 3");
  defaults.erase_limit_range("ns", "a");
  EXPECT_EQ(made(defaults, four), "cpu=4000 ");
  EXPECT_EQ(made(defaults, R"({"containers":[{}]})"), "cpu=2000 ");
  defaults.erase_limit_range("ns", "b");
  EXPECT_FALSE(defaults.concern("ns"));
}

TEST(PodDefaults, TheOverheadOfTheRuntimeClassComesOnTop) {
  PodDefaults defaults;
  defaults.put_runtime_class("plain", of_text(R"({"handler":"runc"})"));
  EXPECT_FALSE(defaults.concern("ns"));
  defaults.put_runtime_class("kata", of_text(R"({"overhead":{"podFixed":{"cpu":"250m"}}})"));
  const auto with = [](const std::string& more) {
    return kOneCpu.substr(0, kOneCpu.size() - 1) + "," + more + "}";
  };
  EXPECT_EQ(made(defaults, with(R"("runtimeClassName":"kata")")), "cpu=1250 ");
  EXPECT_EQ(made(defaults, with(R"("runtimeClassName":"plain")")), "cpu=1000 ");
  EXPECT_EQ(made(defaults, with(R"("runtimeClassName":"none")")), "cpu=1000 ");
  EXPECT_EQ(made(defaults, kOneCpu), "cpu=1000 ");
  // One that was filled in already is not counted twice.
  EXPECT_EQ(made(defaults, with(R"("runtimeClassName":"kata","overhead":{"cpu":"250m"})")),
            "cpu=1250 ");
  defaults.erase_runtime_class("kata");
  EXPECT_EQ(made(defaults, with(R"("runtimeClassName":"kata")")), "cpu=1000 ");
}

/// Workloads with one template in two namespaces do not count as equals where one is refused.
TEST(PodDefaults, ARefusedPodHasAShapeOfItsOwn) {
  PodDefaults defaults;
  defaults.put_limit_range("ns", "l",
                           of_text(R"({"spec":{"limits":[{"type":"Pod","max":{"cpu":"0"}}]}})"));
  PodTemplateCache templates;
  const json::object pod = of_text(R"({"spec":)" + kOneCpu + "}");
  EXPECT_NE(defaults.read("ns", pod, templates)->shape,
            defaults.read("other", pod, templates)->shape);
}

}  // namespace
}  // namespace sluice::api
