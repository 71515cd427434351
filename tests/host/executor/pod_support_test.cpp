#include "host/executor/pod_support.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <string>

#include "host/executor/pod_plan.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ProcessUser kRoot{0, 0}, kOrdinary{1001, 1002};

json::object pod_with(const std::string& pod, const std::string& container) {
  return json::parse(R"({"metadata":{"name":"p","namespace":"ns","uid":"U"},"spec":{)" + pod +
                     R"("containers":[{"name":"c","command":["true"])" + container + "}]}}")
      .get_object();
}

// A19: these were taken and dropped without a word; `runAsNonRoot: true` ran as root.
TEST(PodSupport, A19_WhatWouldBeLessSafeIsRefusedWithASentence) {
  const struct {
    const char *pod, *container;
    const char *as_root, *as_ordinary;  // of the sentence; empty: it can run
  } cases[] = {
      {R"("securityContext":{"runAsUser":1001},)", "", "spec.securityContext.runAsUser 1001: ", ""},
      {R"("securityContext":{"runAsUser":0},)", "", "", "as user 1001 and cannot change that"},
      {R"("securityContext":{"runAsGroup":7},)", "", "as group 0 and", "as group 1002 and"},
      {R"("securityContext":{"runAsNonRoot":true},)", "", "runs as root, and so do its", ""},
      {"", R"(,"securityContext":{"runAsNonRoot":true})",
       "container \"c\": securityContext.runAsNonRoot: ", ""},
      {"", R"(,"securityContext":{"privileged":true})", "gives no privileges", "gives no privi"},
      {"", R"(,"securityContext":{"privileged":false})", "", ""},
      {"", R"(,"securityContext":{"readOnlyRootFilesystem":true})", "see the file system", "see"},
      {"", R"(,"securityContext":{"capabilities":{"add":["SYS_ADMIN"]}})", "capabilities.add", "a"},
      {"", R"(,"securityContext":{"capabilities":{"drop":["ALL"]}})", "capabilities.drop", ""},
      {"", R"(,"securityContext":{"allowPrivilegeEscalation":false})", "", ""},
      {"", R"(,"securityContext":{"seccompProfile":{"type":"Localhost"}})", "no profiles", "no pr"},
      {"", R"(,"securityContext":{"seccompProfile":{"type":"RuntimeDefault"}})", "", ""},
      {R"("runtimeClassName":"gvisor",)", "", "spec.runtimeClassName \"gvisor\": ", "runtime"},
      {R"("hostUsers":false,)", "", "no users of their own", "no users"},
      {R"("volumes":[{"name":"v","hostPath":{"path":"/etc"}}],)",
       R"(,"volumeMounts":[{"name":"v","mountPath":"/data"}])",
       "container \"c\": volumeMounts \"v\" at /data: hostPath: the local executor mounts nothing",
       "hostPath"},
      {R"("volumes":[{"name":"v","secret":{"secretName":"missing"}}],)",
       R"(,"volumeMounts":[{"name":"v","mountPath":"/keys"}])", "at /keys: secret: ", "secret"},
      {R"("volumes":[{"name":"v","secret":{"secretName":"missing"}}],)", "", "", ""},
  };
  for (const auto& each : cases) {
    const json::object pod = pod_with(each.pod, each.container);
    for (const auto& [user, text] :
         {std::pair{kRoot, each.as_root}, {kOrdinary, each.as_ordinary}}) {
      const PodSupport found = support_of(pod, user, {});
      if (*text == '\0')
        EXPECT_EQ(found.refused, "") << each.pod << each.container;
      else
        EXPECT_THAT(found.refused, HasSubstr(text)) << each.pod << each.container;
    }
  }
}

TEST(PodSupport, A19_OfTheRestTheOwnerIsTold) {
  const json::object pod =
      pod_with(R"("serviceAccountName":"robot","volumes":[{"name":"v","emptyDir":{}}],)",
               R"(,"livenessProbe":{"exec":{"command":["true"]}},
          "terminationMessagePolicy":"FallbackToLogsOnError","resources":{"limits":{"cpu":"1"}},
          "volumeMounts":[{"name":"v","mountPath":"/scratch"}])");
  const PodSupport found = support_of(pod, kRoot, {});
  EXPECT_EQ(found.refused, "");
  EXPECT_THAT(
      found.ignored,
      ElementsAre(
          "spec.serviceAccountName \"robot\": pods get no credentials for the API here",
          "container \"c\": volumeMounts \"v\" at /scratch: nothing is mounted; the working "
          "directory is the pod's own",
          "container \"c\": livenessProbe: is not run; a container is ready while its process runs",
          "container \"c\": terminationMessagePolicy: no message is taken of a container that "
          "ended",
          "container \"c\": resources.limits.cpu: processes are not held to it"));
  EXPECT_THAT(support_of(pod_with("", ""), kRoot, {}).ignored, IsEmpty());
}

/// Control groups hold cpu and memory where the machine lets them.
TEST(PodSupport, LimitsAreIgnoredThatNobodyHolds) {
  const json::object pod = pod_with(
      "", R"(,"resources":{"limits":{"cpu":"1","memory":"1Gi","ephemeral-storage":"1Gi"}})");
  const std::string ignored = "container \"c\": resources.limits.";
  const std::string why = ": processes are not held to it";
  EXPECT_THAT(support_of(pod, kRoot, {true, true}).ignored,
              ElementsAre(ignored + "ephemeral-storage" + why));
  EXPECT_THAT(support_of(pod, kRoot, {true, false}).ignored,
              ElementsAre(ignored + "memory" + why, ignored + "ephemeral-storage" + why));
}

TEST(PodSupport, A19_ARefusedPodFailsAndPrivilegesAreNotGained) {
  const PodUser root{kRoot};
  const auto refused =
      plan_pod(pod_with(R"("securityContext":{"runAsNonRoot":true},)", ""), {}, root);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "NotSupported");
  EXPECT_FALSE(refused.error().may_pass);
  const auto planned =
      plan_pod(pod_with("", R"(,"securityContext":{"allowPrivilegeEscalation":false})"), {}, root);
  ASSERT_TRUE(planned);
  EXPECT_TRUE(planned->containers[0].no_new_privileges);
  EXPECT_TRUE(parse_run_spec(to_text(*planned))->containers[0].no_new_privileges);
}

}  // namespace
}  // namespace sluice::host
