// SimulationInput: all that a simulation starts from, read and checked as a whole: the objects of
// the manifests in the order in which they are applied, and the events of all Timelines by time.
//
// Everything that can be wrong without running is found here, so that bad input changes nothing
// and prints nothing. Loading belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/manifests/manifests.hpp"
#include "host/objects/intake.hpp"
#include "host/objects/job_pages.hpp"
#include "host/simulate/places.hpp"

namespace sluice::host {

/// So many mistakes of an input are told; finding the place of one reads its file.
inline constexpr std::size_t kMaxMistakes = 20;

/// What a delete, patch or finish names.
struct EventTarget {
  const api::KindInfo* kind = nullptr;  ///< of a finish: nullptr when it named none
  std::string key;
  bool status = false;  ///< patch: of the status subresource
  std::string merge;    ///< patch: JSON
};

struct TimelineEvent {
  enum class Type : std::uint8_t { kApply, kDelete, kPatch, kFinish };
  Duration at = 0;  ///< since the start
  Type type = Type::kApply;
  std::uint32_t order = 0;  ///< document order, from 1
  PlaceRef place;
  PreparedObject object;                ///< kApply
  std::unique_ptr<EventTarget> target;  ///< all others
};

struct InitialObject {
  PreparedObject object;
  std::uint32_t order = 0;
  PlaceRef place;
};

struct SimulationInput {
  Time start = 0;  ///< virtual time of offset 0s
  /// The manifests show the state at this offset, after its instant: earlier events are done.
  std::optional<Duration> from;
  std::vector<InitialObject> objects;
  std::vector<TimelineEvent> events;
  std::uint64_t uid_base = 0;  ///< generated UIDs count on from here
  Places places;
  std::vector<std::string> warnings;
};

/// The objects JobKind of the manifests, which are needed before all others. What cannot be read is
/// left out, because load_input() tells of it; so are those in what can be read only once.
JobPages find_pages(const std::vector<std::string>& paths, ManifestLimits limits);

/// Errors have one line per mistake, each with `file:line`. `threads`: as many prepare objects; 0:
/// all cores. They are gone when it returns.
Result<SimulationInput> load_input(const std::vector<std::string>& paths,
                                   const ManifestLimits& limits, Intake& intake, int threads);

/// The UID of the n-th object that came without one; texts sort as the numbers do.
std::string generated_uid(std::uint64_t n);

}  // namespace sluice::host
