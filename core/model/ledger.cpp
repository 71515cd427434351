#include "core/model/ledger.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace sluice {

std::uint32_t Ledger::new_unit() {
  if (!free_units_.empty()) {
    const std::uint32_t unit = free_units_.back();
    free_units_.pop_back();
    return unit;
  }
  units_.emplace_back();
  return static_cast<std::uint32_t>(units_.size() - 1);
}

void Ledger::end_unit(std::uint32_t unit) {
  units_[unit] = Unit();
  free_units_.push_back(unit);
}

bool Ledger::is_held(std::uint32_t unit) const {
  return std::any_of(units_[unit].begin(), units_[unit].end(),
                     [](const Share& share) { return !share.holders.empty(); });
}

void Ledger::take(WorkloadId id, const WorkloadRecord& workload) {
  SLUICE_CHECK(workload.holds_quota(), workload.key, " holds nothing");
  const Holding& holding = *workload.holding;
  if (workload.unit == kNone) return add(holding.queue, holding.usage);
  SLUICE_CHECK(workload.unit < units_.size(), workload.key, " is in unit ", workload.unit, " of ",
               units_.size());
  Unit& unit = units_[workload.unit];
  auto share = std::find_if(unit.begin(), unit.end(),
                            [&](const Share& s) { return s.queue == holding.queue; });
  if (share == unit.end()) share = unit.insert(unit.end(), Share{holding.queue, {}});
  for (const auto& [other, unused] : share->holders)
    SLUICE_CHECK(other != id, workload.key, " is counted already");
  apply_shared(*share, holding, 1);
  share->holders.emplace_back(id, &holding);
}

void Ledger::release(WorkloadId id, const WorkloadRecord& workload) {
  SLUICE_CHECK(workload.holds_quota(), workload.key, " holds nothing");
  const Holding& holding = *workload.holding;
  if (workload.unit == kNone) return subtract(holding.queue, holding.usage);
  SLUICE_CHECK(workload.unit < units_.size(), workload.key, " leaves unit ", workload.unit, " of ",
               units_.size());
  Unit& unit = units_[workload.unit];
  const auto share = std::find_if(unit.begin(), unit.end(),
                                  [&](const Share& s) { return s.queue == holding.queue; });
  SLUICE_CHECK(share != unit.end(), workload.key, " is not counted");
  const auto it = std::find_if(share->holders.begin(), share->holders.end(),
                               [id](const auto& holder) { return holder.first == id; });
  SLUICE_CHECK(it != share->holders.end(), workload.key, " is not counted");
  share->holders.erase(it);
  apply_shared(*share, holding, -1);
}

const Ledger::Share* Ledger::share_in(const Unit& unit, QueueId queue) {
  for (const Share& share : unit)
    if (share.queue == queue) return &share;
  return nullptr;
}

Amount Ledger::held_by_others(const Share& share, FrId fr) {
  Amount most = 0;
  for (const auto& [id, holding] : share.holders)
    for (const FrAmount& used : holding->usage)
      if (used.fr == fr) most = std::max(most, used.amount);
  return most;
}

void Ledger::apply_shared(const Share& share, const Holding& holding, int sign) {
  for (const FrAmount& mine : holding.usage) {
    SLUICE_CHECK(mine.amount >= 0, "a holder uses ", mine.amount, " of fr ", mine.fr);
    const Amount others = held_by_others(share, mine.fr);
    tree_.add_usage(holding.queue, mine.fr, sign * std::max<Amount>(0, mine.amount - others));
    SLUICE_CHECK(tree_.usage(holding.queue, mine.fr) >= 0, tree_.name(holding.queue),
                 " uses less than nothing of fr ", mine.fr, " after a share of ", mine.amount);
  }
}

std::vector<WorkloadId> Ledger::holders_of(std::uint32_t unit, QueueId queue) const {
  SLUICE_CHECK(unit < units_.size(), "unit ", unit, " of ", units_.size());
  std::vector<WorkloadId> ids;
  if (const Share* share = share_in(units_[unit], queue))
    for (const auto& [id, holding] : share->holders) ids.push_back(id);
  return ids;
}

std::vector<FrAmount> Ledger::marginal(const WorkloadRecord& workload, QueueId queue,
                                       std::span<const FrAmount> usage) const {
  std::vector<FrAmount> out(usage.begin(), usage.end());
  if (workload.unit == kNone) return out;
  SLUICE_CHECK(workload.unit < units_.size(), workload.key, " counts in unit ", workload.unit,
               " of ", units_.size());
  if (const Share* share = share_in(units_[workload.unit], queue))
    for (FrAmount& u : out) u.amount = std::max<Amount>(0, u.amount - held_by_others(*share, u.fr));
  return out;
}

void Ledger::add(QueueId queue, std::span<const FrAmount> usage) {
  for (const FrAmount& u : usage) tree_.add_usage(queue, u.fr, u.amount);
}

void Ledger::subtract(QueueId queue, std::span<const FrAmount> usage) {
  for (const FrAmount& u : usage) {
    tree_.add_usage(queue, u.fr, -u.amount);
    SLUICE_CHECK(tree_.usage(queue, u.fr) >= 0, tree_.name(queue), " uses less than nothing of fr ",
                 u.fr, " after ", u.amount, " was given back");
  }
}

void Ledger::clear() {
  for (Unit& unit : units_)
    for (Share& share : unit) share.holders.clear();
}

}  // namespace sluice
