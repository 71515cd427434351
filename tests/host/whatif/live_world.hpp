// LiveWorld: a host as it runs, below the API server, in memory: plugins of this build where
// wanted, controllers, jobs whose pods are said to run, a store whose changes are published when
// the host comes to rest. Its state can be forked.
//
// One thread; the clock goes only where a test sends it.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/machine/machine.hpp"
#include "host/simulate/job_pods.hpp"
#include "host/store/live_store.hpp"
#include "host/whatif/fork.hpp"
#include "host/whatif/happenings.hpp"
#include "host/whatif/question.hpp"

namespace sluice::host::test {

struct LiveWorld {
  explicit LiveWorld(Configuration config = {}, bool with_plugins = false)
      : configuration(std::move(config)),
        rules(load(configuration, clock, with_plugins)),
        store(rules->scheme, nullptr),
        pods(rules->scheme),
        machine(configuration, *rules,
                {.store = store,
                 .ids = ids,
                 .pods = [this](ControllerLoop& loop, const GatesOfNewPods&) { loop.add(pods); }}) {
    clock.set(*parse_time("2026-01-01T00:00:00Z"));
    machine.observe(since);
    machine.begin_instant(clock.now());
    machine.load();
  }

  static std::unique_ptr<Rules> load(Configuration& configuration, const PluginClock& clock,
                                     bool with_plugins) {
    configuration.engine.threads = 1;
    configuration.plugins.directory = SLUICE_PLUGINS;
    const auto names = with_plugins ? std::nullopt : std::optional(std::vector<std::string>());
    auto loaded = Rules::load(configuration.plugins, names, clock);
    SLUICE_CHECK(loaded.ok(), loaded.ok() ? "" : loaded.error().text);
    return std::move(*loaded);
  }

  const api::KindInfo& kind(std::string_view name) const {
    return *rules->scheme.find_by_name(name);
  }
  const Engine& engine() const { return machine.engine(); }

  void apply(const std::string& object) {
    const auto done = static_cast<ObjectAccess&>(machine.objects())
                          .create(boost::json::parse(object).get_object());
    SLUICE_CHECK(done.ok(), done.ok() ? "" : done.error().text, object);
  }
  void pass(Duration time) {
    clock.set(clock.now() + time);
    machine.begin_instant(clock.now());
    settle();
  }
  void settle() {
    machine.run_to_rest();
    publish();
  }
  void publish() {
    std::promise<void> done;
    store.commit([&](const Result<void>&) { done.set_value(); });
    done.get_future().wait();
  }

  ForkSource source() const { return {configuration, *rules, store}; }
  ForkMoment moment() const {
    return {.now = clock.now(),
            .version = store.version(),
            .uid = machine.ids().uid(clock.now()),
            .memory = engine().memory()};
  }
  std::unique_ptr<Fork> fork() const {
    auto made = Fork::make(source(), moment(), Deadline::max());
    SLUICE_CHECK(made.ok(), made.ok() ? "" : made.error().text);
    return std::move(*made);
  }

  Question question(const std::vector<std::string>& objects) const {
    boost::json::array list;
    for (const std::string& object : objects) list.push_back(boost::json::parse(object));
    auto wishes = read_wishes(rules->scheme, {{"objects", std::move(list)}});
    SLUICE_CHECK(wishes.ok(), wishes.ok() ? "" : wishes.error().text);
    return {{"someone", "", {}}, std::move(*wishes), FieldValidation::kWarn};
  }

  static May anything() {
    return [](const AccessRequest&) { return AccessAnswer{true, ""}; };
  }

  VirtualClock clock;
  Configuration configuration;
  std::unique_ptr<Rules> rules;
  LiveStore store;
  LiveIds ids;
  JobPods pods;
  Happenings since;
  Machine machine;
};

}  // namespace sluice::host::test
