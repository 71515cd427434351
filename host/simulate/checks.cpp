#include "host/simulate/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "core/engine/cohort_chains.hpp"
#include "host/controllers/jobs/job_policy.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/simulate/story.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

// References point to kinds further left, so that nothing is pending for want of what comes later
// in the files.
std::size_t rank_of(const api::KindInfo& kind) {
  constexpr std::string_view kOrder[] = {
      "Namespace",      "PriorityClass",  "WorkloadPriorityClass",
      "ResourceFlavor", "AdmissionCheck", "Cohort",
      "ClusterQueue",   "LocalQueue",     "Job",
      "Workload"};
  const auto* found = std::find(std::begin(kOrder), std::end(kOrder),
                                kind.job ? "Job" : std::string_view(kind.kind));
  if (found != std::end(kOrder)) return static_cast<std::size_t>(found - std::begin(kOrder));
  return 5;  // kinds that plugins added: before the queues that may name them
}

void find_duplicates(const SimulationInput& input, std::vector<std::string>& errors) {
  std::unordered_map<const api::KindInfo*,
                     std::unordered_map<std::string_view, const InitialObject*>>
      seen;
  for (const auto& initial : input.objects) {
    const StoredObject& stored = initial.object.stored;
    const auto [it, fresh] = seen[stored.kind].emplace(stored.key, &initial);
    if (fresh) continue;
    errors.push_back(fmt::format("{}: {} {} is given twice; it stands at {} already",
                                 input.places.text(initial.place), stored.kind->kind, stored.key,
                                 input.places.text(it->second->place)));
    if (errors.size() >= kMaxMistakes) return;
  }
}

template <typename T>
const T* typed(const PreparedObject& object) {
  const auto* held = std::get_if<std::unique_ptr<T>>(&object.typed);
  return held ? held->get() : nullptr;
}

/// References that lead nowhere: the queues are inactive, as they would be in a running host, and a
/// warning says so.
class References {
 public:
  explicit References(SimulationInput& input) : input_(input) {
    each_object([this](const PreparedObject& object) {
      if (const auto* flavor = typed<api::ResourceFlavor>(object))
        flavors_.insert(flavor->meta.name);
      if (const auto* check = typed<api::AdmissionCheck>(object)) checks_.insert(check->meta.name);
    });
  }

  void warn_of_all() {
    warn_of_missing();
    warn_of_cycles();
    warn_of_depth();
    if (told_ > kMostTold)
      input_.warnings.push_back(
          fmt::format("{} more references that lead nowhere are not shown", told_ - kMostTold));
  }

 private:
  using Names = std::set<std::string, std::less<>>;

  void warn_of_missing() {
    for (const auto& initial : input_.objects)
      if (const auto* queue = typed<api::ClusterQueue>(initial.object))
        check_queue(initial, *queue);
  }

  void warn_of_cycles() {
    std::map<std::string, const InitialObject*> cohorts;
    std::map<std::string, std::string> parents;
    for (const auto& initial : input_.objects) {
      const auto* cohort = typed<api::Cohort>(initial.object);
      if (!cohort) continue;
      cohorts[cohort->meta.name] = &initial;
      parents[cohort->meta.name] = cohort->parent;
    }
    std::set<std::string> done;
    for (const auto& entry : cohorts) {
      std::vector<std::string> way = {entry.first};
      std::set<std::string> on_way = {entry.first};
      while (!done.contains(way.back())) {
        const auto up = parents.find(way.back());
        if (up == parents.end() || up->second.empty()) break;
        if (on_way.insert(up->second).second) {
          way.push_back(up->second);
          continue;
        }
        std::vector<std::string> cycle(std::find(way.begin(), way.end(), up->second), way.end());
        cycle.push_back(up->second);
        warn(*cohorts[up->second], "spec.parentName",
             fmt::format("Cohort {}: the parents go round in a cycle: {}; its queues are inactive",
                         cycle.front(), fmt::join(cycle, " → ")));
        break;
      }
      done.insert(way.begin(), way.end());
    }
  }

