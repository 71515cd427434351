// What a host counts, times and shows, after a day in a small world whose clock the test moves.
#include "host/metrics/metrics.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "host/metrics/decision_metrics.hpp"
#include "host/metrics/label_words.hpp"
#include "host/metrics/metric_upkeep.hpp"
#include "host/metrics/readings.hpp"
#include "tests/host/metrics/exposition.hpp"
#include "tests/host/metrics/kueue_metrics.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Cohort `root` over `team` over the queues `cq` (4 CPUs) and `lender` (2); `slow` has a check.
struct MetricsWorld : HostFixture {
  explicit MetricsWorld(bool makes_pods = false)
      : HostFixture(with_engine(engine_config()), nullptr, false, {}, {}, nullptr, makes_pods) {
    machine.observe(decisions);
    controllers.add(upkeep);
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck",
              "metadata":{"name":"check"},"spec":{"controllerName":"example.com/slow"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"small"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"root"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"team"},
              "spec":{"parentName":"root"}})");
    queue("cq", R"("nominalQuota":"4","borrowingLimit":"0","lendingLimit":"1")");
    queue("lender", R"("nominalQuota":"2")");
    queue("slow", R"("nominalQuota":"1")",
          R"("admissionChecksStrategy":{"admissionChecks":[{"name":"check"}]},)");
  }

  void queue(const std::string& name, const std::string& quota, const std::string& more = "") {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":")" +
          name + R"("},"spec":{"namespaceSelector":{},"cohortName":"team",)" + more +
          R"("preemption":{"withinClusterQueue":"LowerPriority"},"resourceGroups":[{
          "coveredResources":["cpu"],"flavors":[{"name":"small","resources":[{"name":"cpu",)" +
          quota + "}]}]}]}}");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"of-)" +
          name + R"(","namespace":"default"},"spec":{"clusterQueue":")" + name + R"("}})");
  }
  /// `of_class`: the name of a WorkloadPriorityClass.
  void workload(const std::string& name, const std::string& queue, int cpus, int priority = 0,
                const std::string& of_class = "") {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
          name + R"(","namespace":"default"},"spec":{"queueName":"of-)" + queue +
          R"(","priority":)" + std::to_string(priority) +
          (of_class.empty() ? ""
                            : R"(,"priorityClassRef":{"group":"kueue.x-k8s.io",
          "kind":"WorkloadPriorityClass","name":")" +
                                  of_class + R"("})") +
          R"(,"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c",
          "image":"i","resources":{"requests":{"cpu":")" +
          std::to_string(cpus) + R"("}}}]}}}]}})");
    kernel.run_to_rest();
  }
  void apply(const std::string& text) {
    const auto done =
        static_cast<ObjectAccess&>(objects).create(boost::json::parse(text).get_object());
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  void pass(Duration time) {
    now += time;
    kernel.begin_instant(now);
    kernel.run_to_rest();
  }
  void finish(const std::string& key) {
    ASSERT_TRUE(kernel.finish(key, "Succeeded", "Job finished successfully").ok());
    kernel.run_to_rest();
  }
  void pods_ready(const std::string& key, const std::string& status = "True") {
    const auto done = merge("workloads", key.substr(key.find('/') + 1),
                            R"({"status":{"conditions":[
        {"type":"PodsReady","status":")" +
                                status + R"(","reason":"Started","message":"All pods run",
         "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                            "status");
    ASSERT_TRUE(done.ok()) << done.error().text;
    kernel.run_to_rest();
  }
  Exposition look() {
    std::vector<Reading> readings = queue_readings(kernel.engine(), objects, true);
    readings.push_back(skips_reading(decisions.preemption_skips()));
    readings.push_back(build_reading());
    return Exposition(metrics.text(readings));
  }

  static EngineConfig engine_config() {
    EngineConfig out;
    out.threads = 1;
    out.fair_sharing = true;
    return out;
  }
  HostMetrics metrics;
  DecisionMetrics decisions{kernel.engine(), kernel.intake().priority_classes(), metrics};
  MetricUpkeep upkeep{scheme, kernel.engine(), decisions};
};

/// A day: a runs, b preempts it after a minute and finishes after another; c can never start.
void live(MetricsWorld& world) {
  world.workload("a", "cq", 3);
  world.pass(20 * kSecond);
  world.pods_ready("default/a");
  world.pass(15 * kSecond);
  world.pods_ready("default/a", "False");
  world.pass(15 * kSecond);
  world.pods_ready("default/a");  // they recovered: nobody waited for them since its admission
  world.pass(10 * kSecond);
  world.workload("b", "cq", 4, 10);
  world.workload("c", "cq", 9);
  world.workload("d", "slow", 1);
  world.workload("e", "lender", 1);
  world.pass(60 * kSecond);
  world.finish("default/b");
  // Two preemptors in one cohort and one cycle: the second finds the victim taken.
  world.pass(10 * kSecond);
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

/// `kueue_NAME{a="b",…}` of `a=b …`.
std::string sample(const std::string& name, const std::string& labels) {
  std::string out;
  for (const std::string& label : words(labels)) {
    const std::size_t equals = label.find('=');
    out += (out.empty() ? "" : ",") + label.substr(0, equals) + "=\"" + label.substr(equals + 1) +
           "\"";
  }
  return "kueue_" + name + "{" + out + "}";
}

TEST(Metrics, TheTextIsWellFormed) {
  MetricsWorld world;
  live(world);
  EXPECT_THAT(world.look().problems, IsEmpty());
}

TEST(Metrics, NamesTypesAndLabelsAreKueues) {
  MetricsWorld world;
  live(world);
  const Exposition seen = world.look();
  std::set<std::string> known;
  for (const KueueMetric& metric : kKueueMetrics) {
    const std::string name = std::string("kueue_") + metric.name;
    known.insert(name);
    const auto family = seen.families.find(name);
    // No workload preempts in vain here, and none passed the check; see the tests below.
    if (family == seen.families.end() && metric.served) {
      EXPECT_THAT(std::vector{name},
                  ::testing::IsSubsetOf({"kueue_admission_cycle_preemption_skips",
                                         "kueue_admission_checks_wait_time_seconds",
                                         "kueue_local_queue_admission_checks_wait_time_seconds"}));
      continue;
    }
    ASSERT_EQ(family != seen.families.end(), metric.served) << name;
    if (!metric.served) continue;
    EXPECT_EQ(family->second.type, metric.type) << name;
    std::vector<std::string> labels = words(metric.labels);
    if (name != "kueue_build_info") labels.emplace_back("replica_role");
    std::sort(labels.begin(), labels.end());
    EXPECT_EQ(std::vector<std::string>(family->second.labels.begin(), family->second.labels.end()),
              labels)
        << name;
  }
  for (const auto& [name, family] : seen.families)
    EXPECT_TRUE(!name.starts_with("kueue_") || known.contains(name)) << name;
}

TEST(Metrics, ValuesOfASmallWorld) {
  MetricsWorld world;
  live(world);
  const Exposition seen = world.look();
  struct Case {
    std::string name, labels;  // without kueue_; in order of name
    double value;
  };
  const std::vector<Case> expected = {
      // a twice (it comes back when b is done), b; d has only its quota.
      {"admitted_workloads_total", "cluster_queue=cq priority_class=", 3},
      {"local_queue_admitted_workloads_total", "name=of-cq namespace=default priority_class=", 3},
      {"quota_reserved_workloads_total", "cluster_queue=slow priority_class=", 1},
      {"admitted_workloads_total", "cluster_queue=slow priority_class=", -1},
      {"evicted_workloads_total",
       "cluster_queue=cq priority_class= reason=Preempted underlying_cause=", 1},
      {"evicted_workloads_once_total",
       "cluster_queue=cq priority_class= reason=Preempted underlying_cause=", 1},
      {"preempted_workloads_total", "preempting_cluster_queue=cq reason=InClusterQueue", 1},
      {"finished_workloads_total", "cluster_queue=cq priority_class=", 1},
      {"finished_workloads", "cluster_queue=cq", 1},
      // b ran for 60 s.
      {"execution_time_seconds_sum", "cluster_queue=cq priority_class=", 60},
      // a was ready 20 s after it came, and evicted 40 s later.
      {"ready_wait_time_seconds_sum", "cluster_queue=cq priority_class=", 20},
      {"ready_wait_time_seconds_count", "cluster_queue=cq priority_class=", 1},
      {"admitted_until_ready_wait_time_seconds_sum", "cluster_queue=cq priority_class=", 20},
      {"pods_ready_to_evicted_time_seconds_sum",
       "cluster_queue=cq reason=Preempted underlying_cause=", 40},
      // a waited 0 s, b 0 s, a again 60 s from its eviction on.
      {"admission_wait_time_seconds_sum", "cluster_queue=cq priority_class=", 60},
      {"admission_wait_time_seconds_bucket", "cluster_queue=cq le=1 priority_class=", 2},
      {"pending_workloads", "cluster_queue=cq status=inadmissible", 1},
      {"pending_workloads", "cluster_queue=cq status=active", 0},
      {"pending_scheduling_hashes", "cluster_queue=cq status=inadmissible", 1},
      {"unadmitted_workloads",
       "cluster_queue=cq reason=NoReservation underlying_cause=ExceedsMaxQuota", 1},
      {"unadmitted_workloads",
       "cluster_queue=slow reason=UnsatisfiedAdmissionChecks underlying_cause=", 1},
      {"reserving_active_workloads", "cluster_queue=slow", 1},
      {"admitted_active_workloads", "cluster_queue=slow", 0},
      {"cluster_queue_resource_usage", "cluster_queue=cq cohort=team flavor=small resource=cpu", 3},
      {"cluster_queue_resource_reservation",
       "cluster_queue=slow cohort=team flavor=small resource=cpu", 1},
      {"cluster_queue_nominal_quota", "cluster_queue=cq cohort=team flavor=small resource=cpu", 4},
      {"cluster_queue_borrowing_limit", "cluster_queue=cq cohort=team flavor=small resource=cpu",
       0},
      {"cluster_queue_lending_limit", "cluster_queue=cq cohort=team flavor=small resource=cpu", 1},
      {"cluster_queue_resource_pending", "cluster_queue=cq resource=cpu", 9},
      {"cluster_queue_resource_pending", "cluster_queue=lender resource=cpu", 0},
      // cq lends 1 of its 4: 1 + 2 + 1.
      {"cohort_subtree_quota", "cohort=team flavor=small resource=cpu", 4},
      // a 3, d 1, e 1.
      {"cohort_subtree_resource_reservations", "cohort=root flavor=small resource=cpu", 5},
      {"cohort_subtree_admitted_active_workloads", "cohort=root", 2},
      {"cohort_subtree_admitted_workloads_total", "cohort=team priority_class=", 4},
      {"cohort_info", "cohort=team parent_cohort=root root_cohort=root", 1},
      {"cohort_info", "cohort=root parent_cohort= root_cohort=root", 1},
      {"cluster_queue_info", "cluster_queue=cq parent_cohort=team root_cohort=root", 1},
      {"cluster_queue_status", "cluster_queue=cq status=active", 1},
      {"cluster_queue_status", "cluster_queue=cq status=pending", 0},
  };
  for (const auto& [name, labels, value] : expected)
    EXPECT_EQ(seen.value(sample(name, labels)), value) << name << " " << labels;
  EXPECT_GT(seen.value(R"(kueue_admission_attempts_total{result="success"})"), 0);
  EXPECT_GT(seen.value(R"(kueue_admission_attempts_total{result="inadmissible"})"), 0);
}

// A LocalQueue that does not exist and a resource that nobody has quota of are words of a user,
// who has as many as he likes: a thousand of them are no series.
TEST(Metrics, WhatUsersMakeUpIsNoLabel) {
  MetricsWorld world;
  world.apply(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"a",
      "namespace":"default"},"spec":{"queueName":"of-cq","podSets":[{"name":"main","count":1,
      "template":{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{
      "cpu":"1","example.com/made-up":"1"}}}]}}}]}})");
  world.workload("b", "nowhere", 1);
  world.workload("c", "cq", 1, 0, "made-up");
  const Exposition seen = world.look();
  EXPECT_EQ(
      seen.value(sample("unadmitted_workloads",
                        "cluster_queue= reason=NoReservation underlying_cause=Misconfigured")),
      1);
  EXPECT_EQ(seen.value(sample("cluster_queue_resource_pending", "cluster_queue=cq resource=cpu")),
            1);
  for (const auto& [name, family] : seen.families)
    for (const std::string& each : family.samples) {
      EXPECT_EQ(each.find("made-up"), std::string::npos) << each;
      EXPECT_EQ(each.find("of-nowhere"), std::string::npos) << each;
    }
  EXPECT_EQ(seen.value(sample("admitted_workloads_total", "cluster_queue=cq priority_class=")), 1);
}

