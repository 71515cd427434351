#include "host/metrics/readings.hpp"

#include <sys/utsname.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "host/base/version.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Collects samples by name, in the order in which the names came.
class Book {
 public:
  void add(const std::string& name, const std::string& help, MetricLabels labels, double value) {
    const auto [at, fresh] = index_.emplace(name, readings_.size());
    if (fresh) readings_.push_back({name, help, false, {}});
    readings_[at->second].samples.push_back({std::move(labels), value});
  }
  std::vector<Reading> take() { return std::move(readings_); }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<Reading> readings_;
};

/// Amounts as people write them: cpu in cores.
double shown(const std::string& resource, std::int64_t amount) {
  return static_cast<double>(amount) / (resource == "cpu" ? 1000.0 : 1.0);
}

double number(std::size_t value) { return static_cast<double>(value); }

class QueueReadings {
 public:
  QueueReadings(const Engine& engine, const ObjectAccess& objects, bool fair_sharing)
      : engine_(engine),
        objects_(objects),
        fair_sharing_(fair_sharing),
        cohorts_(cohort_views(engine.model())) {}

  std::vector<Reading> take() {
    for (const std::string& name : cluster_queues(engine_.model())) cluster_queue(name);
    local_queues();
    cohorts();
    workloads();
    return book_.take();
  }

 private:
  std::optional<json::object> object(std::string_view kind, const std::string& key) const {
    return objects_.get(api::kueue_kind(objects_.scheme(), kind), key);
  }

  void cluster_queue(const std::string& name) {
    const auto queue = queue_view(engine_.model(), name);
    const auto source = object("ClusterQueue", name);
    if (!queue || !source) return;
    const std::string cohort(api::find_text(part(*source, "spec"), "cohortName"));
    const auto put = [&](const char* metric, const char* help, MetricLabels labels, double value) {
      labels.insert(labels.begin(), {"cluster_queue", name});
      book_.add(metric, help, std::move(labels), value);
    };
    const QueueCounts& counts = queue->counts;
    constexpr const char* kPending = "Workloads that wait";
    put("kueue_pending_workloads", kPending, {{"status", "active"}},
        number(counts.pending - counts.parked));
    put("kueue_pending_workloads", kPending, {{"status", "inadmissible"}}, number(counts.parked));
    put("kueue_reserving_active_workloads", "Workloads that hold quota", {},
        number(counts.reserving));
    put("kueue_admitted_active_workloads", "Admitted workloads that have not finished", {},
        number(counts.admitted));
    const bool ending = !api::find_text(part(*source, "metadata"), "deletionTimestamp").empty();
    const std::string now = ending ? "terminating" : queue->active ? "active" : "pending";
    for (const char* status : {"pending", "active", "terminating"}) {
      put("kueue_cluster_queue_status", "1 for the status that the queue has", {{"status", status}},
          now == status ? 1 : 0);
    }
    put("kueue_cluster_queue_info", "Where the queue is among the cohorts",
        {{"parent_cohort", cohort}, {"root_cohort", root_of(cohort)}}, 1);
    if (fair_sharing_) {
      put("kueue_cluster_queue_weighted_share", "The share that fair sharing compares",
          {{"cohort", cohort}}, queue->measured_share);
    }
    resources(*queue, *source, cohort);
    for (const LocalQueueView& local : queue->local_queues) by_local_[local.key] = local;
  }

  void resources(const QueueView& queue, const json::object& source, const std::string& cohort) {
    const auto put = [&](const char* metric, const char* help, const FlavorUse& use, double value) {
      book_.add(metric, help,
                {{"cohort", cohort},
                 {"cluster_queue", queue.name},
                 {"flavor", use.flavor},
                 {"resource", use.resource}},
                value);
    };
    for (const FlavorUse& use : queue.use) {
      requested_[{queue.name, use.resource}] = 0;
      put("kueue_cluster_queue_resource_reservation", "Quota that is reserved", use,
          shown(use.resource, use.reserved));
      put("kueue_cluster_queue_resource_usage", "Quota of admitted workloads", use,
          shown(use.resource, use.used));
      put("kueue_cluster_queue_nominal_quota", "Nominal quota", use,
          shown(use.resource, use.nominal));
      for (const auto& [field, metric, help] :
           {std::tuple{"borrowingLimit", "kueue_cluster_queue_borrowing_limit", "Borrowing limit"},
            std::tuple{"lendingLimit", "kueue_cluster_queue_lending_limit", "Lending limit"}}) {
        if (const auto limit = limit_of(source, use, field)) {
          put(metric, help, use, shown(use.resource, *limit));
        }
      }
    }
  }

  static std::optional<std::int64_t> limit_of(const json::object& source, const FlavorUse& use,
                                              const char* field) {
    std::optional<std::int64_t> found;
    for_each_object(part(source, "spec"), "resourceGroups", [&](const json::object& group) {
      for_each_object(group, "flavors", [&](const json::object& flavor) {
        if (api::find_text(flavor, "name") != use.flavor) return;
        for_each_object(flavor, "resources", [&](const json::object& resource) {
          const json::value* limit = api::find(resource, field);
          if (api::find_text(resource, "name") != use.resource || !limit) return;
          found = api::engine_amount(use.resource, api::quantity_or_zero(*limit));
        });
      });
    });
    return found;
  }

