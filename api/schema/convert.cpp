#include "api/schema/convert.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cstdlib>
#include <optional>

#include "api/json/json.hpp"
#include "api/schema/check_list.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

/// The object that holds the last part of a dotted path, and that part; nullptr when absent.
json::object* holder_of(json::object& object, std::string_view& path, bool create) {
  json::object* at = &object;
  for (auto dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    const std::string_view part = path.substr(0, dot);
    json::object* next = find_object(*at, part);
    if (next == nullptr) {
      if (!create || find(*at, part) != nullptr) return nullptr;
      next = &(*at)[json_view(part)].emplace_object();
    }
    at = next;
    path.remove_prefix(dot + 1);
  }
  return at;
}

void move_field(json::object& object, std::string_view from, std::string_view to) {
  json::object* source = holder_of(object, from, false);
  if (source == nullptr) return;
  const auto it = source->find(json_view(from));
  if (it == source->end()) return;
  json::value value = it->value();
  source->erase(it);
  json::object* target = holder_of(object, to, true);
  if (target != nullptr) target->insert_or_assign(json_view(to), std::move(value));
}

void map_value(json::object& object, std::string_view path,
               const std::map<std::string, std::string, std::less<>>& values) {
  json::object* holder = holder_of(object, path, false);
  json::value* value = holder != nullptr ? holder->if_contains(json_view(path)) : nullptr;
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  if (text == nullptr) return;
  if (const auto it = values.find(view(*text)); it != values.end()) *value = it->second;
}

// --- Workload ----------------------------------------------------------------------------------

struct PrioritySource {
  std::string_view source, group, kind;
};

constexpr PrioritySource kPrioritySources[] = {
    {"kueue.x-k8s.io/workloadpriorityclass", "kueue.x-k8s.io", "WorkloadPriorityClass"},
    {"scheduling.k8s.io/priorityclass", "scheduling.k8s.io", "PriorityClass"},
};

void priority_to_hub(json::object& spec) {
  const std::string name(find_text(spec, "priorityClassName"));
  const std::string source(find_text(spec, "priorityClassSource"));
  if (name.empty()) {
    if (source.empty()) spec.erase("priorityClassSource");
    spec.erase("priorityClassName");
    return;
  }
  for (const auto& each : kPrioritySources) {
    if (source != each.source) continue;
    spec["priorityClassRef"] = {{"group", each.group}, {"kind", each.kind}, {"name", name}};
    spec.erase("priorityClassName");
    spec.erase("priorityClassSource");
  }
}

void priority_from_hub(json::object& spec) {
  const json::object* reference = find_object(spec, "priorityClassRef");
  if (reference == nullptr) return;
  for (const auto& each : kPrioritySources) {
    if (find_text(*reference, "kind") != each.kind) continue;
    const std::string name(find_text(*reference, "name"));
    spec.erase("priorityClassRef");
    spec["priorityClassName"] = name;
    spec["priorityClassSource"] = each.source;
    return;
  }
}

json::value universal_or_individual(const json::array& values, std::string_view list_key) {
  bool same = !values.empty();
  for (const auto& each : values) same = same && each == values[0];
  if (same) return {{"universal", values[0]}};
  if (list_key.empty()) return {{"individual", values}};
  return {{"individual", json::object{{json_view(list_key), values}}}};
}

/// One slice holds all domains; equal values of a level, or equal counts, are written once.
void topology_to_hub(json::object& topology) {
  const json::array* domains = find_array(topology, "domains");
  if (domains == nullptr) return;
  if (domains->empty()) {
    topology.erase("domains");
    topology["slices"] = json::array();
    return;
  }
  const json::array* levels = find_array(topology, "levels");
  const std::size_t level_count = levels != nullptr ? levels->size() : 0;
  json::array counts;
  std::vector<json::array> values(level_count);
  for (const auto& each : *domains) {
    const json::object* domain = each.if_object();
    if (domain == nullptr) return;
    const json::array* texts = find_array(*domain, "values");
    if (texts == nullptr || texts->size() != level_count) return;  // cannot be said: stays as it is
    counts.emplace_back(find_int(*domain, "count").value_or(0));
    for (std::size_t i = 0; i < level_count; ++i) values[i].push_back((*texts)[i]);
  }
  json::array per_level;
  for (const auto& each : values) per_level.push_back(universal_or_individual(each, "roots"));
  json::object slice;
  slice["domainCount"] = domains->size();
  slice["podCounts"] = universal_or_individual(counts, "");
  slice["valuesPerLevel"] = std::move(per_level);
  topology["slices"] = json::array{std::move(slice)};
  topology.erase("domains");
}