TEST(Metrics, AClassThatIsThereIsALabel) {
  MetricsWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"WorkloadPriorityClass",
                  "metadata":{"name":"high"},"value":5})");
  world.workload("a", "cq", 1, 5, "high");
  EXPECT_EQ(world.look().value(
                sample("admitted_workloads_total", "cluster_queue=cq priority_class=high")),
            1);
}

TEST(LabelWords, WhatComesWhenThereAreTooManyIsOther) {
  LabelWords words({"known"}, 2);
  EXPECT_EQ(words.take("a"), "a");
  EXPECT_EQ(words.take("b"), "b");
  EXPECT_EQ(words.take("c"), "Other");
  EXPECT_EQ(words.take("a"), "a");
  EXPECT_EQ(words.take("known"), "known");
}

// The condition with which a controller of many clusters turns a workload off has a reason of its
// own; who may write statuses could give a new one each time.
TEST(Metrics, OfReasonsThatStatusesBringAHundredAreLabels) {
  MetricsWorld world;
  for (int i = 0; i < 110; ++i) {
    const std::string name = "w" + std::to_string(i);
    world.workload(name, "cq", 1);
    ASSERT_TRUE(world.merge("workloads", name,
                            R"({"status":{"conditions":[{"type":"DeactivationTarget",
        "status":"True","reason":"Why)" +
                                std::to_string(i) + R"(","message":"m",
        "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                            "status"));
    world.kernel.run_to_rest();
  }
  const auto evicted = [&](const std::string& why) {
    return world.look().value(
        sample("evicted_workloads_total",
               "cluster_queue=cq priority_class= reason=Deactivated underlying_cause=" + why));
  };
  EXPECT_EQ(evicted("Why0"), 1);
  EXPECT_EQ(evicted("Why99"), 1);
  EXPECT_EQ(evicted("Why100"), -1);
  EXPECT_EQ(evicted("Other"), 10);
}

// Of what was counted and timed; gauges are taken of what there is.
TEST(Metrics, OfWhatIsGoneNothingIsTold) {
  MetricsWorld world;
  live(world);
  const auto told_of = [&world](const std::string& label) {
    std::size_t out = 0;
    for (const auto& [name, family] : Exposition(world.metrics.text({})).families)
      for (const std::string& each : family.samples) out += each.find(label) != std::string::npos;
    return out;
  };
  const auto goes = [&](const char* resource, const char* name, const std::string& label) {
    EXPECT_GT(told_of(label), 0U) << label;
    ASSERT_TRUE(world.remove(resource, name));
    world.pass(kSecond);
    world.pass(kSecond);  // cohorts: when the engine has worked out which there are
    EXPECT_EQ(told_of(label), 0U) << label;
  };
  goes("localqueues", "of-cq", R"(name="of-cq")");
  EXPECT_GT(told_of(R"(name="of-lender",namespace="default")"), 0U);
  goes("clusterqueues", "cq", R"(cluster_queue="cq")");  // preempting_cluster_queue, too
  EXPECT_GT(told_of(R"(cluster_queue="lender")"), 0U);
  // Two queues still name the cohort: it is there without an object. Nobody names its parent then.
  ASSERT_TRUE(world.remove("cohorts", "team"));
  goes("cohorts", "root", R"(cohort="root",)");
  goes("clusterqueues", "lender", R"(cluster_queue="lender")");
  EXPECT_GT(told_of(R"(cohort="team",)"), 0U);
  goes("clusterqueues", "slow", R"(cohort="team",)");
  // What is made again begins anew.
  world.queue("new", R"("nominalQuota":"1")");
  world.workload("f", "new", 1);
  EXPECT_EQ(world.look().value(
                sample("cohort_subtree_admitted_workloads_total", "cohort=team priority_class=")),
            1);
}

// One of a job keeps its quota until its pods have ended, 7 s after it was evicted; the other gives
// it back at once. Both are counted, and 7 s in all.
TEST(Metrics, AnEvictionIsTimedUntilItsQuotaIsBack) {
  MetricsWorld world(/*makes_pods=*/true);
  world.workload("of-nobody", "cq", 2);
  world.apply(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"of-job",
      "namespace":"default","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j",
      "uid":"0d9b8a4c-0000-4000-8000-000000000001","controller":true}]},"spec":{"queueName":"of-cq",
      "podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c",
      "image":"i","resources":{"requests":{"cpu":"2"}}}]}}}]}})");
  world.kernel.run_to_rest();
  world.workload("high", "cq", 4, 10);
  const auto latency = [&](const std::string& what) {
    return world.look().value(
        sample("workload_eviction_latency_seconds_" + what, "cluster_queue=cq reason=Preempted"));
  };
  EXPECT_EQ(latency("count"), 1);
  world.pass(7 * kSecond);
  EXPECT_EQ(latency("count"), 1);
  world.kernel.tell_ended("default/of-job");
  world.kernel.run_to_rest();
  EXPECT_EQ(latency("count"), 2);
  EXPECT_EQ(latency("sum"), 7);
}

