// The gate for texts of plugins (finding A1 and B16): whatever bytes a plugin says, on whichever
// path, what the host has behind the line is well-formed, bounded and one line; and a text that
// decides something is taken as it is or is a fault that names plugin and hook.
#include <fmt/format.h>

#include "core/base/utf8.hpp"
#include "host/plugins/text_gate.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kSaysCheck =
    R"({"metadata":{"name":"c"},"spec":{"controllerName":"example.com/says"}})";

std::string hex_of(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

/// What a host makes of all that a plugin says.
struct Heard {
  std::vector<std::string> texts;   ///< everything behind the line
  std::vector<std::string> faults;  ///< those of closed points
};

class Texts : public PluginTest {
 protected:
  PluginConfig says(const std::string& where, std::string_view bytes, int times = 1) {
    return plugin("says", fmt::format(R"({{"where":"{}","hex":"{}","times":{}}})", where,
                                      hex_of(bytes), times));
  }

  void hear_job(PluginSet& set, Heard& heard) {
    const std::vector<hooks::JobPodSet> sets = {{"main", 3, std::nullopt}};
    const std::vector<hooks::JobWorkload> workloads;
    const hooks::JobQuery query{"batch/Job", R"({"kind":"Job"})", sets, workloads};
    hooks::JobPlan plan;
    hooks::Fault fault;
    set.hooks().job_mapping->plan(query, plan, fault);
    heard.faults.push_back(fault.text);
    auto& out = heard.texts;
    out.push_back(plan.speaker);
    out.insert(out.end(), plan.resize.begin(), plan.resize.end());
    out.insert(out.end(), plan.remove.begin(), plan.remove.end());
    for (const auto& finish : plan.finish)
      out.insert(out.end(), {finish.name, finish.reason, finish.message});
    for (const auto& made : plan.create) {
      out.insert(out.end(), {made.name, made.revision});
      for (const auto& [key, value] : made.labels) out.insert(out.end(), {key, value});
      for (const auto& [key, value] : made.annotations) out.push_back(key);
    }
    hooks::Fault gates;
    set.hooks().pod_gate->gates(query, out, gates);
    heard.faults.push_back(gates.text);
  }

  void hear_checks(PluginSet& set, Heard& heard) {
    CheckControllers& checks = set.check_controllers();
    const CheckActivity activity = *checks.check_changed("c", kSaysCheck);
    heard.texts.insert(heard.texts.end(), {activity.reason, activity.message});
    if (!activity.active && activity.reason == "PluginFault")
      heard.faults.push_back(activity.message);
    CheckQuery query;
    query.workload = std::make_shared<const api::Workload>(workload);
    query.check = "c";
    query.check_json = kSaysCheck;
    checks.begin(query);
    for (const CheckReport& report : checks.take_reports())
      heard.texts.insert(heard.texts.end(), {report.message, report.pod_set_updates_json});
  }

  void hear_engine(PluginSet& set, Heard& heard) {
    const auto filtered = ask_filters(set, workload, {"f"});
    heard.texts.insert(heard.texts.end(), filtered.skipped.begin(), filtered.skipped.end());
    heard.faults.push_back(filtered.fault.text);
    hooks::VetoAnswer veto;
    hooks::Fault fault;
    const api::Workload* const candidates[] = {&workload};
    set.hooks().preemption_veto->veto({workload, 0, candidates}, veto, fault);
    heard.texts.push_back(veto.reason);
    hooks::TraitsAnswer answer;
    hooks::Fault traits_fault;
    set.hooks().workload_traits->traits({workload, "cq", false}, answer, traits_fault);
    const hooks::Traits& t = answer.traits;
    heard.faults.push_back(traits_fault.text);
    heard.texts.insert(heard.texts.end(),
                       {t.takes_no_part_because, t.group.id, t.group.order_as, t.replaces.workload,
                        t.replaces.reason, t.replaces.message, t.follows});
    // A key is one line after each newline that the host puts between the keys of plugins.
    EXPECT_EQ(find_bad_utf8(t.shape_key), std::string::npos);
  }

  void hear_rest(PluginSet& set, Heard& heard) {
    const ObjectWrite write{WriteOperation::kCreate, "v1", "ConfigMap", "{}", ""};
    for (const FieldError& error : set.validators().validate(write))
      heard.texts.insert(heard.texts.end(), {error.path, error.value, error.detail});
    const auto object = set.validators().set_defaults(write, [](auto&) { return std::string(); });
    heard.faults.push_back(object.ok() ? "" : object.error().text);
    const auto again =
        *set.controllers().front().reconcile({{}, "v1", "ConfigMap", "team-a", "x"}, {});
    if (!again.ok()) heard.texts.push_back(again.error().text);
    for (const PluginEvent& event : set.take_events())
      heard.texts.insert(heard.texts.end(), {event.ns, event.name, event.reason, event.message});
    for (const EngineRequest& request : set.take_requests())
      heard.texts.push_back(request.workload);
    for (const MetricSnapshot& metric : set.metrics().snapshot()) {
      heard.texts.insert(heard.texts.end(), {metric.spec.name, metric.spec.help});
      for (const auto& [values, number] : metric.values)
        heard.texts.insert(heard.texts.end(), values.begin(), values.end());
    }
    for (const PluginStatus& status : set.status()) heard.texts.push_back(status.last_fault);
  }

  Heard hear(const PluginConfig& config) {
    Heard heard;
    log.clear();
    auto loaded = try_load({config});
    if (!loaded.ok()) {
      heard.texts.push_back(loaded.error().text);
      heard.faults.push_back(loaded.error().text);
      return heard;
    }
    PluginSet& set = **loaded;
    if (const auto active = set.activate(); !active.ok()) {
      heard.texts.push_back(active.error().text);
      return heard;
    }
    hear_engine(set, heard);
    hear_job(set, heard);
    hear_checks(set, heard);
    hear_rest(set, heard);
    set.turn_off({});
    for (const auto& line : log) heard.texts.push_back(line.text);
    heard.texts.insert(heard.texts.end(), heard.faults.begin(), heard.faults.end());
    return heard;
  }

  api::Workload workload = make_workload("w");
};

constexpr const char* kPlaces[] = {"create",
                                   "activate",
                                   "deactivate",
                                   "log",
                                   "help",
                                   "metric-name",
                                   "metric-value",
                                   "event",
                                   "event-name",
                                   "requeue",
                                   "what",
                                   "skip",
                                   "filter-shape-key",
                                   "veto",
                                   "protect",
                                   "no-part",
                                   "group",
                                   "order",
                                   "replaces",
                                   "replaces-reason",
                                   "replaces-message",
                                   "represents",
                                   "follows",
                                   "shape-key",
                                   "controllers",
                                   "inactive-reason",
                                   "inactive-message",
                                   "report",
                                   "updates",
                                   "speaker",
                                   "resize",
                                   "remove",
                                   "finish",
                                   "finish-reason",
                                   "finish-message",
                                   "new-name",
                                   "new-revision",
                                   "new-label",
                                   "new-label-value",
                                   "new-annotation",
                                   "new-annotation-value",
                                   "gate",
                                   "validator-kind",
                                   "defaults",
                                   "field-error",
                                   "schema",
                                   "watched-kind",
                                   "object-name"};

TEST_F(Texts, A1_NothingMalformedComesThroughAnywhere) {
  limits.quarantine_faults = 1000;
  const std::string cut = std::string("no dataset gr\xC3\xB6\xC3\x9F").substr(0, 14);
  for (const std::string& bytes :
       {cut, std::string("\xFF\xFE"), std::string("two\nlines"), std::string("\x1b[2J\x07"),
        std::string("\xC2\x9B") + "31m", std::string("a\0b", 3), std::string("\xED\xA0\x80"),
        std::string("\xE2\x80\xAE"
                    "fdp.exe"),
        std::string("\xE2\x80\xA8")}) {
    for (const char* place : kPlaces) {
      SCOPED_TRACE(std::string(place) + " says " + hex_of(bytes));
      for (const std::string& text : hear(says(place, bytes)).texts) {
        EXPECT_EQ(find_bad_utf8(text), std::string::npos) << text;
        EXPECT_FALSE(has_control_characters(text)) << text;
      }
    }
  }
}

TEST(ControlCharacters, AreThoseThatMakeATextReadAsAnother) {
  const std::string wrong = "\xEF\xBF\xBD";
  for (const char* bad : {"\x01", "\x1f", "\x7f", "\xC2\x80", "\xC2\x9F", "\xD8\x9C",
                          "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xA8", "\xE2\x80\xA9",
                          "\xE2\x80\xAA", "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x81\xA9"}) {
    EXPECT_TRUE(has_control_characters(std::string("a") + bad)) << hex_of(bad);
    EXPECT_EQ(one_line(std::string("a") + bad + "b", 100), "a" + wrong + "b") << hex_of(bad);
  }
  for (const char* good :
       {" ", "~", "\xC2\xA0", "\xD8\x9B", "\xE2\x80\x8D", "\xE2\x80\x90", "\xE2\x80\xA7",
        "\xE2\x80\xAF", "\xE2\x81\xA5", "\xE2\x81\xAA", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    EXPECT_FALSE(has_control_characters(std::string("a") + good)) << hex_of(good);
    EXPECT_EQ(one_line(std::string("a") + good, 100), std::string("a") + good) << hex_of(good);
  }
}

TEST_F(Texts, A1_NothingIsLongerThanItsPlaceAllows) {
  limits.quarantine_faults = 1000;
  for (const char* place : kPlaces) {
    SCOPED_TRACE(place);
    for (const std::string& text : hear(says(place, "\xC3\xB6", 40'000)).texts) {
      EXPECT_LE(text.size(), kMessageBytes + 200);
      EXPECT_EQ(find_bad_utf8(text), std::string::npos);
    }
  }
}

TEST_F(Texts, A1_OfAnEndlessReasonNoMoreIsReadThanIsShown) {
  const auto heard =
      hear(says("skip", "\xC3\xB6", 25'000'000));  // 50 MB, as the one that was stored
  EXPECT_EQ(heard.texts.front().size(), 3 + kSentenceBytes - 1);  // `f: `, 510 characters and "…"
}

TEST_F(Texts, A1_WhatPeopleReadIsMendedSoThatOneSeesIt) {
  EXPECT_THAT(hear(says("skip", "no gr\xC3")).texts, ::testing::Contains("f: no gr\uFFFD"));
  EXPECT_THAT(hear(says("veto", "a\nb")).texts, ::testing::Contains("a\uFFFDb"));
  EXPECT_THAT(hear(says("what", "\xFF")).faults,
              ::testing::Contains("plugin says, flavor-filter.filter: it failed: \uFFFD"));
  const auto sizes = hear(says("skip", "\xC3\xB6", 1000)).texts;
  EXPECT_THAT(sizes, ::testing::Contains(::testing::EndsWith("\u00F6\u2026")));
}

struct Decides {
  const char* place;
  const char* fault;  ///< how it begins
};

TEST_F(Texts, A1_WhatDecidesSomethingIsAFaultThatNamesPluginAndHook) {
  limits.quarantine_faults = 1000;
  const Decides all[] = {
      {"group",
       "plugin says, workload-traits.traits: its answer makes no sense: the group's id is "
       "not well-formed UTF-8"},
      {"order", "plugin says, workload-traits.traits: "},
      {"replaces", "plugin says, workload-traits.traits: "},
      {"replaces-reason", "plugin says, workload-traits.traits: "},
      {"represents", "plugin says, workload-traits.traits: "},
      {"follows", "plugin says, workload-traits.traits: "},
      {"speaker", "plugin says, job-mapping.plan: "},
      {"resize", "plugin says, job-mapping.plan: "},
      {"remove", "plugin says, job-mapping.plan: "},
      {"finish", "plugin says, job-mapping.plan: "},
      {"finish-reason", "plugin says, job-mapping.plan: "},
      {"new-name", "plugin says, job-mapping.plan: "},
      {"new-revision", "plugin says, job-mapping.plan: "},
      {"new-label", "plugin says, job-mapping.plan: "},
      {"new-label-value", "plugin says, job-mapping.plan: "},
      {"new-annotation", "plugin says, job-mapping.plan: "},
      {"new-annotation-value", "plugin says, job-mapping.plan: "},
      {"gate", "plugin says, pod-gate.gates: "},
      {"defaults", "plugin says, validator.set_defaults: "},
      {"inactive-reason", "plugin says, check-controller.check_changed: "},
      {"controllers", "plugin says does not say whose checks it answers for: "},
      {"validator-kind", "plugin says does not say which kinds it validates: "},
      {"watched-kind", "plugin says does not say which kinds it watches: "},
      {"schema", "plugin says does not say what it adds to the schema: "},
  };
  for (const Decides& each : all) {
    SCOPED_TRACE(each.place);
    EXPECT_THAT(hear(says(each.place, "gr\xC3")).faults,
                ::testing::Contains(StartsWith(each.fault)));
  }
}

TEST_F(Texts, AWorkloadNeitherReplacesNorFollowsItself) {
  const std::string own = workload.meta.key();
  const Decides all[] = {{"replaces", "the replaced workload is itself"},
                         {"follows", "the workload that it follows is itself"}};
  for (const Decides& each : all) {
    EXPECT_THAT(hear(says(each.place, own)).faults, ::testing::Contains(HasSubstr(each.fault)));
    EXPECT_THAT(hear(says(each.place, own + "-x")).faults,
                ::testing::Not(::testing::Contains(HasSubstr(each.fault))));
  }
}

TEST_F(Texts, B16_AnInactiveCheckWithAMalformedReasonIsNotActive) {
  for (const std::string reason : {"not a word", "", "gr\xC3", "a\nb"}) {
    const auto set = load({says("inactive-reason", reason)});
    const CheckActivity activity = *set->check_controllers().check_changed("c", kSaysCheck);
    EXPECT_FALSE(activity.active);
    EXPECT_EQ(activity.reason, "PluginFault");
    EXPECT_THAT(activity.message, HasSubstr("check-controller.check_changed: its answer makes no "
                                            "sense: the reason of inactive is no word"));
  }
  const auto open =
      load({plugin("says", R"({"where":"inactive-reason","hex":"c3"})", FailurePolicy::kOpen)});
  EXPECT_FALSE(open->check_controllers().check_changed("c", kSaysCheck)->active);
}

TEST(TextGate, KeysThatAreComparedKeepTheirDifferences) {
  EXPECT_EQ(escaped_key("plain key=1"), "plain key=1");
  EXPECT_EQ(escaped_key("\xC3"), "\\c3");
  EXPECT_EQ(escaped_key("\\c3"), "\\5cc3");
  EXPECT_NE(escaped_key("a\nb"), escaped_key("a\tb"));
}

TEST(TextGate, CutsAtACharacter) {
  EXPECT_EQ(shown_text(std::string_view("12345"), 5), "12345");
  EXPECT_EQ(shown_text(std::string_view("123456"), 5), "12\u2026");
  EXPECT_EQ(shown_text(std::string_view("1\u00F6\u00F6"), 5), "1\u00F6\u00F6");
  EXPECT_EQ(shown_text(std::string_view("1\u00F6\u00F6\u00F6"), 6), "1\u00F6\u2026");
  for (std::size_t most = 3; most < 40; ++most) {
    const std::string cut =
        shown_text(std::string_view("\xF0\x9F\x98\x80 \xE8\xAA\x9E\xFF\n"), most);
    EXPECT_LE(cut.size(), most);
    EXPECT_EQ(find_bad_utf8(cut), std::string::npos);
  }
}

}  // namespace
}  // namespace sluice::host
