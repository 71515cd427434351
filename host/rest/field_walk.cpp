#include "host/rest/field_walk.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "api/json/json.hpp"
#include "host/rest/json_patch.hpp"
#include "host/rest/list_order.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

constexpr std::array<std::string_view, 11> kSystemMetadata = {"name",
                                                              "namespace",
                                                              "creationTimestamp",
                                                              "selfLink",
                                                              "uid",
                                                              "generation",
                                                              "managedFields",
                                                              "resourceVersion",
                                                              "deletionTimestamp",
                                                              "clusterName",
                                                              "deletionGracePeriodSeconds"};

std::string field_step(std::string_view key) {
  std::string out;
  out.reserve(key.size() + 2);
  out.append("f:").append(key);
  return out;
}

std::vector<const FieldSet*> below(const std::vector<const FieldSet*>& sets,
                                   std::string_view step) {
  std::vector<const FieldSet*> out;
  api::Steps::count(1 + sets.size());
  for (const FieldSet* set : sets) {
    if (const FieldSet* found = set->find(step)) out.push_back(found);
  }
  return out;
}

bool any_self(const std::vector<const FieldSet*>& sets) {
  return std::any_of(sets.begin(), sets.end(), [](const FieldSet* set) { return set->self; });
}

bool is_empty(const json::value& value) {
  if (const auto* object = value.if_object()) return object->empty();
  if (const auto* array = value.if_array()) return array->empty();
  return false;
}

}  // namespace

FieldWalk::Place FieldWalk::member(const Place& map, std::string_view key) {
  Place out;
  if (map.level == Level::kRoot && key == "metadata") out.level = Level::kMetadata;
  if (map.node == nullptr) {
    out.declared = false;
    return out;
  }
  if (const auto* field = map.node->field(key)) {
    out.node = field->node;
    out.rule = &field->merge;
  } else {
    out.node = map.node->values;
    out.declared = false;
  }
  return out;
}

FieldWalk::Place FieldWalk::entry(const Place& list) {
  return {list.node != nullptr ? list.node->items : nullptr, nullptr, Level::kDeeper, true};
}

FieldWalk::Shape FieldWalk::shape(const json::value& value, const Place& place) {
  const bool whole = place.rule != nullptr && place.rule->atomic;
  if (value.is_object()) return whole ? Shape::kLeaf : Shape::kMap;
  if (!value.is_array() || whole || place.rule == nullptr) return Shape::kLeaf;
  if (!place.rule->keys.empty()) return Shape::kKeyed;
  return place.rule->set ? Shape::kSet : Shape::kLeaf;
}

bool FieldWalk::passed_over(const Place& map, std::string_view key) const {
  if (map.level == Level::kDeeper) return false;
  if (map.level == Level::kMetadata)
    return std::find(kSystemMetadata.begin(), kSystemMetadata.end(), key) != kSystemMetadata.end();
  if (key == "apiVersion" || key == "kind") return true;
  return part_ != Part::kAll && (key == "status") != (part_ == Part::kStatus);
}

std::string FieldWalk::step_of(const json::value& item, const Place& list, Shape shape) {
  api::Steps::count();
  std::string out;
  if (shape == Shape::kSet) {
    out = "v:";
    api::append_canonical_json(item, out);
    return out;
  }
  const auto* object = item.if_object();
  if (object == nullptr) return out;
  std::vector<std::string_view> names(list.rule->keys.begin(), list.rule->keys.end());
  std::sort(names.begin(), names.end());
  const api::SchemaNode* items = list.node != nullptr ? list.node->items : nullptr;
  for (const std::string_view name : names) {
    const json::value* value = api::find(*object, name);
    if (value == nullptr && items != nullptr) {
      const auto* field = items->field(name);
      if (field != nullptr && field->default_value) value = &*field->default_value;
    }
    if (value == nullptr) continue;
    out += out.empty() ? "k:{" : ",";
    api::append_json_text(name, out);
    out += ':';
    api::append_canonical_json(*value, out);
  }
  if (!out.empty()) out += '}';
  return out;
}

FieldSet FieldWalk::leaves(const json::object& object) {
  holders_ = false;
  return collect_map(object, root());
}

FieldSet FieldWalk::fields(const json::object& object) {
  holders_ = true;
  return collect_map(object, root());
}