constexpr std::size_t kMostValues = 300'000;  // of all domains, when they are written one by one

/// What `{universal: v}` or `{individual: [...]}` says for one domain.
std::optional<json::value> value_of(const json::object& from, std::size_t domain) {
  if (const json::value* universal = find(from, "universal")) return *universal;
  if (const json::array* list = find_array(from, "individual")) {
    if (domain < list->size()) return (*list)[domain];
    return std::nullopt;
  }
  const json::object* individual = find_object(from, "individual");
  const json::array* roots = individual != nullptr ? find_array(*individual, "roots") : nullptr;
  if (roots == nullptr || domain >= roots->size() || !(*roots)[domain].is_string()) {
    return std::nullopt;
  }
  std::string text(find_text(*individual, "prefix"));
  text += view(*(*roots)[domain].if_string());
  text += find_text(*individual, "suffix");
  return json::value(text);
}

/// `left`: so many values may still be written. What a slice says in a few bytes for many domains
/// would otherwise become as large as the number that it names.
bool append_domains(const json::object& slice, json::array& domains, std::size_t& left) {
  const auto count = find_int(slice, "domainCount").value_or(0);
  const json::object* pod_counts = find_object(slice, "podCounts");
  const json::array* levels = find_array(slice, "valuesPerLevel");
  if (pod_counts == nullptr || levels == nullptr || count < 0) return false;
  const std::size_t each_domain = levels->size() + 1;
  if (static_cast<std::size_t>(count) > left / each_domain) return false;
  left -= static_cast<std::size_t>(count) * each_domain;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    Steps::count(each_domain);
    json::array values;
    for (const auto& level : *levels) {
      const json::object* object = level.if_object();
      const auto value = object != nullptr ? value_of(*object, i) : std::nullopt;
      if (!value) return false;
      values.push_back(*value);
    }
    const auto pods = value_of(*pod_counts, i);
    if (!pods) return false;
    domains.emplace_back(json::object{{"values", std::move(values)}, {"count", *pods}});
  }
  return true;
}

void topology_from_hub(json::object& topology) {
  const json::array* slices = find_array(topology, "slices");
  if (slices == nullptr) return;
  json::array domains;
  std::size_t left = kMostValues;
  for (const auto& each : *slices) {
    const json::object* slice = each.if_object();
    if (slice == nullptr || !append_domains(*slice, domains, left)) return;
  }
  topology.erase("slices");
  topology["domains"] = std::move(domains);
}

void workload(json::object& object, void (*priority)(json::object&),
              void (*topology)(json::object&)) {
  if (json::object* spec = find_object(object, "spec")) priority(*spec);
  json::object* at = find_object(object, "status");
  if (at != nullptr) at = find_object(*at, "admission");
  json::array* assignments = at != nullptr ? find_array(*at, "podSetAssignments") : nullptr;
  if (assignments == nullptr) return;
  for (auto& each : *assignments) {
    json::object* assignment = each.if_object();
    if (assignment == nullptr) continue;
    json::object* found = find_object(*assignment, "topologyAssignment");
    if (found != nullptr) topology(*found);
  }
}

/// Goes to the holder of the last step of a rendered path (`spec.podSets[0].x`); nullptr when the
/// way is not there. `path` is left as the last name.
json::object* follow(json::object& object, std::string_view& path) {
  json::object* at = &object;
  for (;;) {
    const auto end = path.find_first_of(".[");
    if (end == std::string_view::npos) return at;
    json::value* next = at->if_contains(json_view(path.substr(0, end)));
    path.remove_prefix(end);
    while (next != nullptr && !path.empty() && path[0] == '[') {
      const auto close = path.find(']');
      if (close == std::string_view::npos) return nullptr;
      const std::string index(path.substr(1, close - 1));
      path.remove_prefix(close + 1);
      json::array* list = next->if_array();
      char* stop = nullptr;
      const auto number = std::strtoul(index.c_str(), &stop, 10);
      next = list != nullptr && stop != index.c_str() && number < list->size() ? &(*list)[number]
                                                                               : nullptr;
    }
    at = next != nullptr ? next->if_object() : nullptr;
    if (at == nullptr || path.empty() || path[0] != '.') return nullptr;
    path.remove_prefix(1);
  }
}

