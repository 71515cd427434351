// Turn: what the parts of the engine did since decisions were handed out last.
//
// Every part writes it; Engine::step() reads it and decides by it whether the instant goes on.
// Beside that it lists what has to be looked at again at rest (touched, shown); no decision about
// quota depends on it. The engine's thread only.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "core/engine/decision.hpp"
#include "core/engine/stats.hpp"
#include "core/model/model.hpp"

namespace sluice {

struct Turn {
  std::vector<Decision> decisions;
  std::vector<WorkloadId> touched;   ///< pending reasons that may have changed; may repeat
  std::set<QueueId> touched_queues;  ///< a workload came there, or a class was parked
  std::set<WorkloadId> shown;        ///< clients can read a reason of these without a decision
  std::vector<WorkloadId> faulted;   ///< heads of this step for which a plugin had no answer
  bool moved = false;                ///< between heap and parking lot, or by input
  bool progress = false;             ///< a workload was admitted or evicted in this cycle
  EngineStats stats;

  Decision& decide(DecisionType type, WorkloadId id) {
    Decision& decision = decisions.emplace_back();
    decision.type = type;
    decision.workload = id;
    return decision;
  }
};

/// Sets a condition; its time is that of the last change of its value.
void set_condition(Model& model, WorkloadRecord& w, ConditionRecord::Type type, bool value,
                   SharedText reason, SharedText message);
void set_condition(Model& model, WorkloadRecord& w, ConditionRecord::Type type, bool value,
                   std::string_view reason, std::string_view message);
/// It has quota of this queue from now on: what is said of its evictions is past.
void say_reserved(Model& model, WorkloadRecord& w, QueueRecord& queue);
/// Its condition Admitted is False: nothing runs without a reservation.
void say_unadmitted(Model& model, WorkloadRecord& w);
/// Its pods start anew: the next reservation does not wait for those to recover that this one lost.
/// False: that is what it says, or it says nothing of pods.
bool say_unready(Model& model, WorkloadRecord& w);
/// The wait that followed its eviction is over, and its time is past.
void say_backoff_finished(Model& model, WorkloadRecord& w);

}  // namespace sluice
