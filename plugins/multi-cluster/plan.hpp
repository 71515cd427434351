// What becomes of one workload that has the check: which copies are made or withdrawn where, where
// its job is made, what the check says. Pure: from what is known now to what is to be done now;
// called again whenever anything of it changes, so that whatever was lost on the way is made up.
//
// Invariant: a job is made only at the place that was chosen for the present attempt, and a place
// is chosen only when nothing of an earlier attempt is left at any place that can be reached, nor
// at the one that was chosen before, unless that one was lost for too long. No copy and no job is
// made while the workload waits for another check here: it could not be admitted, and its job ran.
#pragma once

#include <sluice/plugin.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clusters {

/// A copy of the workload at a place.
struct WorkloadCopy {
  bool there = false;
  std::string name;
  std::uint64_t attempt = 0;  ///< for which it was made; 0: for another workload of the same name
  std::string uid;
  bool deleting = false, held = false;  ///< held: it has the finalizer of one that is in use
  bool reserved = false, admitted = false, finished = false;
  bool stopped = false;         ///< evicted
  std::string reason, message;  ///< of its end
  std::string owner;            ///< the job that it is of; empty: none yet
  std::int64_t priority = 0;
  std::int64_t size = 0;
  bool may_get_less = false;  ///< it names a minCount
};

/// The job at a place, as it was at one moment.
struct JobCopy {
  bool there = false;
  std::uint64_t attempt = 0;
  std::string uid;
  bool deleting = false, suspended = false;
  bool ended = false;  ///< its status says so
  std::int64_t size = 0;
  sluice::Json status;  ///< what is shown is what was judged, whatever it has become since
};

/// A write that has no outcome yet, or a bad one.
struct Writing {
  bool waiting = false, failed = false;
  std::int64_t rests_ms = 0;  ///< so long nothing is tried again, after one that failed
  std::int64_t code = 0;
  std::string message;
};

struct Place {
  std::string name;
  bool nominal = true;     ///< of the check's configuration; else only what is left there matters
  bool reachable = false;  ///< connected, and its mirror complete
  std::int64_t lost_for_ms = 0;     ///< when it is not
  std::int64_t refused_for_ms = 0;  ///< so long it refuses to make the job; 0: it does not
  WorkloadCopy workload;
  JobCopy job;
  bool grown = false;  ///< of a growth: the job has its size there
  bool stiff = false;  ///< a job that changes its size is ended there
  Writing workload_write, job_write;
};

struct Local {
  bool there = false, finished = false;
  bool wants = false;        ///< it has its quota, and its check is Pending or Ready
  bool ready = false;        ///< it is Ready
  std::string other_checks;  ///< those that are not Ready, by name; empty: all are
  std::uint64_t attempt = 0;
  std::string chosen;  ///< the place that was; empty: none
  std::vector<std::string> nominated;
  std::optional<std::vector<std::string>> suggested;  ///< to be nominated, of asks_first
  std::int64_t nominated_for_ms = 0;                  ///< how long those had their turn
  bool job_suspended = true;
  bool job_active = false;  ///< its status says that pods of it run, or come to their end
  std::int64_t priority = 0;

  // Of a job that may change its size, which has a workload for each.
  bool elastic = false;
  bool growth = false;        ///< it is to take the place of one that runs …
  std::string runs_at;        ///< … there; empty: that one has no place yet
  bool goes_on = false;       ///< another workload of the job has quota: the job is that one's
  std::int64_t own_size = 0;  ///< of this workload
  std::int64_t size = 0;      ///< that the job is to have elsewhere
};

struct Policy {
  bool wait_for_admission = false;  ///< a place keeps it when it admits it, not when it reserves
  bool one_by_one = false;          ///< a few places at a time
  bool asks_first = false;          ///< the place that says that it starts it first, for a round
  std::size_t step = 3;
  std::int64_t round_ms = 5 * 60 * 1000;
  std::int64_t lost_timeout_ms = 15 * 60 * 1000;
};

struct Step {
  enum class What : std::uint8_t {
    kMakeWorkload,
    kMakeJob,
    kRemoveWorkload,
    kRemoveJob,
    kLetGo,     ///< takes the finalizer from a workload that is being deleted and has no job
    kPriority,  ///< the copy gets the workload's present priority
    kResize,    ///< the job gets the size that it is to have
  };
  std::string place;
  What what = What::kMakeWorkload;
  bool operator==(const Step&) const = default;
};

struct Verdict {
  enum class State : std::uint8_t { kPending, kReady, kRetry, kRejected };
  State state = State::kPending;
  std::string message;
  std::int64_t after_ms = 0;  ///< kRetry: not before
  bool operator==(const Verdict&) const = default;
};

struct Plan {
  std::vector<Step> steps;
  std::optional<Verdict> verdict;
  std::optional<std::string> choose;  ///< to note; empty: none any more
  std::optional<std::vector<std::string>> nominate;
  std::string show_status_of;  ///< the place whose job's status the job is to show; empty: none
  bool ask = false;            ///< which places are to be nominated
  bool finish = false;         ///< with that of the copy at show_status_of
  bool job_is_gone = false;    ///< the job's status says pods run, and none does
  std::int64_t again_ms = 0;   ///< 0: when something changes
};

/// `places` in the order of the configuration, then those of others.
Plan plan_of(const Local& local, const std::vector<Place>& places, const Policy& policy);

}  // namespace clusters