  std::string root_of(const std::string& cohort) const {
    for (const CohortView& each : cohorts_)
      if (each.name == cohort) return each.root;
    return cohort;
  }

  void local_queues() {
    const api::KindInfo& kind = api::kueue_kind(objects_.scheme(), "LocalQueue");
    for (const std::string& key : objects_.keys(kind)) {
      const auto source = objects_.get(kind, key);
      if (!source) continue;
      local_queue(key, has_condition(part(*source, "status"), "Active"));
    }
  }

  void local_queue(const std::string& key, bool active) {
    const auto [ns, name] = split_key(key);
    const LocalQueueView& view = by_local_[key];
    const auto put = [&, &ns_ = ns, &name_ = name](const char* metric, const char* help,
                                                   const MetricLabels& more, double value) {
      MetricLabels labels{{"name", std::string(name_)}, {"namespace", std::string(ns_)}};
      labels.insert(labels.end(), more.begin(), more.end());
      book_.add(metric, help, std::move(labels), value);
    };
    constexpr const char* kPending = "Workloads of the LocalQueue that wait";
    put("kueue_local_queue_pending_workloads", kPending, {{"status", "active"}},
        number(view.counts.pending - view.counts.parked));
    put("kueue_local_queue_pending_workloads", kPending, {{"status", "inadmissible"}},
        number(view.counts.parked));
    if (!view.key.empty()) {  // its ClusterQueue is there
      put("kueue_local_queue_reserving_active_workloads", "Workloads that hold quota", {},
          number(view.counts.reserving));
      put("kueue_local_queue_admitted_active_workloads", "Admitted workloads, not finished", {},
          number(view.counts.admitted));
    }
    for (const char* state : {"True", "False", "Unknown"}) {
      put("kueue_local_queue_status", "1 for the value that the condition Active has",
          {{"active", state}}, state == std::string_view(active ? "True" : "False") ? 1 : 0);
    }
    for (const FlavorUse& use : view.use) {
      const MetricLabels labels{{"flavor", use.flavor}, {"resource", use.resource}};
      put("kueue_local_queue_resource_reservation", "Quota that is reserved", labels,
          shown(use.resource, use.reserved));
      put("kueue_local_queue_resource_usage", "Quota of admitted workloads", labels,
          shown(use.resource, use.used));
    }
  }

  void cohorts() {
    for (const CohortView& cohort : cohorts_) {
      const MetricLabels name{{"cohort", cohort.name}};
      book_.add(
          "kueue_cohort_info", "Where the cohort is among the cohorts",
          {{"cohort", cohort.name}, {"parent_cohort", cohort.parent}, {"root_cohort", cohort.root}},
          1);
      book_.add("kueue_cohort_subtree_admitted_active_workloads",
                "Admitted workloads, not finished, of the queues below the cohort", name,
                number(cohort.admitted));
      if (fair_sharing_)
        book_.add("kueue_cohort_weighted_share", "The share that fair sharing compares", name,
                  cohort.measured_share);
      for (const FlavorUse& use : cohort.subtree) {
        const MetricLabels labels{
            {"cohort", cohort.name}, {"flavor", use.flavor}, {"resource", use.resource}};
        book_.add("kueue_cohort_subtree_quota", "Nominal quota of the cohort and all below it",
                  labels, shown(use.resource, use.nominal));
        book_.add("kueue_cohort_subtree_resource_reservations",
                  "Quota that the queues below the cohort hold", labels,
                  shown(use.resource, use.reserved));
      }
    }
  }

  void workloads() {
    const WorkloadTally tally = tally_of(engine_.model());
    std::map<std::string, std::size_t> finished;
    for (const WorkloadTally::Finished& each : tally.finished) {
      finished[each.cluster_queue] += each.count;
      if (each.cluster_queue.empty()) continue;  // users may name LocalQueues that do not exist
      const auto [ns, name] = split_key(each.local_queue);
      book_.add("kueue_local_queue_finished_workloads", "Finished workloads that are kept",
                {{"name", std::string(name)}, {"namespace", std::string(ns)}}, number(each.count));
    }
    for (const auto& [queue, count] : finished)
      book_.add("kueue_finished_workloads", "Finished workloads that are kept",
                {{"cluster_queue", queue}}, number(count));
    unadmitted(tally);
    for (const WorkloadTally::Requested& each : tally.requested)
      requested_[{each.cluster_queue, each.resource}] = each.amount;
    for (const auto& [key, amount] : requested_)
      book_.add("kueue_cluster_queue_resource_pending", "What workloads that wait ask for",
                {{"cluster_queue", key.first}, {"resource", key.second}},
                shown(key.second, amount));
    for (const WorkloadTally::Shapes& each : tally.shapes)
      for (const auto& [status, count] :
           {std::pair{"active", each.active}, std::pair{"inadmissible", each.parked}})
        book_.add("kueue_pending_scheduling_hashes", "Different shapes of workloads that wait",
                  {{"cluster_queue", each.cluster_queue}, {"status", status}}, number(count));
  }

