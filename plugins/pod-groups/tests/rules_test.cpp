// What is made of a pod when it is created, and what is refused.
#include "../rules.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <sluice/testing.hpp>

#include "../facts.hpp"
#include "../parents.hpp"

namespace pods {
namespace {

using sluice::Json;
using namespace sluice::testing;

struct Texts {
  std::string labels = {}, annotations = {}, ns = "team", gates = "[]";
};

std::string pod(const Texts& texts) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":")" + texts.ns +
         R"(","labels":{)" + texts.labels + R"(},"annotations":{)" + texts.annotations +
         R"(}},"spec":{"schedulingGates":)" + texts.gates +
         R"(,"containers":[{"name":"c","image":"x"}]}})";
}

const std::string kInQueue = R"("kueue.x-k8s.io/queue-name":"q")";
const std::string kOurs = kInQueue + R"(,"kueue.x-k8s.io/managed":"true")";
const std::string kInGroup = kOurs + R"(,"kueue.x-k8s.io/pod-group-name":"g")";
const std::string kOfTwo = R"("kueue.x-k8s.io/pod-group-total-count":"2")";
const char* kGated = R"([{"name":"kueue.x-k8s.io/admission"}])";

const Settings kSettings{{"kube-system"}, false};

/// There is a LocalQueue `default` in this namespace alone.
HasDefaultQueue queue_in(const std::string& ns) {
  return [ns](const std::string& asked) { return asked == ns; };
}
const HasDefaultQueue kNoQueue = queue_in("");

TEST(Holding, APodThatNamesAQueueWaits) {
  const auto held = hold(pod({.labels = kInQueue}), kSettings, kNoQueue);
  ASSERT_TRUE(held);
  const Pod facts = pod_of(Json::parse(*held));
  EXPECT_TRUE(facts.gated);
  EXPECT_TRUE(is_managed(Json::parse(*held)));
  EXPECT_EQ(sluice::annotation_of(Json::parse(*held), "kueue.x-k8s.io/role-hash").size(), 8U);
}

TEST(Facts, APodThatEndedUnstartedNeverRan) {
  const struct {
    const char* status;
    bool never_ran;
  } cases[] = {
      {R"({"phase":"Failed","containerStatuses":[]})", true},
      {R"({"phase":"Failed"})", true},
      {R"({"phase":"Failed","containerStatuses":[{"name":"c","state":{"waiting":{}}}]})", true},
      {R"({"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{}}}]})", false},
      {R"({"phase":"Failed","initContainerStatuses":[{"name":"c","state":{"terminated":{}}}]})",
       false},
      {R"({"phase":"Running","containerStatuses":[{"name":"c","state":{"running":{}}}]})", false},
  };
  for (const auto& each : cases) {
    Json pod = Json::parse(R"({"metadata":{"name":"p","deletionTimestamp":"2026-01-01T00:00:00Z"},
                               "spec":{"nodeName":"n"}})");
    pod["status"] = Json::parse(each.status);
    EXPECT_EQ(pod_of(pod).never_ran(), each.never_ran) << each.status;
    pod["metadata"].erase("deletionTimestamp");
    EXPECT_FALSE(pod_of(pod).never_ran()) << each.status;
  }
}

TEST(Holding, OtherPodsAreLeftAlone) {
  EXPECT_EQ(hold(pod({}), kSettings, kNoQueue), std::nullopt) << "no queue";
  EXPECT_EQ(hold(pod({}), kSettings, queue_in("other")), std::nullopt) << "no default queue here";
  EXPECT_EQ(hold(pod({.labels = kInQueue, .ns = "kube-system"}), kSettings, kNoQueue),
            std::nullopt);
  EXPECT_EQ(
      hold(pod({.labels = kInQueue + R"(,"kueue.x-k8s.io/podset":"main")"}), kSettings, kNoQueue),
      std::nullopt)
      << "its job was queued";
  EXPECT_EQ(hold(pod({.labels = kOurs}), kSettings, kNoQueue), std::nullopt)
      << "it comes from a backup, and may run already";
}

