// The Keeper carries out what the plan asks for: it makes and ends workloads, lets pods start, and
// deletes those that may not run.
//
// What it remembers it reads again after a restart. Belongs to the control thread; every call is
// one transaction.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan.hpp"
#include "roll.hpp"
#include "sets.hpp"
#include "sluice/cpp/context.hpp"
#include "sluice/cpp/workload.hpp"

namespace pods {

class Keeper {
 public:
  /// `label_keys`: labels of pods that their workload gets when it is made.
  Keeper(const sluice::Context& context, std::vector<std::string> label_keys)
      : context_(context), label_keys_(std::move(label_keys)), sets_(context) {}

  /// A pod, a workload, a StatefulSet or a class of priorities was made, changed or deleted. False:
  /// a write of one of several groups was refused, and it is to be called again later.
  bool look_at(const sluice::ObjectRef& what);
  /// When the timer of this number is due: workloads whose pods were to come soon.
  static constexpr std::uint64_t kPodsTimer = 1;
  void look_at_those_without_pods();
  /// Why the workload may not be queued: its pods are not there; nullopt: they are. Of one that was
  /// evicted before this host began nobody knows until it was looked at: it waits as it did.
  std::optional<std::string> lacks_pods(const sluice::Workload& workload);

 private:
  void learn();
  void look_at_pod(const sluice::ObjectRef& what);
  void look_at_set(const sluice::ObjectRef& what);
  void look_at_workload(const sluice::ObjectRef& what);
  bool waited_for_pods(const sluice::ObjectRef& workload);
  void settle(const GroupKey& group);
  bool name_pod_sets(const GroupKey& group, const std::vector<Pod>& pods,
                     const sluice::Json& workload);
  bool is_of_other_pods(const GroupKey& group, const std::vector<Pod>& pods,
                        const sluice::Json& workload) const;
  bool settle_those_without_class();
  bool look_again(const GroupKey& group);
  void carry_out(const Plan& plan, const GroupKey& group, const std::vector<Pod>& pods,
                 const std::optional<sluice::Json>& workload);

  std::optional<std::vector<sluice::Json>> models_of(const Plan& plan, const GroupKey& group,
                                                     const sluice::Json& said_by) const;
  std::optional<sluice::Json> find_pod(const std::string& ns, const std::string& name) const;
  void take_written(const std::string& ns, const sluice::ObjectReply& reply);
  void read_written();
  void create(const Plan& plan, const GroupKey& group, const std::vector<Pod>& pods);
  void start(const Plan& plan, const GroupKey& group, const sluice::Json& workload);
  void stop(const std::string& ns, const std::string& pod, const Ending& why);
  void drop(const std::string& ns, const std::string& pod, const std::string& workload);
  void set_tracked(const std::string& ns, const std::string& pod, bool tracked);
  void follow(const GroupKey& group, const std::vector<Pod>& pods, const sluice::Json& workload);
  void report(const Plan& plan, const sluice::Json& workload);
  void finish(const sluice::Json& workload, const Ending& how);
  void note_absent(const sluice::ObjectRef& workload, std::string why);
  void forget(const std::string& workload);
  bool anything_runs(const sluice::Json& workload) const;
  void end(const sluice::Json& workload, std::string why_it_waits);
  void tell(bool warning, const std::string& ns, const std::string& pod, std::string_view reason,
            std::string_view message) const;

  sluice::Context context_;
  std::vector<std::string> label_keys_;
  Sets sets_;
  Roll roll_;
  bool learnt_ = false;
  std::vector<std::pair<std::string, std::string>> written_;  // namespace, pod: by the last call
  std::set<GroupKey> waits_for_class_;                        // of priorities
  std::map<std::string, std::string> looked_at_;  // workloads: what they lack; empty: nothing
  std::set<std::string> assumed_;                 // to lack pods, because they were not looked at
  std::map<std::string, std::int64_t> without_pods_;  // workloads whose pods are to come, since
};

}  // namespace pods
