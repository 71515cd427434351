// BegunAttempts: which attempts at checks plugins were told to begin, and how that went.
//
// It is only in memory: after a restart everything begins again, which plugins take as a repeat.
// Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/time.hpp"
#include "core/types/kinds.hpp"

namespace sluice::host {

struct BegunAttempt {
  std::string ns, name, uid;  ///< of the workload
  std::string controller;     ///< spec.controllerName when it began
  std::uint64_t attempt = 0;
  bool again = false;        ///< its plugin was started again, and knows nothing of it
  bool sure = false;         ///< its plugin said that it began
  std::string trouble = {};  ///< it did not begin: the sentence for the check's state
  int failures = 0;          ///< in a row, of this attempt
  Time again_at = 0;         ///< after the last of them; not before, whatever changes meanwhile
};

class BegunAttempts {
 public:
  /// nullptr: none. Workloads are named by their keys. Valid until the attempt is noted anew or
  /// ended.
  BegunAttempt* find(const std::string& workload, const std::string& check);
  bool has(const std::string& workload) const { return by_workload_.contains(workload); }
  /// In place of an earlier one of the check; failures of the same attempt count on.
  BegunAttempt& note(const api::ObjectMeta& workload, const std::string& check,
                     const std::string& controller, std::uint64_t attempt);
  /// It did not begin, once more: it is tried again after a second, two, four, …
  BegunAttempt& note_failure(const api::ObjectMeta& workload, const std::string& check,
                             const std::string& controller, std::uint64_t attempt,
                             const std::string& trouble, Time now);

  /// The keys of the workloads of which a controller's plugin began something. O(attempts).
  std::vector<std::string> workloads_of(std::string_view controller) const;
  /// The plugin was started again, and knows nothing of them. O(attempts).
  void begin_again(std::string_view controller);
  /// Ends those of a workload for which `over` says so.
  void end_if(const std::string& workload,
              const std::function<bool(const std::string& check, const BegunAttempt&)>& over);

 private:
  std::unordered_map<std::string, std::map<std::string, BegunAttempt>> by_workload_;  // and check
};

}  // namespace sluice::host
