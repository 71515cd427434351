// Estimates: asks the clusters of each check which of them would start its workloads first, and
// tells where they are to be sent.
//
// What to ask next is decided by Asking, what an answer means by forecast.hpp; this is the way to
// the clusters and back. Of clusters that answer no such questions it remembers that for a while.
// Used inside the hooks that may write, on their thread.
#pragma once

#include <sluice/plugin.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "asking.hpp"
#include "cases.hpp"
#include "plan.hpp"

namespace clusters {

class Estimates {
 public:
  /// `cases` must outlive it. `settle`: it is known where the workload is to be sent.
  Estimates(const sluice::Context& context, const Cases& cases,
            std::function<void(const WorkloadName&)> settle)
      : context_(context), cases_(cases), settle_(std::move(settle)) {}

  /// Where the workload is to be sent; nullopt: nothing is known yet.
  std::optional<std::vector<std::string>> place_of(const Case& of) const;
  void forget(const std::string& check, const WorkloadName& workload);
  /// What its plan says of asking, and what of it has arrived. When to look again.
  sluice::Again follow(const Case& of, const std::vector<Place>& places, const Plan& plan);
  /// There is an answer to what a cluster was asked.
  sluice::Again hear(const sluice::ObjectRef& question);

 private:
  sluice::Again go_on(const std::string& check);
  bool put(const std::string& cluster, const std::string& check, const sluice::Json& question);
  std::vector<std::string> who_tells(const std::string& check) const;

  sluice::Context context_;
  const Cases& cases_;
  const std::function<void(const WorkloadName&)> settle_;
  std::map<std::string, Asking> asking_;              // by check
  std::map<std::string, std::int64_t> silent_until_;  // clusters that answer no questions
};

/// The earlier of the two.
sluice::Again sooner(sluice::Again one, sluice::Again other);

}  // namespace clusters
