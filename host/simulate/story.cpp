#include "host/simulate/story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <map>
#include <set>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "core/engine/queue_views.hpp"
#include "core/model/model.hpp"
#include "core/reasons/eviction_reason.hpp"
#include "host/base/table_text.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kShownWorkloads = 40;

std::string pod_sets_text(const std::vector<api::PodSetAssignment>& assignments) {
  std::string out;
  for (const auto& assignment : assignments) {
    std::string flavors;
    std::string previous;
    for (const auto& [resource, flavor] : assignment.flavors) {
      if (!flavors.empty()) flavors += ", ";
      flavors += fmt::format("{} {}", resource, flavor);
    }
    out += fmt::format("{}{} ×{} ({})", out.empty() ? "" : "; ", assignment.name, assignment.count,
                       flavors);
  }
  return out;
}

std::string with_message(const std::string& reason, const std::string& message) {
  return message.empty() ? reason : reason + ": " + message;
}

std::string sentence(const Decision& decision, const Engine& engine) {
  switch (decision.type) {
    case DecisionType::kQuotaReserved: {
      const auto view = engine.view(decision.workload);
      if (!view.admission) return "reserves quota";
      return fmt::format("reserves quota in {}{}: {}", view.admission->cluster_queue,
                         decision.borrowing ? ", borrowing" : "",
                         pod_sets_text(view.admission->pod_sets));
    }
    case DecisionType::kAdmitted:
      return "is admitted";
    case DecisionType::kEvicted:
      if (decision.reason == eviction_reason::kPreempted)
        return fmt::format("is evicted to make room for {} ({})", decision.by, decision.preemption);
      return fmt::format("is evicted: {}", with_message(decision.reason, decision.message));
    case DecisionType::kPending:
      return fmt::format("waits: {}", with_message(decision.reason, decision.message));
    case DecisionType::kFinished:
      return fmt::format("has finished: {}", decision.reason);
    case DecisionType::kDeactivated:
      return fmt::format("is deactivated: {}", with_message(decision.reason, decision.message));
    case DecisionType::kRequeued:
      return fmt::format("is back in its queue: {}",
                         with_message(decision.reason, decision.message));
    case DecisionType::kWaitingForVictims:
      return "waits for the victims of others to be gone";
    case DecisionType::kReservationLost:
      return fmt::format("loses its reservation: {}",
                         with_message(decision.reason, decision.message));
    case DecisionType::kCheckState:
      return fmt::format("is told by check {}: {}", decision.reason,
                         with_message(decision.cause, decision.message));
    case DecisionType::kLowered:
      return fmt::format("goes on with fewer pods: {}",
                         pod_sets_text(assignment_of(engine.model(), decision.workload)));
    case DecisionType::kStatus:
      break;
  }
  return "";
}

struct QueueTotals {
  std::set<WorkloadId> holding, waiting;
  /// One that holds quota does not wait, though another that counts for it may.
  std::size_t pending() const {
    return static_cast<std::size_t>(std::count_if(
        waiting.begin(), waiting.end(), [this](WorkloadId id) { return !holding.contains(id); }));
  }
};

/// The ClusterQueue that a workload waits in or holds quota of.
std::string queue_of(const Kernel& kernel, WorkloadId id) {
  const auto view = kernel.engine().view(id);
  if (view.admission) return view.admission->cluster_queue;
  const Model& model = kernel.engine().model();
  const api::KindInfo& kind = api::kueue_kind(kernel.scheme(), "LocalQueue");
  const auto* stored = kernel.store().find(kind, model.local_queue_name(model.workloads[id]));
  if (!stored) return "";
  return api::decode_local_queue(to_object(*stored)).cluster_queue;
}

/// By the workload that each counts for, so that several that stand for one are counted once.
std::map<std::string, QueueTotals> totals_of(const Kernel& kernel) {
  std::map<std::string, QueueTotals> out;
  const Engine& engine = kernel.engine();
  for (const WorkloadId id : engine.workloads()) {
    const WorkloadState state = engine.state(id);
    if (state == WorkloadState::kFinished || state == WorkloadState::kInactive) continue;
    QueueTotals& totals = out[queue_of(kernel, id)];
    (state == WorkloadState::kPending ? totals.waiting : totals.holding)
        .insert(engine.model().counted_as(id));
  }
  return out;
}

/// What is reserved in a ClusterQueue, by flavor and resource.
std::map<std::pair<std::string, std::string>, std::int64_t> use_of(const Kernel& kernel,
                                                                   const std::string& queue) {
  std::map<std::pair<std::string, std::string>, std::int64_t> out;
  if (const auto view = queue_view(kernel.engine().model(), queue))
    for (const FlavorUse& use : view->use) out[{use.flavor, use.resource}] = use.reserved;
  return out;
}

using Rows = std::vector<std::vector<std::string>>;

