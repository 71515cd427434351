// What the plan reads of a pod and of a workload, taken out of their objects once.
//
// Plain values. pod_of() and workload_of() are pure functions of the object; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/cpp/json.hpp"
#include "sluice/cpp/metadata.hpp"

namespace pods {

enum class Phase : std::uint8_t { kOpen, kSucceeded, kFailed };

struct PodSetCount {
  std::string name;
  std::int32_t count = 0;
  bool operator==(const PodSetCount&) const = default;
};

struct Pod {
  std::string name, uid;
  std::string created;            ///< as the object says it: later ones are greater
  std::string ended;              ///< when its containers stopped being ready; for ended pods
  std::string group;              ///< empty: it is alone
  std::string queue;              ///< empty: it names none
  std::string set, set_uid;       ///< lasting_set_of(); empty: there is none
  std::string role;               ///< the pod set that it belongs to
  std::string message;            ///< of its status
  std::int32_t total = 0;         ///< how many the group has; 0: it does not say, or no number
  std::vector<PodSetCount> sets;  ///< all of its group, where it says so
  std::int64_t evictions = -1;    ///< of its workload when it was started; -1: not known
  Phase phase = Phase::kOpen;
  bool fast = false;
  bool serving = false;
  bool retriable = true;
  bool gated = false;        ///< by this plugin
  bool tracked = false;      ///< it has the finalizer
  bool bound = false;        ///< it has a node
  bool terminating = false;  ///< it was deleted
  bool stopped = false;      ///< it was told to end because of its workload
  bool ready = false;
  bool unstarted = false;  ///< it ended, and none of its containers was ever started

  bool open() const { return phase == Phase::kOpen; }
  /// It was deleted before anything of it ran: it leaves nothing to be counted.
  bool never_ran() const { return terminating && (unstarted || (!bound && open())); }
  /// Something of it may run now.
  bool started() const { return open() && !gated && !never_ran(); }
  bool operator==(const Pod&) const = default;
};

/// Of an object of kind Pod that this plugin queues.
Pod pod_of(const sluice::Json& pod);
/// Whether the pod is one that this plugin queues.
bool is_managed(const sluice::Json& pod);

/// What a pod says of all pod sets of its group, a list; nullopt: it says nothing, or nonsense.
std::optional<sluice::Json> said_sets(const sluice::Json& pod);
/// What it says of the pods of one of them.
std::optional<sluice::Json> said_model(const sluice::Json& pod, std::string_view set);

struct Held {
  bool of_group = false;  ///< it was made for a group
  bool terminating = false;
  bool finished = false;
  bool reserved = false;  ///< it holds quota
  bool admitted = false;  ///< and is not being evicted
  bool ending = false;    ///< it is: it holds quota until nothing of it runs any more
  std::int64_t evictions = 0;
  std::string stop_reason, stop_message;  ///< of its last eviction, while that is what it is in
  std::vector<PodSetCount> pod_sets;
  std::vector<PodSetCount> given_back;  ///< of them: pods that are not needed again
  std::vector<std::string> sets;        ///< UIDs of the sets of pods that own it

  std::int64_t returned_of(std::string_view pod_set) const {
    for (const PodSetCount& each : given_back)
      if (each.name == pod_set) return each.count;
    return 0;
  }
};

Held workload_of(const sluice::Json& workload);

}  // namespace pods
