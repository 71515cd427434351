#include "host/controllers/jobs/start_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>

#include "api/jobs/count_expression.hpp"
#include "api/json/json.hpp"
#include "api/json/json_path.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

json::object record_of(const json::object& job) {
  const std::string_view text =
      api::find_text(part(part(job, "metadata"), "annotations"), kStartedWith);
  if (text.empty()) return {};
  boost::system::error_code code;
  json::value value = api::parse_deep(text, code);
  return !code && value.is_object() ? std::move(value.get_object()) : json::object();
}

json::object record_of_start(const StartInfo& info, json::array added, json::object replaced) {
  return {{"workload", info.workload_uid},
          {"evictions", info.evictions},
          {"podSets", info.pod_sets},
          {"added", std::move(added)},
          {"replaced", std::move(replaced)}};
}

void set_record(json::object& job, const json::object& record) {
  object_of(object_of(job, "metadata"), "annotations")[api::json_view(kStartedWith)] =
      api::to_json(record);
}

/// What all admission checks together want of one pod set. `conflict` tells where two of them want
/// different things.
json::object updates_of(const json::object& status, std::string_view pod_set,
                        std::string& conflict) {
  json::object all;
  for_each_object(status, "admissionChecks", [&](const json::object& check) {
    for_each_object(check, "podSetUpdates", [&](const json::object& update) {
      if (api::find_text(update, "name") != pod_set) return;
      for (const std::string_view field : {"labels", "annotations", "nodeSelector"}) {
        for (const auto& [key, value] : part(update, field)) {
          json::value& wanted = object_of(all, field)[key];
          if (!wanted.is_null() && wanted != value && conflict.empty())
            conflict = fmt::format("{} {} of pod set {}: one admission check wants {}, check {} {}",
                                   field, api::view(key), pod_set, api::to_json(wanted),
                                   api::find_text(check, "name"), api::to_json(value));
          wanted = value;
        }
      }
      if (const auto* tolerations = api::find_array(update, "tolerations"))
        for (const auto& toleration : *tolerations)
          array_of(all, "tolerations").push_back(toleration);
    });
  });
  return all;
}

/// Adds each pair to the map `field` of `to` and to `added`, those aside that are there already, or
/// in `described`: what the pods are like, where that stands elsewhere.
Result<void> add_pairs(json::object& to, std::string_view field, const json::object& pairs,
                       json::object& added, std::string_view pod_set,
                       const json::object& described = {}) {
  for (const auto& [key, value] : pairs) {
    const json::object& present = part(to, field);
    const auto* own = present.if_contains(key);
    if (const auto* old = own ? own : part(described, field).if_contains(key)) {
      if (*old == value) continue;
      return Error{fmt::format("{} {} of pod set {} is {}, but the admission wants {}", field,
                               api::view(key), pod_set, api::to_json(*old), api::to_json(value))};
    }
    object_of(to, field)[key] = value;
    object_of(added, field)[key] = value;
  }
  return {};
}

void add_tolerations(json::object& spec, const json::array& tolerations, json::object& added) {
  for (const auto& toleration : tolerations) {
    const auto* present = api::find_array(spec, "tolerations");
    if (present && std::find(present->begin(), present->end(), toleration) != present->end())
      continue;
    array_of(spec, "tolerations").push_back(toleration);
    array_of(added, "tolerations").push_back(toleration);
  }
}

/// Node labels and tolerations of the flavors that a pod set got.
struct Place {
  json::object node_selector;
  json::array tolerations;
};