/// What it is to be owned by: name and UID of a Job.
std::string owned_by(const std::string& job, const std::string& object) {
  Json out = Json::parse(object);
  if (job.empty()) return out.dump();
  Json owner = Json::parse(R"({"apiVersion":"batch/v1","kind":"Job","controller":true})");
  owner["name"] = job;
  owner["uid"] = job.substr(0, 5);  // outer and inner have their names as UIDs
  out["metadata"]["ownerReferences"].push_back(std::move(owner));
  return out.dump();
}

/// Of a namespace with the jobs `outer`, in the queue q, and `inner`, which outer owns; `alone` is
/// nobody's.
Origin made_by(std::string_view user) {
  return {
      user, [](const sluice::ObjectRef& ref) -> std::optional<Json> {
        const std::string queue = ref.name == "outer" ? kInQueue : "";
        if (ref.ns != "team" || (ref.name != "outer" && ref.name != "inner" && ref.name != "alone"))
          return std::nullopt;
        return Json::parse(owned_by(ref.name == "inner" ? "outer" : "",
                                    R"({"metadata":{"name":")" + ref.name + R"(","uid":")" +
                                        ref.name + R"(","labels":{)" + queue + "}}}"));
      }};
}

// A job that a queued job owns runs with it: its pods have no Workload of their own, and nobody
// would lift their gate.
TEST(Holding, PodsOfAJobThatRunsWithAQueuedOneAreLeftAlone) {
  struct Case {
    const char* job;
    const char* user;
    bool held;
  };
  const Case cases[] = {
      {"inner", "", false},
      {"inner", "system:serviceaccount:kube-system:job-controller", false},
      {"inner", "eve", true},  // no controller made it
      {"inner", "system:serviceaccount:team:eve", true},
      {"inner", "system:anonymous", true},
      {"inner-x", "", true},  // no such job
      {"outer", "", true},    // its own pods have the label of their pod set
      {"alone", "", true},
      {"", "", true},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(std::string(each.job) + " " + each.user);
    const std::string object = owned_by(each.job, pod({}));
    const Origin origin = made_by(each.user);
    EXPECT_EQ(hold(object, kSettings, queue_in("team"), origin).has_value(), each.held);
    EXPECT_EQ(hold(object, {{}, true}, kNoQueue, origin).has_value(), each.held);
  }
  const std::string elsewhere = owned_by("inner", pod({.ns = "other"}));
  EXPECT_TRUE(hold(elsewhere, kSettings, queue_in("other"), made_by("")));
}

TEST(Holding, ANamesakeOfTheOwnerIsNotTheOwner) {
  Json object = Json::parse(owned_by("inner", pod({})));
  Json owner = object.find("metadata.ownerReferences")->items()[0];
  owner["uid"] = "gone";
  object["metadata"]["ownerReferences"] = Json::array();
  object["metadata"]["ownerReferences"].push_back(owner);
  EXPECT_TRUE(hold(object.dump(), kSettings, queue_in("team"), made_by("")));
}

TEST(Holding, ADefaultQueueTakesPodsThatNameNone) {
  const auto held = hold(pod({}), kSettings, queue_in("team"));
  ASSERT_TRUE(held);
  EXPECT_EQ(pod_of(Json::parse(*held)).queue, "default");
}

// What a user can write anywhere in a pod is no mark of the system: only the label itself is.
TEST(Holding, NothingThatIsCalledLikeTheMarkOfAPodSetFreesAPod) {
  const Texts pods[] = {
      {.annotations = R"("note":"kueue.x-k8s.io/podset")"},
      {.annotations = R"("kueue.x-k8s.io/podset":"main")"},
      {.annotations = R"("kueue.x-k8s.io/podset-preferred-topology":"rack")"},
      {.labels = R"("kueue.x-k8s.io/podset-x":"main")"},
      {.labels = R"("kueue.x-k8s.io/podset":"")"},
  };
  for (const Texts& texts : pods) {
    EXPECT_TRUE(hold(pod(texts), kSettings, queue_in("team"))) << pod(texts);
    EXPECT_TRUE(hold(pod(texts), {{}, true}, kNoQueue)) << pod(texts);
    EXPECT_EQ(hold(pod(texts), kSettings, kNoQueue), std::nullopt) << pod(texts);
  }
}

