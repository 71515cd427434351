// ClusterDoor: by which a cluster and a Machine that decides for it come together: what the cluster
// has becomes what the Machine sees, what the Machine makes of it becomes requests, and their
// answers are heard.
//
// While it stands by, objects are only kept; from lead() on the Machine hears of each. Invariants:
// an object without foreign changes is taken once for each version, and an older one only where the
// cluster went back to it; what another writer wrote is never written over: the Machine's edits of
// the whole chain are forgotten and it decides anew.
// Belongs to the control thread (to the one that follows, before there is one).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/decide/cluster_mail.hpp"
#include "host/kernel/kernel.hpp"
#include "host/objects/object_access.hpp"
#include "host/observe/mirror.hpp"
#include "host/outbox/cluster_store.hpp"
#include "host/outbox/outbox.hpp"

namespace sluice::host {

/// What became of requests to a cluster.
struct ClusterCounts {
  std::uint64_t stored = 0;                                       ///< and deletions that were done
  std::map<std::pair<std::string, Sent>, std::uint64_t> by_kind;  ///< the same, by kind
  std::uint64_t forgotten = 0;  ///< chains, because somebody else had written
  std::uint64_t refused = 0;    ///< for good, as told
  std::uint64_t unsure = 0;     ///< without an answer, or one of an overloaded server
};

class ClusterDoor final : public MirrorTarget {
 public:
  /// All must outlive it. `objects`: that which `store` is over.
  ClusterDoor(Kernel& kernel, ClusterStore& store, LiveStore& objects, Outbox& outbox);

  /// From now on changes are passed to the kernel, which has loaded the objects.
  void lead();

  void take(std::vector<Letter> letters);
  void answered(const ClusterAnswer& answer, Duration now);
  /// Of each write that the cluster refused for good since the last call, once: what it is about
  /// is told so. An object that is not there cannot be: whose it was to be is told.
  std::vector<EventNote> take_refusals() { return std::exchange(refusals_, {}); }
  const Mirror& mirror() const { return mirror_; }
  const ClusterCounts& counts() const { return counts_; }

  // MirrorTarget
  const StoredObject* find(const api::KindInfo& kind, const std::string& key) const override;
  std::vector<std::string> keys(const api::KindInfo& kind) const override;
  void put(PreparedObject object) override;
  bool erase(const api::KindInfo& kind, const std::string& key) override;
  void unread(const api::KindInfo& kind, const std::string& key) override;
  void settle() override;

 private:
  /// The list of a kind that comes in.
  struct Listing {
    std::uint64_t version = 0;
    /// The cluster is in an earlier state than it was: what is known of it holds no more.
    bool went_back = false;
  };

  void list_begins(const Letter& letter);
  void list_ends(const api::KindInfo& kind);
  bool is_certain(const OutboxPlace& place) const;
  void hear(Heard heard);
  std::vector<Forgotten> forget(const OutboxPlace& place, Hearing how);
  void restore(Forgotten forgotten);
  void restore_all(std::vector<Forgotten> forgotten);
  void let_go(const OutboxPlace& place);
  void take_heard();
  void stored(const ClusterAnswer& answer, boost::json::object object);
  void was_read(const ClusterAnswer& answer, Duration now);
  void ask_again(std::uint64_t id, Duration now, bool read);
  void refused(const ClusterAnswer& answer, Duration now);
  void note_refusal(std::uint64_t id, const std::string& told);

  Kernel& kernel_;
  ClusterStore& store_;
  LiveStore& objects_;
  Outbox& outbox_;
  Mirror mirror_;
  ClusterCounts counts_;
  std::vector<EventNote> refusals_;
  bool leads_ = false;
  std::unordered_map<const api::KindInfo*, Listing> listings_;      // that have begun
  std::unordered_map<const api::KindInfo*, std::uint64_t> newest_;  // version that was heard of
  const Listing* ends_ = nullptr;    // what it does not have is being erased
  std::optional<Forgotten> before_;  // of an object whose chain was forgotten, while it is taken
};

}  // namespace sluice::host
