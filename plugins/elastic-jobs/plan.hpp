// plan(): which slices a job has, and what becomes of each. A slice is a workload with all pods of
// the job at one time. The heart of the plugin: a pure function of what is there, so that a restart
// between any two steps finds its way.
//
// What holds after every plan is carried out: at most two slices are not finished; the job follows
// the older one; the newer one, if any, is larger somewhere and smaller nowhere, and waits to take
// the older one's place. A job without a slice that holds quota has exactly one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace elastic {

/// How the pod sets of a slice compare with those of the job.
enum class Match : std::uint8_t { kSame, kCounts, kOther };

struct Slice {
  std::string name;
  std::string uid;
  std::vector<std::int32_t> counts;  ///< by pod set of the job
  Match match = Match::kSame;
  bool finished = false;
  bool displaced = false;  ///< finished because another took its place, or none of it was needed
  bool reserving = false;  ///< holds quota
  bool admitted = false;
  std::string replaces;  ///< name of the slice whose place it is to take; empty: none
  std::string origin;    ///< name of the first of its chain; empty: it is that itself
  std::string revision;  ///< what its name was made from
};

struct JobSnapshot {
  std::string uid;
  std::int64_t generation = 0;
  bool suspended = false;
  std::vector<std::int32_t> counts;  ///< that it wants now
  /// Finished ones too, the oldest first. Those of one second may come in any order: their
  /// revisions tell.
  std::vector<Slice> slices;
};

/// A further slice; it has the counts of the job.
struct NewSlice {
  std::string revision;
  std::string replaces;  ///< empty: the first of a chain
  std::string origin;
};

struct EndedSlice {
  std::string name, reason, message;
};

struct Plan {
  std::string speaker;  ///< empty: there is none yet
  std::string resize;   ///< gets the job's counts (a holder only lower ones)
  std::optional<NewSlice> create;
  std::vector<EndedSlice> finish;
  std::vector<std::string> remove;  ///< finished ones beyond the history
  bool recreate = false;            ///< the pods themselves changed: start over
};

/// `history`: how many finished slices are kept.
Plan plan(const JobSnapshot& job, std::size_t history);

/// What the proposal says of a slice whose place was taken.
std::string replaced_message(const std::string& uid, const std::string& job_uid);

}  // namespace elastic
