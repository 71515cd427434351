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

}  // namespace
}  // namespace sluice::host
