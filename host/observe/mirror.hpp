// Mirror: the objects of a cluster as Sluice understands them, handed on to where they are kept.
//
// Everything is kept as the cluster has it: an admitted workload stays admitted with what its
// status says. Fields that Sluice does not know are left out, and objects that it cannot read are
// not in the store; both are reported, each once. What arrives together is published together.
//
// The members of ClusterSink belong to one thread, on which alone the target is called (the
// follower's, for one that observes); the others may be called from any thread.
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

/// What a mirror keeps for watches. A cluster stores some hundred objects a second; who falls
/// further behind lists again.
inline constexpr HistoryLimits kMirroredHistory{.changes = 50'000, .bytes = 16U << 20};

/// An object of the cluster that is not in the mirror.
struct UnreadObject {
  const api::KindInfo* kind = nullptr;
  std::string key, why;
};

/// What to follow: the kinds of Kueue that the scheme knows, and what their objects lean on. With
/// `jobs`, those too, so that a workload can be asked for by its job.
std::vector<FollowedKind> kinds_to_follow(const api::Scheme& scheme, bool jobs);

/// Where the objects of a mirror are kept. [the mirror's thread]
class MirrorTarget {
 public:
  virtual ~MirrorTarget() = default;
  virtual const StoredObject* find(const api::KindInfo& kind, const std::string& key) const = 0;
  virtual std::vector<std::string> keys(const api::KindInfo& kind) const = 0;
  virtual void put(PreparedObject object) = 0;
  /// The cluster has it no more. Whether it was there.
  virtual bool erase(const api::KindInfo& kind, const std::string& key) = 0;
  /// The cluster has another form of it now, which cannot be read.
  virtual void unread(const api::KindInfo& kind, const std::string& key) = 0;
  /// What changed belongs together up to here.
  virtual void settle() = 0;
};

/// A store without other writers.
class MirrorStore final : public MirrorTarget {
 public:
  explicit MirrorStore(LiveStore& store) : store_(store) {}
  const StoredObject* find(const api::KindInfo& kind, const std::string& key) const override {
    return store_.find(kind, key);
  }
  std::vector<std::string> keys(const api::KindInfo& kind) const override;
  void put(PreparedObject object) override { store_.put(std::move(object.stored)); }
  bool erase(const api::KindInfo& kind, const std::string& key) override {
    return store_.erase(kind, key);
  }
  /// Its earlier form is not how it is.
  void unread(const api::KindInfo& kind, const std::string& key) override { erase(kind, key); }
  void settle() override { store_.commit(nullptr); }

 private:
  LiveStore& store_;
};

class Mirror final : public ClusterSink {
 public:
  /// Both must outlive it.
  Mirror(Intake& intake, MirrorTarget& target) : intake_(intake), target_(target) {}

  /// What an object of the cluster is here; why it cannot be read.
  Result<PreparedObject> read(const api::KindInfo& kind, const std::string& api_version,
                              boost::json::object object);

  /// The object is in the list that runs; its key.
  std::string note_seen(const api::KindInfo& kind, const boost::json::object& object);
  /// What read() made of an object is what the cluster has now.
  void keep(PreparedObject object);

  void list_begins(const api::KindInfo& kind, std::uint64_t version) override;
  void list_ends(const api::KindInfo& kind) override;
  void put(const api::KindInfo& kind, const std::string& api_version,
           boost::json::object object) override;
  void remove(const api::KindInfo& kind, const boost::json::object& object) override;
  void remove(const api::KindInfo& kind, const std::string& key) { erase(kind, key); }
  void settle() override;

  /// In order of kind and key.
  std::vector<UnreadObject> unread() const;
  /// What was reported once: `Workload: unknown field "spec.x"`.
  std::vector<std::string> unknown_fields() const;
  /// From now on what cannot be read is logged; before, it may only lack what comes later.
  void log_problems();

 private:
  using Place = std::pair<const api::KindInfo*, std::string>;
  struct Waiting {
    std::string api_version;
    boost::json::object object;  // as it came
    std::string why;
  };

  void note_seen(const api::KindInfo& kind, const std::string& key);
  bool take(const api::KindInfo& kind, Waiting& waiting);
  void hand_on(PreparedObject object);
  void erase(const api::KindInfo& kind, const std::string& key);
  void try_again();
  void note_fields();

  Intake& intake_;
  MirrorTarget& target_;
  std::unordered_map<const api::KindInfo*, std::set<std::string>> seen_;  // by the running list
  bool changed_ = false;
  bool classes_changed_ = false;  // what a workload's priority may hang on
  mutable std::mutex mutex_;
  std::map<Place, Waiting> waiting_;  // guarded by mutex_
  std::set<std::string> unknown_;     // guarded by mutex_
  bool logging_ = false;              // guarded by mutex_
};

}  // namespace sluice::host
