// PodGates: what stands between a job's pods and their start, as the jobs' controllers ask for it:
// the hook pod-gate/1 with the job's workloads around it (mechanisms 5).
//
// Belongs to the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/controllers/object_access.hpp"

namespace sluice::host {

struct PodGrant {
  std::string pod_set;
  std::optional<std::int64_t> pods;  ///< how many may run; absent: all
};

class PodGates {
 public:
  virtual ~PodGates() = default;
  /// Names of the scheduling gates that a new pod of the job gets.
  virtual std::vector<std::string> gates(const boost::json::object& job,
                                         const ObjectAccess& objects) = 0;
  /// How many pods of each pod set may run now. An error: nobody can say, nothing is lifted.
  virtual Result<std::vector<PodGrant>> granted(const boost::json::object& job,
                                                const ObjectAccess& objects) = 0;
};

/// Adds gates to the spec of a new pod; each name once.
void add_gates(boost::json::object& pod, const std::vector<std::string>& gates);

/// Lifts `gates` from the oldest pods of one pod set until `granted` of them are free to start;
/// `pods` are keys. Pods that ended or are being deleted count for nothing.
ApiResult<void> lift_gates(const std::vector<std::string>& pods,
                           const std::vector<std::string>& gates,
                           std::optional<std::int64_t> granted, ObjectAccess& objects);

}  // namespace sluice::host