Place place_of(const json::object& flavors, const ObjectAccess& objects) {
  Place place;
  const api::KindInfo& kind = api::kueue_kind(objects.scheme(), "ResourceFlavor");
  std::vector<std::string_view> seen;
  for (const auto& entry : flavors) {
    const auto* name = entry.value().if_string();
    if (!name || std::find(seen.begin(), seen.end(), api::view(*name)) != seen.end()) continue;
    seen.push_back(api::view(*name));
    const auto flavor = objects.get(kind, api::view(*name));
    if (!flavor) continue;
    const json::object& spec = part(*flavor, "spec");
    for (const auto& [key, value] : part(spec, "nodeLabels")) place.node_selector[key] = value;
    if (const auto* tolerations = api::find_array(spec, "tolerations"))
      for (const auto& toleration : *tolerations) place.tolerations.push_back(toleration);
  }
  return place;
}

/// Labels and annotations that tell a pod where it belongs; they never decide about it.
void add_marks(json::object& metadata, const json::object& workload, std::string_view pod_set,
               json::object& added) {
  const auto mark = [&](std::string_view field, std::string_view name, std::string_view value) {
    json::object& map = object_of(metadata, field);
    if (map.contains(api::json_view(name))) return;
    map[api::json_view(name)] = api::json_view(value);
    object_of(added, field)[api::json_view(name)] = api::json_view(value);
  };
  mark("labels", kPodSetLabel, pod_set);
  const json::object& of = part(workload, "metadata");
  mark("annotations", kWorkloadAnnotation, api::find_text(of, "name"));
  // Whatever the template has of it came with a copy of another job's.
  object_of(metadata, "annotations").erase(api::json_view(kStartMark));
  mark("annotations", kStartMark, api::find_text(of, "uid"));
}

void remove_pairs(json::object& from, std::string_view field, const json::object& added) {
  auto* map = api::find_object(from, field);
  if (!map) return;
  for (const auto& [key, value] : part(added, field)) {
    const auto* present = map->if_contains(key);
    if (present && *present == value) map->erase(key);
  }
  if (map->empty()) from.erase(api::json_view(field));
}

void remove_tolerations(json::object& spec, const json::object& added) {
  auto* present = api::find_array(spec, "tolerations");
  const auto* gone = api::find_array(added, "tolerations");
  if (!present || !gone) return;
  for (const auto& toleration : *gone) {
    const auto it = std::find(present->begin(), present->end(), toleration);
    if (it != present->end()) present->erase(it);
  }
  if (present->empty()) spec.erase("tolerations");
}

/// Calls `f(number of the pod set, what was put into its place)` for each of the record that the
/// job still has: by name, because groups may have moved.
template <typename F>
void for_each_added(const api::JobKind& kind, const json::object& record, json::object& job,
                    F&& f) {
  const std::vector<api::JobPodSet> sets = kind.pod_sets(job);
  const auto* names = api::find_array(record, "podSets");
  std::size_t i = 0;
  for_each_object(record, "added", [&](const json::object& added) {
    const std::size_t at = i++;
    const auto* of = names && at < names->size() ? (*names)[at].if_object() : nullptr;
    const std::string_view name = of ? api::find_text(*of, "name") : std::string_view();
    for (std::size_t set = 0; set < sets.size(); ++set) {
      if (sets[set].name != name) continue;
      f(set, added);
      return;
    }
  });
}

bool has_any(const json::object& has, std::string_view field, const json::object& added) {
  const json::object& pairs = part(added, field);
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
    const json::value* own = part(has, field).if_contains(pair.key());
    return own != nullptr && *own == pair.value();
  });
}

/// Whether the start that the record tells of lasts, or has left something to take out. Makes the
/// places of starts that are missing in the job.
bool is_of_this_start(const api::JobKind& kind, const json::object& record, json::object& job) {
  const std::string_view mark = api::find_text(record, "mark");
  const auto since = api::find_time(record, "since");
  if (mark.empty() && !since) return true;  // of an earlier version: nobody can tell
  bool any_left = false, marked = false;
  for_each_added(kind, record, job, [&](std::size_t set, const json::object& added) {
    const auto place = kind.start_place(job, set);
    if (!place) return;
    any_left |= has_any(place->spec, "nodeSelector", added) ||
                has_any(place->metadata, "labels", added) ||
                has_any(place->metadata, "annotations", added);
    marked |= api::find_text(part(place->metadata, "annotations"), kStartMark) == mark;
  });
  if (!mark.empty()) return marked;
  return kind.suspended(job) ? any_left : kind.running_since(job) == since;
}