TEST(Holding, PodsWithoutAQueueWaitWhereThatIsConfigured) {
  const Settings all{{}, true};
  const auto held = hold(pod({}), all, kNoQueue);
  ASSERT_TRUE(held);
  EXPECT_EQ(pod_of(Json::parse(*held)).queue, "");
}

// Where nobody answers API servers, what names no queue starts all the same; unless such pods are
// to wait as well.
TEST(Holding, OnlyPodsThatHaveToWaitWaitForAnAnswer) {
  EXPECT_EQ(judged_pods({{"a", "b"}, false}),
            (std::vector<std::string>{
                "Pod label:kueue.x-k8s.io/queue-name "
                "annotation:!kueue.x-k8s.io/pod-suspending-parent except:a,b",
                "Pod label:!kueue.x-k8s.io/queue-name "
                "annotation:!kueue.x-k8s.io/pod-suspending-parent except:a,b if-answered",
                "Pod annotation:kueue.x-k8s.io/pod-suspending-parent except:a,b"}));
  EXPECT_EQ(judged_pods({{}, true}), std::vector<std::string>{"Pod"});
}

TEST(Holding, WhatAParentHoldsUpWaitsWithoutAQueue) {
  const auto held =
      hold(pod({.annotations = R"("kueue.x-k8s.io/pod-suspending-parent":"statefulset")"}),
           kSettings, queue_in("team"));
  ASSERT_TRUE(held);
  const Json object = Json::parse(*held);
  EXPECT_TRUE(is_managed(object) && waits_for_parent(object) && pod_of(object).gated);
  EXPECT_EQ(pod_of(object).queue, "") << "not even the one that takes all others";
}

struct Refusal {
  const char* what;
  Texts before, after;
  std::string path, detail;

  friend void PrintTo(const Refusal& each, std::ostream* out) { *out << each.what; }
};

class Refused : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithASentence) {
  const Refusal& row = GetParam();
  FakeHost host;
  TestedPlugin plugin(host);
  const bool created = row.before.labels.empty();
  const auto errors =
      plugin.validate({created ? sluice::Operation::kCreate : sluice::Operation::kUpdate, "v1",
                       "Pod", pod(row.after), created ? "" : pod(row.before)});
  if (row.path.empty()) {
    EXPECT_TRUE(errors.empty()) << errors.front().path << errors.front().detail;
    return;
  }
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].path, row.path);
  EXPECT_EQ(errors[0].detail, row.detail);
}

const char* const kTotalPath = "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]";
const char* const kGroupPath = "metadata.labels[kueue.x-k8s.io/pod-group-name]";
const char* const kBoth =
    "both the annotation kueue.x-k8s.io/pod-group-total-count and kueue.x-k8s.io/pod-group-name, "
    "an annotation or a label, should be set";
const char* const kGroupAnnotation = "metadata.annotations[kueue.x-k8s.io/pod-group-name]";
const std::string kNamedSo = R"("kueue.x-k8s.io/pod-group-name":"g",)" + std::string(kOfTwo);

