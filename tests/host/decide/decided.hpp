// Decided: a controller over a pretended cluster, from its start to its death: what is listed comes
// in as letters, what it decides goes out as requests, turn by turn.
// One thread: the test's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/decide/chains.hpp"
#include "host/decide/cluster_door.hpp"
#include "host/machine/machine.hpp"
#include "host/plugins/clock.hpp"
#include "host/writes/ids.hpp"

namespace sluice::host {

/// A controller, from its start to its death.
struct Decided {
  Decided(const Configuration& config, Rules& rules, VirtualClock& time)
      : clock(time),
        objects(rules.scheme, nullptr),
        outbox(
            [this](const StoredObject& object) { return chain_of(object, store, machine.index()); },
            quota_trees([this]() -> const Model& { return machine.engine().model(); }),
            OutboxLimits()),
        store(objects, outbox, [this] { return clock.now(); }),
        machine(config, rules, {.store = store, .ids = ids, .births = &store}),
        door(machine.kernel(), store, objects, outbox) {}

  void lead(std::vector<Letter> listed) {
    door.take(std::move(listed));
    machine.begin_instant(clock.now());
    machine.load();
    door.lead();
  }
  /// One turn; what is to be sent.
  std::vector<ClusterRequest> turn() {
    machine.begin_instant(clock.now());
    machine.run_to_rest();
    return outbox.due(clock.now());
  }

  VirtualClock& clock;
  LiveStore objects;
  Outbox outbox;
  ClusterStore store;
  LiveIds ids;
  Machine machine;
  ClusterDoor door;
};

}  // namespace sluice::host