  void unadmitted(const WorkloadTally& tally) {
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> sums;
    for (const WorkloadTally::Unadmitted& each : tally.unadmitted) {
      sums[{each.cluster_queue, each.reason, each.cause}] += each.count;
      if (each.cluster_queue.empty()) continue;
      const auto [ns, name] = split_key(each.local_queue);
      book_.add("kueue_local_queue_unadmitted_workloads",
                "Workloads that are not admitted, by reason",
                {{"name", std::string(name)},
                 {"namespace", std::string(ns)},
                 {"cluster_queue", each.cluster_queue},
                 {"reason", each.reason},
                 {"underlying_cause", each.cause}},
                number(each.count));
    }
    for (const auto& [key, count] : sums) {
      const auto& [queue, reason, cause] = key;
      book_.add("kueue_unadmitted_workloads", "Workloads that are not admitted, by reason",
                {{"cluster_queue", queue}, {"reason", reason}, {"underlying_cause", cause}},
                number(count));
    }
  }

  const Engine& engine_;
  const ObjectAccess& objects_;
  const bool fair_sharing_;
  const std::vector<CohortView> cohorts_;
  Book book_;
  std::map<std::string, LocalQueueView> by_local_;
  std::map<std::pair<std::string, std::string>, std::int64_t> requested_;  // by queue, resource
};

/// A name of a plugin's metric in the form that Prometheus takes.
std::string metric_name(const MetricSpec& spec) {
  std::string out = spec.in_full ? spec.name : "sluice_plugin_" + spec.plugin + "_" + spec.name;
  for (char& c : out) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter) c = '_';
  }
  return out;
}

}  // namespace

std::vector<Reading> queue_readings(const Engine& engine, const ObjectAccess& objects,
                                    bool fair_sharing) {
  return QueueReadings(engine, objects, fair_sharing).take();
}

std::vector<Reading> plugin_readings(const std::vector<PluginStatus>& plugins,
                                     const std::vector<MetricSnapshot>& own) {
  Reading calls{"sluice_plugin_calls_total", "Calls of a plugin's hook", true, {}};
  Reading time{"sluice_plugin_seconds_total", "Time in a plugin's hook", true, {}};
  Reading faults{"sluice_plugin_faults_total", "Faults of a plugin's hook", true, {}};
  Reading holds{"sluice_plugin_longest_hold_seconds",
                "The longest that a plugin held up the thread that writes, at a time",
                false,
                {}};
  Reading away{"sluice_plugin_quarantined", "1 while the plugin is in quarantine", false, {}};
  for (const PluginStatus& plugin : plugins) {
    away.samples.push_back({{{"plugin", plugin.name}}, plugin.quarantined ? 1.0 : 0.0});
    holds.samples.push_back(
        {{{"plugin", plugin.name}},
         static_cast<double>(plugin.longest_hold) / static_cast<double>(kSecond)});
    for (const HookStatus& hook : plugin.hooks) {
      const MetricLabels labels{{"plugin", plugin.name}, {"hook", std::string(hook.hook)}};
      calls.samples.push_back({labels, static_cast<double>(hook.stats.calls)});
      faults.samples.push_back({labels, static_cast<double>(hook.stats.faults)});
      time.samples.push_back(
          {labels, static_cast<double>(hook.stats.time) / static_cast<double>(kSecond)});
    }
  }
  std::vector<Reading> out{calls, time, faults, away, holds};
  for (const MetricSnapshot& snapshot : own) {
    Reading reading{metric_name(snapshot.spec), snapshot.spec.help, !snapshot.spec.gauge, {}};
    for (const auto& [values, value] : snapshot.values) {
      MetricLabels labels;
      for (std::size_t i = 0; i < values.size() && i < snapshot.spec.labels.size(); ++i) {
        labels.emplace_back(snapshot.spec.labels[i], values[i]);
      }
      const double scale = snapshot.spec.nanoseconds ? static_cast<double>(kSecond) : 1.0;
      reading.samples.push_back({std::move(labels), static_cast<double>(value) / scale});
    }
    out.push_back(std::move(reading));
  }
  return out;
}

Reading reading(std::string name, std::string help, double value, bool counter) {
  return {std::move(name), std::move(help), counter, {{{}, value}}};
}

Reading skips_reading(const std::map<std::string, std::size_t>& skips) {
  Reading out{"kueue_admission_cycle_preemption_skips",
              "Who would have preempted in the last cycle, had others not done so before",
              false,
              {}};
  for (const auto& [queue, count] : skips)
    out.samples.push_back({{{"cluster_queue", queue}}, number(count)});
  return out;
}

Reading build_reading() {
  utsname system{};
  ::uname(&system);
  return {"kueue_build_info",
          "What was built",
          false,
          {{{{"git_version", std::string(version())},
             {"git_commit", ""},
             {"build_date", ""},
             {"go_version", ""},
             {"compiler", std::string("c++ ") + __VERSION__},
             {"platform", std::string("linux/") + system.machine}},
            1}}};
}

}  // namespace sluice::host