INSTANTIATE_TEST_SUITE_P(
    Rows, Refused,
    ::testing::Values(
        Refusal{"a good pod", {}, {.labels = kInGroup, .annotations = kOfTwo}, "", ""},
        Refusal{"a pod of nobody", {}, {.annotations = kOfTwo}, "", ""},
        Refusal{"no total", {}, {.labels = kInGroup}, kTotalPath, kBoth},
        Refusal{"no group", {}, {.labels = kOurs, .annotations = kOfTwo}, kGroupPath, kBoth},
        Refusal{
            "a total that is none",
            {},
            {.labels = kInGroup, .annotations = R"("kueue.x-k8s.io/pod-group-total-count":"0")"},
            kTotalPath,
            "should be an integer greater than 0"},
        Refusal{
            "a name that is none",
            {},
            {.labels = kOurs + R"(,"kueue.x-k8s.io/pod-group-name":"A_b")", .annotations = kOfTwo},
            kGroupPath,
            "must be the name of a Workload: a-z, 0-9, - and ., a letter or digit at both "
            "ends"},
        Refusal{"a group by an annotation", {}, {.labels = kOurs, .annotations = kNamedSo}, "", ""},
        Refusal{"the annotation counts",
                {},
                {.labels = kOurs + R"(,"kueue.x-k8s.io/pod-group-name":"A_b")",
                 .annotations = kNamedSo},
                "",
                ""},
        Refusal{"an annotation that is no name",
                {},
                {.labels = kOurs,
                 .annotations = R"("kueue.x-k8s.io/pod-group-name":"A_b",)" + std::string(kOfTwo)},
                kGroupAnnotation,
                "must be the name of a Workload: a-z, 0-9, - and ., a letter or digit at both "
                "ends"},
        Refusal{"another group by an annotation",
                {.labels = kInGroup, .annotations = kOfTwo},
                {.labels = kInGroup,
                 .annotations = R"("kueue.x-k8s.io/pod-group-name":"h",)" + std::string(kOfTwo)},
                kGroupAnnotation,
                "field is immutable"},
        Refusal{"its gate lifted by hand",
                {.labels = kOurs, .gates = kGated},
                {.labels = kOurs},
                "spec.schedulingGates",
                "gate kueue.x-k8s.io/admission is lifted by the system, when the workload of the "
                "pod has quota"},
        Refusal{"another queue while it waits",
                {.labels = kOurs, .gates = kGated},
                {.labels = R"("kueue.x-k8s.io/queue-name":"r","kueue.x-k8s.io/managed":"true")",
                 .gates = kGated},
                "",
                ""},
        Refusal{
            "serving since now",
            {.labels = kInGroup, .annotations = kOfTwo},
            {.labels = kInGroup,
             .annotations = std::string(kOfTwo) + R"(,"kueue.x-k8s.io/pod-group-serving":"true")"},
            "metadata.annotations[kueue.x-k8s.io/pod-group-serving]",
            "field is immutable"},
        Refusal{"another queue while it runs",
                {.labels = kOurs},
                {.labels = R"("kueue.x-k8s.io/queue-name":"r","kueue.x-k8s.io/managed":"true")"},
                "metadata.labels[kueue.x-k8s.io/queue-name]",
                "field is immutable once the pod was started"},
        Refusal{
            "another group",
            {.labels = kInGroup, .annotations = kOfTwo},
            {.labels = kOurs + R"(,"kueue.x-k8s.io/pod-group-name":"h")", .annotations = kOfTwo},
            kGroupPath,
            "field is immutable"},
        Refusal{
            "another total",
            {.labels = kInGroup, .annotations = kOfTwo},
            {.labels = kInGroup, .annotations = R"("kueue.x-k8s.io/pod-group-total-count":"3")"},
            kTotalPath,
            "field is immutable"},
        Refusal{"tried again after all",
                {.labels = kInGroup,
                 .annotations = kOfTwo + R"(,"kueue.x-k8s.io/retriable-in-group":"false")"},
                {.labels = kInGroup, .annotations = kOfTwo},
                "metadata.annotations[kueue.x-k8s.io/retriable-in-group]",
                "a group that may not be tried again stays so"}),
    [](const auto& row) {
      std::string name = row.param.what;
      for (char& c : name)
        if (c == ' ') c = '_';
      return name;
    });

}  // namespace
}  // namespace pods
