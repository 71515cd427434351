// What a Job needs next, as a specification. Times are seconds after kT0.
#include "host/executor/jobs/job_plan.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "host/executor/jobs/success_policy.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using Phase = JobPod::Phase;

const Time kT0 = *parse_time("2026-01-01T00:00:00Z");
Time at(std::int64_t seconds) { return kT0 + seconds * kSecond; }

struct Pod : JobPod {
  explicit Pod(const std::string& name, Phase p = Phase::kRunning) {
    key = "ns/" + name;
    uid = name;
    phase = p;
    tracked = bound = true;
    created = kT0;
    ready = p == Phase::kRunning;
  }
  Pod& ended(std::int64_t seconds, std::int64_t code = 0) {
    phase = code == 0 ? Phase::kSucceeded : Phase::kFailed;
    ready = false;
    finished = at(seconds);
    if (code != 0) exits.push_back({"main", code});
    return *this;
  }
  Pod& of(std::int64_t i) {
    index = i;
    return *this;
  }
};

BatchJob job(const std::string& spec, const std::string& status = "{}") {
  json::object object;
  object["metadata"] = json::object{{"name", "j"}, {"namespace", "ns"}, {"uid", "U"}};
  object["spec"] = json::parse(spec);
  object["status"] = json::parse(status);
  return read_job(object);
}

std::string conditions(const JobPlan& plan) {
  std::string out;
  for_each_object(plan.status, "conditions", [&](const json::object& condition) {
    if (!out.empty()) out += " ";
    out += std::string(api::find_text(condition, "type")) + "=" +
           std::string(api::find_text(condition, "status")) + "/" +
           std::string(api::find_text(condition, "reason"));
  });
  return out;
}
std::int64_t number(const JobPlan& plan, const char* key) {
  return api::find_int(plan.status, key).value_or(0);
}
std::string indexes(const JobPlan& plan) {
  std::string out;
  for (const NewPod& pod : plan.create) out += std::to_string(pod.index.value_or(-1)) + " ";
  return out;
}

TEST(JobPlan, CreatesAsManyAsMayRunAtOnce) {
  struct Case {
    const char* spec;
    std::size_t create;
  };
  for (const Case& c :
       {Case{R"({"parallelism":1,"completions":1})", 1},
        Case{R"({"parallelism":3,"completions":5})", 3},
        Case{R"({"parallelism":8,"completions":5})", 5}, Case{R"({"parallelism":4})", 4},
        Case{R"({"parallelism":0,"completions":5})", 0},
        Case{R"({"parallelism":2000,"completions":2000})", kMaxCreates}}) {
    const JobPlan plan = plan_job(job(c.spec), {}, at(0));
    EXPECT_EQ(plan.create.size(), c.create) << c.spec;
    EXPECT_EQ(number(plan, "active"), static_cast<std::int64_t>(c.create)) << c.spec;
    EXPECT_EQ(api::find_text(plan.status, "startTime"), "2026-01-01T00:00:00Z");
  }
}

TEST(JobPlan, CountsEndsOnceAndReplaces) {
  // Two of five are done, one runs: two more may run beside it.
  const JobPlan plan = plan_job(job(R"({"parallelism":3,"completions":5})", R"({"succeeded":1})"),
                                {Pod("a").ended(5), Pod("b")}, at(6));
  EXPECT_EQ(plan.untrack, std::vector<std::string>{"ns/a"});
  EXPECT_EQ(number(plan, "succeeded"), 2);
  EXPECT_EQ(plan.create.size(), 2U);
  EXPECT_EQ(number(plan, "active"), 3);
  EXPECT_EQ(number(plan, "ready"), 1);

  Pod counted = Pod("a").ended(5);
  counted.tracked = false;
  const JobPlan again = plan_job(job(R"({"parallelism":3,"completions":5})", R"({"succeeded":2})"),
                                 {counted, Pod("b"), Pod("c"), Pod("d")}, at(6));
  EXPECT_EQ(number(again, "succeeded"), 2);
  EXPECT_TRUE(again.untrack.empty());
  EXPECT_TRUE(again.create.empty());
}

TEST(JobPlan, CompletesWhenAllHaveSucceeded) {
  const JobPlan plan = plan_job(job(R"({"completions":1})"), {Pod("a").ended(5)}, at(6));
  EXPECT_EQ(conditions(plan),
            "SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached");
  EXPECT_EQ(api::find_text(plan.status, "completionTime"), "2026-01-01T00:00:06Z");
  EXPECT_EQ(plan.notes.back().reason, "Completed");
  // A job of no pods is complete at once.
  EXPECT_TRUE(has_condition(plan_job(job(R"({"completions":0})"), {}, at(0)).status, "Complete"));
}

