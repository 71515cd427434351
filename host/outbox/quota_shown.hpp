// What the stored status of a workload says of its quota: whether it holds any, and which.
//
// Pure functions of our own compact texts; any thread. Views point into the text.
#pragma once

#include <string>
#include <string_view>

#include "host/objects/kinds.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

struct QuotaShown {
  bool held = false;           ///< QuotaReserved, and it has not finished
  std::string_view admission;  ///< the text of status.admission; empty without one

  /// The ClusterQueue that the admission names; empty without one.
  std::string queue() const;
};

/// Of a Workload's status; holds nothing when the text is empty.
QuotaShown quota_shown(std::string_view status);

/// Whether the step from one to the other gives quota that was not held, ends what was held.
bool gives_quota(const QuotaShown& before, const QuotaShown& after);
bool ends_quota(const QuotaShown& before, const QuotaShown& after);

/// Both say the same of what the workload holds and of what became of it: admission, and each
/// condition's type and status but for those that are only told (texts, times, PodsReady).
bool same_course(std::string_view one_status, std::string_view other_status);

/// The same, but that the second one has finished.
bool same_but_end(std::string_view open_status, std::string_view finished_status);
/// Both say the same, at most at other times.
bool same_but_times(std::string_view one_status, std::string_view other_status);

/// Whether the change is there for people alone, so that it may wait and be left out: another
/// status of a queue, another reason to wait. Both are the same object.
bool only_tells(const StoredObject& before, const StoredObject& after);
/// Whether a workload waits for the same reasons, at most said in other words.
bool same_reasons(const StoredObject& before, const StoredObject& after);

}  // namespace sluice::host