void append_queues(std::string& out, const Kernel& kernel) {
  auto totals = totals_of(kernel);
  Rows rows = {{"QUEUE", "COHORT", "FLAVOR", "RESOURCE", "USED", "NOMINAL", "HOLDING", "PENDING"}};
  const api::KindInfo& kind = api::kueue_kind(kernel.scheme(), "ClusterQueue");
  for (const StoredObject* stored : kernel.store().list(kind)) {
    const auto queue = api::decode_cluster_queue(to_object(*stored));
    const QueueTotals& total = totals[stored->key];
    auto reserved = use_of(kernel, stored->key);
    bool first = true;
    for (const auto& group : queue.resource_groups) {
      for (const auto& quotas : group.flavors) {
        for (const auto& quota : quotas.resources) {
          const auto used =
              api::engine_quantity(quota.resource, reserved[{quotas.flavor, quota.resource}]);
          std::vector<std::string> row = {first ? stored->key : "",
                                          first ? queue.cohort : "",
                                          quotas.flavor,
                                          quota.resource,
                                          used.text(),
                                          quota.nominal.text()};
          if (first) {
            row.push_back(std::to_string(total.holding.size()));
            row.push_back(std::to_string(total.pending()));
          }
          rows.push_back(std::move(row));
          first = false;
        }
      }
    }
    if (first)
      rows.push_back({stored->key, queue.cohort, "", "", "", "",
                      std::to_string(total.holding.size()), std::to_string(total.pending())});
  }
  out += table_text(rows);
}

void append_workloads(std::string& out, const Kernel& kernel) {
  const Engine& engine = kernel.engine();
  std::array<std::vector<WorkloadId>, 5> by_state;
  for (const WorkloadId id : engine.workloads())
    by_state[static_cast<std::size_t>(engine.state(id))].push_back(id);
  Rows rows = {{"WORKLOAD", "STATE", "WHERE, OR WHY NOT"}};
  std::size_t left_out = 0;
  // Those that wait come first: that is what a planner looks for.
  for (const auto state :
       {WorkloadState::kPending, WorkloadState::kInactive, WorkloadState::kQuotaReserved,
        WorkloadState::kAdmitted, WorkloadState::kFinished}) {
    for (const WorkloadId id : by_state[static_cast<std::size_t>(state)]) {
      if (rows.size() > kShownWorkloads) {
        ++left_out;
        continue;
      }
      const auto view = engine.view(id);
      std::string where = with_message(view.reason, view.message);
      if (view.admission &&
          (state == WorkloadState::kQuotaReserved || state == WorkloadState::kAdmitted))
        where = fmt::format("{}: {}", view.admission->cluster_queue,
                            pod_sets_text(view.admission->pod_sets));
      if (state == WorkloadState::kFinished) where.clear();
      rows.push_back({engine.key(id), to_string(state), where});
    }
  }
  out += table_text(rows);
  if (left_out > 0) out += fmt::format("  … and {} more; --dump FILE writes them all\n", left_out);
}

}  // namespace

std::string offset_text(Duration offset) {
  const std::int64_t hours = offset / (3600 * kSecond);
  const std::int64_t minutes = offset / (60 * kSecond) % 60;
  std::string out;
  if (hours > 0) out += fmt::format("{}h", hours);
  if (hours > 0 || minutes > 0) out += fmt::format("{}m", minutes);
  std::string seconds;
  append_seconds(seconds, offset % (60 * kSecond));
  if (seconds.ends_with(".0")) seconds.resize(seconds.size() - 2);
  return out + seconds + "s";
}

// Put together by hand: it is written for each decision, and format() decodes what it pads, to
// know how wide characters are. Times and names are ASCII.
void Story::line(Duration at, std::string_view workload, std::string_view what) {
  constexpr std::size_t kTimeWidth = 9, kNameWidth = 24;
  const std::string time = offset_text(at);
  std::string& out = output_.buffer();
  out.append(kTimeWidth - std::min(kTimeWidth, time.size()), ' ');
  out.append(time).append("  ").append(workload);
  out.append(kNameWidth - std::min(kNameWidth, workload.size()), ' ');
  out.append(" ").append(what).append("\n");
  output_.filled();
}

void Story::decided(Duration at, const Decision& decision, const Engine& engine) {
  const std::string text = sentence(decision, engine);
  if (!text.empty()) line(at, engine.key(decision.workload), text);
}

void Story::skipped(Duration at, std::string_view workload, std::string_view reason) {
  line(at, workload, fmt::format("skipped: {}", reason));
}

void Story::rested(Duration at, const Engine& engine) {
  if (!states_) return;
  std::map<WorkloadState, std::string> names;
  for (const WorkloadId id : engine.workloads()) {
    std::string& text = names[engine.state(id)];
    text += (text.empty() ? "" : ", ") + engine.key(id);
  }
  for (const auto& [state, text] : names) line(at, fmt::format("= {}", to_string(state)), text);
}

void Story::tables(Duration at, const Kernel& kernel) {
  std::string out = fmt::format("\nAfter {}:\n\n", offset_text(at));
  append_queues(out, kernel);
  out += '\n';
  append_workloads(out, kernel);
  out += '\n';
  output_.append(out);
}

}  // namespace sluice::host
