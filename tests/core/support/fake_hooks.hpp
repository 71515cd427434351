// Hooks as plain tables, so that a test says in one line what a plugin would answer. The tables may
// be changed between two instants; within a cycle they are only read, from any thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/hooks/hooks.hpp"

namespace sluice::testing {

/// Answers by the workload's name; nothing for those that are not in the table.
struct FakeTraits final : hooks::WorkloadTraits {
  std::map<std::string, hooks::Traits> table;
  std::set<std::string> faulty;

  /// Asked last, of those in no table; may be empty.
  std::function<void(const hooks::TraitsQuery&, hooks::Traits&)> otherwise;

  void traits(const hooks::TraitsQuery& query, hooks::TraitsAnswer& out,
              hooks::Fault& fault) override {
    const std::string& name = query.workload.meta.name;
    if (faulty.contains(name)) fault = {"traits-plugin", "it threw an exception"};
    if (const auto it = table.find(name); it != table.end()) {
      out.traits = it->second;
    } else if (otherwise) {
      otherwise(query, out.traits);
    }
  }

  hooks::Traits& of(const std::string& name) { return table[name]; }
  hooks::Traits& member(const std::string& name, const std::string& group, std::int32_t rank,
                        const std::string& order_as) {
    hooks::Traits& t = table[name];
    t.has_group = true;
    t.group = {group, rank, false, "ns/" + order_as, "way"};
    return t;
  }
  hooks::Traits& replaces(const std::string& name, const std::string& replaced,
                          hooks::ReplacedEnds how = hooks::ReplacedEnds::kFinished) {
    hooks::Traits& t = table[name];
    t.has_replaces = true;
    t.replaces = {"ns/" + replaced, how, "Replaced", "replaced by " + name};
    return t;
  }
};

struct FakeVeto final : hooks::PreemptionVeto {
  std::map<std::string, std::string> may_not;  ///< preemptor → reason
  std::set<std::string> hands_off;             ///< protected candidates
  std::string reason;                          ///< why they are
  Time young_since = 0;                        ///< protects who is admitted since then, or later
  bool faulty_alone = false;                   ///< when asked without candidates
  bool faulty_with_candidates = false;

  void veto(const hooks::VetoQuery& query, hooks::VetoAnswer& answer,
            hooks::Fault& fault) const override {
    if (query.candidates.empty() ? faulty_alone : faulty_with_candidates)
      fault = {"veto-plugin", "it took too long"};
    if (const auto it = may_not.find(query.preemptor.meta.name); it != may_not.end()) {
      answer.may_not_preempt = true;
      answer.reason = it->second;
      answer.by = "veto-plugin";
    }
    for (std::size_t i = 0; i < query.candidates.size(); ++i) {
      const bool young = young_since != 0 && query.admitted_at[i] >= young_since;
      if (!young && !hands_off.contains(query.candidates[i]->meta.name)) continue;
      answer.protected_[i] = 1;
      answer.reason = reason;
    }
  }
};

struct FakeFilter final : hooks::FlavorFilter {
  std::map<std::string, std::string> skips;  ///< flavor → reason
  std::string zone;                          ///< of nodes; flavors of others are skipped
  bool faulty = false;

  void filter(const hooks::FilterQuery& query, hooks::FilterAnswer& answer,
              hooks::Fault& fault) const override {
    if (faulty) fault = {"filter-plugin", "it threw an exception"};
    for (std::size_t i = 0; i < query.flavors.size(); ++i) {
      const hooks::FlavorFacts& facts = query.facts[i];
      const std::string* its_zone = facts.node_labels ? facts.node_labels->find("zone") : nullptr;
      if (!zone.empty() && (!its_zone || *its_zone != zone)) {
        answer.skip[i] = 1;
        answer.reasons[i] = std::string(facts.name) + " of " + query.cluster_queue->meta.name +
                            " is not in " + zone;
      }
      const auto it = skips.find(std::string(query.flavors[i]));
      if (it == skips.end()) continue;
      answer.skip[i] = 1;
      answer.reasons[i] = it->second;
      answer.by.resize(query.flavors.size());
      answer.by[i] = "filter-plugin";
    }
  }
};

struct FakeSearch final : hooks::FlavorSearch {
  std::function<hooks::SearchVerdict(const hooks::SearchStep&)> verdict =
      [](const hooks::SearchStep&) { return hooks::SearchVerdict::kGoOn; };
  bool silent = false;  ///< it has no answers
  bool less_borrowing_first = false;
  bool faulty_verdict = false, faulty_better = false, faulty_position = false;

  std::optional<hooks::SearchVerdict> after_flavor(const hooks::SearchStep& step,
                                                   hooks::Fault& fault) const override {
    if (silent) return std::nullopt;
    if (faulty_verdict) fault = {"search-plugin", "it answered nonsense"};
    return verdict(step);
  }
  std::optional<bool> better(hooks::QueueId, hooks::FlavorOutcome a, hooks::FlavorOutcome b,
                             hooks::Fault& fault) const override {
    if (silent) return std::nullopt;
    if (faulty_better) fault = {"search-plugin", "it answered nonsense"};
    if (less_borrowing_first && a.borrow_level != b.borrow_level)
      return a.borrow_level < b.borrow_level;
    return a.mode != b.mode ? a.mode > b.mode : a.borrow_level < b.borrow_level;
  }
  std::optional<bool> keep_position(const hooks::PositionAge& age,
                                    hooks::Fault& fault) const override {
    if (silent) return std::nullopt;
    if (faulty_position) fault = {"search-plugin", "it answered nonsense"};
    return age.cycles == 1 || age.queue_generations == 0;
  }
};

}  // namespace sluice::testing
