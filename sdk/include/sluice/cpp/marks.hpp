// Names that the host and plugins of different authors share: annotations by which one says what
// another has to know, reasons of notifications, and who counts as a controller.
//
// The annotations but for kRuntimeAnnotation are marks: only the system and, where its schema lists
// the mark, a plugin write them (docs/plugins/schema.md), so what they say was not written by a
// user. Pure, any thread.
#pragma once

#include <string_view>

namespace sluice {

namespace mark {

/// On a workload: the plugins that claim it (docs/plugins/workload-traits.md), with commas between.
inline constexpr std::string_view kClaimedBy = "sluice.dev/claimed-by";
/// On a claimed workload: it stands aside, and what its status shows is held by another workload.
inline constexpr std::string_view kTakesNoPart = "sluice.dev/takes-no-part";
/// On a workload that is to take the place of another: the name of that one. While that runs, its
/// pods run on and need nothing new; a check that provides capacity counts them out.
inline constexpr std::string_view kTakesOverFrom = "sluice.dev/takes-over-from";
/// On a job, or a Workload that is nobody's: the user who created it.
inline constexpr std::string_view kCreatedBy = "sluice.dev/created-by";

}  // namespace mark

namespace told {

/// The reason of a notification (post-admit/1) of what was decided before the plugin was started.
inline constexpr std::string_view kPresentState = "PresentState";
/// The reason of an eviction that is none of the host's: the workload held quota and is gone.
inline constexpr std::string_view kDeleted = "Deleted";

}  // namespace told

/// On a job or its pods, by its user: how long it runs where nothing is started.
inline constexpr std::string_view kRuntimeAnnotation = "sluice.dev/runtime";

/// Whether `user` makes objects in the namespace as a controller does: the system, or who acts as a
/// service account of another namespace, as the controllers of a cluster do. Nobody: the host.
constexpr bool is_controller(std::string_view user, std::string_view ns) {
  constexpr std::string_view kSystem = "system:", kAccount = "system:serviceaccount:";
  if (user.empty()) return true;
  if (!user.starts_with(kAccount)) return user.starts_with(kSystem) && user != "system:anonymous";
  user.remove_prefix(kAccount.size());
  return user.substr(0, user.find(':')) != ns;
}

}  // namespace sluice