TEST(JobPlan, WithoutCompletionsOneSuccessEndsTheJobWhenTheOthersHaveEnded) {
  const BatchJob view = job(R"({"parallelism":3})");
  const JobPlan waits = plan_job(view, {Pod("a").ended(5), Pod("b")}, at(6));
  EXPECT_TRUE(waits.create.empty());
  EXPECT_EQ(conditions(waits), "");
  const JobPlan ends = plan_job(view, {Pod("a").ended(5), Pod("b").ended(6, 1)}, at(7));
  EXPECT_TRUE(has_condition(ends.status, "Complete"));
}

TEST(JobPlan, FailuresAreHeldBackLongerEachTime) {
  struct Case {
    std::vector<JobPod> pods;
    std::int64_t until;  // seconds; 0: created at once
  };
  const BatchJob view = job(R"({"completions":3,"parallelism":1})");
  const std::vector<Case> cases{
      {{Pod("a").ended(100, 1)}, 110},
      {{Pod("a").ended(100, 1), Pod("b").ended(120, 1)}, 140},
      {{Pod("a").ended(100, 1), Pod("b").ended(120, 1), Pod("c").ended(150, 1)}, 190},
      {{Pod("a").ended(100, 1), Pod("b").ended(120)}, 0},  // success resets
      {{Pod("a").ended(100, 1), Pod("b").ended(120), Pod("c").ended(150, 1)}, 160},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const JobPlan plan = plan_job(view, cases[i].pods, at(151));
    const bool wait = cases[i].until > 151;
    EXPECT_EQ(plan.create.size(), wait ? 0U : 1U) << i;
    EXPECT_EQ(plan.again, wait ? at(cases[i].until) : kNever) << i;
  }
}

TEST(JobPlan, TheBackoffLimitEndsTheJobAndItsPods) {
  const BatchJob view = job(R"({"completions":3,"parallelism":2,"backoffLimit":1})");
  const JobPlan one = plan_job(view, {Pod("a").ended(5, 1)}, at(6));
  EXPECT_EQ(conditions(one), "");
  // The second failure is one too many; what runs is stopped and counts as failed.
  const JobPlan two = plan_job(view, {Pod("a").ended(5, 1), Pod("b").ended(5, 1), Pod("c")}, at(6));
  EXPECT_EQ(conditions(two), "FailureTarget=True/BackoffLimitExceeded");
  EXPECT_EQ(two.remove, std::vector<std::string>{"ns/c"});
  EXPECT_EQ(number(two, "failed"), 3);
  EXPECT_EQ(number(two, "terminating"), 1);
  // When it has ended, the last word is said.
  BatchJob later = view;
  later.status = two.status;
  later.failed = 3;
  Pod gone = Pod("c").ended(8, 143);
  gone.deleting = true;
  gone.tracked = false;
  const JobPlan last = plan_job(later, {gone}, at(9));
  EXPECT_EQ(conditions(last),
            "FailureTarget=True/BackoffLimitExceeded Failed=True/BackoffLimitExceeded");
  EXPECT_TRUE(last.notes.back().warning);
}

TEST(JobPlan, RestartsInPlaceCountAgainstTheLimit) {
  Pod pod("a");
  for (const auto& [limit, restarts, fails] : {std::tuple{2, 1, false}, std::tuple{2, 2, true},
                                               std::tuple{0, 0, false}, std::tuple{0, 1, true}}) {
    BatchJob view = job(R"({"completions":1,"template":{"spec":{"restartPolicy":"OnFailure"}}})");
    view.backoff_limit = limit;
    pod.restarts = restarts;
    EXPECT_EQ(has_condition(plan_job(view, {pod}, at(1)).status, "FailureTarget"), fails)
        << limit << " " << restarts;
  }
}

TEST(JobPlan, TheDeadlineCountsFromTheStart) {
  const BatchJob view =
      job(R"({"activeDeadlineSeconds":60})", R"({"startTime":"2026-01-01T00:00:10Z"})");
  const JobPlan before = plan_job(view, {Pod("a")}, at(69));
  EXPECT_EQ(before.again, at(70));
  EXPECT_EQ(conditions(before), "");
  EXPECT_EQ(conditions(plan_job(view, {Pod("a")}, at(70))), "FailureTarget=True/DeadlineExceeded");
}

