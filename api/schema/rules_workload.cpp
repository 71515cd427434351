// Workload: what its pods may ask for, what its status must say, what an update may change.
#include <algorithm>
#include <map>

#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"
#include "api/schema/no_effect.hpp"
#include "api/schema/rules.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

template <typename Each>
void for_objects(const json::object& holder, std::string_view key, Each each) {
  const json::array* list = find_array(holder, key);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (const auto* object = (*list)[i].if_object()) each(i, *object);
  }
}

const json::object* named(const json::object& holder, std::string_view list,
                          std::string_view name) {
  const json::object* found = nullptr;
  for_objects(holder, list, [&](std::size_t, const json::object& each) {
    if (found == nullptr && find_text(each, "name") == name) found = &each;
  });
  return found;
}

bool status_is_true(const json::object& status, std::string_view type) {
  bool found = false;
  for_objects(status, "conditions", [&](std::size_t, const json::object& each) {
    if (find_text(each, "type") == type) found = find_text(each, "status") == "True";
  });
  return found;
}

bool is_true(const json::object& workload, std::string_view type) {
  return status_is_true(find_part(workload, "status"), type);
}

/// The entries of a list by their names, the first one of each: for lists without a limit.
std::map<std::string_view, const json::object*> by_name(const json::object& holder,
                                                        std::string_view list) {
  std::map<std::string_view, const json::object*> out;
  for_objects(holder, list, [&](std::size_t, const json::object& each) {
    Steps::count();
    out.emplace(find_text(each, "name"), &each);
  });
  return out;
}

bool same(const json::object& a, const json::object& b, std::string_view key) {
  const json::value* x = find(a, key);
  const json::value* y = find(b, key);
  if (x == nullptr || y == nullptr) return x == y;
  return *x == *y;
}

const json::value& value_or_null(const json::object& object, std::string_view key) {
  static const json::value kNull;
  const json::value* value = find(object, key);
  return value != nullptr ? *value : kNull;
}

// --- spec
// ------------------------------------------------------------------------------------------

/// An amount above what the engine can count exceeds every quota: the workload waits.
void check_amounts(const json::object& amounts, const std::string& field, Outcome& outcome) {
  for (const auto& member : amounts) {
    const std::string_view name = view(member.key());
    const auto at = [&] { return field + "[" + std::string(name) + "]"; };
    if (name == "pods") {
      add_problem(outcome, Problem::Kind::kInvalid, at(),
                  "Invalid value: \"pods\": the name is reserved, pods are counted without it");
    }
    if (quantity_or_zero(member.value()).negative())
      add_invalid(outcome, at(), member.value(), "must be greater than or equal to 0");
  }
}

/// Of a container, or of a pod as a whole.
void check_resources(const json::object& holder, const std::string& field, Outcome& outcome) {
  for (const char* list : {"requests", "limits"})
    if (const json::object* amounts = find_object(find_part(holder, "resources"), list))
      check_amounts(*amounts, field + ".resources." + list, outcome);
}

void check_pod_sets(const json::object& spec, Outcome& outcome) {
  std::size_t with_min_count = 0;
  for_objects(spec, "podSets", [&](std::size_t i, const json::object& pod_set) {
    if (find(pod_set, "minCount") != nullptr) ++with_min_count;
    const json::object& pod = find_part(find_part(pod_set, "template"), "spec");
    for (const char* list : {"containers", "initContainers"}) {
      for_objects(pod, list, [&](std::size_t j, const json::object& container) {
        if (find(container, "resources") == nullptr) return;  // most workloads' places cost nothing
        check_resources(container,
                        indexed(indexed("spec.podSets", i) + ".template.spec." + list, j), outcome);
      });
    }
    if (find(pod, "resources") == nullptr && find(pod, "overhead") == nullptr) return;
    const std::string whole = indexed("spec.podSets", i) + ".template.spec";
    check_resources(pod, whole, outcome);
    check_amounts(find_part(pod, "overhead"), whole + ".overhead", outcome);
  });
  if (with_min_count > 1) {
    add_problem(outcome, Problem::Kind::kInvalid, "spec.podSets",
                "Invalid value: " + std::to_string(with_min_count) +
                    ": at most one podSet can use minCount");
  }
}

// --- status
// ----------------------------------------------------------------------------------------

