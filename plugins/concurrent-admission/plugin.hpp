// concurrent-admission: KEP-8691 as a plugin. What is decided is in decide.hpp, how it is written
// in family.hpp; here both are bound to the host: answers.cpp is what the engine asks, keeping.cpp
// brings one family in line, telling.cpp says what was done, plugin.cpp is the rest.
//
// A family is a parent and its options. Tables are written in [control] calls only and read by the
// hooks of a cycle, which never run at the same time. Everything in them comes from the objects
// again after a restart. What they hold of a family goes with its parent; the allowed flavors of
// other workloads, of whose end nobody tells, when that table is full.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <sluice/plugin.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "allowed.hpp"
#include "decide.hpp"
#include "family.hpp"

namespace options {

using sluice::Again;
using sluice::Json;
using sluice::ObjectRef;

class ConcurrentAdmission {
 public:
  static constexpr std::string_view kDescription =
      "KEP-8691: try a workload on several flavors at once, move it up when better ones free";

  explicit ConcurrentAdmission(const sluice::Context& context);

  std::string schema() const;
  void deactivate();

  // ---- what a queue wants

  void queue_changed(const sluice::Queue& queue);

  std::vector<std::string> kinds() const {
    return {"kueue.x-k8s.io/ClusterQueue", "kueue.x-k8s.io/Workload"};
  }

  void validate(const sluice::Write& write, sluice::FieldErrors& errors) const;

  // ---- what the engine asks

  void traits(const sluice::Workload& workload, sluice::Traits& traits);
  std::string filter_shape_key(const sluice::Workload& workload);
  void filter(const sluice::FilterQuery& query, sluice::FilterAnswer& answer) const;
  void veto(const sluice::VetoQuery& query, sluice::VetoAnswer& answer) const;
  /// Of options, whose preemption it is; of all that are evicted, because one may become a parent.
  std::vector<std::string> told_events() const { return {"Preempting claimed", "Evicted"}; }
  sluice::Told notify(const sluice::Notification& told);

  /// Who needs no allowed flavors any more is looked for.
  void timer(std::uint64_t number, std::int64_t now);

  // ---- keeping objects in line

  std::vector<std::string> watched_kinds() const;
  Again reconcile(const ObjectRef& what);

 private:
  static constexpr std::uint64_t kForgetTimer = 1;

  struct Family {
    std::string queue;                           // its ClusterQueue
    std::set<std::string> options;               // names of Workloads, some perhaps gone
    std::string admitted;                        // the option by which the parent is admitted
    std::string target;                          // of its queue's policy, below which no move goes
    std::string preempts;                        // the option that has the right to preempt
    std::map<std::string, std::string> why_off;  // by option
    std::string no_option;                       // why it can have none, and what would help
    std::string rejected;                        // why none of them may run: the parent is off
    std::map<std::string, int> states;
    bool over = false;  // finished, and its options with it
  };
  /// One parent, as it is read and written in one call.
  struct Work {
    std::string key, ns, name, queue;
    Json parent;
    std::map<std::string, Json> options;
    Situation situation;
  };

  static ObjectRef workload_ref(std::string_view ns, std::string_view name) {
    return {std::string(kApi), "Workload", std::string(ns), std::string(name)};
  }
  static std::optional<std::string> parent_of(const sluice::Workload& workload);
  std::vector<std::string> within_reach(const sluice::Workload& workload,
                                        std::vector<std::string> flavors) const;
  static std::int32_t rank_of(const sluice::Workload& workload);
  const Policy* policy(const std::string& queue) const {
    const auto found = policies_.find(queue);
    return found == policies_.end() ? nullptr : &found->second;
  }

  Again keep_in_line(const std::string& key, const std::string& preempts);
  std::optional<std::string> parent_that_knows(const std::string& ns,
                                               const std::string& option) const;
  Again follow_queue(const std::string& queue);
  void tell_refused(const std::string& ns, const std::string& name,
                    const sluice::ObjectError& refusal) const;
  bool read(Work& work);
  bool read_options(Work& work);
  void write(Work& work, Plan& plan);
  void tell_why_off(const Work& work, const Plan& plan);
  void write_options(Work& work, const Plan& plan);
  void write_parent(Work& work, const Plan& plan);
  void tell(const Work& work, const Plan& plan);
  void remember(Work& work, const Plan& plan);
  void forget(const std::string& key);
  void collapse(const std::string& key);
  void count_states(Family& family, const std::map<std::string, int>& states);
  void event(const Work& work, std::string_view reason, const std::string& message) const;

  sluice::Context context_;
  sluice::Metric admissions_, migrations_, resets_, states_;
  std::map<std::string, Policy, std::less<>> policies_;  // by ClusterQueue
  /// That the families of a queue follow; none: there was one, and it was taken away.
  std::map<std::string, std::optional<Policy>, std::less<>> applied_;
  std::map<std::string, std::vector<std::string>, std::less<>> behind_;   // parents still to follow
  std::map<std::string, std::vector<std::string>, std::less<>> refused_;  // of these: tried later
  std::unordered_map<std::string, Family> families_;                      // by the parent's key
  AllowedFlavors allowed_;
  bool off_ = false;
};

}  // namespace options
