#include "host/simulate/report/run_record.hpp"

#include <cstring>

#include "core/types/amount.hpp"

namespace sluice::host {
namespace {

template <typename Number>
void append_bytes(std::string& key, Number number) {
  char bytes[sizeof(Number)];
  std::memcpy(bytes, &number, sizeof(Number));
  key.append(bytes, sizeof(Number));
}

/// What a reservation takes, added to or taken from what is used.
class UseOfEvents {
 public:
  UseOfEvents(const std::vector<ReportWorkload>& workloads, ReportTables& tables)
      : workloads_(workloads), tables_(tables), held_(workloads.size()) {
    pods_ = tables.texts.intern("pods");
  }

  void take(const RunEvent& event) {
    if (workloads_[event.workload].shape == kNotThere) return;
    release(event);
    Held& held = held_[event.workload];
    held.place = event.what;
    // One that is lowered stays where it is.
    if (const StringId queue = tables_.places[event.what].queue; queue != 0) held.queue = queue;
    count(event, +1);
  }

  void release(const RunEvent& event) {
    if (held_[event.workload].place == kNotThere) return;
    count(event, -1);
    held_[event.workload].place = kNotThere;
  }

  UseRecord take_record() { return std::move(record_); }

 private:
  struct Held {
    std::uint32_t place = kNotThere;
    StringId queue = 0;
  };

  void count(const RunEvent& event, int sign) {
    const Held held = held_[event.workload];
    const ReportPlace& place = tables_.places[held.place];
    const ReportShape& shape = tables_.shapes[workloads_[event.workload].shape];
    for (const ReportPods& pods : place.pods) {
      for (const auto& [resource, flavor] : pods.flavors) {
        const Amount amount =
            multiply_saturating(of_one_pod(shape, pods.name, resource), sign * pods.count);
        UseSeries& series = record_.of(false, held.queue, flavor, resource);
        const std::int64_t before = series.use.empty() ? 0 : series.use.back().amount;
        UseSeries::put(series.use, event.at, add_saturating(before, amount));
      }
    }
  }

  std::int64_t of_one_pod(const ReportShape& shape, StringId pod_set, StringId resource) const {
    if (resource == pods_) return 1;
    for (const auto& pods : shape.pods) {
      if (pods.name != pod_set) continue;
      for (const auto& [name, amount] : pods.requests)
        if (name == resource) return amount;
    }
    return 0;
  }

  const std::vector<ReportWorkload>& workloads_;
  ReportTables& tables_;
  std::vector<Held> held_;  // by workload
  StringId pods_ = 0;
  UseRecord record_;
};

}  // namespace

std::uint32_t ReportTables::reason(std::string_view reason, std::string_view message) {
  const auto key = std::pair(texts.intern(reason), texts.intern(message));
  const auto [it, added] = reason_ids_.emplace(key, static_cast<std::uint32_t>(reasons.size()));
  if (added) reasons.push_back({key.first, key.second});
  return it->second;
}

std::uint32_t ReportTables::place(std::string_view queue, bool borrowing,
                                  const std::vector<api::PodSetAssignment>& pods) {
  ReportPlace place{texts.intern(queue), borrowing, {}};
  key_.clear();
  append_bytes(key_, place.queue);
  append_bytes(key_, borrowing);
  for (const auto& each : pods) {
    ReportPods& held = place.pods.emplace_back();
    held.name = texts.intern(each.name);
    held.count = each.count;
    append_bytes(key_, held.name);
    append_bytes(key_, held.count);
    append_bytes(key_, each.flavors.size());
    for (const auto& [resource, flavor] : each.flavors) {
      held.flavors.emplace_back(texts.intern(resource), texts.intern(flavor));
      append_bytes(key_, held.flavors.back().first);
      append_bytes(key_, held.flavors.back().second);
    }
  }
  const auto [it, added] = place_ids_.emplace(key_, static_cast<std::uint32_t>(places.size()));
  if (added) places.push_back(std::move(place));
  return it->second;
}

std::uint32_t ReportTables::shape(ReportShape shape) {
  key_.clear();
  for (const auto& pods : shape.pods) {
    append_bytes(key_, pods.name);
    append_bytes(key_, pods.count);
    append_bytes(key_, pods.requests.size());
    for (const auto& [resource, amount] : pods.requests) {
      append_bytes(key_, resource);
      append_bytes(key_, amount);
    }
  }
  const auto [it, added] = shape_ids_.emplace(key_, static_cast<std::uint32_t>(shapes.size()));
  if (added) shapes.push_back(std::move(shape));
  return it->second;
}

void UseSeries::put(std::vector<Point>& points, Duration at, std::int64_t amount) {
  if (!points.empty() && points.back().at == at) points.pop_back();  // what held for no time
  if (points.empty() ? amount != 0 : points.back().amount != amount) points.push_back({at, amount});
}

UseSeries& UseRecord::of(bool cohort, StringId node, StringId flavor, StringId resource) {
  const auto [it, added] = ids_.emplace(std::tuple(cohort, node, flavor, resource), series_.size());
  if (added) series_.push_back({node, flavor, resource, cohort, {}, {}});
  return series_[it->second];
}

UseRecord use_of_events(const std::vector<RunEvent>& events,
                        const std::vector<ReportWorkload>& workloads, ReportTables& tables) {
  UseOfEvents use(workloads, tables);
  for (const RunEvent& event : events) {
    if (event.type == RunEvent::kGone) {
      use.release(event);
      continue;
    }
    switch (static_cast<DecisionType>(event.type)) {
      case DecisionType::kQuotaReserved:
      case DecisionType::kLowered:
        use.take(event);
        break;
      case DecisionType::kEvicted:
      case DecisionType::kFinished:
      case DecisionType::kDeactivated:
      case DecisionType::kReservationLost:
        use.release(event);
        break;
      default:
        break;
    }
  }
  return use.take_record();
}

}  // namespace sluice::host