std::vector<std::string> pod_set_names(const json::object& spec) {
  std::vector<std::string> names;
  for_objects(spec, "podSets", [&](std::size_t, const json::object& each) {
    names.emplace_back(find_text(each, "name"));
  });
  return names;
}

bool known_pod_set(const json::object& spec, std::string_view name, const std::string& field,
                   Outcome& outcome) {
  if (named(spec, "podSets", name) != nullptr) return true;
  add_problem(outcome, Problem::Kind::kUnsupported, field,
              unsupported(shown(name), pod_set_names(spec)));
  return false;
}

void check_admission(const json::object& spec, const json::object& admission, Outcome& outcome) {
  for_objects(admission, "podSetAssignments", [&](std::size_t i, const json::object& assignment) {
    const std::string field = indexed("status.admission.podSetAssignments", i);
    known_pod_set(spec, find_text(assignment, "name"), field + ".name", outcome);
    const auto count = find_int(assignment, "count").value_or(0);
    const json::object* usage = find_object(assignment, "resourceUsage");
    if (usage == nullptr || count <= 0) return;
    for (const auto& member : *usage) {
      const std::string_view resource = view(member.key());
      const Quantity amount = quantity_or_zero(member.value());
      const std::string at = field + ".resourceUsage[" + std::string(resource) + "]";
      if (const std::string problem = amount_problem(resource, amount); !problem.empty()) {
        add_invalid(outcome, at, member.value(), problem);
      } else if ((resource == "cpu" ? amount.milli() : amount.units()) % count != 0) {
        add_invalid(outcome, at, member.value(),
                    "is not a multiple of the count, " + std::to_string(count));
      }
    }
  });
}

void check_status(const json::object& workload, Outcome& outcome) {
  const json::object& spec = find_part(workload, "spec");
  const json::object& status = find_part(workload, "status");
  if (status.empty()) return;
  const json::object* admission = find_object(status, "admission");
  if (admission != nullptr) {
    check_admission(spec, *admission, outcome);
  } else if (is_true(workload, "QuotaReserved")) {
    add_problem(outcome, Problem::Kind::kRequired, "status.admission",
                "Required value: must be set while the condition QuotaReserved is True");
  }
  for_objects(status, "reclaimablePods", [&](std::size_t i, const json::object& each) {
    const std::string field = indexed("status.reclaimablePods", i);
    const std::string_view name = find_text(each, "name");
    if (!known_pod_set(spec, name, field + ".name", outcome)) return;
    const auto most = find_int(*named(spec, "podSets", name), "count").value_or(1);
    if (find_int(each, "count").value_or(0) > most) {
      add_invalid(outcome, field + ".count", value_or_null(each, "count"),
                  "should be less than or equal to " + std::to_string(most));
    }
  });
  for_objects(status, "admissionChecks", [&](std::size_t i, const json::object& check) {
    for_objects(check, "podSetUpdates", [&](std::size_t j, const json::object& update) {
      known_pod_set(spec, find_text(update, "name"),
                    indexed(indexed("status.admissionChecks", i) + ".podSetUpdates", j) + ".name",
                    outcome);
    });
  });
}

// --- updates
// ---------------------------------------------------------------------------------------

/// The pod sets are the same, or only their counts went down.
bool only_lower_counts(const json::object& before, const json::object& after) {
  const json::array* a = find_array(before, "podSets");
  const json::array* b = find_array(after, "podSets");
  if (a == nullptr || b == nullptr || a->size() != b->size()) return false;
  for (std::size_t i = 0; i < a->size(); ++i) {
    const json::object* old = (*a)[i].if_object();
    const json::object* now = (*b)[i].if_object();
    if (old == nullptr || now == nullptr) return false;
    if (find_int(*now, "count").value_or(1) > find_int(*old, "count").value_or(1)) return false;
    json::object old_rest = *old;
    json::object now_rest = *now;
    old_rest.erase("count");
    now_rest.erase("count");
    if (old_rest != now_rest) return false;
  }
  return true;
}