FieldSet FieldWalk::collect_map(const json::object& object, const Place& place) {
  FieldSet out;
  for (const auto& field : object) {
    const std::string_view key = api::view(field.key());
    if (field.value().is_null() || passed_over(place, key)) continue;
    const Place inner = member(place, key);
    FieldSet set = collect(field.value(), inner);
    if (!inner.declared) set.self = true;
    out.append(field_step(key), std::move(set));
  }
  out.normalise();
  return out;
}

FieldSet FieldWalk::collect(const json::value& value, const Place& place) {
  api::Steps::count();
  FieldSet out;
  const Shape kind = shape(value, place);
  if (kind == Shape::kLeaf) {
    out.self = true;
    return out;
  }
  if (kind == Shape::kMap) {
    out = collect_map(value.get_object(), place);
    if (place.level == Level::kDeeper) out.self = holders_ || value.get_object().empty();
    return out;
  }
  for (const auto& item : value.get_array()) {
    std::string step = step_of(item, place, kind);
    if (step.empty()) {
      if (problem_.empty()) problem_ = "an entry of a list lacks its key " + place.rule->keys[0];
      continue;
    }
    FieldSet set;
    if (item.is_object() && kind == Shape::kKeyed)
      set = collect_map(item.get_object(), entry(place));
    set.self = true;
    out.append(std::move(step), std::move(set));
  }
  const std::size_t entries = out.children().size();
  out.normalise();
  if (out.children().size() != entries && problem_.empty())
    problem_ = "a list has two entries with the same key";
  out.self = holders_;
  return out;
}

FieldWalk::Difference FieldWalk::compare(const json::object& before, const json::object& after) {
  holders_ = true;
  Difference out;
  compare_maps(before, after, root(), out);
  return out;
}

void FieldWalk::compare_maps(const json::object& before, const json::object& after,
                             const Place& place, Difference& out) {
  for (const auto& field : after) {
    const std::string_view key = api::view(field.key());
    if (field.value().is_null() || passed_over(place, key)) continue;
    const json::value* old = before.if_contains(field.key());
    const Place inner = member(place, key);
    Difference difference;
    if (old == nullptr || old->is_null()) {
      difference.changed = collect(field.value(), inner);
    } else {
      compare(*old, field.value(), inner, difference);
    }
    if (difference.none()) continue;
    out.changed.append(field_step(key), std::move(difference.changed));
    out.removed.append(field_step(key), std::move(difference.removed));
  }
  for (const auto& field : before) {
    const std::string_view key = api::view(field.key());
    if (field.value().is_null() || passed_over(place, key)) continue;
    const json::value* now = after.if_contains(field.key());
    if (now != nullptr && !now->is_null()) continue;
    out.removed.append(field_step(key), collect(field.value(), member(place, key)));
  }
  out.changed.normalise();
  out.removed.normalise();
}

void FieldWalk::compare(const json::value& before, const json::value& after, const Place& place,
                        Difference& out) {
  api::Steps::count();
  const Shape kind = shape(after, place);
  if (kind != shape(before, place)) {
    out.removed = collect(before, place);
    out.removed.self = false;
    out.changed = collect(after, place);
    out.changed.self = true;
  } else if (kind == Shape::kMap) {
    compare_maps(before.get_object(), after.get_object(), place, out);
  } else if (kind == Shape::kLeaf) {
    out.changed.self = !same_json(before, after);
  } else {
    compare_lists(before.get_array(), after.get_array(), place, kind, out);
  }
}

void FieldWalk::compare_lists(const json::array& before, const json::array& after,
                              const Place& place, Shape kind, Difference& out) {
  std::map<std::string, const json::value*> old;
  for (const auto& item : before) old.emplace(step_of(item, place, kind), &item);
  const Place inner = entry(place);
  const auto whole = [&](const json::value& item) {
    FieldSet set;
    if (item.is_object() && kind == Shape::kKeyed) set = collect_map(item.get_object(), inner);
    set.self = true;
    return set;
  };
  for (const auto& item : after) {
    std::string step = step_of(item, place, kind);
    if (step.empty()) continue;
    const auto found = old.find(step);
    if (found == old.end()) {
      out.changed.append(std::move(step), whole(item));
      continue;
    }
    if (kind == Shape::kKeyed && found->second != nullptr) {
      Difference difference;
      compare_maps(found->second->get_object(), item.get_object(), inner, difference);
      out.changed.append(step, std::move(difference.changed));
      out.removed.append(step, std::move(difference.removed));
    }
    found->second = nullptr;  // seen
  }
  for (const auto& [step, item] : old) {
    if (item != nullptr && !step.empty()) out.removed.append(step, whole(*item));
  }
  out.changed.normalise();
  out.removed.normalise();
}

