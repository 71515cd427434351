// Dispatcher: carries out, for one workload at a time, what plan_of() says of what is known of it
// here and at the other places.
//
// What there is to know of a workload is read anew by Cases each time; of its own it keeps only the
// Estimates, which clusters are being asked, and what they said. Used inside the hooks that may
// write, on their thread.
#pragma once

#include <sluice/plugin.hpp>

#include <string>
#include <vector>

#include "cases.hpp"
#include "copies.hpp"
#include "estimates.hpp"
#include "plan.hpp"

namespace clusters {

class Dispatcher {
 public:
  /// `cases` must outlive it.
  Dispatcher(const sluice::Context& context, Cases& cases);

  /// The attempt is over: nothing is asked for it any more.
  void end(const sluice::CheckAttempt& attempt);
  /// Brings one workload into line everywhere. `job`: the name of its job, where that is known.
  sluice::Again settle(const WorkloadName& workload, const std::string& job = {});
  /// There is an answer to what a cluster was asked.
  sluice::Again hear(const sluice::ObjectRef& question) { return estimates_.hear(question); }

 private:
  sluice::Again settle_one(const WorkloadName& workload, const std::string& job);
  std::string refusal(const Case& of) const;
  void carry_out(const Case& of, const std::vector<Place>& places, const Plan& plan);
  void take(const Case& of, const Place& place, const Step& step);
  void note_refusals(const Case& of);
  void note_places(const Case& of, const Plan& plan);
  void show_status(const Case& of, const Place& place);
  void finish(const Case& of, const Place& place);
  void clear_status(const Case& of);
  void tell(const Case& of, const Verdict& verdict);
  bool patch_status(const sluice::ObjectRef& ref, const sluice::Json& merge, const char* what);
  Origin origin(const Case& of) const;

  sluice::Context context_;
  Cases& cases_;
  Estimates estimates_;
  sluice::Metric dispatched_, admitted_;
};

}  // namespace clusters
