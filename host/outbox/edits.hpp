// OutboxEdit, OutboxEntry, OutboxChain: one step of an object that a cluster does not have yet, the
// object, and all whose steps are sent one after the other (outbox.hpp says why).
//
// Invariant: an edit's entry is of the chain that has the edit, and counts it. Parts of the Outbox:
// the control thread; nobody else includes this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/objects/kinds.hpp"
#include "host/outbox/outbox.hpp"

namespace sluice::host {

struct OutboxEdit;
struct OutboxEntry;

struct OutboxChain {
  enum class Stands : std::uint8_t { kNowhere, kReady, kBehindEnds, kLater, kTelling };
  std::string name;
  std::uint64_t number = 0;
  std::deque<std::unique_ptr<OutboxEdit>> edits;
  std::vector<OutboxEntry*> entries;
  std::vector<Heard> heard;  // while something of it was under way
  Stands stands = Stands::kNowhere;
  Duration from = 0;  // kLater, kTelling
  SpareRate::For telling = SpareRate::For::kTexts;
  std::uint64_t place = 0;  // kReady: its turn; kBehindEnds: the order of its first edit
  bool tells = false;       // an edit of it may do no more than that
  bool baseless = false;    // what it rests on was forgotten while something was under way
};

struct OutboxEntry {
  OutboxPlace place;
  OutboxChain* chain = nullptr;
  std::optional<StoredObject> base;  // as the cluster has it
  std::uint64_t version = 0;
  std::size_t edits = 0;
};

struct OutboxEdit {
  enum class What : std::uint8_t { kCreate, kChange, kDelete };
  OutboxEntry* entry = nullptr;
  What what = What::kChange;
  StoredObject target;
  std::uint64_t order = 0;
  std::uint64_t id = 0;  // of the request that is under way; 0: none is
  bool gives = false;    // quota
  bool ends = false;
  std::string gives_of, ends_of;  // the ClusterQueue
  std::uint64_t with_end = 0;     // the order of an end before it that is over with it; 0: of none
  bool tells = false;             // no more than that
  bool stops = false;             // a job
  bool status_alone = false;
  bool read_first = false;
  Sent stage = Sent::kMain;
  bool removes_first = false;  // the request is of what goes before the admission is applied
  int failures = 0;
  Duration from = 0;
  Duration sent_at = 0;  // the request that is under way

  bool deletes_a_pod() const { return what == What::kDelete && is_pod(*entry->place.kind); }
};

/// That `after` was made of `before`; nullptr: they are the same.
std::unique_ptr<OutboxEdit> edit_of_change(const StoredObject& before, const StoredObject& after);
/// That the object is to be gone.
std::unique_ptr<OutboxEdit> edit_of_removal(const StoredObject& before);
std::unique_ptr<OutboxEdit> edit_of_creation(StoredObject object);

/// What is asked of an API server next; nullopt: the edit has nothing more to say.
std::optional<ClusterRequest> request_of(OutboxEdit& edit);

/// Where the stop of a job goes among the chain's edits: behind the last one that only ends quota,
/// unless that, or the last edit of the job itself, or what was asked for already, stands there.
std::size_t place_of_stop(const OutboxChain& chain, const OutboxEntry& entry);

/// Whether the change of a job, or the deletion of a pod, follows in the chain that had this end,
/// and the end is over only with that. `in_midst`: a pod was deleted already, of several that had
/// this quota together; then only another pod counts, and none behind the next end. What gives
/// quota ends the search: it may wait for ends itself, and for it nobody may wait who gives.
bool goes_on_with_a_stop(OutboxChain& chain, std::uint64_t end, bool in_midst);

}  // namespace sluice::host