void FieldWalk::merge(json::object& target, const json::object& config) {
  merge_maps(target, config, root());
}

void FieldWalk::merge(json::value& target, const json::value& config, const Place& place) {
  api::Steps::count();
  const Shape kind = shape(config, place);
  if (kind == Shape::kLeaf) {
    target = config;
  } else if (kind == Shape::kMap) {
    if (!target.is_object()) target.emplace_object();
    merge_maps(target.get_object(), config.get_object(), place);
  } else {
    if (!target.is_array()) target.emplace_array();
    merge_lists(target.get_array(), config.get_array(), place, kind);
  }
}

void FieldWalk::merge_maps(json::object& target, const json::object& config, const Place& place) {
  for (const auto& field : config) {
    const std::string_view key = api::view(field.key());
    if (passed_over(place, key)) continue;
    if (field.value().is_null()) {
      target.erase(field.key());
    } else {
      merge(target[field.key()], field.value(), member(place, key));
    }
  }
}

void FieldWalk::merge_lists(json::array& target, const json::array& config, const Place& place,
                            Shape kind) {
  std::map<std::string, std::size_t> places;
  std::vector<std::string> before, wanted;
  for (const auto& item : target) {
    before.push_back(step_of(item, place, kind));
    places.emplace(before.back(), before.size() - 1);
  }
  std::vector<std::string> steps = before;
  for (const auto& item : config) {
    wanted.push_back(step_of(item, place, kind));
    const auto [found, fresh] = places.emplace(wanted.back(), target.size());
    if (fresh) {
      target.emplace_back(nullptr);
      steps.push_back(wanted.back());
    }
    json::value& into = target[found->second];
    if (kind == Shape::kKeyed) {
      merge(into, item, entry(place));
    } else if (fresh) {
      into = item;
    }
  }
  order_list(target, steps, before, wanted);
}

void FieldWalk::prune(json::object& target, const FieldSet& owned,
                      const std::vector<const FieldSet*>& kept) {
  prune_map(target, root(), owned, kept);
}

/// Whether the value itself has to go.
bool FieldWalk::prune_value(json::value& value, const Place& place, const FieldSet& owned,
                            const std::vector<const FieldSet*>& kept) {
  if (owned.self && kept.empty()) return true;
  const Shape kind = shape(value, place);
  if (kind == Shape::kLeaf || is_empty(value)) return false;
  if (kind == Shape::kMap) {
    prune_map(value.get_object(), place, owned, kept);
  } else {
    prune_list(value.get_array(), place, kind, owned, kept);
  }
  return is_empty(value) && !any_self(kept);
}

void FieldWalk::prune_map(json::object& target, const Place& place, const FieldSet& owned,
                          const std::vector<const FieldSet*>& kept) {
  for (const auto& child : owned.children()) {
    if (!child.step.starts_with("f:")) continue;
    const std::string_view key = std::string_view(child.step).substr(2);
    if (passed_over(place, key)) continue;
    json::value* value = target.if_contains(api::json_view(key));
    if (value == nullptr) continue;
    if (prune_value(*value, member(place, key), child.set, below(kept, child.step)))
      target.erase(api::json_view(key));
  }
}

void FieldWalk::prune_list(json::array& target, const Place& place, Shape kind,
                           const FieldSet& owned, const std::vector<const FieldSet*>& kept) {
  json::array out(target.storage());
  for (auto& item : target) {
    const std::string step = step_of(item, place, kind);
    const FieldSet* child = step.empty() ? nullptr : owned.find(step);
    if (child == nullptr || !prune_value(item, entry(place), *child, below(kept, step)))
      out.push_back(std::move(item));
  }
  target = std::move(out);
}

}  // namespace sluice::host
