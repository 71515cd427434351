// `sluice plugin validate` fails each of the deliberately broken plugins
// (tests/host/plugins/broken) in the test that is meant for its mistake, with the text that names
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "core/base/sanitizers.hpp"
#include "host/plugins/validate/validate.hpp"

namespace sluice::host {
namespace {

using ::testing::HasSubstr;

struct Broken {
  const char* plugin;  ///< broken-PLUGIN.so
  const char* test;    ///< that must fail
  const char* text;    ///< what the verdict says
};

std::ostream& operator<<(std::ostream& out, const Broken& broken) { return out << broken.plugin; }

constexpr Broken kBroken[] = {
    // plugin, test, text
    {"exports-more", "exports-only-entry", "failed it also exports broken_helper"},
    {"no-entry", "load", "its entry function refuses this host"},
    {"other-version", "matches-metadata", "failed the code says version 2.0.0, the metadata 1.0.0"},
    {"odd-schema", "config-schema", "/a/pattern: this keyword is not supported"},
    {"half-table", "complete-tables",
     "failed plugin broken-half-table: its table for flavor-filter/1 lacks a function"},
    {"create-fails", "create-activate", "failed create answered 3: no licence"},
    {"no-instance", "create-activate", "failed create answered 0: "},
    {"odd-activate", "create-activate", "failed activate answered 7: "},
    {"hangs", "create-activate", "crashed it did not end within 2000 ms"},
    {"singleton", "two-instances", "failed both have the same handle"},
    {"shared-state", "two-instances", "failed ending one changed the answers of the other"},
    {"leaks-files", "create-destroy-1000", "failed it leaves open files behind"},
    {"leaks-threads", "create-destroy-1000", "failed it leaves threads behind"},
    {"leaks-memory", "create-destroy-1000", "failed it leaves memory behind: 32 bytes"},
    {"odd-code", "bad-config", "failed create answered the unknown code 42"},
    {"silent-refusal", "bad-config", "failed create refuses  without a reason"},
    {"eager-timer", "no-host-call-before-create", "failed create sets a timer"},
    {"eager-event", "no-host-call-before-create", "failed create emits an event"},
    {"any-id", "unknown-extension-null",
     "failed it has an answer for the extension \"flavor-filter\""},
    {"moving-table", "unknown-extension-null", "failed its answer for flavor-filter/1 changes"},
    {"trusts-objects", "throw-is-contained", "crashed signal Segmentation fault"},
    {"throws", "throw-is-contained", "failed an exception crossed the line: past the line"},
    {"cuts-texts", "cut-texts", "failed it says a text that is cut inside a character"},
    {"no-services", "old-host", "crashed signal Segmentation fault"},
    {"young-member", "old-host", "crashed signal Segmentation fault"},
    {"exact-size", "future-host", "failed filter answered 3"},
    {"known-events", "future-host", "failed notify answered 3 to event 8"},
    {"counts-calls", "deterministic", "failed the same questions, other answers"},
    {"favourite", "deterministic", "failed two instances answer differently"},
    {"odd-verdict", "deterministic", "failed after_flavor gave the verdict 9"},
    {"exits", "deterministic", "crashed it ended the process with exit status 3"},
    {"neighbours", "filter-per-flavor",
     "failed the answer for flavor \"on-demand\" depends on the other flavors"},
    {"out-of-range", "filter-per-flavor",
     "failed filter skipped a flavor that it was not asked about"},
    {"no-order", "search-order", "failed a result is better than itself"},
    {"rock-paper-scissors", "search-order", "failed better is not transitive"},
    {"one-buffer", "many-threads", "failed answers change when many threads ask"},
    {"misspelt-event", "told-events", "failed it wants to be told of \"Admited claimed\""},
    {"told-once", "notify-again", "failed notify answered 3 to event 0, told again"},
    {"in-order-only", "notify-late", "crashed signal Aborted"},
    {"own-timers", "timer-late", "crashed signal Aborted"},
    {"never-content", "job-plan-settles", "failed it never comes to rest: recreate"},
    {"grants-too-much", "deterministic", "failed granted names a pod set that there is not"},
    {"nameless-check", "check-names", "failed it names no controllerName"},
    {"perhaps", "check-begin-cancel", "refused a report: the state \"Perhaps\" is none of"},
    {"other-attempt", "check-begin-cancel", "failed it reports on attempt 2 of check"},
    {"foreign-check", "check-begin-cancel", "of check other of workload"},
    {"foreign-workload", "check-begin-cancel", "/other, which never began"},
    {"hasty", "check-begin-cancel", "requeue_after_seconds is given with the state Pending"},
    {"made-up-reason", "check-begin-cancel", "the reason \"Perhaps\" has no meaning"},
    {"demands-when-ready", "check-begin-cancel", "only PreemptionRequired does, with the state"},
    {"counts-begins", "check-begin-cancel",
     "failed to begin an attempt again changes objects or state"},
    {"begins-once", "check-begin-cancel", "failed begin answered 3 when it began again"},
    {"cancels-own", "check-cancel-unknown",
     "failed cancel answered 3 for an attempt that it never saw"},
    {"restless-controller", "reconcile-settles", "failed reconcile writes each time"},
    {"needs-objects", "reconcile-gone",
     "failed reconcile answered 3 for a ConfigMap that is not there"},
    {"kindless-controller", "reconcile-gone", "failed it watches \"ConfigMap\", which is not"},
    {"schema-in-words", "schema-is-json", "failed its contribution is no JSON"},
    {"breaks-its-schema", "validator-defaults",
     "failed the defaults of a Machine break its schema: spec.size: Unsupported value: \"Huge\""},
    {"restless-defaults", "validator-defaults",
     "failed set_defaults changes a Machine that has its defaults"},
    {"dies-of-fields", "validator-defaults", "crashed signal Aborted"},
    {"versioned-kind", "validator-defaults", "failed it validates v1/ConfigMap, which no host has"},
    {"own-thread", "create-activate", "crashed signal Segmentation fault"},
    {"objectless-schema", "schema-is-taken", "failed no Machine was found to be valid: spec: "},
    {"schema-mistakes", "schema-is-taken", "unknown key \"enumm\""},
    {"schema-mistakes", "schema-is-taken", "type \"money\" is not known"},
    {"schema-mistakes", "schema-is-taken", "rule \"sometimes\" at spec is not known"},
};

/// What a sanitizer changes: it counts memory itself, and answers a crash in its own way.
constexpr bool kSanitized = SLUICE_ASAN || SLUICE_TSAN;

std::string verdict_of(const Broken& broken, const char* test) {
  ValidateOptions options;
  options.only = {test};
  if (std::string_view(broken.plugin) == "hangs") options.timeout = std::chrono::seconds(2);
  const auto results =
      validate_plugin(std::string(SLUICE_TEST_PLUGINS "/broken-") + broken.plugin + ".so", options);
  if (!results.ok()) return results.error().text;
  const TestVerdict& verdict = results->at(0).verdict;
  return std::string(status_name(verdict.status)) + " " + verdict.detail;
}

TEST(Validate, FailsEachBrokenPluginForItsReason) {
  EXPECT_GE(std::size(kBroken), 20u);
  for (const Broken& broken : kBroken) {
    const std::string_view text = broken.text;
    if (kSanitized && (text.starts_with("crashed signal") || text.find("memory") != text.npos))
      continue;
    EXPECT_THAT(verdict_of(broken, broken.test), HasSubstr(broken.text)) << broken;
  }
}

TEST(Validate, FailsThemForNothingBefore) {
  for (const Broken& broken : kBroken) {
    const std::string_view test = broken.test;
    if (test == "load") continue;
    EXPECT_EQ(verdict_of(broken, "load"), "success ") << broken;
    // What is wrong with a hook is not held against starting.
    if (test == "create-activate" || test == "complete-tables" || test == "config-schema") continue;
    EXPECT_EQ(verdict_of(broken, "create-activate"), "success ") << broken;
  }
}

std::vector<TestResult> all_of(const char* plugin) {
  ValidateOptions options;
  options.timeout = std::chrono::seconds(2);
  auto results =
      validate_plugin(std::string(SLUICE_TEST_PLUGINS "/broken-") + plugin + ".so", options);
  EXPECT_TRUE(results.ok());
  return results.ok() ? std::move(*results) : std::vector<TestResult>();
}

const TestVerdict& verdict_in(const std::vector<TestResult>& results, std::string_view test) {
  static const TestVerdict none;
  for (const TestResult& result : results)
    if (result.name == test) return result.verdict;
  ADD_FAILURE() << "no test " << test;
  return none;
}

/// A crash is told with what was asked of which hook, and the hook is not called again.
TEST(Validate, NamesHookInputAndStepOfACrashOnce) {
  const auto results = all_of("exits");
  const TestVerdict& crash = verdict_in(results, "two-instances");
  EXPECT_EQ(status_name(crash.status), "crashed");
  EXPECT_EQ(crash.call.hook, "preemption-veto.veto");
  EXPECT_THAT(crash.call.input, HasSubstr("0 candidates, preemptor workload {"));
  EXPECT_THAT(crash.call.input, HasSubstr(R"("name":"plain")"));
  EXPECT_EQ(crash.call.step, 4U) << "loaded, two created, then this";
  int crashes = 0;
  for (const TestResult& result : results)
    crashes += result.verdict.status == TestVerdict::Status::kCrashed ? 1 : 0;
  EXPECT_EQ(crashes, 1);
  EXPECT_EQ(verdict_in(results, "deterministic").detail,
            "preemption-veto.veto is not called again: see two-instances");
}

TEST(Validate, TellsAFailedStartOnce) {
  for (const char* plugin : {"create-fails", "odd-activate", "hangs"}) {
    int bad = 0;
    for (const TestResult& result : all_of(plugin)) {
      bad += result.verdict.status == TestVerdict::Status::kFailed ? 1 : 0;
      bad += result.verdict.status == TestVerdict::Status::kCrashed ? 1 : 0;
    }
    EXPECT_EQ(bad, 1) << plugin;
  }
  EXPECT_EQ(verdict_in(all_of("hangs"), "create-activate").call.hook, "plugin.activate");
  EXPECT_EQ(verdict_in(all_of("hangs"), "notify-late").detail, "see create-activate");
}

/// What it dies of is an object as its own schema wants it, with every field.
TEST(Validate, ShowsObjectsOfThePluginsOwnKinds) {
  const TestVerdict crash = verdict_in(all_of("dies-of-fields"), "validator-defaults");
  EXPECT_EQ(crash.call.hook, "validator.validate");
  EXPECT_THAT(crash.call.input, HasSubstr(R"("size":"Small")"));
  EXPECT_THAT(crash.call.input, HasSubstr(R"("kind":"Machine")"));
}

/// The thread that died is named, not one that was elsewhere at that time.
TEST(Validate, NamesTheThreadThatDied) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes the signal";
  const TestVerdict crash = verdict_in(all_of("own-thread"), "create-activate");
  EXPECT_EQ(crash.call.hook, "a thread of the plugin's own");
}

}  // namespace
}  // namespace sluice::host
