// The fake host that authors test with: services, clock, questions, faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sluice/testing.hpp>
#include <thread>

namespace sluice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

/// Uses what there is; what it does is in its configuration and in the labels of workloads.
class Everything {
 public:
  static constexpr std::string_view kConfigSchema = R"({
    "type": "object",
    "properties": {
      "every": {"type": "integer", "default": 60},
      "deep": {"type": "object", "default": {},
               "properties": {"name": {"type": "string", "default": "n"}}}
    }
  })";
  explicit Everything(const Context& context) : context_(context) {
    if (context.config().int_or("every", 0) < 0) throw Refused("every must not be negative");
    if (context.config().int_or("every", 0) == 13) throw std::runtime_error("unlucky");
  }
  void activate() {
    calls_ = context_.counter("calls", "Calls.", {"hook"});
    context_.set_timer(1, context_.now() + every());
  }
  void filter(const FilterQuery& query, FilterAnswer& answer) const {
    if (query.workload().label("throw")) throw std::runtime_error("as the label says");
    for (std::uint32_t i = 0; i < query.flavors(); ++i)
      if (query.flavor(i) == "spot") answer.skip(i, "no spot");
    if (query.workload().label("nonsense")) answer.skip(99, "");
  }
  std::string filter_shape_key(const Workload& w) { return std::string(w.queue_name()); }
  Search after_flavor(const SearchStep& step) const {
    return step.current.mode == Mode::kFit ? Search::kStopHere : Search::kGoOn;
  }
  bool better(std::uint32_t, Outcome a, Outcome b) const { return a.mode > b.mode; }
  bool keep_position(const PositionAge& age) const { return age.tree_generations == 0; }
  void veto(const VetoQuery& query, VetoAnswer& answer) const {
    for (std::uint64_t i = 0; i < query.candidates(); ++i)
      if (query.candidate(i).priority() > 5) answer.protect(i);
    for (std::uint64_t i = 0; i < query.candidates(); ++i)
      if (query.candidate(i).true_since("Admitted"))
        answer.protect_because(i, "it runs in " + std::string(query.cluster_queue()->cohort()));
    if (query.candidates() == 0) answer.may_not_preempt("nobody there");
  }
  void traits(const Workload& w, Traits& traits) {
    traits.represents("ns/parent", "way", 2);
    traits.replaces("ns/old", Ends::kDeactivated, "R", "m");
    traits.shape_key(w.label("shape").value_or("-"));
  }
  Told notify(const Notification& told) {
    const std::string_view hook[] = {"notify"};
    context_.add(calls_, 1, hook);
    context_.event(true, told.workload().namespace_of(), told.workload().name(), "Told",
                   told.reason());
    for (std::uint64_t i = 0; i < told.others(); ++i) context_.requeue(told.other(i));
    context_.traits_changed(told.workload().key());
    return told.event() == Event::kEvicted ? Told::kTellMeAgain : Told::kDone;
  }
  void queue_changed(const Queue& queue) { context_.info(queue.name()); }
  void timer(std::uint64_t number, std::int64_t now) {
    context_.info(std::to_string(number) + " at " +
                  std::to_string((now - FakeHost::kStart) / 1'000'000'000));
    if (number == 1) context_.set_timer(1, now + every());
  }
  std::string schema() const { return "[]"; }
  std::vector<std::string> kinds() const { return {"a/A", "B"}; }
  std::optional<std::string> set_defaults(const Write& write) {
    return write.object() == "{}" ? std::optional<std::string>("{\"a\":1}") : std::nullopt;
  }
  void validate(const Write& write, FieldErrors& errors) {
    if (write.operation() == Operation::kDelete) errors.forbidden("", "keep it");
    if (write.object() == "{}") errors.required("spec.a", "it is needed");
  }
  void plan(const Job& job, JobPlan& plan) {
    if (job.kind() != "batch/Job") return;
    for (std::uint64_t i = 0; i < job.workloads(); ++i)
      if (job.match(i) == Match::kCounts) plan.resize(job.workload(i).name());
    plan.create({"", "r1", {{"k", "v"}}, {}});
    plan.finish("old", "Done", "it is over");
  }
  std::vector<std::string> pod_gates(const Job&) { return {"a.b/c", "d.e/f"}; }
  void pod_grants(const Job& job, Grants& grants) { grants.grant(0, job.pod_set_count(0) - 1); }

 private:
  std::int64_t every() const { return context_.config().int_or("every", 0) * 1'000'000'000; }
  const Context& context_;
  Metric calls_;
};

std::vector<std::string> lines(const FakeHost& host) {
  std::vector<std::string> out;
  for (const LogLine& line : host.log()) out.push_back(line.text);
  return out;
}

TEST(FakeHost, TimeGoesWhereTheTestSendsIt) {
  FakeHost host;
  TestedPlugin plugin(host);
  EXPECT_THAT(host.timers(), ElementsAre(Pair(1, FakeHost::kStart + 60'000'000'000)));
  plugin.advance(59s);
  EXPECT_THAT(host.log(), IsEmpty());
  plugin.advance(2min);  // 179 s: due at 60 and at 120
  EXPECT_THAT(lines(host), ElementsAre("1 at 60", "1 at 120"));
  EXPECT_EQ(host.now(), FakeHost::kStart + 179'000'000'000);
}

TEST(FakeHost, FillsInDefaultsAndShowsRefusals) {
  FakeHost host;
  TestedPlugin plugin(host, R"({"every": 5})");
  EXPECT_EQ(host.config().dump(), R"({"every":5,"deep":{"name":"n"}})");
  EXPECT_EQ(refusal(host, R"({"every": -1})"), "every must not be negative");
  EXPECT_EQ(refusal(host, "{}"), "");
  EXPECT_THROW(TestedPlugin(host, R"({"every": 13})"), Fault);
}

TEST(FakeHost, ConfigByPointerForThoseWithoutAParser) {
  FakeHost host;
  host.set_config(Json::parse(R"({"a/b": {"~": [1, "x", true]}, "n": 7})"));
  const auto& config = *static_cast<const sluice_config_t*>(
      host.table()->service(host.table(), to_abi(SLUICE_SVC_CONFIG)));
  std::int64_t number = 0;
  std::int32_t truth = 0;
  std::string text;
  const sluice_sink_t sink = Sink::into(text);
  EXPECT_EQ(config.get_int(host.table(), to_abi("/n"), &number), 1);
  EXPECT_EQ(number, 7);
  EXPECT_EQ(config.get_bool(host.table(), to_abi("/a~1b/~0/2"), &truth), 1);
  EXPECT_EQ(truth, 1);
  EXPECT_EQ(config.get_string(host.table(), to_abi("/a~1b/~0/1"), &sink), 1);
  EXPECT_EQ(config.get_string(host.table(), to_abi("/n"), &sink), 0);
  EXPECT_EQ(config.get_json(host.table(), to_abi("/a~1b/~0/9"), &sink), 0);
  EXPECT_EQ(config.get_json(host.table(), to_abi(""), &sink), 1);
  EXPECT_EQ(text, R"(x{"a/b":{"~":[1,"x",true]},"n":7})");
}

TEST(FakeHost, RecordsWhatThePluginDoes) {
  FakeHost host;
  TestedPlugin plugin(host);
  const FakeWorkload w("team-a", "train");
  EXPECT_EQ(plugin.notify(Event::kPreempting, w, "Why", {"ns/a", "ns/b"}), Told::kDone);
  EXPECT_EQ(plugin.notify(Event::kEvicted, w), Told::kTellMeAgain);
  EXPECT_EQ(host.metric("calls", {"notify"}), 2);
  EXPECT_EQ(host.metric("calls", {"other"}), 0);
  EXPECT_THAT(host.requeued(), ElementsAre("ns/a", "ns/b"));
  EXPECT_THAT(host.traits_changed(), ElementsAre("team-a/train", "team-a/train"));
  ASSERT_EQ(host.events().size(), 2u);
  EXPECT_EQ(host.events()[0].name + " " + host.events()[0].message, "train Why");
  plugin.queue_changed(0, "cq", "{}");
  EXPECT_THAT(lines(host), ElementsAre("cq"));
}

TEST(FakeHost, IsAnOldHostWhenAsked) {
  FakeHost host;
  for (const char* id : {SLUICE_SVC_LOG, SLUICE_SVC_CLOCK, SLUICE_SVC_METRICS, SLUICE_SVC_EVENTS,
                         SLUICE_SVC_REQUEUE, SLUICE_SVC_CONFIG})
    host.without(id);
  TestedPlugin plugin(host);
  EXPECT_EQ(plugin.notify(Event::kPreempting, FakeWorkload("a", "b"), "", {"c/d"}), Told::kDone);
  EXPECT_THAT(host.requeued(), IsEmpty());
  EXPECT_THAT(host.timers(), IsEmpty());
}

TEST(FakeHost, WaitsForThreadsOfThePlugin) {
  FakeHost host;
  TestedPlugin plugin(host);
  std::thread other([&] { plugin.queue_changed(0, "from a thread", "{}"); });
  EXPECT_TRUE(host.wait_until([&] { return !host.log().empty(); }));
  other.join();
  EXPECT_FALSE(host.wait_until([] { return false; }, 0s));
}

TEST(TestedPlugin, AsksTheCycleHooks) {
  FakeHost host;
  TestedPlugin plugin(host);
  FakeWorkload w("team-a", "train");
  w.queue_name = "main";
  EXPECT_THAT(plugin.filter(w, {"on-demand", "spot"}), ElementsAre(Skip{"spot", "no spot"}));
  EXPECT_THAT(plugin.filter(w, {}), IsEmpty());
  EXPECT_EQ(plugin.filter_shape_key(w), "main");
  EXPECT_EQ(plugin.after_flavor({0, {Mode::kFit, 0}, false, {}}), Search::kStopHere);
  EXPECT_EQ(plugin.after_flavor({0, {Mode::kReclaim, 0}, false, {}}), Search::kGoOn);
  EXPECT_TRUE(plugin.better(0, {Mode::kFit, 0}, {Mode::kPreempt, 0}));
  EXPECT_FALSE(plugin.keep_position({0, 1, 0, 1}));
  const FakeWorkload low = FakeWorkload("b", "low").with_priority(1);
  const FakeWorkload high = FakeWorkload("b", "high").with_priority(9);
  EXPECT_THAT(plugin.veto(w, {&low, &high}).protects, ElementsAre(1u));
  EXPECT_EQ(plugin.veto(w, {}).may_not_preempt, "nobody there");
  FakeWorkload runs("b", "runs");
  runs.admitted("cq", "f", host.now());
  const VetoGiven given = plugin.veto(w, {&low, &runs}, 0, FakeClusterQueue{"cq", "all", {}});
  EXPECT_THAT(given.protects, ElementsAre(1u));
  EXPECT_EQ(given.because.at(1), "it runs in all");
  EXPECT_EQ(plugin.filter(w, {{"spot", {{"zone", "b"}}, {}}}, {"cq", "", {{"spot", "cpu", 4000}}}),
            (std::vector<Skip>{{"spot", "no spot"}}));
}

/// Looks at another object when one is judged, and tries to write.
class Judge {
 public:
  explicit Judge(const Context& context) : context_(context) {}
  std::vector<std::string> kinds() const { return {"ConfigMap"}; }
  void validate(const Write& write, FieldErrors& errors) {
    const ObjectRef other{"v1", "ConfigMap", "a", "other"};
    if (!context_.objects().find(other)) errors.forbidden("data", "no other");
    const ObjectReply written = context_.objects().remove(other);
    errors.forbidden("metadata", std::string(write.user()) + ": " + written.text);
  }

 private:
  const Context& context_;
};

TEST(TestedPlugin, D1_AValidatorReadsObjectsAndWritesNone) {
  FakeHost host;
  const sluice_plugin_t root = sluice::detail::Root<Judge>::plugin("judge", "1.0.0");
  TestedPlugin plugin(host, root);
  host.objects().put(R"({"kind":"ConfigMap","metadata":{"namespace":"a","name":"other"}})");
  const auto errors = plugin.validate({Operation::kUpdate, "v1", "ConfigMap", "{}", "{}", "ann"});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].detail, "ann: objects can be read here, not written");
  EXPECT_NE(host.objects().find("ConfigMap", "a", "other"), nullptr);
}

TEST(FakeWorkload, ShowsWhatARealOneShows) {
  FakeWorkload w("team-a", "train");
  w.runs_at_most(90).owned_by({"batch/v1", "Job", "train-job", "u2"});
  w.pod_set({"main", 2, 1, {{"cpu", 250}}, {}, {}}).admitted("cq", "spot", 5'000'000'000);
  const Workload seen(w.ref());
  EXPECT_EQ(seen.maximum_execution_seconds(), 90);
  EXPECT_EQ(seen.true_since("Admitted"), 5'000'000'000);
  EXPECT_EQ(seen.total_request("cpu"), 500);
  EXPECT_EQ(seen.controller()->second, "train-job");
  std::vector<std::string> owners;
  seen.each_owner([&](const Owner& owner) { owners.emplace_back(owner.uid); });
  EXPECT_THAT(owners, ElementsAre("u2"));
  const Json json = Json::parse(seen.json());
  EXPECT_EQ(json.int_or("spec.maximumExecutionTimeSeconds", 0), 90);
  EXPECT_EQ(json.string_or("metadata.ownerReferences.0.name", ""), "train-job");
  EXPECT_EQ(json.string_or("spec.podSets.0.template.spec.containers.0.resources.requests.cpu", ""),
            "250m");
  EXPECT_EQ(condition_is_true(json, "Admitted"), true);
  EXPECT_EQ(find_condition(json, "Admitted")->string_or("lastTransitionTime", ""),
            "1970-01-01T00:00:05Z");
}

TEST(TestedPlugin, AsksTheControlHooks) {
  FakeHost host;
  TestedPlugin plugin(host);
  const TraitsGiven traits = plugin.traits(FakeWorkload("a", "b").label("shape", "round"));
  EXPECT_EQ(traits.group->rank, 2);
  EXPECT_EQ(traits.group->order_as, "ns/parent");
  EXPECT_TRUE(traits.group->represents);
  EXPECT_EQ(traits.group->called, "way");
  EXPECT_EQ(traits.replaces->how, Ends::kDeactivated);
  EXPECT_EQ(traits.shape_key, "round");
  EXPECT_FALSE(traits.takes_no_part.has_value());
  EXPECT_EQ(plugin.schema(), "[]");
  EXPECT_THAT(plugin.kinds(), ElementsAre("a/A", "B"));
  EXPECT_EQ(plugin.set_defaults({Operation::kCreate, "a/v1", "A", "{}", ""}), "{\"a\":1}");
  EXPECT_EQ(plugin.set_defaults({Operation::kCreate, "a/v1", "A", "[]", ""}), std::nullopt);
  const auto errors = plugin.validate({Operation::kCreate, "a/v1", "A", "{}", ""});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].kind, SLUICE_FIELD_REQUIRED);
  EXPECT_EQ(errors[0].path, "spec.a");
}

TEST(TestedPlugin, AsksTheHooksAboutJobs) {
  FakeHost host;
  TestedPlugin plugin(host);
  const FakeWorkload w("a", "job-train");
  FakeJob job;
  job.pod_sets[0].count = 4;
  job.workloads = {{&w, Match::kCounts}};
  const JobAnswer answer = plugin.plan(job);
  EXPECT_TRUE(answer.answered);
  EXPECT_THAT(answer.resized, ElementsAre("job-train"));
  ASSERT_EQ(answer.created.size(), 1u);
  EXPECT_EQ(answer.created[0].revision, "r1");
  EXPECT_THAT(answer.created[0].labels, ElementsAre(Pair("k", "v")));
  EXPECT_EQ(answer.finished[0].message, "it is over");
  EXPECT_THAT(plugin.pod_gates(job), ElementsAre("a.b/c", "d.e/f"));
  EXPECT_THAT(plugin.pod_grants(job), ElementsAre(Pair(0, 3)));
  job.kind = "ray.io/RayCluster";
  EXPECT_FALSE(plugin.plan(job).answered);
}

TEST(TestedPlugin, FaultsAreExceptionsWithTheReason) {
  FakeHost host;
  TestedPlugin plugin(host);
  const auto fault = [&](const char* label) -> std::string {
    try {
      plugin.filter(FakeWorkload("a", "b").label(label, ""), {"x"});
      return {};
    } catch (const Fault& e) {
      return e.what();
    }
  };
  EXPECT_EQ(fault("throw"), "filter answered 3: as the label says");
  EXPECT_EQ(fault("nonsense"), "filter skipped a flavor that it was not asked about");
  EXPECT_EQ(fault("fine"), "");
}

TEST(FakeWorkload, IsSeenThroughTheAccessors) {
  FakePodSet workers{"workers", 3, 1, {{"cpu", 500}, {"memory", 1024}}, {}, {}};
  const FakeWorkload fake =
      FakeWorkload("ns", "w").annotation("k", "v").pod_set(workers).admitted("cq", "spot");
  const Workload w(fake.ref());
  EXPECT_EQ(w.key(), "ns/w");
  EXPECT_EQ(w.annotation("k"), "v");
  EXPECT_EQ(w.label("k"), std::nullopt);
  EXPECT_EQ(w.pod_sets(), 1u);
  EXPECT_EQ(w.pod_set_name(0), "workers");
  EXPECT_EQ(w.pod_set_min_count(0), 1);
  EXPECT_EQ(w.pod_set_count(7), 0);
  EXPECT_EQ(w.pod_request(0, "cpu"), 500);
  EXPECT_EQ(w.pod_request(0, "gpu"), 0);
  EXPECT_EQ(w.admitted_by(), "cq");
  EXPECT_EQ(w.admitted_flavor(0, "memory"), "spot");
  EXPECT_EQ(w.admitted_count(0), 3);
  EXPECT_EQ(w.condition("Admitted"), "True");
  int requests = 0;
  w.each_pod_request(0, [&](std::string_view, std::int64_t) { ++requests; });
  EXPECT_EQ(requests, 2);
}

SLUICE_TEST(passes) { SLUICE_EXPECT_EQ(1 + 1, 2); }
SLUICE_TEST(fails) {
  SLUICE_EXPECT(1 > 2);
  SLUICE_EXPECT_EQ(1, 2);
}
SLUICE_TEST(throws) { throw std::runtime_error("out"); }

TEST(Checks, CountAndPrintWhatFailed) {
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  const char* some[] = {"program", "pass"};
  EXPECT_EQ(run_tests(2, some), 0);
  const char* none[] = {"program", "no such test"};
  EXPECT_EQ(run_tests(2, none), 1);
  EXPECT_EQ(run_tests(1, some), 1);
  const std::string out = ::testing::internal::GetCapturedStdout();
  const std::string err = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(out, ::testing::HasSubstr("passed  passes\nFAILED  fails\nFAILED  throws\n1 of 3"));
  EXPECT_THAT(err, ::testing::HasSubstr("not so: 1 > 2"));
  EXPECT_THAT(err, ::testing::HasSubstr("1: found 1, expected 2"));
  EXPECT_THAT(err, ::testing::HasSubstr("it threw: out"));
}

}  // namespace
}  // namespace sluice::testing

SLUICE_PLUGIN(sluice::testing::Everything, "everything", "1.0.0")
