// Drafts: a write that was worked out beside the kernel's thread comes to exactly what it would
// have come to there, and one that does not hold any more is noticed (A7).
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <ostream>
#include <tuple>

#include "host/objects/parts.hpp"
#include "host/writes/published_view.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;

constexpr const char* kLocalQueue = R"({"metadata":{"name":"q"},"spec":{"clusterQueue":"cq"}})";
constexpr const char* kMap = R"({"metadata":{"name":"m"},"data":{"a":"1"}})";
constexpr const char* kClass = R"({"metadata":{"name":"high"},"value":7})";
constexpr const char* kJob = R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{
    "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})";
constexpr const char* kPod = R"({"metadata":{"name":"p"},"spec":{
    "containers":[{"name":"c","image":"i"}]}})";
constexpr const char* kWorkload = R"({"metadata":{"name":"w"},"spec":{"queueName":"q",
    "podSets":[{"name":"main","count":2,"template":{"spec":{"restartPolicy":"Never",
    "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})";

Configuration plain() { return HostFixture::with_engine({}); }

/// A host with controllers, and what is durable of it.
struct Drafting : HostFixture {
  PublishedView published{store, intake, clock, ids};

  explicit Drafting(WriteValidators* judges = nullptr)
      : HostFixture(plain(), nullptr, true, {}, {}, judges) {
    clock.set(now);
    for (const auto& [resource, body] : {std::pair{"configmaps", kMap},
                                         {"localqueues", kLocalQueue},
                                         {"workloadpriorityclasses", kClass},
                                         {"pods", kPod},
                                         {"workloads", kWorkload}})
      SLUICE_CHECK(create(resource, body).ok(), "refused: ", body);
    publish();
  }

  void publish() {
    std::promise<void> durable;
    store.commit([&](const Result<void>&) { durable.set_value(); });
    durable.get_future().wait();
  }
  WriteRequest drafted(WriteRequest request) {
    request.draft = machine.draft(request, published);
    return request;
  }
};

/// What a write is answered and what it leaves, as text.
std::string outcome(Drafting& host, WriteRequest request) {
  auto done = host.machine.write(std::move(request));
  if (!done) {
    std::string out = std::to_string(done.error().code) + " " + done.error().text;
    for (const ApiCause& cause : done.error().causes) out += "; " + cause.field + cause.message;
    return out;
  }
  std::string out = std::to_string(done->code);
  for (const std::string& warning : done->warnings) out += " warns: " + warning;
  // Order of members aside.
  json::value answered(to_object(done->object));
  json::value stored(host.exists(done->object.kind->plural, done->object.key)
                         ? host.get(done->object.kind->plural, done->object.key)
                         : json::object());
  for (const json::value* each : {&answered, &stored}) {
    out += "\n";
    api::append_canonical_json(*each, out);
  }
  return out;
}

struct Row {
  const char* name;
  std::function<WriteRequest(HostFixture&)> request;

  friend std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }
};

std::function<WriteRequest(HostFixture&)> creates(const char* resource, std::string body,
                                                  FieldValidation how = FieldValidation::kWarn) {
  return [=](HostFixture& host) {
    WriteRequest out = host.request(WriteVerb::kCreate, resource, "", body);
    out.field_manager = "somebody";
    out.field_validation = how;
    return out;
  };
}

std::function<WriteRequest(HostFixture&)> patches(const char* resource, const char* name,
                                                  std::string body,
                                                  PatchType type = PatchType::kMerge,
                                                  const char* subresource = "") {
  return [=](HostFixture& host) {
    WriteRequest out = host.request(WriteVerb::kPatch, resource, name, body);
    out.patch_type = type;
    out.subresource = subresource;
    out.field_manager = "somebody";
    return out;
  };
}

std::function<WriteRequest(HostFixture&)> dry(const std::function<WriteRequest(HostFixture&)>& of) {
  return [of](HostFixture& host) {
    WriteRequest out = of(host);
    out.dry_run = true;
    return out;
  };
}

const Row kRows[] = {
    {"Job", creates("jobs", kJob)},
    {"JobDryRun", dry(creates("jobs", kJob))},
    {"JobWithQueue", creates("jobs", R"({"metadata":{"name":"j","labels":{
        "kueue.x-k8s.io/queue-name":"q"}},"spec":{"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i"}]}}}})")},
    {"WorkloadWithClass", creates("workloads", R"({"metadata":{"name":"x"},"spec":{"queueName":"q",
        "priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"high"},
        "podSets":[{"name":"main","count":1,"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i"}]}}}]}})")},
    {"WorkloadDryRun", dry(creates("workloads", R"({"metadata":{"name":"x"},"spec":{"queueName":"q",
        "podSets":[{"name":"main","count":1,"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i"}]}}}]}})"))},
    {"WorkloadOfNoClass", creates("workloads", R"({"metadata":{"name":"x"},"spec":{"queueName":"q",
        "priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"low"},
        "podSets":[{"name":"main","count":1,"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i"}]}}}]}})")},
    {"Class", creates("workloadpriorityclasses", R"({"metadata":{"name":"low"},"value":1})")},
    {"GeneratedName", creates("configmaps", R"({"metadata":{"generateName":"g-"}})")},
    {"UnknownField", creates("localqueues", R"({"metadata":{"name":"x"},"spec":{"a":1}})")},
    {"UnknownFieldStrict", creates("localqueues", R"({"metadata":{"name":"x"},"spec":{"a":1}})",
                                   FieldValidation::kStrict)},
    {"MarkOfTheSystem", creates("workloads", R"({"metadata":{"name":"x","annotations":{
        "sluice.dev/started-with":"x"}},"spec":{"podSets":[{"name":"main","count":1,"template":{
        "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}]}})")},
    {"ThereAlready", creates("configmaps", kMap)},
    {"Invalid", creates("localqueues", R"({"metadata":{"name":"A B"}})")},
    {"NoNamespace",
     [](HostFixture& host) {
       WriteRequest out = host.request(WriteVerb::kCreate, "configmaps", "", kMap);
       out.ns = "nowhere";
       return out;
     }},
    {"Replace",
     [](HostFixture& host) {
       WriteRequest out = host.request(WriteVerb::kUpdate, "configmaps", "m",
                                       R"({"metadata":{"name":"m"},"data":{"b":"2"}})");
       out.field_manager = "somebody";
       return out;
     }},
    {"ReplaceStale",
     [](HostFixture& host) {
       return host.request(WriteVerb::kUpdate, "localqueues", "q",
                           R"({"metadata":{"name":"q","resourceVersion":"1"},"spec":{}})");
     }},
    {"Merge", patches("configmaps", "m", R"({"data":{"a":"2"}})")},
    {"MergeNothing", patches("configmaps", "m", "{}")},
    {"MergeDryRun", dry(patches("configmaps", "m", R"({"data":{"a":"2"}})"))},
    {"JsonPatch", patches("configmaps", "m", R"([{"op":"add","path":"/data/c","value":"3"}])",
                          PatchType::kJson)},
    {"JsonPatchOfNothing",
     patches("configmaps", "m", R"([{"op":"remove","path":"/data/z"}])", PatchType::kJson)},
    {"Strategic", patches("pods", "p", R"({"metadata":{"labels":{"a":"b"}},"spec":{
        "tolerations":[{"key":"k","operator":"Exists"}]}})",
                          PatchType::kStrategic)},
    {"ApplyNew", patches("configmaps", "n", R"({"metadata":{"name":"n"},"data":{"a":"1"}})",
                         PatchType::kApply)},
    {"Apply", patches("configmaps", "m", R"({"metadata":{"name":"m"},"data":{"z":"1"}})",
                      PatchType::kApply)},
    {"ApplyConflict", patches("configmaps", "m", R"({"metadata":{"name":"m"},"data":{"a":"9"}})",
                              PatchType::kApply)},
    {"Status", patches("workloads", "w", R"({"status":{"conditions":[{"type":"PodsReady",
        "status":"True","reason":"R","message":"m",
        "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                       PatchType::kMerge, "status")},
    {"Finished", patches("workloads", "w", R"({"status":{"conditions":[{"type":"Finished",
        "status":"True","reason":"Succeeded","message":"done",
        "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                         PatchType::kMerge, "status")},
    {"StatusOfAQueue", patches("localqueues", "q", R"({"status":{"pendingWorkloads":4}})",
                               PatchType::kMerge, "status")},
    {"Scale", patches("jobs", "j", R"({"spec":{"replicas":3}})", PatchType::kMerge, "scale")},
    {"NoSuchPart", patches("configmaps", "m", "{}", PatchType::kMerge, "bogus")},
};

class Drafts : public testing::TestWithParam<Row> {};

TEST_P(Drafts, ComeToWhatTheWriteComesTo) {
  Drafting plain, ahead;
  const std::string wanted = outcome(plain, GetParam().request(plain));
  WriteRequest request = ahead.drafted(GetParam().request(ahead));
  ASSERT_TRUE(ahead.machine.holds(request));
  EXPECT_EQ(outcome(ahead, std::move(request)), wanted);
}

INSTANTIATE_TEST_SUITE_P(All, Drafts, testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.name); });

/// Plugins that judge every write, in one way.
struct Judges final : WriteValidators {
  enum class Way { kAgree, kRefuse, kChange };

  explicit Judges(Way said) : way(said) {}
  bool wants(const api::KindInfo&) const override { return true; }
  void check(const api::KindInfo&, json::object& object, const json::object*, const Validate&,
             std::vector<api::Problem>& problems, const Asking& asking) override {
    if (!open) return;
    api::append_canonical_json(object, asked.emplace_back());  // order of members aside
    if (way == Way::kRefuse)
      problems.push_back({api::Problem::Kind::kInvalid, "spec", "Invalid value: not so"});
    if (way != Way::kChange) return;
    object_of(object, "metadata")["annotations"] = json::object{
        {"judged", "of " + std::string(api::find_text(object_of(object, "metadata"), "uid"))}};
    *asking.changed = true;
  }

  Way way;
  bool open = false;  // the objects of the fixture pass
  std::vector<std::string> asked;
};

constexpr const char* word_of(Judges::Way way) {
  constexpr const char* kWords[] = {"Agree", "Refuse", "Change"};
  return kWords[static_cast<std::size_t>(way)];
}
std::ostream& operator<<(std::ostream& out, Judges::Way way) { return out << word_of(way); }

using Judging = std::tuple<Row, Judges::Way>;
class DraftsThatPluginsJudge : public testing::TestWithParam<Judging> {};

// They are asked about the same object, with its identity and before anything of it is noted, and
// what they change is what is stored.
TEST_P(DraftsThatPluginsJudge, ComeToWhatTheWriteComesTo) {
  const auto& [row, way] = GetParam();
  Judges here(way), there(way);
  Drafting plain(&here), ahead(&there);
  here.open = there.open = true;
  const std::string wanted = outcome(plain, row.request(plain));
  WriteRequest request = ahead.drafted(row.request(ahead));
  EXPECT_TRUE(there.asked.empty()) << "a draft asks nobody";
  ASSERT_TRUE(ahead.machine.holds(request));
  EXPECT_EQ(outcome(ahead, std::move(request)), wanted);
  EXPECT_EQ(there.asked, here.asked);
}

// 60,000 keys of 14 bytes are 840 KB, and who owns them as much again: that is refused, whether
// plugins were to be asked or not.
TEST(Drafts, OneThatIsTooLargeWithItsOwnersIsRefused) {
  Judges judges(Judges::Way::kAgree);
  Drafting host(&judges);
  judges.open = true;
  std::string body = R"({"metadata":{"name":"large"},"data":{"k":"v")";
  for (int i = 10'000; i < 70'000; ++i) body += R"(,"k)" + std::to_string(i) + R"(":"v")";
  const auto request = creates("configmaps", body + "}}");
  EXPECT_EQ(outcome(host, host.drafted(request(host))).substr(0, 4), "413 ");
  EXPECT_EQ(outcome(host, request(host)).substr(0, 4), "413 ");
  EXPECT_FALSE(host.exists("configmaps", "default/large"));
}

// It is asked about what would be stored, also where the draft was overtaken: a write of a status
// leaves all else as it is, whatever it says of it.
TEST(Drafts, AGuardSeesTheSameWhetherTheDraftHoldsOrNot) {
  Judges judges(Judges::Way::kAgree);
  Drafting host(&judges);
  judges.open = true;
  std::vector<std::string> seen;
  host.machine.set_guard([&](const Identity&, const api::KindInfo&, const json::object*,
                             const json::object& after) -> std::optional<ApiError> {
    seen.push_back(at(after, "/spec/priority"));
    return std::nullopt;
  });
  WriteRequest request =
      host.request(WriteVerb::kPatch, "workloads", "w",
                   R"({"spec":{"priority":9},"status":{"accumulatedPastExecutionTimeSeconds":1}})");
  request.subresource = "status";
  const WriteRequest drafted = host.drafted(request);
  ASSERT_TRUE(host.machine.holds(drafted));
  for (const WriteRequest& each : {drafted, request}) outcome(host, each);
  const std::string stored = at(host.get("workloads", "default/w"), "/spec/priority");
  EXPECT_EQ(seen, (std::vector{stored, stored}));
}

std::string name_of(const testing::TestParamInfo<Judging>& each) {
  return std::string(std::get<0>(each.param).name) + word_of(std::get<1>(each.param));
}

INSTANTIATE_TEST_SUITE_P(All, DraftsThatPluginsJudge,
                         testing::Combine(testing::ValuesIn(kRows),
                                          testing::Values(Judges::Way::kAgree,
                                                          Judges::Way::kChange)),
                         name_of);
// What is refused is refused the same, whatever it is.
INSTANTIATE_TEST_SUITE_P(Refused, DraftsThatPluginsJudge,
                         testing::Combine(testing::Values(kRows[0], kRows[3]),
                                          testing::Values(Judges::Way::kRefuse)),
                         name_of);

/// A request, what happens before its turn, and whether its draft holds then.
struct Meanwhile {
  const char* name;
  std::function<WriteRequest(HostFixture&)> request;
  std::function<void(HostFixture&)> happens;
  bool holds;

  friend std::ostream& operator<<(std::ostream& out, const Meanwhile& row) {
    return out << row.name;
  }
};

const Meanwhile kMeanwhile[] = {
    {"AnotherObject", patches("configmaps", "m", R"({"data":{"b":"2"}})"),
     [](HostFixture& host) {
       ASSERT_TRUE(host.merge("pods", "p", R"({"metadata":{"labels":{"a":"b"}}})").ok());
     },
     true},
    {"TheObject", patches("configmaps", "m", R"({"data":{"b":"2"}})"),
     [](HostFixture& host) {
       ASSERT_TRUE(host.merge("configmaps", "m", R"({"data":{"c":"3"}})").ok());
     },
     false},
    {"TheObjectIsGone", patches("configmaps", "m", R"({"data":{"b":"2"}})"),
     [](HostFixture& host) { ASSERT_TRUE(host.remove("configmaps", "m").ok()); }, false},
    {"ThereIsOneNow", creates("configmaps", R"({"metadata":{"name":"n"}})"),
     [](HostFixture& host) {
       ASSERT_TRUE(host.create("configmaps", R"({"metadata":{"name":"n"}})").ok());
     },
     false},
    {"TheNamespaceEnds", creates("configmaps", R"({"metadata":{"name":"n"}})"),
     [](HostFixture& host) {
       ASSERT_TRUE(
           host.merge("namespaces", "default", R"({"metadata":{"finalizers":["a/b"]}})").ok());
     },
     false},
    {"TheClassIsWorthMore",
     creates("workloads", R"({"metadata":{"name":"x"},"spec":{"queueName":"q",
        "priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"new"},
        "podSets":[{"name":"main","count":1,"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i"}]}}}]}})"),
     [](HostFixture& host) {
       ASSERT_TRUE(
           host.create("workloadpriorityclasses", R"({"metadata":{"name":"new"},"value":9})").ok());
     },
     false},
    {"ADefaultQueueAppears", creates("jobs", kJob),
     [](HostFixture& host) {
       ASSERT_TRUE(host.create("localqueues", R"({"metadata":{"name":"default"},
                                                  "spec":{"clusterQueue":"cq"}})")
                       .ok());
     },
     false},
};

