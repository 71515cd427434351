// Which kinds of a cluster a controller looks at, and what it does with them.
//
// Pure functions over filled Rules; one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "host/config/config.hpp"
#include "host/controllers/controller_loop.hpp"
#include "host/kube/follower.hpp"
#include "host/machine/rules.hpp"

namespace sluice::host {

/// What the engine and the controllers look at, in the versions in which they are kept here.
std::vector<FollowedKind> followed_kinds(const api::Scheme& scheme, const ControllerLoop& loop);
/// The same for a machine with these rules.
std::vector<FollowedKind> followed_kinds(const Configuration& config, Rules& rules);

/// What a controller may have to write of a kind.
enum class Writing : std::uint8_t {
  kNothing,
  kStatus,  ///< what it tells of queues and flavors
  kMarked,  ///< that, who answers a check (an annotation), and that nothing is in use any more
  kJob,     ///< it starts and stops what others made
  kGates,   ///< of pods, which it lets go
  kAll,     ///< workloads, and kinds that plugins bring in
};
Writing writing_of(const api::KindInfo& kind);

}  // namespace sluice::host