  /// Of each chain that is too long its uppermost Cohort that is cut off.
  void warn_of_depth() {
    std::map<std::string, NodeId> ids;
    std::vector<const InitialObject*> given;
    std::vector<NodeSpec> nodes;
    const auto node_of = [&](const std::string& name) {
      const auto [it, fresh] = ids.emplace(name, static_cast<NodeId>(nodes.size()));
      if (fresh) nodes.emplace_back();
      given.resize(nodes.size());
      return it->second;
    };
    for (const auto& initial : input_.objects) {
      const auto* cohort = typed<api::Cohort>(initial.object);
      if (!cohort) continue;
      const NodeId id = node_of(cohort->meta.name);
      given[id] = &initial;
      if (!cohort->parent.empty()) {
        const NodeId parent = node_of(cohort->parent);
        nodes[id].parent = parent;
      }
    }
    std::vector<NodeSpec> cut = nodes;
    const std::vector<CohortChain> chains = cut_chains(cut);
    for (const auto& [name, id] : ids)
      if (chains[id] == CohortChain::kTooDeep && chains[nodes[id].parent] != CohortChain::kTooDeep)
        warn(
            *given[id], "spec.parentName",
            fmt::format("Cohort {}: more than {} cohorts stand one above the other; its queues and "
                        "those of cohorts below it are inactive",
                        name, kMaxCohortDepth));
  }

  template <typename F>
  void each_object(F visit) const {
    for (const auto& initial : input_.objects) visit(initial.object);
    for (const auto& event : input_.events)
      if (event.type == TimelineEvent::Type::kApply) visit(event.object);
  }

  void warn(const InitialObject& at, const std::string& field, const std::string& text) {
    if (++told_ > kMostTold) return;
    input_.warnings.push_back(input_.places.text(at.place, field) + ": " + text);
  }

  void check_queue(const InitialObject& initial, const api::ClusterQueue& queue) {
    const auto missing = [&](const std::string& field, const char* kind, const std::string& name) {
      warn(
          initial, field,
          fmt::format("ClusterQueue {}: no {} \"{}\" is given, and no event applies one; the queue "
                      "is inactive",
                      queue.meta.name, kind, name));
    };
    for (std::size_t g = 0; g < queue.resource_groups.size(); ++g) {
      const auto& quotas = queue.resource_groups[g].flavors;
      for (std::size_t f = 0; f < quotas.size(); ++f)
        if (!flavors_.contains(quotas[f].flavor))
          missing(fmt::format("spec.resourceGroups[{}].flavors[{}].name", g, f), "ResourceFlavor",
                  quotas[f].flavor);
    }
    for (const api::AdmissionCheckRule& rule : queue.admission_checks)
      if (!checks_.contains(rule.name))
        missing("spec.admissionChecksStrategy", "AdmissionCheck", rule.name);
  }

  static constexpr std::size_t kMostTold = 20;
  SimulationInput& input_;
  Names flavors_;
  Names checks_;
  std::size_t told_ = 0;
};

// A planner should not have to write a manifest for every namespace.
void add_namespaces(SimulationInput& input, Intake& intake, std::uint32_t& order) {
  const api::KindInfo* kind = intake.scheme().find("v1", "Namespace");
  if (!kind) return;
  std::set<std::string, std::less<>> given;
  std::set<std::string, std::less<>> used;
  const auto visit = [&](const StoredObject& stored) {
    if (stored.kind == kind) {
      given.insert(stored.key);
    } else if (stored.kind->namespaced) {
      const std::string_view ns = stored.ns();
      if (!used.contains(ns)) used.emplace(ns);
    }
  };
  for (const auto& initial : input.objects) visit(initial.object.stored);
  for (const auto& event : input.events)
    if (event.type == TimelineEvent::Type::kApply) visit(event.object.stored);
  for (const auto& name : used) {
    if (given.contains(name)) continue;
    json::object object = {
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
    ++order;
    if (intake.validate(*kind, object, nullptr, {}).empty())
      input.objects.push_back({intake.encode(*kind, object), order, {}});
  }
}

}  // namespace