TEST(Metrics, BucketsAreKueues) {
  HostMetrics metrics;
  for (const Buckets each : {Buckets::kFourteen, Buckets::kSixteen})
    metrics.observe(each == Buckets::kFourteen ? "f" : "s", "h", {}, 3, each);
  const Exposition seen(metrics.text({}));
  EXPECT_EQ(seen.value(R"(f_bucket{le="2.5"})"), 0);
  EXPECT_EQ(seen.value(R"(f_bucket{le="5"})"), 1);
  EXPECT_EQ(seen.value(R"(f_bucket{le="10240"})"), 1);  // 2.5 · 2^12
  EXPECT_EQ(seen.value(R"(f_bucket{le="20480"})"), -1);
  EXPECT_EQ(seen.value(R"(s_bucket{le="40960"})"), 1);  // 2.5 · 2^14
  EXPECT_EQ(seen.value(R"(s_bucket{le="81920"})"), -1);
}

TEST(Metrics, LabelsThatNeedItAreEscaped) {
  HostMetrics metrics;
  metrics.count("c", "h", {{"reason", "a \"quoted\" \\ and\na line"}});
  const Exposition seen(metrics.text({}));
  EXPECT_THAT(seen.problems, IsEmpty());
  EXPECT_THAT(seen.families.at("c").samples,
              ElementsAre(R"(c{reason="a \"quoted\" \\ and\na line"})"));
}