void check_priority_class(const json::object& before, const json::object& after, Outcome& outcome) {
  const json::object* old = find_object(before, "priorityClassRef");
  const json::object* now = find_object(after, "priorityClassRef");
  const std::string field = "spec.priorityClassRef";
  if ((old == nullptr) != (now == nullptr)) {
    add_invalid(outcome, field, value_or_null(after, "priorityClassRef"),
                "priorityClassRef is immutable while workload quota reserved");
    return;
  }
  if (old == nullptr) return;
  for (const std::string key : {"group", "kind"}) {
    if (same(*old, *now, key)) continue;
    add_invalid(outcome, field + "." + key, value_or_null(*now, key),
                "priorityClassRef." + key + " is immutable while workload quota reserved");
  }
  if (find_text(*now, "kind") == "PriorityClass" && !same(*old, *now, "name")) {
    add_invalid(outcome, field + ".name", value_or_null(*now, "name"),
                "priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass while "
                "workload quota reserved");
  }
}

void check_reclaimable(const json::object& before, const json::object& after, Outcome& outcome) {
  for_objects(before, "reclaimablePods", [&](std::size_t, const json::object& old) {
    const std::string_view name = find_text(old, "name");
    const json::object* now = named(after, "reclaimablePods", name);
    const auto least = find_int(old, "count").value_or(0);
    const std::string field = "status.reclaimablePods[" + std::string(name) + "]";
    if (now == nullptr) {
      if (least == 0) return;
      add_problem(outcome, Problem::Kind::kRequired, field, "Required value: cannot be removed");
    } else if (find_int(*now, "count").value_or(0) < least) {
      add_invalid(outcome, field + ".count", value_or_null(*now, "count"),
                  "cannot be less than " + std::to_string(least));
    }
  });
}

json::object without_topology(json::object admission) {
  json::array* assignments = find_array(admission, "podSetAssignments");
  for (std::size_t i = 0; assignments != nullptr && i < assignments->size(); ++i) {
    if (auto* each = (*assignments)[i].if_object()) {
      each->erase("topologyAssignment");
      each->erase("delayedTopologyRequest");
    }
  }
  return admission;
}

/// The controller of a check writes its state, and only while the workload holds quota (KEP-993:
/// past the reservation). It may not add checks to the list.
void check_check_report(const json::object& before, const json::object* old,
                        const json::object& now, const std::string& field, Outcome& outcome) {
  if (old == nullptr) {
    add_invalid(outcome, field + ".name", value_or_null(now, "name"),
                "is not among the admission checks of this workload");
    return;
  }
  if (find_text(now, "reason") == "PreemptionRequired" && find_text(now, "state") != "Pending")
    add_invalid(outcome, field + ".reason", value_or_null(now, "reason"),
                "PreemptionRequired is meaningful only while the state is Pending");
  const bool changed =
      !same(*old, now, "state") || !same(*old, now, "podSetUpdates") || !same(*old, now, "reason");
  if (!changed) return;
  for_objects(now, "podSetUpdates", [&](std::size_t i, const json::object& update) {
    const std::string place = indexed(field + ".podSetUpdates", i);
    for (const char* part : {"labels", "nodeSelector"})
      check_labels(find_object(update, part), place + "." + part, outcome);
  });
  if (status_is_true(before, "Finished")) {
    add_problem(outcome, Problem::Kind::kForbidden, field,
                "Forbidden: cannot change: the workload is finished");
  } else if (!status_is_true(before, "QuotaReserved")) {
    add_problem(outcome, Problem::Kind::kForbidden, field,
                "Forbidden: cannot change while the workload holds no quota: its checks begin when "
                "quota is reserved, and an answer to an earlier reservation does not count");
  }
}

void check_checks_update(const json::object& before, const json::object& after, Outcome& outcome) {
  const auto checks = by_name(before, "admissionChecks");
  for_objects(after, "admissionChecks", [&](std::size_t i, const json::object& now) {
    const auto known = checks.find(find_text(now, "name"));
    const json::object* old = known != checks.end() ? known->second : nullptr;
    check_check_report(before, old, now, indexed("status.admissionChecks", i), outcome);
    if (old == nullptr || find_text(*old, "state") != "Ready" ||
        find_text(now, "state") != "Ready" || same(*old, now, "podSetUpdates")) {
      return;
    }
    add_invalid(outcome, indexed("status.admissionChecks", i) + ".podSetUpdates",
                value_or_null(now, "podSetUpdates"), "is immutable while the check stays Ready");
  });
}

