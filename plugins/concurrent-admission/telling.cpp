// What was done: events, metrics, and the tables that the engine's questions are answered from.
#include <algorithm>
#include <array>

#include "plugin.hpp"

namespace options {

void ConcurrentAdmission::event(const Work& work, std::string_view reason,
                                const std::string& message) const {
  context_.event(false, work.ns, work.name, reason, message);
}

void ConcurrentAdmission::tell(const Work& work, const Plan& plan) {
  for (const Creation& creation : plan.create)
    event(work, "CreatedOption", "Option Workload \"" + creation.name + "\" created");
  for (const std::string& name : plan.remove)
    event(work, "DeletedOption",
          "Option Workload \"" + name + "\" deleted: the queue's policy does not ask for it");
  for (const Change& change : plan.change)
    context_.event(false, work.ns, change.name,
                   change.active ? "ActivatedOption" : "DeactivatedOption",
                   std::string("Option Workload ") + (change.active ? "activated" : "deactivated") +
                       " due to " + change.why);
  const std::string_view queue = work.queue;
  if (!plan.record.admitted.empty() && plan.record.admitted != work.situation.record.admitted) {
    const auto option = work.options.find(plan.record.admitted);
    const std::string spec = option == work.options.end()
                                 ? std::string()
                                 : sluice::annotation_of(option->second, kOption);
    context_.add(admissions_, 1, std::array<std::string_view, 2>{queue, spec});
    event(work, "Admitted", "The option " + plan.record.admitted + " is admitted");
  }
  if (!plan.migrated_from.empty()) {
    context_.add(migrations_, 1, std::array<std::string_view, 1>{queue});
    event(work, std::string(kMigration),
          "Moves from the option " + plan.migrated_from + " to " + plan.record.admitted);
  }
  if (!plan.lost.empty()) {
    context_.add(resets_, 1, std::array<std::string_view, 2>{queue, plan.lost_reason});
    event(work, "EvictedOption",
          "The option " + plan.lost + " was evicted due to " + plan.lost_reason +
              ", so all options begin anew");
  }
  if (!plan.rejected.empty())
    context_.event(true, work.ns, work.name, "OptionsRejected", plan.rejected);
}

/// Brings the tables in line, and asks the engine to look again where they matter to it.
void ConcurrentAdmission::remember(Work& work, const Plan& plan) {
  Family& family = families_[work.key];
  const std::string before = family.admitted;
  const std::string preempted = family.preempts;
  family.admitted = plan.record.admitted;
  family.preempts = plan.record.preempts;
  family.over = work.situation.finished;
  const Policy* wanted = work.situation.policy;
  const bool bounded = wanted != nullptr && wanted->on_success == OnSuccess::kRemoveBelowTarget;
  const std::string target = bounded ? wanted->target : std::string();
  const bool moved = before != family.admitted || family.target != target;
  family.target = target;
  for (const std::string& name : family.options) {
    const std::string key = work.ns + "/" + name;
    if (moved) context_.traits_changed(key);
    if (!preempted.empty() && family.preempts != preempted) context_.requeue(key);
  }
  std::map<std::string, int> states;
  for (const OptionStatus& each : plan.status) ++states[each.state];
  count_states(family, states);
  if (plan.collapse) forget(work.key);
}

void ConcurrentAdmission::count_states(Family& family, const std::map<std::string, int>& states) {
  const auto add = [&](const std::map<std::string, int>& of, int sign) {
    for (const auto& [state, count] : of)
      context_.add(states_, sign * count,
                   std::array<std::string_view, 2>{std::string_view(family.queue), state});
  };
  if (family.states == states) return;
  add(family.states, -1);
  family.states = states;
  add(family.states, 1);
}

void ConcurrentAdmission::forget(const std::string& key) {
  const auto found = families_.find(key);
  if (found == families_.end()) return;
  count_states(found->second, {});
  const std::string ns = key.substr(0, key.find('/') + 1);
  for (const std::string& name : found->second.options) allowed_.erase(ns + name);
  families_.erase(found);
}

}  // namespace options
