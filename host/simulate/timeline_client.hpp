// TimelineClient: plays manifests and the events of Timelines as a client of the machine: each
// becomes the write request that kubectl would send.
//
// An object that is there already is applied as `kubectl apply` does it: what did not change since
// it was last applied stays as it is now. Belongs to the machine's thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "host/machine/machine.hpp"
#include "host/simulate/input.hpp"
#include "host/simulate/simulated_jobs.hpp"

namespace sluice::host {

class TimelineClient {
 public:
  /// What a request carries of a new object: the encoded form, or the tree as it came over the
  /// line, which the machine judges once more. What is decided is the same.
  enum class Bodies : std::uint8_t { kSealed, kTrees };

  /// All must outlive it.
  TimelineClient(const SimulationInput& input, Machine& machine, SimulatedJobs& jobs,
                 Bodies bodies);

  /// Creates the object, or changes what is there. `order`: its place in the input.
  ApiResult<WriteOutcome> apply(PreparedObject object, std::uint32_t order);
  ApiResult<WriteOutcome> patch(const EventTarget& target);
  ApiResult<WriteOutcome> remove(const EventTarget& target);

 private:
  ApiResult<WriteOutcome> create(PreparedObject object, std::uint32_t order);
  ApiResult<WriteOutcome> change(const ObjectRef& ref, boost::json::object said);

  Machine& machine_;
  SimulatedJobs& jobs_;
  const std::uint64_t uid_base_;
  const Bodies bodies_;
  /// As they were last applied: those objects that are applied more than once.
  std::map<ObjectRef, boost::json::object> applied_;
};

}  // namespace sluice::host