TEST(JobPlan, SuspensionDeletesPodsWithoutCountingThem) {
  const BatchJob view = job(R"({"suspend":true,"parallelism":2,"completions":4})",
                            R"({"startTime":"2026-01-01T00:00:00Z","succeeded":1})");
  const JobPlan plan = plan_job(view, {Pod("a"), Pod("b", Phase::kPending)}, at(9));
  EXPECT_EQ(plan.remove.size(), 2U);
  EXPECT_EQ(plan.untrack, plan.remove);
  EXPECT_EQ(conditions(plan), "Suspended=True/JobSuspended");
  EXPECT_EQ(number(plan, "failed"), 0);
  EXPECT_EQ(number(plan, "active"), 0);
  EXPECT_EQ(number(plan, "terminating"), 2);

  BatchJob resumed = job(R"({"parallelism":2,"completions":4})");
  resumed.status = plan.status;
  resumed.start_time = at(0);
  const JobPlan next = plan_job(resumed, {}, at(20));
  EXPECT_EQ(conditions(next), "Suspended=False/JobResumed");
  EXPECT_EQ(api::find_text(next.status, "startTime"), "2026-01-01T00:00:20Z");
  EXPECT_EQ(next.create.size(), 2U);
}

TEST(JobPlan, ASuspendedJobCreatesNothingAndHasNotStarted) {
  const JobPlan plan = plan_job(job(R"({"suspend":true})"), {}, at(0));
  EXPECT_TRUE(plan.create.empty());
  EXPECT_EQ(api::find(plan.status, "startTime"), nullptr);
}

TEST(JobPlan, LowerParallelismDeletesWhatDidLeast) {
  Pod young("young");
  young.created = at(50);
  Pod pending("pending", Phase::kPending);
  Pod gated("gated", Phase::kPending);
  gated.gated = true;
  gated.bound = false;
  const std::vector<JobPod> pods{Pod("old"), young, pending, gated};
  const std::vector<std::string> order{"ns/gated", "ns/pending", "ns/young"};
  for (std::size_t keep = 1; keep <= 4; ++keep) {
    BatchJob view = job(R"({"completions":9})");
    view.parallelism = static_cast<std::int64_t>(keep);
    const auto most = order.begin() + static_cast<std::ptrdiff_t>(4 - keep);
    EXPECT_EQ(plan_job(view, pods, at(60)).remove, std::vector<std::string>(order.begin(), most));
  }
}

TEST(JobPlan, ADeletedPodCountsAsFailedAtOnceUnlessOnlyFailedOnesAreReplaced) {
  Pod deleted("a");
  deleted.deleting = true;
  const JobPlan at_once = plan_job(job(R"({"completions":1})"), {deleted}, at(5));
  EXPECT_EQ(number(at_once, "failed"), 1);
  EXPECT_EQ(at_once.create.size(), 1U);
  const JobPlan later =
      plan_job(job(R"({"completions":1,"podReplacementPolicy":"Failed"})"), {deleted}, at(5));
  EXPECT_EQ(number(later, "failed"), 0);
  EXPECT_TRUE(later.create.empty());
}

// 2 pods of quota: of 2 that were deleted one runs still, so that one place is free, at once.
TEST(JobPlan, WhereQuotaCountsAPodIsReplacedWhenItsProcessesHaveEnded) {
  Pod ending("a"), gone("b");
  ending.deleting = gone.deleting = true;
  gone.ended(4, 1);
  for (const char* spec : {R"({"completions":9,"parallelism":2,"backoffLimit":9})",
                           R"({"completions":9,"parallelism":2,"backoffLimit":9,
                               "completionMode":"Indexed"})"}) {
    BatchJob queued = job(spec);
    ending.index = queued.indexed ? std::optional<std::int64_t>(0) : std::nullopt;
    gone.index = queued.indexed ? std::optional<std::int64_t>(1) : std::nullopt;
    EXPECT_EQ(plan_job(queued, {ending, gone}, at(60)).create.size(), 2U) << "no quota, no bound";
    queued.has_workload = true;
    const JobPlan plan = plan_job(queued, {ending, gone}, at(60));
    EXPECT_EQ(plan.create.size(), 1U);
    EXPECT_EQ(number(plan, "failed"), 2) << "it counts as before";
  }
}