/// Those of the pairs whose key is not there.
void add_missing(json::object& to, std::string_view field, const json::object& pairs) {
  for (const auto& [key, value] : pairs)
    if (!part(to, field).contains(key)) object_of(to, field)[key] = value;
}

/// What the place of starts of a running job has beyond the one that its workload was made from. Of
/// labels and annotations what whoever starts jobs puts there: our group's, and those of admission
/// checks; others may be the cluster's own.
json::object surplus(const api::StartPlace& running, const json::object& original,
                     const json::object& updates) {
  json::object added;
  const auto compare = [&](const json::object& has, const json::object& had,
                           std::string_view field) {
    const bool all = field == "nodeSelector";
    for (const auto& [key, value] : part(has, field))
      if (!part(had, field).contains(key) &&
          (all || is_of_queues(api::view(key)) || part(updates, field).contains(key)))
        object_of(added, field)[key] = value;
  };
  const json::object& spec = running.spec;
  const json::object& own = part(original, "spec");
  compare(spec, own, "nodeSelector");
  for (const std::string_view field : {"labels", "annotations"})
    compare(running.metadata, part(original, "metadata"), field);
  const auto* tolerations = api::find_array(spec, "tolerations");
  const auto* before = api::find_array(own, "tolerations");
  for (std::size_t i = 0; tolerations && i < tolerations->size(); ++i)
    if (!before || std::find(before->begin(), before->end(), (*tolerations)[i]) == before->end())
      array_of(added, "tolerations").push_back((*tolerations)[i]);
  return added;
}

/// Injects one pod set; `added` gets what is to be taken out again.
Result<void> inject_one(const api::StartPlace& into, const json::object& described,
                        const json::object& workload, const json::object& wanted,
                        const ObjectAccess& objects, json::object& added) {
  const std::string_view name = api::find_text(wanted, "name");
  if (const std::string_view conflict = api::find_text(wanted, "conflict"); !conflict.empty())
    return Error{std::string(conflict)};
  const json::object& updates = part(wanted, "updates");
  const Place place = place_of(part(wanted, "flavors"), objects);
  json::object& spec = into.spec;
  for (const json::object* selector : {&place.node_selector, &part(updates, "nodeSelector")})
    if (auto done =
            add_pairs(spec, "nodeSelector", *selector, added, name, part(described, "spec"));
        !done)
      return done;
  add_tolerations(spec, place.tolerations, added);
  if (const auto* tolerations = api::find_array(updates, "tolerations"))
    add_tolerations(spec, *tolerations, added);
  for (const std::string_view field : {"labels", "annotations"})
    if (auto done = add_pairs(into.metadata, field, part(updates, field), added, name,
                              part(described, "metadata"));
        !done)
      return done;
  add_marks(into.metadata, workload, name, added);
  return {};
}

/// Gives the counts that a start lowered, and that are sent as they were before it, their values of
/// now. The places of those that are sent otherwise.
std::vector<std::string> keep_counts(const json::object& replaced, const json::object& before,
                                     json::object& after) {
  std::vector<std::string> changed;
  for (const auto& [text, original] : replaced) {
    const api::JsonPlace place = api::place_of(api::view(text));
    const json::value* granted = api::at_place(before, place);
    json::value* sent = api::at_place(after, place);
    if (!granted || (sent && *sent == *granted)) continue;
    json::value* holder = api::at_place(after, std::span(place).first(place.size() - 1));
    json::object* into = place.size() == 1 ? &after : holder ? holder->if_object() : nullptr;
    if (into && (sent ? *sent == original : original.is_null()))
      (*into)[place.back()] = *granted;
    else
      changed.push_back(api::dotted(place));
  }
  return changed;
}

}  // namespace

