#include "host/executor/pod_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/parse.hpp>

#include "host/executor/pod_variables.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

PodSources sources() {
  PodSources out;
  out.environment = {"PATH=/bin", "HOME=/root"};
  out.images = entrypoints_of({{"example.com:5000/train:2", {"train", "--fast"}}});
  out.find = [](std::string_view kind, std::string_view key) -> std::optional<json::object> {
    if (key != "ns/conf") return std::nullopt;
    return json::parse(kind == "Secret" ? R"({"data":{"k":"aGVsbG8="}})"
                                        : R"({"data":{"k":"plain","K2":"two"}})")
        .get_object();
  };
  return out;
}

Result<RunSpec, PodProblem> plan(const std::string& container, const std::string& more = "") {
  return plan_pod(json::parse(R"({"metadata":{"name":"p","namespace":"ns","uid":"U",
      "labels":{"app":"x"},"annotations":{"a/b":"note"}},
      "spec":{"nodeName":"n1",)" +
                              more + R"("containers":[{"name":"c",)" + container + "}]}}")
                      .get_object(),
                  sources(), {});
}

std::string variable(const RunSpec& spec, const std::string& name) {
  for (const std::string& entry : spec.containers.back().env) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return "(absent)";
}

TEST(PodPlan, Expansion) {
  PodVariables variables;
  ASSERT_TRUE(variables.set("A", "1"));
  ASSERT_TRUE(variables.set("B", "x y"));
  for (const auto& [text, expected] :
       {std::pair{"$(A)", "1"}, std::pair{"a$(B)b", "ax yb"}, std::pair{"$$(A)", "$(A)"},
        std::pair{"$(C)", "$(C)"}, std::pair{"$A", "$A"}, std::pair{"$(A", "$(A"},
        std::pair{"end$", "end$"}, std::pair{"", ""}}) {
    EXPECT_EQ(variables.expand(text), expected);
  }
  EXPECT_EQ(variables.expand("$(B)$(B)", 6), "x yx y");
  EXPECT_EQ(variables.expand("$(B)$(B)", 5), std::nullopt);
}

// Each variable is twice as long as the one before: 64 bytes and 2^20 of these are no pod's to
// have.
TEST(PodPlan, WhatRefersToItselfAgainAndAgainIsRefused) {
  std::string env = R"({"name":"E0","value":")" + std::string(64, 'x') + "\"}";
  for (int i = 1; i <= 20; ++i)
    env += fmt::format(R"x(,{{"name":"E{0}","value":"$(E{1})$(E{1})"}})x", i, i - 1);
  for (const std::string& container :
       {R"("command":["true"],"env":[)" + env + "]",
        R"x("command":["true"],"args":["$(A)$(A)$(A)"],"env":[{"name":"A","value":")x" +
            std::string(1'000'000, 'a') + "\"}]"}) {
    const auto spec = plan(container);
    ASSERT_FALSE(spec);
    EXPECT_EQ(spec.error().reason, "ArgumentsTooLong");
    EXPECT_EQ(spec.error().text,
              "container \"c\": its words and variables are longer than 2097152 bytes together, "
              "with what $(NAME) stands for");
    EXPECT_FALSE(spec.error().may_pass);
  }
}

// A ConfigMap of 2^20 bytes: 16 times that much is given to all containers of a pod, and no more,
// although each time the value is replaced and the container holds one only.
TEST(PodPlan, WhatIsNamedAgainAndAgainIsReadOnceAndGivenAFewTimes) {
  const std::string text(1 << 20, 'x');
  int reads = 0;
  PodSources big = sources();
  big.find = [&](std::string_view, std::string_view) -> std::optional<json::object> {
    ++reads;
    return json::object{{"data", json::object{{"k", text}}}};
  };
  for (const auto& [times, fits] : {std::pair{15, true}, std::pair{17, false}}) {
    json::array from(static_cast<std::size_t>(times),
                     {{"configMapRef", json::object{{"name", "conf"}}}});
    json::object container{{"name", "c"}, {"command", {"/bin/true"}}, {"envFrom", std::move(from)}};
    reads = 0;
    const auto spec =
        plan_pod({{"spec", json::object{{"containers", {std::move(container)}}}}}, big, {});
    EXPECT_EQ(spec.ok(), fits) << times;
    if (!spec.ok()) EXPECT_EQ(spec.error().reason, "ArgumentsTooLong");
    EXPECT_EQ(reads, 1) << times;
  }
}

TEST(PodPlan, CommandsAndWhereTheyRun) {
  const auto spec = plan(R"x("command":["sh","-c"],"args":["echo $(N)"],"workingDir":"/tmp",
                             "env":[{"name":"N","value":"7"}])x",
                         R"("restartPolicy":"OnFailure","terminationGracePeriodSeconds":3,)");
  ASSERT_TRUE(spec) << spec.error().text;
  EXPECT_EQ(spec->containers[0].argv, (std::vector<std::string>{"sh", "-c", "echo 7"}));
  EXPECT_EQ(spec->containers[0].working_dir, "/tmp");
  EXPECT_EQ(spec->restart, RestartPolicy::kOnFailure);
  EXPECT_EQ(spec->grace_seconds, 3);
  EXPECT_EQ(spec->uid, "U");
}