/// What a part of a pod set means: clients that read it into types of their own write empty parts
/// where there were none, or leave them out, and amounts in another form.
json::value as_meant(const json::value& said, std::string_view key = {}) {
  if (const json::array* list = said.if_array()) {
    json::array out;
    for (const json::value& each : *list) out.push_back(as_meant(each));
    return out;
  }
  const json::object* object = said.if_object();
  if (!object) return said;
  const bool amounts = key == "requests" || key == "limits" || key == "overhead";
  json::object out;
  for (const auto& member : *object) {
    json::value part = as_meant(member.value(), view(member.key()));
    if (const auto amount = as_quantity(part); amounts && amount) part = amount->text();
    const bool empty = part.is_null() || (part.is_object() && part.get_object().empty()) ||
                       (part.is_array() && part.get_array().empty());
    if (!empty) out.emplace(member.key(), std::move(part));
  }
  return out;
}

void check_reserved_spec(const json::object& workload, const json::object& old,
                         const AdmitOptions& options, Outcome& outcome) {
  const json::object& before = find_part(old, "spec");
  const json::object& after = find_part(workload, "spec");
  if (!same(before, after, "podSets") &&
      as_meant(value_or_null(before, "podSets")) != as_meant(value_or_null(after, "podSets")) &&
      !(options.may_lower_counts && only_lower_counts(before, after))) {
    add_problem(outcome, Problem::Kind::kInvalid, "spec.podSets",
                "Invalid value: \"array\": field is immutable while workload quota reserved" +
                    std::string(options.may_lower_counts ? ", only counts may become less" : ""));
  }
  check_priority_class(before, after, outcome);
  if (is_true(workload, "QuotaReserved") && !same(before, after, "queueName")) {
    add_invalid(outcome, "spec.queueName", value_or_null(after, "queueName"),
                "queueName is immutable while workload quota reserved");
  }
}

void check_reserved_update(const json::object& workload, const json::object& old,
                           const AdmitOptions& options, Outcome& outcome) {
  if (!options.status) check_reserved_spec(workload, old, options, outcome);
  if (!is_true(workload, "QuotaReserved")) return;
  const json::object& old_status = find_part(old, "status");
  const json::object& status = find_part(workload, "status");
  // With fewer pods there are fewer of them that are not needed any more.
  if (!options.may_lower_counts) check_reclaimable(old_status, status, outcome);
  const json::object* old_admission = find_object(old_status, "admission");
  const json::object* admission = find_object(status, "admission");
  if (old_admission != nullptr && admission != nullptr && *old_admission != *admission &&
      !options.may_lower_counts &&
      without_topology(*old_admission) != without_topology(*admission)) {
    add_problem(outcome, Problem::Kind::kInvalid, "status.admission",
                "Invalid value: \"object\": field is immutable once set");
  }
}

void check_update(const json::object& workload, const json::object& old,
                  const AdmitOptions& options, Outcome& outcome) {
  if (is_true(old, "QuotaReserved")) check_reserved_update(workload, old, options, outcome);
  if (!options.status)
    if (auto late = late_gate(old, workload))
      add_problem(outcome, late->kind, std::move(late->field), std::move(late->detail));
  const json::object& after = find_part(workload, "spec");
  if (is_true(old, "Admitted") && is_true(workload, "Admitted") &&
      !same(find_part(old, "spec"), after, "maximumExecutionTimeSeconds")) {
    add_invalid(outcome, "spec.maximumExecutionTimeSeconds",
                value_or_null(after, "maximumExecutionTimeSeconds"),
                "maximumExecutionTimeSeconds is immutable while workload quota reserved");
  }
  const json::object& old_status = find_part(old, "status");
  const json::object& status = find_part(workload, "status");
  check_checks_update(old_status, status, outcome);
  const std::string_view cluster = find_text(old_status, "clusterName");
  if (!cluster.empty() && !find_text(status, "clusterName").empty() &&
      find_text(status, "clusterName") != cluster) {
    add_invalid(outcome, "status.clusterName", value_or_null(status, "clusterName"),
                "clusterName is immutable once set");
  }
}

}  // namespace

void check_workload(const json::object& object, const json::object* old,
                    const AdmitOptions& options, Outcome& outcome) {
  check_pod_sets(find_part(object, "spec"), outcome);
  check_status(object, outcome);
  if (old != nullptr) check_update(object, *old, options, outcome);
}

}  // namespace sluice::api
