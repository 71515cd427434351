// World: an engine with queues, cohorts and flavors of a given form, and workloads by the thousand.
//
// Everything has its place by number, so that two runs see the same world. Amounts are whole cores.
// One thread only; times are processor times of that thread, so that others on the machine do not
// lengthen them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"

namespace sluice::bench {

struct Form {
  int queues = 10;
  int levels = 1;  ///< of cohorts above a queue; 0: none
  int flavors = 1;
  std::int64_t nominal = 4;  ///< of each queue in each flavor
  bool preemption = false;   ///< lower priorities in the queue, any that borrows
  bool fair_sharing = false;
  std::string check = {};  ///< AdmissionCheck of all queues; empty: none
};

/// Of this thread, in seconds.
double processor_time();

class World {
 public:
  explicit World(const Form& form);

  Engine& engine() { return engine_; }
  /// The workload of this name waits in queue number `queue` from the next step on.
  WorkloadId add(const std::string& name, int queue, std::int64_t cpu, std::int32_t priority);
  /// The same object, not handed to the engine yet.
  std::shared_ptr<api::Workload> make(const std::string& name, int queue, std::int64_t cpu,
                                      std::int32_t priority);
  void next_instant() { engine_.begin_instant(now_ += kSecond); }
  /// Cycles to rest. How long each step took goes to `steps` when that is there.
  void settle(std::vector<double>* steps = nullptr);
  /// Admissions, reservations, preemptions, evictions and reasons to wait so far.
  std::size_t decisions() const { return decisions_; }
  std::size_t evictions() const { return evictions_; }
  /// Names of those that were admitted since the last call, in order.
  std::vector<WorkloadId> take_admitted() { return std::exchange(admitted_, {}); }

 private:
  void make_cohorts(int levels, int queues);
  void make_queue(const Form& form, int number);

  Engine engine_;
  Time now_ = 0;
  std::size_t decisions_ = 0, evictions_ = 0;
  std::uint64_t made_ = 0;
  std::vector<WorkloadId> admitted_;
  std::vector<Decision> out_;
  std::vector<std::string> lowest_cohorts_;
  std::vector<std::shared_ptr<const api::PodTemplate>> pods_;  // by cores
};

}  // namespace sluice::bench