constexpr const char* kIndexed = R"({"completionMode":"Indexed","completions":4,"parallelism":2})";

TEST(JobPlan, IndexedJobsRunTheLowestOpenIndexes) {
  EXPECT_EQ(indexes(plan_job(job(kIndexed), {}, at(0))), "0 1 ");
  const JobPlan plan = plan_job(job(kIndexed, R"({"completedIndexes":"1"})"),
                                {Pod("a").of(0).ended(3), Pod("b").of(2)}, at(4));
  EXPECT_EQ(api::find_text(plan.status, "completedIndexes"), "0,1");
  EXPECT_EQ(number(plan, "succeeded"), 2);
  EXPECT_EQ(indexes(plan), "3 ");
}

TEST(JobPlan, IndexesThatAreNoMoreAreDeletedAndNotCounted) {
  BatchJob view = job(R"({"completionMode":"Indexed","completions":2,"parallelism":2})",
                      R"({"completedIndexes":"0"})");
  const JobPlan plan = plan_job(view, {Pod("c").of(3), Pod("d").of(2).ended(3)}, at(4));
  EXPECT_EQ(plan.remove, std::vector<std::string>{"ns/c"});
  EXPECT_EQ(number(plan, "succeeded"), 1);
  EXPECT_EQ(indexes(plan), "1 ");
}

TEST(JobPlan, LimitsPerIndex) {
  const std::string spec =
      R"({"completionMode":"Indexed","completions":2,"parallelism":2,"backoffLimit":99,)"
      R"("backoffLimitPerIndex":1})";
  Pod first = Pod("a").of(0).ended(3, 1);
  const JobPlan once = plan_job(job(spec), {first, Pod("b").of(1)}, at(20));
  ASSERT_EQ(indexes(once), "0 ");
  EXPECT_EQ(once.create[0].index_failures, 1);
  Pod second = Pod("c").of(0).ended(30, 1);
  second.index_failures = 1;
  const JobPlan twice = plan_job(job(spec), {first, second, Pod("b").of(1)}, at(60));
  EXPECT_EQ(api::find_text(twice.status, "failedIndexes"), "0");
  EXPECT_EQ(indexes(twice), "");
  const JobPlan end =
      plan_job(job(spec, R"({"failedIndexes":"0"})"), {Pod("b").of(1).ended(70)}, at(71));
  EXPECT_EQ(conditions(end), "FailureTarget=True/FailedIndexes Failed=True/FailedIndexes");
}

// An index that failed at 3 s waits 10 s, one that failed twice, at last at 5 s, 20 s; those that
// have not failed wait for nobody.
TEST(JobPlan, WithLimitsPerIndexEachWaitsForItsOwnFailures) {
  const BatchJob view =
      job(R"({"completionMode":"Indexed","completions":5,"parallelism":3,"backoffLimit":99,)"
          R"("backoffLimitPerIndex":5})");
  Pod again("b");
  again.of(1).ended(5, 1);
  again.index_failures = 1;
  const std::vector<JobPod> pods = {Pod("a").of(0).ended(3, 1), again, Pod("c").of(2).ended(4)};
  const JobPlan soon = plan_job(view, pods, at(6));
  EXPECT_EQ(indexes(soon), "3 4 ");
  EXPECT_EQ(soon.again, at(13));
  const JobPlan later = plan_job(view, pods, at(13));
  EXPECT_EQ(indexes(later), "0 3 4 ");
  EXPECT_EQ(later.create[0].index_failures, 1);
  const JobPlan last = plan_job(view, pods, at(25));
  EXPECT_EQ(indexes(last), "0 1 3 ");
  EXPECT_EQ(last.create[1].index_failures, 2);
}

