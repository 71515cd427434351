#include "api/schema/hide.hpp"

#include <cstdint>
#include <map>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/fnv.hpp"

namespace sluice::api {
namespace {

namespace json = boost::json;

class Taker {
 public:
  explicit Taker(json::array& kept) : kept_(kept) {}

  void members(const SchemaNode& node, json::object& object) {
    if (node.open) return;
    keep_members(object, [&](json::key_value_pair& member) {
      const SchemaNode* below = node.values;
      if (below == nullptr) {
        const SchemaField* field = node.field(view(member.key()));
        below = field != nullptr ? field->node : nullptr;
      }
      path_.emplace_back(member.key());
      if (below != nullptr)
        value(*below, member.value());
      else
        kept_.push_back(json::object{{"at", path_}, {"value", std::move(member.value())}});
      path_.pop_back();
      return below != nullptr;
    });
  }

  void start(json::string_view name) { path_.emplace_back(name); }
  void end() { path_.pop_back(); }
  void keep(json::value value) {
    kept_.push_back(json::object{{"at", path_}, {"value", std::move(value)}});
  }

  void value(const SchemaNode& node, json::value& value) {
    if (auto* object = value.if_object(); object != nullptr && node.type == NodeType::kObject) {
      members(node, *object);
      return;
    }
    auto* list = value.if_array();
    if (list == nullptr || node.items == nullptr) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      path_.push_back(element_step(node, (*list)[i], i));
      this->value(*node.items, (*list)[i]);
      path_.pop_back();
    }
  }

 private:
  static json::value element_step(const SchemaNode& node, const json::value& element,
                                  std::size_t number) {
    json::object keys;
    if (const auto* object = element.if_object()) {
      for (const std::string& key : node.list_keys)
        if (const json::value* found = find(*object, key)) keys[key] = *found;
    }
    if (keys.empty()) return static_cast<std::int64_t>(number);
    return keys;
  }

  json::array& kept_;
  json::array path_;
};

bool is_settled(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

json::value* element_of(json::array& list, const json::value& step) {
  if (const auto number = as_int(step)) {
    const auto index = static_cast<std::size_t>(*number);
    return *number >= 0 && index < list.size() ? &list[index] : nullptr;
  }
  const auto* keys = step.if_object();
  if (keys == nullptr) return nullptr;
  for (json::value& element : list) {
    const auto* object = element.if_object();
    bool same = object != nullptr;
    for (const auto& [key, wanted] : *keys) {
      const json::value* found = same ? find(*object, view(key)) : nullptr;
      same = found != nullptr && *found == wanted;
    }
    if (same) return &element;
  }
  return nullptr;
}

json::value* step_into(json::value& place, const json::value& step) {
  if (auto* list = place.if_array()) return element_of(*list, step);
  auto* object = place.if_object();
  const auto* name = step.if_string();
  return object != nullptr && name != nullptr ? object->if_contains(*name) : nullptr;
}

// Whether there was a place, and nothing in it.
bool put_back_one(json::object& object, const json::array& at, const json::value& value) {
  if (at.empty() || !at.front().is_string() || !at.back().is_string()) return false;
  const json::string& first = at.front().get_string();
  if (at.size() == 1) return object.emplace(first, value).second;
  // `spec` or `status` may have been nothing but what was taken.
  json::value* place = &object.emplace(first, json::object()).first->value();
  for (std::size_t i = 1; i + 1 < at.size() && place != nullptr; ++i)
    place = step_into(*place, at[i]);
  auto* parent = place != nullptr ? place->if_object() : nullptr;
  return parent != nullptr && parent->emplace(at.back().get_string(), value).second;
}

// A hash over the names in the order of a walk; a node seen before counts as its number.
class Fingerprint {
 public:
  void node(const SchemaNode& node) {
    const auto [seen, fresh] = numbers_.try_emplace(&node, numbers_.size());
    if (!fresh) {
      text("#" + std::to_string(seen->second));
      return;
    }
    text(node.open ? "*" : "{");
    for (const SchemaField& field : node.fields) {
      text(field.name);
      this->node(*field.node);
    }
    if (node.values != nullptr) this->node(*node.values);
    if (node.items != nullptr) {
      for (const std::string& key : node.list_keys) text(key);
      this->node(*node.items);
    }
    text("}");
  }
  std::uint64_t value() const { return hash_.value(); }

 private:
  void text(std::string_view text) { hash_.add(text).add(static_cast<unsigned char>(0xFF)); }

  std::map<const SchemaNode*, std::size_t> numbers_;
  Fnv hash_;
};

}  // namespace

void take_unknown(const SchemaNode& root, json::object& object, json::array& kept) {
  if (root.open) return;
  Taker taker(kept);
  keep_members(object, [&](json::key_value_pair& member) {
    const std::string_view name = view(member.key());
    if (is_settled(name)) return true;
    const SchemaField* field = root.field(name);
    taker.start(member.key());
    if (field != nullptr)
      taker.value(*field->node, member.value());
    else
      taker.keep(std::move(member.value()));
    taker.end();
    return field != nullptr;
  });
}

void put_back(json::object& object, const json::array& kept, json::array& left) {
  for (const json::value& entry : kept) {
    const auto* field = entry.if_object();
    const auto* at = field != nullptr ? find_array(*field, "at") : nullptr;
    const auto* value = field != nullptr ? find(*field, "value") : nullptr;
    if (at == nullptr || value == nullptr || !put_back_one(object, *at, *value))
      left.push_back(entry);
  }
}

std::string fields_fingerprint(const SchemaNode& root) {
  Fingerprint out;
  out.node(root);
  return std::to_string(out.value());
}

}  // namespace sluice::api
