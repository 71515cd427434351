// ReviewWorld: a host with jobs, whose published objects a reviewer reads, and short ways to ask it
// what an API server asks.
//
// One thread.
#pragma once

#include <boost/json/serialize.hpp>
#include <future>
#include <memory>
#include <string>

#include "host/rest/json_patch.hpp"
#include "host/webhook/reviewer.hpp"
#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {

struct ReviewWorld : JobWorld {
  explicit ReviewWorld(bool manage_all = false, hooks::PodGate* gate = nullptr)
      : own_rules(beside(*rules, clock, gate)),
        reviewer(configuration_with(manage_all), *own_rules, store, clock) {}

  static std::unique_ptr<Rules> beside(const Rules& of, const PluginClock& clock,
                                       hooks::PodGate* gate) {
    auto out = Rules::beside(of, clock, {}, {});
    SLUICE_CHECK(out.ok(), "no rules beside");
    (*out)->hooks.pod_gate = gate;
    return std::move(*out);
  }
  static const Configuration& configuration_with(bool manage_all) {
    static Configuration plain, all;
    all.managed_jobs.without_queue = true;
    return manage_all ? all : plain;
  }

  /// From now on the reviewer sees what is there.
  void publish() {
    std::promise<void> done;
    store.commit([&done](const Result<void>&) { done.set_value(); });
    done.get_future().wait();
  }

  /// The review of a creation by `user`, or of a change of `old`.
  AdmissionRequest asked(const boost::json::object& object,
                         std::optional<boost::json::object> old = std::nullopt) {
    AdmissionRequest out;
    out.uid = "7";
    out.api_version = api::find_text(object, "apiVersion");
    out.kind = api::find_text(object, "kind");
    out.ns = "default";
    out.user = user;
    out.field_manager = manager;
    out.operation = old ? ReviewedOperation::kUpdate : ReviewedOperation::kCreate;
    out.object = object;
    out.old = std::move(old);
    return out;
  }
  static boost::json::object parsed(std::string_view text) {
    return boost::json::parse({text.data(), text.size()}).get_object();
  }

  /// The object as it is after the mutating step.
  boost::json::object mutated(const boost::json::object& object,
                              std::optional<boost::json::object> old = std::nullopt) {
    const Verdict verdict = reviewer.review(asked(object, std::move(old)), ReviewStep::kMutating);
    EXPECT_FALSE(verdict.refused) << verdict.refused->text;
    boost::json::value out(object);
    const auto done = json_patch(out, verdict.patch);
    EXPECT_TRUE(done.ok()) << boost::json::serialize(verdict.patch);
    return out.get_object();
  }
  /// Why the validating step refuses it; empty: it does not.
  std::string refusal(const boost::json::object& object,
                      std::optional<boost::json::object> old = std::nullopt) {
    const Verdict verdict = reviewer.review(asked(object, std::move(old)), ReviewStep::kValidating);
    return verdict.refused ? verdict.refused->text : std::string();
  }

  std::string user = "ann", manager;
  std::unique_ptr<Rules> own_rules;
  Reviewer reviewer;
};

}  // namespace sluice::host::test