StartInfo start_info(const json::object& workload) {
  StartInfo info;
  info.workload_uid = api::find_text(part(workload, "metadata"), "uid");
  const json::object& status = part(workload, "status");
  for_each_object(part(status, "schedulingStats"), "evictions", [&](const json::object& each) {
    info.evictions += api::find_int(each, "count").value_or(0);
  });
  const json::object& admission = part(status, "admission");
  for_each_object(part(workload, "spec"), "podSets", [&](const json::object& set) {
    const std::string_view name = api::find_text(set, "name");
    json::object one{{"name", api::json_view(name)}};
    for_each_object(admission, "podSetAssignments", [&](const json::object& assignment) {
      if (api::find_text(assignment, "name") != name) return;
      one["flavors"] = part(assignment, "flavors");
      if (api::find_int(set, "minCount"))
        one["count"] = api::find_int(assignment, "count").value_or(0);
    });
    std::string conflict;
    if (json::object updates = updates_of(status, name, conflict); !updates.empty())
      one["updates"] = std::move(updates);
    if (!conflict.empty()) one["conflict"] = conflict;
    info.pod_sets.push_back(std::move(one));
  });
  return info;
}

bool StartInfo::same_flavors(const StartInfo& other) const {
  const auto bare = [](json::array sets) {
    for (json::value& set : sets) set.get_object().erase("updates");
    return sets;
  };
  return bare(pod_sets) == bare(other.pod_sets);
}

Result<void> update_pod(json::object& pod, const json::object& workload, std::string_view pod_set) {
  json::object& metadata = object_of(pod, "metadata");
  object_of(metadata, "annotations")[api::json_view(kWorkloadAnnotation)] =
      api::find_text(part(workload, "metadata"), "name");
  std::string conflict;
  const json::object updates = updates_of(part(workload, "status"), pod_set, conflict);
  if (!conflict.empty()) return Error{conflict};
  for (const std::string_view field : {"labels", "annotations"})
    for (const auto& [key, value] : part(updates, field)) object_of(metadata, field)[key] = value;
  json::object& spec = object_of(pod, "spec");
  json::object added;
  if (auto done = add_pairs(spec, "nodeSelector", part(updates, "nodeSelector"), added, pod_set);
      !done)
    return done;
  if (const auto* tolerations = api::find_array(updates, "tolerations"))
    add_tolerations(spec, *tolerations, added);
  return {};
}

void note_workload(json::object& job, const StartInfo& info) {
  json::object record = record_of(job);
  record["podSets"] = info.pod_sets;
  record["workload"] = info.workload_uid;
  record["evictions"] = info.evictions;
  set_record(job, record);
}

bool assume_started(const api::JobKind& kind, json::object& job, const json::object& workload,
                    const ObjectAccess& objects) {
  const StartInfo info = start_info(workload);
  json::object own = job;
  json::array added;
  json::object replaced;
  const auto* sets = api::find_array(part(workload, "spec"), "podSets");
  for (std::size_t i = 0; sets && i < sets->size(); ++i) {
    const json::object& set = (*sets)[i].get_object();
    const auto held = kind.start_place(own, i);
    if (!held) return false;
    const json::object& wanted =
        i < info.pod_sets.size() ? info.pod_sets[i].get_object() : json::object();
    added.push_back(surplus(*held, part(set, "template"), part(wanted, "updates")));
    if (!api::find_int(set, "minCount")) continue;
    for (auto& [key, value] : kind.set_count(own, i, api::find_int32(set, "count").value_or(1)))
      replaced[key] = *api::at_place(part(own, "spec"), api::place_of(api::view(key)));
  }
  json::object assumed = job;
  json::object record = record_of_start(info, std::move(added), std::move(replaced));
  if (const auto since = kind.running_since(job)) record["since"] = format_time(*since);
  set_record(assumed, record);
  own = assumed;
  restore(kind, own);
  if (!inject(kind, own, workload, info, objects)) return false;
  json::object running = job;
  for (std::size_t i = 0; i < info.pod_sets.size(); ++i) {
    const auto has = kind.start_place(running, i);
    const auto wants = kind.start_place(own, i);
    if (!has || !wants || part(has->spec, "nodeSelector") != part(wants->spec, "nodeSelector"))
      return false;
  }
  job = std::move(assumed);
  return true;
}

