#include "host/simulate/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "api/json/json.hpp"

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
      "RayCluster",     "Workload"};
  const auto* found = std::find(std::begin(kOrder), std::end(kOrder), kind.kind);
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
    if (errors.size() >= 20) return;
  }
}

/// The dump of a live cluster says itself that a queue cannot work.
bool known_inactive(const InitialObject& initial) {
  if (initial.object.stored.status.empty()) return false;
  boost::system::error_code code;
  const json::value status = json::parse(initial.object.stored.status, code);
  if (code || !status.is_object()) return false;
  const auto* conditions = api::find_array(status.get_object(), "conditions");
  if (!conditions) return false;
  return std::any_of(conditions->begin(), conditions->end(), [](const json::value& item) {
    const auto* condition = item.if_object();
    return condition && api::find_text(*condition, "type") == "Active" &&
           api::find_text(*condition, "status") == "False";
  });
}

template <typename T>
const T* typed(const PreparedObject& object) {
  const auto* held = std::get_if<std::unique_ptr<T>>(&object.typed);
  return held ? held->get() : nullptr;
}

class References {
 public:
  References(SimulationInput& input, std::vector<std::string>& errors)
      : input_(input), errors_(errors) {}

  void check_flavors() {
    std::set<std::string, std::less<>> flavors;
    each_object([&](const PreparedObject& object) {
      if (const auto* flavor = typed<api::ResourceFlavor>(object))
        flavors.insert(flavor->meta.name);
    });
    for (const auto& initial : input_.objects) {
      if (const auto* queue = typed<api::ClusterQueue>(initial.object))
        check_queue(initial, *queue, flavors);
    }
  }

  void check_cycles() {
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
      while (!done.contains(way.back())) {
        const auto up = parents.find(way.back());
        if (up == parents.end() || up->second.empty()) break;
        const auto met = std::find(way.begin(), way.end(), up->second);
        if (met == way.end()) {
          way.push_back(up->second);
          continue;
        }
        std::vector<std::string> cycle(met, way.end());
        cycle.push_back(up->second);
        report_cycle(*cohorts[up->second], cycle);
        break;
      }
      done.insert(way.begin(), way.end());
    }
  }

 private:
  template <typename F>
  void each_object(F visit) const {
    for (const auto& initial : input_.objects) visit(initial.object);
    for (const auto& event : input_.events)
      if (event.type == TimelineEvent::Type::kApply) visit(event.object);
  }

  void report(const InitialObject& at, const std::string& field, const std::string& text,
              bool known) {
    const std::string line = input_.places.text(at.place, field) + ": " + text;
    if (known) {
      input_.warnings.push_back(line + "; its status says so too, so its queues stay inactive");
    } else {
      errors_.push_back(line);
    }
  }

  void check_queue(const InitialObject& initial, const api::ClusterQueue& queue,
                   const std::set<std::string, std::less<>>& flavors) {
    for (std::size_t g = 0; g < queue.resource_groups.size(); ++g) {
      const auto& quotas = queue.resource_groups[g].flavors;
      for (std::size_t f = 0; f < quotas.size(); ++f) {
        if (flavors.contains(quotas[f].flavor)) continue;
        report(initial, fmt::format("spec.resourceGroups[{}].flavors[{}].name", g, f),
               fmt::format(
                   "ClusterQueue {}: no ResourceFlavor \"{}\" is given, and no event applies one",
                   queue.meta.name, quotas[f].flavor),
               known_inactive(initial));
        if (errors_.size() >= 20) return;
      }
    }
  }

  void report_cycle(const InitialObject& at, const std::vector<std::string>& cycle) {
    report(at, "spec.parentName",
           fmt::format("Cohort {}: the parents go round in a cycle: {}", cycle.front(),
                       fmt::join(cycle, " → ")),
           cycle_is_known(cycle));
  }

  bool cycle_is_known(const std::vector<std::string>& cycle) const {
    return std::any_of(
        input_.objects.begin(), input_.objects.end(), [&](const InitialObject& initial) {
          const auto* queue = typed<api::ClusterQueue>(initial.object);
          return queue && std::find(cycle.begin(), cycle.end(), queue->cohort) != cycle.end() &&
                 known_inactive(initial);
        });
  }

  SimulationInput& input_;
  std::vector<std::string>& errors_;
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
      const std::string_view ns = std::string_view(stored.key).substr(0, stored.key.find('/'));
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
    InitialObject initial{{}, ++order, {}};
    if (intake.prepare(*kind, object, nullptr, false, initial.object).empty())
      input.objects.push_back(std::move(initial));
  }
}

}  // namespace

void check_input(SimulationInput& input, Intake& intake, std::uint32_t& order,
                 std::vector<std::string>& errors) {
  find_duplicates(input, errors);
  References references(input, errors);
  references.check_flavors();
  references.check_cycles();
  if (!errors.empty()) return;
  add_namespaces(input, intake, order);
  std::stable_sort(input.objects.begin(), input.objects.end(), [](const auto& a, const auto& b) {
    return rank_of(*a.object.stored.kind) < rank_of(*b.object.stored.kind);
  });
}

}  // namespace sluice::host