/// Whether the schema has the field at a rendered path, or may have it: a map, or what is open.
bool has_field(const SchemaNode& root, std::string_view path) {
  const SchemaNode* at = &root;
  for (;;) {
    const auto end = path.find_first_of(".[");
    const SchemaField* field = at->field(path.substr(0, end));
    if (field == nullptr) return at->open || at->values != nullptr || at->fields.empty();
    at = field->node;
    path.remove_prefix(std::min(end, path.size()));
    while (!path.empty() && path[0] == '[') {
      const auto close = path.find(']');
      at = at->items != nullptr ? at->items : at->values;
      if (close == std::string_view::npos || at == nullptr) return true;
      path.remove_prefix(close + 1);
    }
    if (path.empty()) return true;
    path.remove_prefix(1);
  }
}

bool is_at_or_below(std::string_view path, std::string_view field) {
  return path.starts_with(field) &&
         (path.size() == field.size() || path[field.size()] == '.' || path[field.size()] == '[');
}

bool may_bring(const Stashed& stashed, std::string_view path) {
  const bool below = path.starts_with("spec.") || (stashed.status && path.starts_with("status."));
  if (!below || has_field(stashed.from, path)) return false;
  const auto& moves = stashed.version.moves;
  return std::none_of(moves.begin(), moves.end(), [&](const auto& move) {
    return is_at_or_below(path, stashed.in_hub ? move.second : move.first);
  });
}

}  // namespace

void convert_to_hub(const VersionSource& version, json::object& object) {
  for (const auto& mapping : version.mappings) map_value(object, mapping.path, mapping.to_hub);
  for (const auto& [here, hub] : version.moves) move_field(object, here, hub);
  if (version.convert == "admissionChecksStrategy") check_list_to_strategy(object);
  if (version.convert == "workloadV1beta1") workload(object, priority_to_hub, topology_to_hub);
}

void convert_from_hub(const VersionSource& version, json::object& object) {
  if (version.convert == "workloadV1beta1") workload(object, priority_from_hub, topology_from_hub);
  for (const auto& [here, hub] : version.moves) move_field(object, hub, here);
  for (const auto& mapping : version.mappings) map_value(object, mapping.path, mapping.from_hub);
}

void settle_from_hub(const VersionSource& version, json::object& object) {
  if (version.convert == "admissionChecksStrategy") show_check_list(object);
}

void stash(json::object& object, std::string_view name, const Walk::Pruned& pruned) {
  if (pruned.empty()) return;
  json::object* metadata = find_object(object, "metadata");
  if (metadata == nullptr) return;
  json::object* annotations = find_object(*metadata, "annotations");
  if (annotations == nullptr) annotations = &(*metadata)["annotations"].emplace_object();
  json::object kept;
  for (const auto& [path, value] : pruned) kept[path] = value;
  (*annotations)[json_view(name)] = to_json(kept);
}

void unstash(json::object& object, const Stashed& stashed) {
  json::object* metadata = find_object(object, "metadata");
  json::object* annotations = metadata != nullptr ? find_object(*metadata, "annotations") : nullptr;
  if (annotations == nullptr) return;
  const auto it = annotations->find(json_view(stashed.name));
  if (it == annotations->end()) return;
  json::error_code error;
  json::value kept;
  if (const auto* text = it->value().if_string()) kept = parse_deep(view(*text), error);
  annotations->erase(it);
  if (annotations->empty()) metadata->erase("annotations");
  const json::object* fields = error ? nullptr : kept.if_object();
  if (fields == nullptr) return;
  for (const auto& member : *fields) {
    std::string_view path = view(member.key());
    if (!may_bring(stashed, path)) continue;
    json::object* holder = follow(object, path);
    if (holder != nullptr) holder->emplace(json_view(path), member.value());
  }
}

}  // namespace sluice::api