Result<void> inject(const api::JobKind& kind, json::object& job, const json::object& workload,
                    const StartInfo& info, const ObjectAccess& objects) {
  json::array added;
  json::object replaced;
  bool marked = false;
  for (std::size_t i = 0; i < info.pod_sets.size(); ++i) {
    const json::object& wanted = info.pod_sets[i].get_object();
    json::object own;
    json::object made;
    const json::object* pods = kind.described(job, i, made);
    const json::object described = pods && pods == &made ? std::move(made) : json::object();
    if (const auto into = kind.start_place(job, i)) {
      if (auto done = inject_one(*into, described, workload, wanted, objects, own); !done)
        return done;
      marked = true;
    }
    added.push_back(std::move(own));
    const auto count = api::find_int32(wanted, "count");
    if (!count) continue;
    // Where two pod sets read one number, what was there before both.
    for (auto& [key, value] : kind.set_count(job, i, *count)) replaced.emplace(key, value);
  }
  json::object record = record_of_start(info, std::move(added), std::move(replaced));
  if (marked) record["mark"] = info.workload_uid;
  set_record(job, record);
  return {};
}

std::vector<std::string> keep_start(const api::JobKind& kind, const json::object& before,
                                    json::object& after) {
  json::object record = record_of(before);
  if (!record.empty()) {
    json::object own = before;
    if (!is_of_this_start(kind, record, own)) record.clear();
  }
  for_each_added(kind, record, after, [&](std::size_t set, const json::object& added) {
    const auto place = added.empty() ? std::nullopt : kind.start_place(after, set);
    if (!place) return;
    add_missing(place->spec, "nodeSelector", part(added, "nodeSelector"));
    json::object taken;
    if (const auto* tolerations = api::find_array(added, "tolerations"))
      add_tolerations(place->spec, *tolerations, taken);
    for (const std::string_view field : {"labels", "annotations"})
      add_missing(place->metadata, field, part(added, field));
  });
  return keep_counts(part(record, "replaced"), part(before, "spec"), object_of(after, "spec"));
}

StartInfo restore(const api::JobKind& kind, json::object& job) {
  const json::object record = record_of(job);
  StartInfo info;
  if (record.empty()) return info;
  const bool lasts = is_of_this_start(kind, record, job);
  for_each_added(kind, record, job, [&](std::size_t set, const json::object& added) {
    const auto place = lasts ? kind.start_place(job, set) : std::nullopt;
    if (place) {
      remove_pairs(place->spec, "nodeSelector", added);
      remove_tolerations(place->spec, added);
      remove_pairs(place->metadata, "labels", added);
      remove_pairs(place->metadata, "annotations", added);
    }
    kind.tidy_start(job, set);
  });
  json::object& metadata = object_of(job, "metadata");
  json::object& annotations = object_of(metadata, "annotations");
  annotations.erase(api::json_view(kStartedWith));
  if (annotations.empty()) metadata.erase("annotations");
  if (!lasts) return info;
  api::restore_counts(job, part(record, "replaced"));
  info.workload_uid = api::find_text(record, "workload");
  info.evictions = api::find_int(record, "evictions").value_or(0);
  if (const auto* sets = api::find_array(record, "podSets")) info.pod_sets = *sets;
  return info;
}

}  // namespace sluice::host
