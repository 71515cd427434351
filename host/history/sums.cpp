#include "host/history/sums.hpp"

#include <algorithm>

namespace sluice::host {
namespace {

void add_amount(std::vector<ResourceSum>& held, NameId resource, double amount_ms) {
  const auto found = std::find_if(
      held.begin(), held.end(), [&](const ResourceSum& each) { return each.resource == resource; });
  if (found != held.end())
    found->amount_ms += amount_ms;
  else
    held.push_back({resource, amount_ms});
}

/// How much of [begin, end) lies in [from, to).
double share(Millis begin, Millis end, Millis from, Millis to) {
  if (end <= begin) return begin >= from && begin < to ? 1 : 0;
  const Millis in = std::min(end, to) - std::max(begin, from);
  return in <= 0 ? 0 : static_cast<double>(in) / static_cast<double>(end - begin);
}

std::size_t place_of(const std::vector<GroupBy>& by, bool (*is)(GroupBy)) {
  const auto found = std::find_if(by.begin(), by.end(), is);
  return found == by.end() ? kMostGroupings : static_cast<std::size_t>(found - by.begin());
}

}  // namespace

/// A stretch of time.
struct Sums::Window {
  Millis from = 0, to = 0;
  Millis group = 0;  ///< the minute, hour, day or month that it is of
  bool holds(Millis moment) const { return moment >= from && moment < to; }
};

void Sum::add(const Sum& other) {
  started += other.started;
  running += other.running;
  for (std::size_t i = 0; i < kOutcomes; ++i) ended[i] += other.ended[i];
  wait_ms += other.wait_ms;
  wait_ms_max = std::max(wait_ms_max, other.wait_ms_max);
  run_ms += other.run_ms;
  for (const ResourceSum& each : other.held) add_amount(held, each.resource, each.amount_ms);
  cpu_us += other.cpu_us;
  cpu_milli_ms_known += other.cpu_milli_ms_known;
  memory_peak = std::max(memory_peak, other.memory_peak);
}

bool RowFilter::takes(const RunRow& row) const {
  const auto differs = [](NameId wanted, NameId found) { return wanted != 0 && wanted != found; };
  if (differs(user, row.user) || differs(queue, row.queue) ||
      differs(cluster_queue, row.cluster_queue))
    return false;
  return flavor == 0 || std::any_of(row.holds.begin(), row.holds.end(),
                                    [&](const HeldRow& each) { return each.flavor == flavor; });
}

std::size_t Sums::Hash::operator()(const GroupKey& key) const {
  std::uint64_t hash = 0x9e3779b97f4a7c15U;
  for (const auto* list : {&key.first, &key.second})
    for (const std::int64_t each : *list) {
      hash = (hash ^ static_cast<std::uint64_t>(each)) * 0xff51afd7ed558ccdU;
      hash ^= hash >> 32U;
    }
  return hash;
}

Sums::Sums(const HistoryQuery& query, const RowFilter& filter, NameId cpu, Millis now)
    : query_(query),
      filter_(filter),
      cpu_(cpu),
      now_(now),
      flavor_place_(place_of(query.by, [](GroupBy by) { return by == GroupBy::kFlavor; })),
      time_place_(place_of(query.by, is_time)) {}

GroupKey Sums::key_of(const RunRow& row, Millis time) const {
  GroupKey out;
  for (std::size_t i = 0; i < query_.by.size(); ++i) {
    std::int64_t& value = out.first[i];
    switch (query_.by[i]) {
      case GroupBy::kUser:
        value = row.user;
        break;
      case GroupBy::kNamespace:
        value = row.ns;
        break;
      case GroupBy::kQueue:
        value = row.ns;
        out.second[i] = row.queue;
        break;
      case GroupBy::kClusterQueue:
        value = row.cluster_queue;
        break;
      case GroupBy::kPriorityClass:
        value = row.priority_class;
        break;
      case GroupBy::kOutcome:
        value = static_cast<std::int64_t>(row.outcome);
        break;
      case GroupBy::kReason:
        value = row.reason;
        break;
      case GroupBy::kFlavor:  // by each that it holds
        break;
      case GroupBy::kMinute:
      case GroupBy::kTenMinutes:
      case GroupBy::kHour:
      case GroupBy::kDay:
      case GroupBy::kMonth:
        value = time;
        break;
    }
  }
  return out;
}

/// `flavor` 0: of all that the filter lets through.
Sum Sums::part(const RunRow& row, const Window& window, NameId flavor) const {
  Sum out;
  const Millis end = row.ended != 0 ? row.ended : std::max(now_, row.since);
  if (row.admitted != 0 && window.holds(row.admitted)) {
    out.started = 1;
    out.wait_ms = out.wait_ms_max = row.admitted - row.queued;
  }
  if (row.ended == 0 && window.holds(std::min(end, query_.to - 1))) out.running = 1;
  if (row.ended != 0 && window.holds(row.ended))
    out.ended[static_cast<std::size_t>(row.outcome)] = 1;
  if (row.reserved == 0) return out;
  const double lies_in = share(row.reserved, end, window.from, window.to);
  double cpu = 0, cpu_here = 0;  // over all flavors, and over those that are asked for
  for (const HeldRow& each : row.holds) {
    const double amount_ms = held_in_all(row, each, now_);
    if (each.resource == cpu_) cpu += amount_ms;
    if ((flavor != 0 && each.flavor != flavor) ||
        (filter_.flavor != 0 && each.flavor != filter_.flavor))
      continue;
    if (each.resource == cpu_) cpu_here += amount_ms;
    if (lies_in > 0) add_amount(out.held, each.resource, amount_ms * lies_in);
  }
  if (row.admitted == 0) return out;
  const double runs_in = share(row.admitted, end, window.from, window.to);
  out.run_ms = runs_in * static_cast<double>(end - row.admitted);
  if (row.used.pods == 0 || runs_in <= 0) return out;
  const double part_of_flavors = cpu > 0 ? cpu_here / cpu : 1;
  out.cpu_us = static_cast<double>(row.used.cpu_us) * runs_in * part_of_flavors;
  out.cpu_milli_ms_known = cpu_here * lies_in;
  out.memory_peak = row.used.memory_peak;
  return out;
}

void Sums::add_window(const RunRow& row, const Window& window) {
  const Sum all = part(row, window, 0);
  total_.add(all);
  GroupKey key = key_of(row, window.group);
  if (flavor_place_ == kMostGroupings || row.holds.empty()) return groups_[key].add(all);
  NameId last = 0;
  for (const HeldRow& each : row.holds) {  // in order of flavors
    if (each.flavor == last || (filter_.flavor != 0 && each.flavor != filter_.flavor)) continue;
    last = each.flavor;
    key.first[flavor_place_] = each.flavor;
    groups_[key].add(part(row, window, each.flavor));
  }
}

void Sums::add(const RunRow& row) {
  ++work_;
  if (!filter_.takes(row)) return;
  // Its wait counts when it starts, so a run that only waits in the window has no part in it.
  const Millis begin = row.reserved != 0 ? row.reserved : row.ended;
  const Millis end = row.ended != 0 ? row.ended : std::max(now_, row.since);
  if (begin >= query_.to || end < query_.from) return;
  if (time_place_ == kMostGroupings) return add_window(row, {query_.from, query_.to, 0});
  const GroupBy by = query_.by[time_place_];
  for (Millis at = begin_of(by, std::max(begin, query_.from)); at <= end && at < query_.to;
       at = end_of(by, at)) {
    ++work_;
    add_window(row, {std::max(at, query_.from), std::min(end_of(by, at), query_.to), at});
  }
}

}  // namespace sluice::host
