// Shapes: what pods ask for, and workloads as wholes, each kept once: equals share a number.
//
// Numbers are never given twice, so one that was noted down somewhere never comes to mean something
// else. What no workload has any more is forgotten now and then (SweepPace): a host that sees other
// pod templates every day does not grow by them. The engine's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/sweep_pace.hpp"
#include "core/base/text_map.hpp"
#include "core/model/model.hpp"
#include "core/types/resource_rules.hpp"

namespace sluice {

class Shapes {
 public:
  Shapes(Model& model, const ResourceRules& rules) : model_(model), rules_(rules) {}

  /// Valid as long as a workload of the model has it.
  const PodShape* of_pod(const std::shared_ptr<const api::PodTemplate>& pod);
  /// By its pod sets and what plugins say of it.
  std::uint32_t of_workload(const WorkloadRecord& w);
  /// Looks, when it is time to, for what no workload has any more, and for resources that nobody
  /// asks for. REQUIRES: all that are in the model have the shapes that they refer to, and nobody
  /// has a resource in hand.
  void tidy() {
    if (pace_.due()) forget_unused();
  }

  std::size_t pods() const { return pods_.size(); }
  std::size_t workloads() const { return workloads_.size(); }

 private:
  using Numbers = TextMap<std::uint32_t>;

  std::uint32_t number_of(Numbers& numbers, std::string_view text);
  void forget_unused();
  std::size_t forget_resources();

  Model& model_;
  const ResourceRules& rules_;
  std::unordered_map<const api::PodTemplate*, std::unique_ptr<PodShape>> pods_;
  Numbers texts_, workloads_;  // canonical texts of pods, and of workloads
  std::uint32_t last_ = 0;
  SweepPace pace_{1024};
};

}  // namespace sluice
