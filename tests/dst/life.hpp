// Life: a host from its start to its death, below the API server: store, machine, controllers, and
// the pods of jobs without processes. The journal is a disk in memory that outlives it.
//
//   Life life(config, rules_of(config, clock), disk, ids, clock, nullptr);
//   life.write(…); life.turn(now);       // one instant and one commit, as a turn of the host
//
// Everything happens on the caller's thread; turn() waits until the store has written, so that the
// same calls do the same.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "host/executor/setup.hpp"
#include "host/machine/machine.hpp"
#include "host/store/live_store.hpp"
#include "tests/host/store/fixture.hpp"

namespace sluice::host::test {

/// With the plugins that the configuration names. `clock` must outlive them.
std::unique_ptr<Rules> rules_of(const Configuration& config, const PluginClock& clock);

class Life {
 public:
  /// `clock`, `ids` and `config` must outlive it; `observer` may be nullptr.
  Life(const Configuration& config, std::unique_ptr<Rules> rules,
       const std::shared_ptr<MemoryDisk>& disk, IdSource& ids, VirtualClock& clock,
       DecisionObserver* observer);

  /// As a client with all rights. `path`: resource, or `resource/namespace/name[/subresource]`.
  ApiResult<WriteOutcome> write(WriteVerb verb, std::string_view path, std::string_view body);
  /// The instant comes to rest, or as far as so many steps lead, and is committed. The error of the
  /// store; empty: it is durable.
  std::string turn(Time now, std::size_t steps = Kernel::kUnlimitedSteps);

  Machine& machine() { return machine_; }
  LiveStore& store() { return store_; }
  const api::Scheme& scheme() const { return rules_->scheme; }

 private:
  VirtualClock& clock_;
  std::unique_ptr<Rules> rules_;
  LiveStore store_;
  std::unique_ptr<ExecutorSetup> executor_;
  Machine machine_;
};

}  // namespace sluice::host::test
