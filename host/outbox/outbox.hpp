// Outbox: what a Machine decided and a cluster does not have yet, and in which order it is written.
//
// The Machine goes on with what it assumes; each step that it takes on an object becomes an *edit*
// here, which is sent as soon as nothing that it rests on is still unsent:
//
// - Edits of one *chain* are sent one after the other. A chain is everything below one owner: a
//   job, its workloads, what was made for these. So a job is let go only after the admission that
//   allows it is stored.
// - An edit that gives quota waits for all earlier ones of its quota tree that end some, of
//   whatever chain (QuotaOrder); and an end that the stop of a job follows in its chain, or the
//   deletion of pods, is over only with that. So quota is given away only after the end of the
//   workload that held it is stored, and the stop of its job. The stop goes ahead of what its chain
//   gets after that end: a job that is evicted and admitted anew is stopped, then has its place,
//   then begins there; and no two wait for each other's stop.
// - Edits that only tell (texts, statuses of queues) wait a while, join with later ones, and are
//   sent at a bounded rate, the oldest first, of what decisions leave of it (SpareRate).
// - Events rest on nothing and nothing rests on them. They wait apart until a request can be spared
//   for them; of too many the oldest are dropped.
//
// Every edit is made against the version of the object that was known; whatever the API server
// refuses is read again, and the chain is forgotten, with all gains of quota that rest on it: the
// Machine sees what the cluster has, and decides anew. Nothing that somebody else wrote is written
// over.
//
// Pure: no I/O, no clock of its own; times are of a clock that only goes forward. An edit rests on
// earlier ones only, so there is always one that can be sent. Belongs to the control thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/time.hpp"
#include "host/kube/sender.hpp"
#include "host/objects/store.hpp"
#include "host/outbox/quota_order.hpp"
#include "host/outbox/spare_rate.hpp"

namespace sluice::host {

struct OutboxLimits {
  std::size_t under_way = 64;                ///< requests without an answer
  Duration telling_waits = 1 * kSecond;      ///< what only tells
  Duration retelling_waits = 10 * kSecond;   ///< a workload's reason in other words
  SpareLimits spare;                         ///< for that, and for Events
  std::size_t events_waiting = 2'000;        ///< more are dropped
  Duration first_wait = 200 * kMillisecond;  ///< after a failure; doubled with each
  Duration longest_wait = 30 * kSecond;
};

/// What an API server was asked to do with an object.
enum class Sent : std::uint8_t { kCreate, kMain, kStatus, kDelete, kRead };

/// An object by kind and key.
struct OutboxPlace {
  const api::KindInfo* kind = nullptr;
  std::string key;
  bool operator==(const OutboxPlace&) const = default;
};

/// An object of a chain that was forgotten.
struct Forgotten {
  OutboxPlace place;
  std::optional<StoredObject> base;  ///< as the cluster has it; nullopt: not at all
  bool to_be_made = false;           ///< anew, in the end; until then nobody has it
};

/// How what a cluster says of an object is to be taken.
enum class Hearing : std::uint8_t {
  kTake,    ///< nothing is assumed of the object
  kLater,   ///< something of its chain is under way: see hear_later()
  kForget,  ///< edits were made against an earlier version: forget() its chain, then take it
};

/// What was said of an object while something of its chain was under way.
struct Heard {
  OutboxPlace place;
  std::uint64_t version = 0;
  bool gone = false;
  boost::json::object object;
  /// It is so, even if its version is lower than one that was heard before: the cluster went back
  /// to an earlier state.
  bool certain = false;
};

// What it keeps: edits.hpp.
struct OutboxChain;
struct OutboxEntry;
struct OutboxEdit;

class Outbox {
 public:
  /// The name of the chain of an object. [control thread]
  using ChainOf = std::function<std::string(const StoredObject&)>;

  Outbox(ChainOf chain_of, QuotaTrees trees, OutboxLimits limits);
  ~Outbox();

  // ---- what the Machine did

  /// It made `after` of `before`, which the cluster has in `version` unless edits are waiting.
  void edited(const StoredObject& before, const StoredObject& after, std::uint64_t version,
              Duration now);
  void removed(const StoredObject& before, std::uint64_t version);
  /// The object is to be there. False: that is under way already. An Event may be left out.
  bool create(const StoredObject& object);

  // ---- what is to be sent

  /// What may be sent now and is under way from then on.
  std::vector<ClusterRequest> due(Duration now);
  /// When due() may have something without anything else happening; nullopt: never.
  std::optional<Duration> next() const;

