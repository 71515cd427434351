// Representation: the status of workloads that take no part because others stand for them.
//
// A workload that members of a group represent runs when one of them does: it is admitted with that
// member's admission and checks, evicted with its eviction, ready when its pods are, and finished
// when either of the two is. While no member is admitted its status says where each of them stands.
// Invariant, after settle(): an active one is Admitted exactly while one of its members is, one
// that is turned off only until the eviction of that member has ended, and a finished one has no
// admitted member; verify() checks it. Takes no decision about admission. The engine's thread only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/waiting.hpp"

namespace sluice {

/// Sets the conditions of one that has just lost its quota, because of `why`; `admitted`: it ran.
void tell_eviction(Model& model, WorkloadRecord& w, const Decision& why, bool admitted);

/// Of one that is off when its eviction, because of `why`, has ended.
std::string off_message(const Decision& why);

/// One more reservation that ended; `DeactivatedDueToX` counts as Deactivated with the cause X.
void count_ended_reservation(WorkloadRecord& w, std::string_view reason, std::string_view cause);

class Representation {
 public:
  Representation(Model& model, Waiting& waiting, Turn& turn)
      : model_(model), waiting_(waiting), turn_(turn) {}

  /// Something became of a workload that represents another, or is represented. No-op for all
  /// others. O(1).
  void touch(WorkloadId id);
  /// It was admitted, and for this reason it is no more, or is about to be evicted; or such an
  /// eviction has ended.
  void lost(WorkloadId member, const Decision& why);
  /// It goes, and what it is ends with it. Before its ties are undone.
  void gone(WorkloadId id);

  /// A workload that has to end now, because that which it runs as did, or the other way round; or
  /// one that `turns_off`, for which that had to end.
  struct End {
    WorkloadId id = kNone;
    std::string reason, message;
    bool turns_off = false;
  };
  /// Brings what was touched in step. O(those touched × their members).
  std::vector<End> settle();

  /// It takes part again and holds nothing of what its member held (`speaker`; kNone: there is none
  /// any more): what it said of that ends.
  void tell_loss(WorkloadId id, WorkloadId speaker);
  /// It ends, and another stands for it: where it ran stays to be seen.
  void keep_place(WorkloadId id);
  /// It was turned off because of what became of its members, and says so: evicted as the last of
  /// them was. No-op when none was.
  void give_up(WorkloadId id, const std::string& message);

  /// Aborts when the invariant is broken. O(workloads). For tests.
  void verify() const;

 private:
  void settle(WorkloadId id, std::vector<End>& ends);
  void keep_place(WorkloadRecord& w, const WorkloadRecord& member, const Holding& holding);
  void speak_as(WorkloadRecord& w, const WorkloadRecord& member);
  void speak_of_end(WorkloadRecord& w, const WorkloadRecord& member);
  void fall_silent(WorkloadRecord& w, const Decision& why);

  Model& model_;
  Waiting& waiting_;
  Turn& turn_;
  std::set<WorkloadId> touched_;  // represented ones, or ones that may be
  struct Loss {
    Decision why;
    bool counts = false;  // else it was counted when the eviction began
  };
  std::map<WorkloadId, Loss> losses_;  // by the represented one
};

}  // namespace sluice
