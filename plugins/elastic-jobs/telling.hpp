// Telling: the life of slices for people and dashboards: events on the job (on the slice, when its
// place is taken) and counters.
//
// For [control] calls, one at a time. Counters start at 0 with the host.
#pragma once

#include <sluice/cpp/context.hpp>
#include <sluice/cpp/questions.hpp>

#include <string>
#include <unordered_map>

#include "plan.hpp"

namespace elastic {

/// The object that owns a slice.
struct JobRef {
  std::string kind;  ///< GROUP/KIND
  std::string ns, name;
};

class Telling {
 public:
  explicit Telling(const sluice::Context& context);

  /// The plan asks for a growth. Reported once, however often it is asked for.
  void created(const JobRef& job, const std::string& uid, const NewSlice& slice,
               const std::string& size);
  /// What the host decided about a workload that opts in.
  void decided(const sluice::Notification& told);

 private:
  void tell(bool warning, const sluice::Workload& slice, std::string_view reason,
            const std::string& message) const;

  sluice::Context context_;
  sluice::Metric created_, admitted_, replaced_, superseded_, failed_;
  /// The revision that was reported last, by the UID of the job.
  std::unordered_map<std::string, std::string> told_;
};

}  // namespace elastic