TEST(Metrics, PluginsShowCallsTimeFaultsAndTheirOwn) {
  PluginStatus plugin;
  plugin.name = "budget";
  plugin.quarantined = true;
  plugin.longest_hold = 5 * kMillisecond;
  plugin.hooks.push_back({"filter", {7, 2, 1'500'000'000}});
  MetricSnapshot own{{false, true, "budget", "waited", "Waiting", {"team"}},
                     {{{"a"}, 250'000'000}}};
  HostMetrics metrics;
  MetricSnapshot known{{false, false, "budget", "known_total", "Known", {}, true}, {{{}, 3}}};
  const Exposition seen(metrics.text(plugin_readings({plugin}, {own, known})));
  EXPECT_THAT(seen.problems, IsEmpty());
  EXPECT_EQ(seen.value(R"(sluice_plugin_calls_total{hook="filter",plugin="budget"})"), 7);
  EXPECT_EQ(seen.value(R"(sluice_plugin_faults_total{hook="filter",plugin="budget"})"), 2);
  EXPECT_EQ(seen.value(R"(sluice_plugin_seconds_total{hook="filter",plugin="budget"})"), 1.5);
  EXPECT_EQ(seen.value(R"(sluice_plugin_quarantined{plugin="budget"})"), 1);
  EXPECT_EQ(seen.value(R"(sluice_plugin_longest_hold_seconds{plugin="budget"})"), 0.005);
  EXPECT_EQ(seen.value(R"(sluice_plugin_budget_waited{team="a"})"), 0.25);
  EXPECT_EQ(seen.value("known_total"), 3);
}

}  // namespace
}  // namespace sluice::host::test
