// Queues: what the LocalQueues have used, who waits in them and holds quota through them.
//
// Read from objects, kept up to date by reconcile(), and written to the statuses of LocalQueues in
// the same call, which is one commit with the decision that it follows. Workloads that run one
// thing in turn (options of one, slices of a job) have one place: of the next of them only what is
// more enters. Belongs to the host's control thread.
#pragma once

#include <sluice/plugin.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "usage.hpp"

namespace afs {

inline constexpr std::string_view kVersion = "kueue.x-k8s.io/v1beta2";

class Queues {
 public:
  Queues(const sluice::Context& context, Rates rates)
      : context_(context), rates_(std::move(rates)) {}

  /// Something is other than it was; the first time, everything is read. Whatever holds quota then
  /// was counted when it came in.
  void look_at(const sluice::ObjectRef& what);
  /// All that are shared are brought up to this moment.
  void sample();
  /// Is anybody waiting whose place may still change by time alone, or is a status to be written
  /// that was refused?
  bool worth_sampling() const;

  struct Standing {
    double share = 0;
    std::string because;
  };
  /// nullopt: its ClusterQueue does not order by use, or it is not known.
  std::optional<Standing> standing(std::string_view local_queue) const;

 private:
  using Resources = std::set<std::string, std::less<>>;
  struct Local {
    std::string cluster_queue;
    double weight = 1;
    Usage usage;
    std::set<std::string> waiting;  // keys
    Resources shown;                // in the status
  };
  struct Holder {
    std::string local_queue, uid, since;  // since: it got its quota
    std::string place;                    // key of the workload whose place it has
    Amounts amounts;
    bool operator==(const Holder&) const = default;
  };
  /// What a workload is to its LocalQueue: it holds quota, it waits there, or neither.
  struct Standpoint {
    std::string waits_in;
    std::optional<Holder> holds;
  };

  struct Left {
    std::string key, local_queue;
    Amounts amounts;
    std::int64_t at = 0;
  };

  static Standpoint standpoint_of(const sluice::Json& workload);
  void learn();
  void resume(const std::string& key, Holder holder);
  void note(const std::string& key, Holder holder);
  Amounts counted_before(const std::string& key, const Holder& holder) const;
  void take_cluster_queue(const std::string& name, const sluice::Json* object);
  const Resources* covered_of(const Local& local) const;
  void begin_to_tell(const std::string& key, Local& local);
  void take_local_queue(const std::string& key, const sluice::Json* object);
  void take_workload(const std::string& key, const sluice::Json* object);
  void hold(const std::string& key, Holder holder, bool enters);
  void release(const std::string& key);
  void wait(const std::string& key, const std::string& local_queue);
  bool shared(const Local& local) const { return covered_of(local) != nullptr; }
  void tell(const std::string& key, Local& local);
  std::int64_t now() const { return context_.now() / 1'000'000'000; }

  sluice::Context context_;
  Rates rates_;
  bool learnt_ = false;
  std::int64_t last_event_ = 0;
  std::map<std::string, Resources, std::less<>> shared_;      // that order by use: what they cover
  std::map<std::string, Local, std::less<>> locals_;          // by namespace/name
  std::map<std::string, Holder, std::less<>> holders_;        // by key
  std::map<std::string, std::set<std::string>> in_place_of_;  // holders in another's place
  std::map<std::string, Left> left_;                          // who held it last, by place
  std::int64_t forgot_left_at_ = 0;
  std::map<std::string, std::string, std::less<>> waits_in_;  // workload: LocalQueue
  std::set<std::string, std::less<>> untold_;  // LocalQueues whose status was refused
};

}  // namespace afs
