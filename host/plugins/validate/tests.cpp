#include "host/plugins/validate/tests.hpp"

#include <malloc.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "host/plugins/config_schema.hpp"
#include "host/plugins/validate/hook_runs.hpp"
#include "host/plugins/validate/own_kinds.hpp"
#include "sluice/metadata.h"

namespace sluice::host {

namespace {

void needs(bool provided, const char* what) {
  if (!provided) throw TestSkipped(std::string("it does not provide ") + what);
}

void exports_only_entry(const Subject& subject) {
  for (const std::string& symbol : subject.file.elf.exports())
    expect(symbol == SLUICE_ENTRY_SYMBOL,
           "it also exports " + symbol +
               " (build with sluice_add_plugin, or with hidden visibility and a version script)");
}

void matches_metadata(const Subject& subject) {
  const sluice_plugin_t& root = *subject.root;
  const PluginMetadata& metadata = subject.file.metadata;
  expect(view_of(root.name) == metadata.name,
         "the code says it is " + text_of(root.name) + ", the metadata " + metadata.name);
  expect(view_of(root.version) == metadata.version,
         "the code says version " + text_of(root.version) + ", the metadata " + metadata.version);
  expect(root.abi_minor == metadata.abi_minor, "code and metadata differ about the ABI's minor");
}

void config_schema(const Subject& subject) {
  const auto schema = ConfigSchema::parse(view_of(subject.root->config_schema));
  expect(schema.ok(), schema.ok() ? "" : schema.error().text);
}

void creates_and_activates(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
}

void two_instances(const Subject& subject) {
  TestInstance first(*subject.root, subject.config);
  TestInstance second(*subject.root, subject.config);
  first.start();
  second.start();
  expect(first.self != second.self, "both have the same handle");
  const std::string before = ask_cycle_hooks(second);
  first.end();
  expect(ask_cycle_hooks(second) == before, "ending one changed the answers of the other");
}

std::size_t entries_of(const char* folder) {
  const auto it = std::filesystem::directory_iterator(folder);
  return static_cast<std::size_t>(std::distance(begin(it), end(it)));
}

/// The kernel shows a thread that was joined for a moment longer.
bool comes_down_to(const char* folder, std::size_t entries) {
  for (int i = 0; i < 100 && entries_of(folder) > entries; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return entries_of(folder) <= entries;
}

void thousand_creates(const Subject& subject) {
  constexpr int kInstances = 1000;
  const auto start_and_end = [&](int times) {
    for (int i = 0; i < times; ++i) {
      TestInstance instance(*subject.root, subject.config);
      instance.clock.simulated = false;  // its threads start and end, too
      instance.start();
    }
  };
  const std::size_t threads = entries_of("/proc/self/task");
  start_and_end(50);  // what is made once, is
  const std::size_t files = entries_of("/proc/self/fd");
  const std::size_t memory = ::mallinfo2().uordblks;
  start_and_end(kInstances);
  const std::size_t held = ::mallinfo2().uordblks;
  expect(entries_of("/proc/self/fd") <= files, "it leaves open files behind");
  expect(comes_down_to("/proc/self/task", threads), "it leaves threads behind");
  // The smallest piece that can be forgotten takes 32 bytes.
  expect(held < memory + 16 * kInstances,
         "it leaves memory behind: " + std::to_string((held - memory) / kInstances) +
             " bytes of each instance");
}

void bad_config(const Subject& subject) {
  for (const char* config : {"", "no json", "[]", "null", "{\"a\":", "{\"no-such-key\":1}"}) {
    TestInstance instance(*subject.root, config);
    const std::int32_t code = instance.create();
    expect(code == SLUICE_OK || code == SLUICE_REFUSED || code == SLUICE_FAILED,
           "create answered the unknown code " + std::to_string(code));
    expect(code == SLUICE_OK || !instance.error.empty(),
           std::string("create refuses ") + config + " without a reason");
    expect(code != SLUICE_OK || instance.self != nullptr, "create answered OK without an instance");
  }
}

void no_effect_before_activate(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  const std::int32_t code = instance.create();
  expect(code == SLUICE_OK, "create answered " + std::to_string(code) + ": " + instance.error);
  expect(instance.side.next_timer() == kNever, "create sets a timer");
  expect(instance.side.take_events().empty(), "create emits an event");
  expect(instance.side.take_requests().empty(), "create asks the engine for something");
}

void unknown_extension(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  for (const char* id : {"", "no-such-point/1", "flavor-filter", "flavor-filter/1x",
                         "flavor-filter/999", "flavor-search/10", "schema/1 "})
    expect(instance.table<void>(id) == nullptr,
           std::string("it has an answer for the extension \"") + id + "\"");
  for (const PointInfo& point : extension_points())
    expect(instance.table<void>(point.id) == instance.table<void>(point.id),
           "its answer for " + std::string(point.id) + " changes");
}

void complete_tables(const Subject& subject) {
  const StoppedClock clock;
  MetricsRegistry metrics;
  PluginConfig config;
  config.name = subject.file.metadata.name;
  config.config_json = subject.config;
  const auto loaded = LoadedPlugin::create(*subject.root, config, {&clock, &metrics, {}}, {});
  expect(loaded.ok(), loaded.ok() ? "" : loaded.error().text);
}

void malformed_input(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  feed_garbage(instance);
  ask_cycle_hooks(instance);
}

/// With a host of that age; what it does there is its business, that it comes back is not.
void drive_all(TestInstance& instance, HostAge age) {
  ask_control_hooks(instance, age);
  if (age == HostAge::kOld) return;  // that one has neither checks nor controllers
  if (instance.table<void>(SLUICE_EXT_CHECK_CONTROLLER) != nullptr) drive_checks(instance, age);
  if (instance.table<void>(SLUICE_EXT_CONTROLLER) != nullptr) drive_controller(instance, age);
}

void other_host(const Subject& subject, HostAge age) {
  TestInstance instance(*subject.root, subject.config, age);
  TestInstance present(*subject.root, subject.config);
  const std::int32_t code = instance.create();
  if (code == SLUICE_REFUSED && age == HostAge::kOld && !instance.error.empty())
    throw TestSkipped("it refuses a host without services: " + instance.error);
  instance.end();
  instance.start();
  present.start();
  expect(ask_cycle_hooks(instance, age) == ask_cycle_hooks(present),
         "it answers differently than on the present host");
  drive_all(instance, age);
}
void old_host(const Subject& subject) { other_host(subject, HostAge::kOld); }
void future_host(const Subject& subject) { other_host(subject, HostAge::kFuture); }

void filter_deterministic(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  TestInstance other(*subject.root, subject.config);
  instance.start();
  other.start();
  needs(instance.table<void>(SLUICE_EXT_FLAVOR_FILTER) != nullptr, SLUICE_EXT_FLAVOR_FILTER);
  for (const api::Workload& workload : sample_workloads()) {
    const auto ask = [&](const TestInstance& whom, const std::vector<std::string>& flavors) {
      return ask_filter(whom, workload, flavors, HostAge::kPresent);
    };
    const std::string first = ask(instance, sample_flavors());
    expect(ask(instance, sample_flavors()) == first, "the same question, another answer");
    expect(ask(other, sample_flavors()) == first, "two instances answer differently");
    expect(ask(instance, {}).empty(), "an answer to no flavors");
    for (const std::string& flavor : sample_flavors())
      expect(first.find(ask(instance, {flavor})) != first.npos,
             "the answer for flavor \"" + flavor + "\" depends on the other flavors");
  }
}

void search_order(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  needs(instance.table<void>(SLUICE_EXT_FLAVOR_SEARCH) != nullptr, SLUICE_EXT_FLAVOR_SEARCH);
  std::vector<sluice_outcome_t> all;
  for (const std::int32_t mode : {SLUICE_MODE_PREEMPT, SLUICE_MODE_RECLAIM, SLUICE_MODE_FIT})
    for (const std::int32_t level : {0, 1, 2, 5}) all.push_back({mode, level});
  const auto better = [&](std::size_t i, std::size_t j) {
    const int answer = ask_better(instance, all[i], all[j]);
    expect(answer >= 0, "better answers neither 0 nor 1");
    return answer == 1;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    expect(!better(i, i), "a result is better than itself");
    for (std::size_t j = 0; j < all.size(); ++j) {
      expect(!better(i, j) || !better(j, i), "two results are each better than the other");
      for (std::size_t k = 0; k < all.size(); ++k)
        expect(!(better(i, j) && better(j, k)) || better(i, k), "better is not transitive");
    }
  }
}

void deterministic(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  TestInstance other(*subject.root, subject.config);
  instance.start();
  other.start();
  const std::string first = ask_cycle_hooks(instance);
  expect(ask_cycle_hooks(instance) == first, "the same questions, other answers");
  expect(ask_cycle_hooks(other) == first, "two instances answer differently");
  expect(ask_control_hooks(instance) == ask_control_hooks(other),
         "two instances give different traits");
}

void many_threads(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  const std::string expected = ask_cycle_hooks(instance);
  std::vector<std::string> answers(4);
  std::vector<std::thread> threads;
  for (std::string& answer : answers)
    threads.emplace_back([&instance, &expected, &answer] {
      try {
        for (int i = 0; i < 20 && (i == 0 || answer == expected); ++i)
          answer = ask_cycle_hooks(instance);
      } catch (const std::exception& e) {
        answer = e.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& answer : answers)
    expect(answer == expected, "answers change when many threads ask");
}

void told_events(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  needs(instance.table<void>(SLUICE_EXT_POST_ADMIT) != nullptr, SLUICE_EXT_POST_ADMIT);
  ask_told_events(instance);
}

void notify_again(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  needs(instance.table<void>(SLUICE_EXT_POST_ADMIT) != nullptr, SLUICE_EXT_POST_ADMIT);
  for (int i = 0; i < 3; ++i) ask_control_hooks(instance);
}

void notify_late(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  const auto* post_admit = instance.table<sluice_post_admit_t>(SLUICE_EXT_POST_ADMIT);
  needs(post_admit != nullptr, SLUICE_EXT_POST_ADMIT);
  const auto& known = sample_workloads();
  for (const std::size_t i : {1u, 1u, 3u}) {  // the last one was never heard of
    for (const std::int32_t event : {SLUICE_EVENT_FINISHED, SLUICE_EVENT_EVICTED,
                                     SLUICE_EVENT_ADMITTED, SLUICE_EVENT_RESERVED}) {
      const auto sequence = static_cast<std::uint64_t>(SLUICE_EVENT_FINISHED - event + 1);
      const sluice_notification_t told{sizeof(sluice_notification_t),
                                       event,
                                       sequence,
                                       ref_of(known[i], HostAge::kPresent),
                                       abi_of(""),
                                       0,
                                       nullptr};
      const Asking asking("post-admit.notify",
                          "event " + std::to_string(event) + ", told late, " + shown(known[i]));
      const std::int32_t code =
          instance.writing([&] { return post_admit->notify(instance.self, &told); });
      expect(code == SLUICE_OK || code == SLUICE_RETRY,
             "notify answered " + std::to_string(code) + " to event " + std::to_string(event) +
                 ", told late: " + instance.side.take_fault_text());
    }
  }
}

void timer_late(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  const auto* timers = instance.table<sluice_timers_t>(SLUICE_EXT_TIMERS);
  needs(timers != nullptr, SLUICE_EXT_TIMERS);
  for (const std::uint64_t number : {0ull, 1ull, 99ull, ~0ull}) {
    for (const Duration late : {Duration{0}, -kSecond, 3600 * kSecond}) {
      const Asking asking("timers.fired", "timer " + std::to_string(number) + ", which is not set");
      const std::int32_t code = instance.writing(
          [&] { return timers->fired(instance.self, number, instance.clock.time + late); });
      expect(code == SLUICE_OK, "timer " + std::to_string(number) +
                                    ", which is not set, answered " + std::to_string(code) + ": " +
                                    instance.side.take_fault_text());
    }
  }
}

void job_plan_settles(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  needs(instance.table<void>(SLUICE_EXT_JOB_MAPPING) != nullptr, SLUICE_EXT_JOB_MAPPING);
  drive_job_mapping(instance);
}

void needs_checks(const TestInstance& instance) {
  needs(instance.table<void>(SLUICE_EXT_CHECK_CONTROLLER) != nullptr, SLUICE_EXT_CHECK_CONTROLLER);
}

void check_names(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  needs_checks(instance);
  const auto names = names_of_checks(instance);
  expect(!names.empty(), "it names no controllerName");
  for (const std::string& name : names)
    expect(!name.empty() && name.find(' ') == name.npos, "\"" + name + "\" is no controllerName");
}

void check_begin_cancel(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  needs_checks(instance);
  drive_checks(instance, HostAge::kPresent);
}

void check_cancel_unknown(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  needs_checks(instance);
  cancel_unknown(instance);
}

void reconcile_gone(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  needs(instance.table<void>(SLUICE_EXT_CONTROLLER) != nullptr, SLUICE_EXT_CONTROLLER);
  std::string text;
  for (PluginObjectRef what : watched_kinds(instance, text)) {
    what.ns = "team-a";
    what.name = "gone";
    const std::int32_t code = reconcile(instance, what, HostAge::kPresent);
    expect(code == SLUICE_OK, "reconcile answered " + std::to_string(code) + " for a " +
                                  std::string(what.kind) +
                                  " that is not there: " + instance.side.take_fault_text());
  }
  expect(instance.memory.objects().writes() == 0, "it writes objects for one that is not there");
}

void reconcile_settles(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  needs(instance.table<void>(SLUICE_EXT_CONTROLLER) != nullptr, SLUICE_EXT_CONTROLLER);
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round)
    if (!drive_controller(instance, HostAge::kPresent)) return;
  throw TestFailed("reconcile writes each time it looks at the same objects");
}

void schema_is_json(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  expect(instance.create() == SLUICE_OK, instance.error);
  const auto* schema = instance.table<sluice_schema_t>(SLUICE_EXT_SCHEMA);
  needs(schema != nullptr, SLUICE_EXT_SCHEMA);
  std::string text;
  const sluice_sink_t sink = sink_of(text);
  const Asking asking("schema.contribute", "");
  const std::int32_t code = schema->contribute(instance.self, &sink);
  expect(code == SLUICE_OK, "contribute answered " + std::to_string(code));
  boost::system::error_code error;
  const auto value = boost::json::parse(text, error);
  expect(!error && (value.is_object() || value.is_array()),
         "its contribution is no JSON object or array");
}

void schema_is_taken(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  expect(instance.create() == SLUICE_OK, instance.error);
  needs(instance.table<void>(SLUICE_EXT_SCHEMA) != nullptr, SLUICE_EXT_SCHEMA);
  const OwnKinds kinds(instance);
  for (const api::KindInfo* kind : kinds.scheme().kinds())
    if (!kind->contributed_by.empty()) kinds.objects(kind->hub_api_version(), kind->kind);
}

void validator_defaults(const Subject& subject) {
  TestInstance instance(*subject.root, subject.config);
  instance.start();
  needs(instance.table<void>(SLUICE_EXT_VALIDATOR) != nullptr, SLUICE_EXT_VALIDATOR);
  drive_validator(instance);
}

/// Whatever of a user's text a plugin repeats, it has to cut it at a character. The text is moved
/// by one byte each time, so that a cut anywhere hits the inside of one once.
void cut_texts(const Subject& subject) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "\xF0\x9F\x98\x80";  // what a reason may hold
  for (std::size_t shift = 0; shift < 4; ++shift) {
    const UserText of_user(std::string(shift, 'x') + text);
    TestInstance instance(*subject.root, subject.config);
    instance.start();
    const std::uint64_t before = mended().texts;
    ask_cycle_hooks(instance);
    ask_control_hooks(instance);
    if (instance.table<void>(SLUICE_EXT_VALIDATOR) != nullptr) drive_validator(instance);
    if (instance.table<void>(SLUICE_EXT_CHECK_CONTROLLER) != nullptr)
      drive_checks(instance, HostAge::kPresent);
    if (instance.table<void>(SLUICE_EXT_CONTROLLER) != nullptr)
      drive_controller(instance, HostAge::kPresent);
    const Mended after = mended();
    expect(after.texts == before,
           "it says a text that is cut inside a character, has control characters or is too long; "
           "a host shows it as: " +
               after.last.substr(0, 80));
  }
}

void loads(const Subject&) {}  // loading it was the test

constexpr ValidateTest kTests[] = {
    // What is plain comes first: a crash is told of the first input that led to one.
    {"load", "loads with all symbols bound", TestNeeds::kCode, &loads, false},
    {"exports-only-entry", "exports sluice_plugin_entry and nothing else", TestNeeds::kFile,
     &exports_only_entry, false},
    {"matches-metadata", "the code says what the metadata says", TestNeeds::kCode,
     &matches_metadata, false},
    {"config-schema", "the schema of its configuration is one that the host understands",
     TestNeeds::kCode, &config_schema},
    {"create-activate", "can be created, activated, deactivated and destroyed", TestNeeds::kCode,
     &creates_and_activates},
    {"complete-tables", "no function is missing that an extension point must have",
     TestNeeds::kRunning, &complete_tables},
    {"two-instances", "two instances do not disturb each other", TestNeeds::kRunning,
     &two_instances},
    {"create-destroy-1000", "a thousand instances leave no files, threads and memory behind",
     TestNeeds::kRunning, &thousand_creates, false},
    {"bad-config", "a configuration that makes no sense is refused with a reason", TestNeeds::kCode,
     &bad_config, false},
    {"no-host-call-before-create", "sets, emits and asks nothing before it is active",
     TestNeeds::kRunning, &no_effect_before_activate},
    {"unknown-extension-null", "answers NULL for extensions that it does not have",
     TestNeeds::kRunning, &unknown_extension},
    {"deterministic", "same questions, same answers, in every instance", TestNeeds::kRunning,
     &deterministic},
    {"filter-per-flavor", "a filter's answer depends on the flavor alone, not on its neighbours",
     TestNeeds::kRunning, &filter_deterministic, false},
    {"search-order", "better() is a strict order", TestNeeds::kRunning, &search_order, false},
    {"many-threads", "cycle hooks answer the same from four threads at once", TestNeeds::kRunning,
     &many_threads, false},
    {"told-events", "a plugin wants to be told of events that there are", TestNeeds::kRunning,
     &told_events},
    {"notify-again", "a notification may come again", TestNeeds::kRunning, &notify_again},
    {"notify-late", "a notification may come late, or for a workload that nobody knows",
     TestNeeds::kRunning, &notify_late},
    {"timer-late", "a timer may fire that was cancelled on its way", TestNeeds::kRunning,
     &timer_late},
    {"job-plan-settles", "a job mapping that gets its way asks for nothing more",
     TestNeeds::kRunning, &job_plan_settles, false},
    {"check-names", "a check controller says for which controllerNames", TestNeeds::kRunning,
     &check_names},
    {"check-begin-cancel", "attempts at checks begin again and end again; reports are about them",
     TestNeeds::kRunning, &check_begin_cancel},
    {"check-cancel-unknown", "an attempt may be cancelled that never began", TestNeeds::kRunning,
     &check_cancel_unknown},
    {"reconcile-gone", "a controller is at ease with objects that are gone", TestNeeds::kRunning,
     &reconcile_gone},
    {"reconcile-settles", "a controller that gets its way writes nothing more", TestNeeds::kRunning,
     &reconcile_settles},
    {"validator-defaults", "a validator judges what its kinds' schemas take, and defaults it so",
     TestNeeds::kRunning, &validator_defaults},
    {"schema-is-json", "the schema contribution is JSON", TestNeeds::kRunning, &schema_is_json},
    {"schema-is-taken", "its kinds and fields are such that there are objects of them",
     TestNeeds::kRunning, &schema_is_taken},
    {"throw-is-contained", "malformed objects end in a code, not in an exception or a crash",
     TestNeeds::kRunning, &malformed_input, false},
    {"cut-texts", "texts of users are repeated whole, or cut at a character", TestNeeds::kRunning,
     &cut_texts},
    {"old-host", "works with shorter structs and without services", TestNeeds::kRunning, &old_host,
     false},
    {"future-host", "works with longer structs and unknown values", TestNeeds::kRunning,
     &future_host, false},
};

}  // namespace

std::span<const ValidateTest> validate_tests() { return kTests; }

}  // namespace sluice::host