  // ---- what was answered. Each takes the id of a request that is under way.

  /// It was, whatever the answer is; to be called before any other.
  void answered(std::uint64_t id, Duration now);
  Sent sent(std::uint64_t id) const;
  const OutboxPlace& place(std::uint64_t id) const;
  /// What the object is to be after it.
  const StoredObject& target(std::uint64_t id) const;
  /// It is done, and the cluster has this now. Whether more edits of the object wait.
  bool stored(std::uint64_t id, StoredObject object, std::uint64_t version);
  /// A deletion is done, or there is nothing more to do.
  void done(std::uint64_t id);
  /// It is asked again: after a while, or, with `read`, reading the object comes first.
  void again(std::uint64_t id, Duration now, Duration at_least, bool read);
  /// It was read, and is what the edit was made against: now the edit.
  void unchanged(std::uint64_t id);
  /// How often in a row it was refused.
  int failures(std::uint64_t id) const;

  // ---- what the cluster has

  /// It has the object in another version now, or not any more.
  Hearing hearing(const OutboxPlace& place) const;
  /// Whether nothing of the object is left to be done before it is made: that it is gone is what
  /// that rests on. O(edits of its chain).
  bool is_to_be_made(const OutboxPlace& place) const;
  /// Keeps that until what is under way is answered. REQUIRES: hearing() is kLater.
  void hear_later(Heard heard);
  /// What was kept of chains that were answered since, in the order of their answers.
  std::vector<Heard> take_heard();
  /// Nothing of its chain is sent any more, nor of any other that was to get quota after this one
  /// would have ended some. REQUIRES: nothing of the chain is under way. O(log edits) for each edit
  /// that is forgotten.
  std::vector<Forgotten> forget(const OutboxPlace& place);
  /// Of chains that are to be forgotten with others, but had something under way that was answered
  /// since: one object of each.
  std::vector<OutboxPlace> take_baseless();

  /// Edits that are not stored yet, without Events that wait.
  std::size_t size() const { return edits_; }
  /// The same without what only tells.
  std::size_t deciding() const { return edits_ - telling_[0].size() - telling_[1].size(); }
  /// Events that were dropped.
  std::uint64_t dropped() const { return dropped_; }

 private:
  using Chain = OutboxChain;
  using Entry = OutboxEntry;
  using Edit = OutboxEdit;

  Entry& entry_of(const StoredObject& before, std::uint64_t version);
  void add(Entry& entry, std::unique_ptr<Edit> edit);
  bool join(Chain& chain, const Entry& entry, const Edit& later);
  void ready(Chain& chain);
  void pop(Chain& chain);
  void leave_if_idle(Entry& entry);
  void take_out(Chain& chain);
  void remove(Chain& chain);
  void is_idle(Chain& chain);
  void forget_chain(Chain& chain, std::vector<Forgotten>& out);
  void ready_behind_ends();
  bool blocked(Chain& chain, Edit& edit, Duration now);
  void send(Chain& chain, std::vector<ClusterRequest>& out, Duration now);
  void send_ready(std::vector<ClusterRequest>& out, Duration now);
  void send_spare(std::vector<ClusterRequest>& out, Duration now);
  bool has_room() const { return by_id_.size() < limits_.under_way; }
  Edit& edit_of(std::uint64_t id) const;

  ChainOf chain_of_;
  OutboxLimits limits_;
  std::unordered_map<std::string, std::unique_ptr<Chain>> chains_;
  std::map<std::pair<const api::KindInfo*, std::string>, std::unique_ptr<Entry>> entries_;
  std::map<std::uint64_t, Chain*> ready_;  // in the order of their turns
  using ByTime = std::map<std::pair<Duration, std::uint64_t>, Chain*>;
  std::map<std::uint64_t, Chain*> behind_ends_;  // by the order of their first edit, which gives
  ByTime later_;                                 // whose first edit has a time
  std::array<ByTime, 2> telling_;                // and is sent when it can be spared, by its sort
  std::deque<StoredObject> events_;
  QuotaOrder quota_;
  std::map<std::uint64_t, Edit*> gains_;  // the edits that give quota, by their order
  std::unordered_map<std::uint64_t, Edit*> by_id_;
  std::vector<Heard> heard_;
  std::vector<OutboxPlace> baseless_;
  std::uint64_t order_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t last_id_ = 0;
  std::uint64_t chains_made_ = 0;
  std::size_t edits_ = 0;
  std::uint64_t dropped_ = 0;
  SpareRate spare_;
};

}  // namespace sluice::host