void check_input(SimulationInput& input, Intake& intake, std::uint32_t& order,
                 std::vector<std::string>& errors) {
  if (later(input.start, input.from.value_or(0)) == kNever)
    errors.push_back(fmt::format("from: {} after {} is beyond the last moment that there is: {}",
                                 offset_text(*input.from), format_time(input.start),
                                 format_time(kLatest)));
  for (const TimelineEvent& event : input.events) {
    if (errors.size() >= kMaxMistakes) return;
    if (later(input.start, event.at) == kNever)
      errors.push_back(
          fmt::format("{}: {} after {} is beyond the last moment that there is here: {}",
                      input.places.text(event.place, "at"), offset_text(event.at),
                      format_time(input.start), format_time(kLatest)));
  }
  find_duplicates(input, errors);
  if (!errors.empty()) return;
  References(input).warn_of_all();
  add_namespaces(input, intake, order);
  std::stable_sort(input.objects.begin(), input.objects.end(), [](const auto& a, const auto& b) {
    return rank_of(*a.object.stored.kind) < rank_of(*b.object.stored.kind);
  });
}

void warn_of_left_out_jobs(SimulationInput& input, const ManagedJobs& managed) {
  std::map<std::string_view, bool> covered;
  for (const InitialObject& each : input.objects)
    if (const StoredObject& ns = each.object.stored; ns.kind->kind == "Namespace")
      covered[ns.name()] =
          managed.covers(ns.name(), api::decode_namespace(to_object(ns)).meta.labels);
  const InitialObject* first = nullptr;
  std::size_t count = 0;
  for (const InitialObject& each : input.objects) {
    const StoredObject& job = each.object.stored;
    const auto known = covered.find(job.ns());
    if (!job.kind->job || known == covered.end() || known->second) continue;
    const auto metadata = api::parse_object(job.metadata.text());
    if (!metadata || !is_queued({{"metadata", *metadata}})) continue;
    if (count++ == 0) first = &each;
  }
  if (first == nullptr) return;
  const StoredObject& job = first->object.stored;
  input.warnings.push_back(fmt::format(
      "{}: {} {}: its namespace does not match managedJobsNamespaceSelector{}: without quota, and "
      "nothing more is said",
      input.places.text(first->place), job.kind->kind, job.key,
      count == 1 ? "; it runs" : fmt::format(", as of {} more jobs; they run", count - 1)));
}

void warn_of_unqueued_jobs(SimulationInput& input) {
  std::set<std::string_view> with_default;  // namespaces: jobs there get that queue
  for (const InitialObject& each : input.objects)
    if (const StoredObject& queue = each.object.stored;
        queue.kind->kind == "LocalQueue" && queue.name() == kDefaultQueue)
      with_default.insert(queue.ns());
  const InitialObject* first = nullptr;
  std::size_t count = 0;
  for (const InitialObject& each : input.objects) {
    const StoredObject& job = each.object.stored;
    if (!job.kind->job || !job.metadata.owners().empty() || with_default.contains(job.ns()))
      continue;
    auto metadata = api::parse_object(job.metadata.text());
    if (metadata && is_queued({{"metadata", std::move(*metadata)}})) continue;
    if (count++ == 0) first = &each;
  }
  if (first == nullptr) return;
  const StoredObject& job = first->object.stored;
  input.warnings.push_back(fmt::format(
      "{}: {} {} {} no queue (label {}): {} without quota, and nothing more is said of {}",
      input.places.text(first->place), job.kind->kind, job.key,
      count == 1 ? "names" : fmt::format("and {} more jobs name", count - 1), kQueueLabel,
      count == 1 ? "it runs" : "they run", count == 1 ? "it" : "them"));
}

}  // namespace sluice::host
