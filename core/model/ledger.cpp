#include "core/model/ledger.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace sluice {

std::uint32_t Ledger::new_unit() {
  units_.emplace_back();
  return static_cast<std::uint32_t>(units_.size() - 1);
}

void Ledger::take(WorkloadId id, const WorkloadRecord& workload) {
  SLUICE_CHECK(workload.holds_quota(), workload.key, " holds nothing");
  const Holding& holding = *workload.holding;
  if (workload.unit == kNone) return add(holding.queue, holding.usage);
  Unit& unit = units_[workload.unit];
  for (const auto& [other, unused] : unit.holders)
    SLUICE_CHECK(other != id, workload.key, " is counted already");
  apply_shared(unit, holding, 1);
  unit.holders.emplace_back(id, &holding);
}

void Ledger::release(WorkloadId id, const WorkloadRecord& workload) {
  SLUICE_CHECK(workload.holds_quota(), workload.key, " holds nothing");
  const Holding& holding = *workload.holding;
  if (workload.unit == kNone) return subtract(holding.queue, holding.usage);
  Unit& unit = units_[workload.unit];
  const auto it = std::find_if(unit.holders.begin(), unit.holders.end(),
                               [id](const auto& holder) { return holder.first == id; });
  SLUICE_CHECK(it != unit.holders.end(), workload.key, " is not counted");
  unit.holders.erase(it);
  apply_shared(unit, holding, -1);
}

Amount Ledger::held_by_others(const Unit& unit, QueueId queue, FrId fr) {
  Amount most = 0;
  for (const auto& [id, holding] : unit.holders) {
    if (holding->queue != queue) continue;
    for (const FrAmount& used : holding->usage)
      if (used.fr == fr) most = std::max(most, used.amount);
  }
  return most;
}

void Ledger::apply_shared(const Unit& unit, const Holding& holding, int sign) {
  for (const FrAmount& mine : holding.usage) {
    const Amount others = held_by_others(unit, holding.queue, mine.fr);
    tree_.add_usage(holding.queue, mine.fr, sign * std::max<Amount>(0, mine.amount - others));
  }
}

std::vector<WorkloadId> Ledger::holders_of(std::uint32_t unit) const {
  std::vector<WorkloadId> ids;
  for (const auto& [id, holding] : units_[unit].holders) ids.push_back(id);
  return ids;
}

std::vector<FrAmount> Ledger::marginal(const WorkloadRecord& workload, QueueId queue,
                                       std::span<const FrAmount> usage) const {
  std::vector<FrAmount> out(usage.begin(), usage.end());
  if (workload.unit == kNone) return out;
  for (FrAmount& u : out)
    u.amount = std::max<Amount>(0, u.amount - held_by_others(units_[workload.unit], queue, u.fr));
  return out;
}

void Ledger::add(QueueId queue, std::span<const FrAmount> usage) {
  for (const FrAmount& u : usage) tree_.add_usage(queue, u.fr, u.amount);
}

void Ledger::subtract(QueueId queue, std::span<const FrAmount> usage) {
  for (const FrAmount& u : usage) tree_.add_usage(queue, u.fr, -u.amount);
}

void Ledger::clear() {
  for (Unit& unit : units_) unit.holders.clear();
}

}  // namespace sluice