TEST(PodPlan, ImagesStandForPrograms) {
  using Words = std::vector<std::string>;
  for (const auto& [container, expected] :
       {std::pair{R"("image":"example.com:5000/train:1.2","args":["a"])",
                  Words{"train", "--fast", "a"}},
        std::pair{R"("image":"example.com:5000/train@sha256:ab")", Words{"train", "--fast"}},
        std::pair{R"("image":"registry.k8s.io/pause:3.9")", Words{"sleep", "infinity"}},
        std::pair{R"("image":"example.com:5000/train","command":["x"])", Words{"x"}},
        std::pair{R"("image":"example.com:5000/train","command":[],"args":["a"])",
                  Words{"train", "--fast", "a"}}}) {
    const auto spec = plan(container);
    ASSERT_TRUE(spec) << container << spec.error().text;
    EXPECT_EQ(spec->containers[0].argv, expected) << container;
  }
  EXPECT_FALSE(plan(R"("image":"train","args":["a"])"));
}

TEST(Images, NamesAreComparedWithoutTagAndDigest) {
  for (const auto& [reference, name] :
       {std::pair{"a", "a"}, std::pair{"a:1", "a"}, std::pair{"h:5000/a", "h:5000/a"},
        std::pair{"h:5000/a:1@sha256:b", "h:5000/a"}, std::pair{"a@sha256:b", "a"},
        std::pair{"", ""}}) {
    EXPECT_EQ(image_name(reference), name);
  }
}

TEST(PodPlan, Environment) {
  const auto spec = plan(R"x("command":["x"],
    "resources":{"limits":{"cpu":"1500m","memory":"1Ki"}},
    "envFrom":[{"prefix":"P_","configMapRef":{"name":"conf"}}],
    "env":[{"name":"FIRST","value":"1"},{"name":"SECOND","value":"$(FIRST)2"},
      {"name":"PATH","value":"/opt"},
      {"name":"NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
      {"name":"LABEL","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['app']"}}},
      {"name":"NOTE","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['a/b']"}}},
      {"name":"NODE","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}},
      {"name":"CPUS","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}},
      {"name":"BYTES","valueFrom":{"resourceFieldRef":{"resource":"limits.memory"}}},
      {"name":"MAP","valueFrom":{"configMapKeyRef":{"name":"conf","key":"k"}}},
      {"name":"SECRET","valueFrom":{"secretKeyRef":{"name":"conf","key":"k"}}},
      {"name":"OPT","valueFrom":{"secretKeyRef":{"name":"no","key":"k","optional":true}}}])x");
  ASSERT_TRUE(spec) << spec.error().text;
  for (const auto& [name, value] :
       {std::pair{"SECOND", "12"}, std::pair{"PATH", "/opt"}, std::pair{"HOME", "/root"},
        std::pair{"NAME", "p"}, std::pair{"LABEL", "x"}, std::pair{"NOTE", "note"},
        std::pair{"NODE", "n1"}, std::pair{"CPUS", "2"}, std::pair{"BYTES", "1024"},
        std::pair{"MAP", "plain"}, std::pair{"SECRET", "hello"}, std::pair{"OPT", "(absent)"},
        std::pair{"P_K2", "two"}, std::pair{"HOSTNAME", "p"}}) {
    EXPECT_EQ(variable(*spec, name), value) << name;
  }
}

TEST(PodPlan, WhatCannotRunSaysWhy) {
  struct Case {
    const char *container, *reason, *text;
    bool may_pass;
  };
  for (const Case& c :
       {Case{R"("image":"busybox")", "CommandMissing", "runs no images (here \"busybox\")", false},
        Case{R"("command":["x"],"env":[{"name":"A","valueFrom":{"configMapKeyRef":)"
             R"({"name":"no","key":"k"}}}])",
             "CreateContainerConfigError", "ConfigMap \"no\" not found", true},
        Case{R"("command":["x"],"env":[{"name":"A","valueFrom":{"configMapKeyRef":)"
             R"({"name":"conf","key":"no"}}}])",
             "CreateContainerConfigError", "couldn't find key no", true}}) {
    const auto spec = plan(c.container);
    ASSERT_FALSE(spec) << c.container;
    EXPECT_EQ(spec.error().reason, c.reason);
    EXPECT_NE(spec.error().text.find(c.text), std::string::npos) << spec.error().text;
    EXPECT_EQ(spec.error().may_pass, c.may_pass);
  }
}

}  // namespace
}  // namespace sluice::host