TEST(JobPlan, FailurePolicy) {
  const std::string spec = R"({"completions":2,"podFailurePolicy":{"rules":[
    {"action":"FailJob","onExitCodes":{"containerName":"main","operator":"In","values":[42]}},
    {"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]}})";
  const JobPlan counted = plan_job(job(spec), {Pod("a").ended(5, 1)}, at(20));
  EXPECT_EQ(number(counted, "failed"), 1);
  const JobPlan fatal = plan_job(job(spec), {Pod("a").ended(5, 42)}, at(20));
  EXPECT_EQ(conditions(fatal), "FailureTarget=True/PodFailurePolicy Failed=True/PodFailurePolicy");
  Pod disrupted = Pod("a").ended(5, 1);
  disrupted.conditions = {"DisruptionTarget=True"};
  EXPECT_EQ(number(plan_job(job(spec), {disrupted}, at(20)), "failed"), 0);
}

TEST(JobPlan, SuccessPolicy) {
  const auto rules = [](const std::string& list) {
    return R"({"completionMode":"Indexed","parallelism":5,"completions":5,)"
           R"("successPolicy":{"rules":[)" +
           list + "]}}";
  };
  struct Case {
    std::string rules, succeeded, met;
  };
  const Case cases[] = {
      {R"({"succeededIndexes":"0"})", "0", "Matched rules at index 0"},
      {R"({"succeededIndexes":"0"})", "1-4", ""},
      {R"({"succeededIndexes":"0,2-3"})", "0,2", ""},
      {R"({"succeededIndexes":"0,2-3"})", "0-4", "Matched rules at index 0"},
      {R"({"succeededIndexes":"0,2-3","succeededCount":2})", "2,3", "Matched rules at index 0"},
      {R"({"succeededIndexes":"0,2-3","succeededCount":2})", "1,2,4", ""},
      {R"({"succeededCount":3})", "0,4", ""},
      {R"({"succeededCount":3})", "0,2,4", "Matched rules at index 0"},
      {R"({"succeededIndexes":"0"},{"succeededCount":2})", "1,2", "Matched rules at index 1"},
      {R"({"succeededIndexes":""},{"succeededIndexes":"9"})", "1,2", ""},  // names none of it
  };
  for (const Case& c : cases)
    EXPECT_EQ(meets(job(rules(c.rules)).success_rules, IndexSet::parse(c.succeeded), 5), c.met)
        << c.rules << " " << c.succeeded;

  // What still runs is terminated, and only then the job is complete.
  const std::string spec = rules(cases[0].rules);
  const JobPlan met = plan_job(job(spec), {Pod("a").of(0).ended(5), Pod("b").of(1)}, at(6));
  EXPECT_EQ(conditions(met), "SuccessCriteriaMet=True/SuccessPolicy");
  EXPECT_EQ(met.remove, std::vector<std::string>{"ns/b"});
  EXPECT_EQ(indexes(met), "");
  Pod going = Pod("b").of(1);
  going.deleting = true;
  going.tracked = false;
  const std::string after = json::serialize(met.status);
  EXPECT_EQ(conditions(plan_job(job(spec, after), {going}, at(7))), conditions(met));
  const JobPlan done = plan_job(job(spec, after), {}, at(8));
  EXPECT_EQ(conditions(done), "SuccessCriteriaMet=True/SuccessPolicy Complete=True/SuccessPolicy");
  EXPECT_EQ(number(done, "failed"), 0);
}

TEST(JobPlan, AFinishedJobIsRemovedWhenItsTimeIsOver) {
  const char* status = R"({"conditions":[{"type":"Complete","status":"True",)"
                       R"("lastTransitionTime":"2026-01-01T00:00:10Z"}]})";
  const BatchJob view = job(R"({"completions":1,"ttlSecondsAfterFinished":30})", status);
  const JobPlan before = plan_job(view, {}, at(39));
  EXPECT_FALSE(before.remove_job);
  EXPECT_EQ(before.again, at(40));
  EXPECT_TRUE(plan_job(view, {}, at(40)).remove_job);
  EXPECT_EQ(plan_job(job(R"({"completions":1})", status), {}, at(999)).again, kNever);
}

TEST(IndexSet, TextsAndRanges) {
  IndexSet set;
  for (const std::int64_t i : {5, 1, 3, 4, 7, 0}) set.add(i);
  EXPECT_EQ(set.text(), "0,1,3-5,7");
  set.add(2);
  set.add(3);
  EXPECT_EQ(set.text(), "0-5,7");
  EXPECT_EQ(IndexSet::parse("0-5,7"), set);
  EXPECT_EQ(set.count_below(5), 5);
  EXPECT_EQ(set.count_below(100), 7);
  EXPECT_TRUE(set.contains(7));
  EXPECT_FALSE(set.contains(6));
  EXPECT_EQ(IndexSet::parse("x,3-1,-2,4").text(), "4");
  IndexSet one_by_one;  // as a status that is written and read after each
  for (std::int64_t i = 0; i < 12; ++i) {
    one_by_one.add(i);
    one_by_one = IndexSet::parse(one_by_one.text());
  }
  EXPECT_EQ(one_by_one.text(), "0-11");
}

}  // namespace
}  // namespace sluice::host