class DraftsMeanwhile : public testing::TestWithParam<Meanwhile> {};

TEST_P(DraftsMeanwhile, HoldWhenNothingOfThemChanged) {
  Drafting plain, ahead;
  WriteRequest request = ahead.drafted(GetParam().request(ahead));
  plain.drafted(GetParam().request(plain));  // and is dropped: it may have drawn an id
  GetParam().happens(plain);
  GetParam().happens(ahead);
  EXPECT_EQ(ahead.machine.holds(request), GetParam().holds);
  EXPECT_EQ(outcome(ahead, std::move(request)), outcome(plain, GetParam().request(plain)));
}

INSTANTIATE_TEST_SUITE_P(All, DraftsMeanwhile, testing::ValuesIn(kMeanwhile),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Drafts, OfWorkloadsOfOneSecondKeepTheOrderInWhichTheyAreTaken) {
  Drafting host;
  const auto named = [](const char* name) {
    return std::string(R"({"metadata":{"name":")") + name + R"("},"spec":{"podSets":[{"name":"main",
        "count":1,"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i"}]}}}]}})";
  };
  WriteRequest first = host.drafted(creates("workloads", named("a"))(host));
  WriteRequest second = host.drafted(creates("workloads", named("b"))(host));
  ASSERT_TRUE(host.machine.write(std::move(second)).ok());
  ASSERT_TRUE(host.machine.write(std::move(first)).ok());
  EXPECT_LT(at(host.get("workloads", "default/b"), "/metadata/uid"),
            at(host.get("workloads", "default/a"), "/metadata/uid"));
}

