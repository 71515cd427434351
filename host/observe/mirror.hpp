// Mirror: the objects of a cluster as Sluice understands them, in a store in memory.
//
// Everything is kept as the cluster has it: an admitted workload stays admitted with what its
// status says. Fields that Sluice does not know are left out, and objects that it cannot read are
// not in the store; both are told, each once. What arrives together is published together.
//
// The members of ClusterSink belong to the follower's thread, which alone writes to the store; the
// others may be called from any thread.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/kube/follower.hpp"
#include "host/objects/intake.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

/// An object of the cluster that is not in the mirror.
struct UnreadObject {
  const api::KindInfo* kind = nullptr;
  std::string key, why;
};

/// What to follow: the kinds of Kueue that the scheme knows, and what their objects lean on. With
/// `jobs`, those too, so that a workload can be asked for by its job.
std::vector<FollowedKind> kinds_to_follow(const api::Scheme& scheme, bool jobs);

class Mirror final : public ClusterSink {
 public:
  /// Both must outlive it.
  Mirror(Intake& intake, LiveStore& store) : intake_(intake), store_(store) {}

  void list_begins(const api::KindInfo& kind) override;
  void list_ends(const api::KindInfo& kind) override;
  void put(const api::KindInfo& kind, const std::string& api_version,
           boost::json::object object) override;
  void remove(const api::KindInfo& kind, const boost::json::object& object) override;
  void settle() override;

  /// In order of kind and key.
  std::vector<UnreadObject> unread() const;
  /// What was told of once: `Workload: unknown field "spec.x"`.
  std::vector<std::string> unknown_fields() const;
  /// From now on what cannot be read is logged; before, it may only lack what comes later.
  void log_problems();

 private:
  using Place = std::pair<const api::KindInfo*, std::string>;
  struct Waiting {
    boost::json::object object;  // as it was taken in
    std::string why;
  };

  bool take(const api::KindInfo& kind, const std::string& key, boost::json::object object,
            std::string& why);
  void erase(const api::KindInfo& kind, const std::string& key);
  void try_again();
  void note_fields();

  Intake& intake_;
  LiveStore& store_;
  std::unordered_map<const api::KindInfo*, std::set<std::string>> seen_;  // by the running list
  bool changed_ = false;
  bool classes_changed_ = false;  // what a workload's priority may hang on
  mutable std::mutex mutex_;
  std::map<Place, Waiting> waiting_;  // guarded by mutex_
  std::set<std::string> unknown_;     // guarded by mutex_
  bool logging_ = false;              // guarded by mutex_
};

}  // namespace sluice::host