/// A view where the counts of workloads may become less, as a plugin would say.
struct Lowering final : DraftView {
  explicit Lowering(const DraftView& view) : of(view) {}
  const DraftView& of;
  const api::Scheme& scheme() const override { return of.scheme(); }
  Time now() const override { return of.now(); }
  IdSource& ids() const override { return of.ids(); }
  bool identifies(const api::KindInfo& kind) const override { return of.identifies(kind); }
  RecordPtr find(const api::KindInfo& kind, std::string_view key) const override {
    return of.find(kind, key);
  }
  json::object current(const StoredObject& stored, json::storage_ptr storage) const override {
    return of.current(stored, std::move(storage));
  }
  bool may_lower_counts(std::string_view) const override { return true; }
  std::optional<std::int32_t> priority_of(std::string_view name) const override {
    return of.priority_of(name);
  }
};

TEST(Drafts, HoldAsLongAsCountsMayBecomeLessAsBefore) {
  Drafting host;
  const Reads nothing(host.published), counts(host.published);
  EXPECT_FALSE(counts.may_lower_counts("default/w"));
  EXPECT_TRUE(counts.hold(host.published));
  EXPECT_FALSE(counts.hold(Lowering(host.published)));
  EXPECT_TRUE(nothing.hold(Lowering(host.published)));
}

}  // namespace
}  // namespace sluice::host::test
