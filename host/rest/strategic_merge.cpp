#include "host/rest/strategic_merge.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/json/json.hpp"
#include "host/rest/list_order.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

using api::MergeRule;
using api::SchemaNode;

constexpr std::string_view kOrder = "$setElementOrder/";
constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetain = "$retainKeys";
// The shortest entry that is a step has four bytes: "a", of a list of texts.
constexpr std::size_t kStepsAtLeast = 50'000;
constexpr std::size_t kBytesOfAStep = 4;

/// What is known of a member; nothing for unknown fields.
struct Place {
  const SchemaNode* node = nullptr;
  const MergeRule* rule = nullptr;
};

Place place_of(const SchemaNode* node, std::string_view key) {
  if (node == nullptr) return {};
  if (const auto* field = node->field(key)) return {field->node, &field->merge};
  return {node->values, nullptr};
}

ApiError wrong_patch(const std::string& what) {
  return bad_request("strategic merge patch: " + what);
}

std::string canonical(const json::value& value) {
  api::Steps::count();
  std::string out;
  api::append_canonical_json(value, out);
  return out;
}

/// The key of an entry as a text; empty when it has none.
std::string key_of(const json::value& entry, const std::string& merge_key) {
  if (merge_key.empty()) return canonical(entry);
  const auto* object = entry.if_object();
  const json::value* key = object != nullptr ? api::find(*object, merge_key) : nullptr;
  return key != nullptr ? canonical(*key) : std::string();
}

class Merger {
 public:
  /// Entries of a patch may name one key many times, and each then goes over the whole entry: the
  /// steps of all together are limited by the size of what is merged.
  explicit Merger(std::size_t bytes)
      : most_steps_(kStepsAtLeast + bytes / kBytesOfAStep), began_(api::Steps::taken()) {}

  ApiResult<void> map(json::object& target, const json::object& patch, const SchemaNode* node) {
    if (api::Steps::taken() - began_ > most_steps_) return too_many_steps();
    const std::string_view directive = api::find_text(patch, kPatch);
    if (directive == "delete") {
      target.clear();
      return {};
    }
    if (directive == "replace") {
      target.clear();
    } else if (patch.contains(api::json_view(kPatch)) && directive != "merge") {
      return wrong_patch("$patch must be delete, replace or merge");
    }
    if (auto kept = retain(target, patch); !kept) return kept;
    for (const auto& change : patch) {
      api::Steps::count();
      const std::string_view key = api::view(change.key());
      if (key == kPatch || key == kRetain || key.starts_with(kOrder)) continue;
      if (key.starts_with(kDelete)) {
        if (auto done = take_out(target, key.substr(kDelete.size()), change.value()); !done)
          return done;
        continue;
      }
      if (auto done = member(target, key, change.value(), place_of(node, key)); !done) return done;
    }
    return order(target, patch, node);
  }

 private:
  ApiError too_many_steps() const {
    ApiError out;
    out.code = 422;
    out.reason = "Invalid";
    out.text =
        "strategic merge patch: entries with the same merge key make it cost more than the limit "
        "of " +
        std::to_string(most_steps_) + " steps";
    return out;
  }

  static ApiResult<void> retain(json::object& target, const json::object& patch) {
    const json::value* directive = api::find(patch, kRetain);
    if (directive == nullptr) return {};
    const auto* list = directive->if_array();
    if (list == nullptr) return wrong_patch("$retainKeys must be a list of keys");
    const api::EntrySet keys(list);
    const auto listed = [&](json::string_view key) { return keys.contains(json::value(key)); };
    for (const auto& change : patch) {
      const std::string_view key = api::view(change.key());
      if (!key.starts_with('$') && !change.value().is_null() && !listed(change.key()))
        return wrong_patch("$retainKeys does not list \"" + std::string(key) +
                           "\", which the patch sets");
    }
    api::keep_members(target, [&](const auto& each) { return listed(each.key()); });
    return {};
  }

  static ApiResult<void> take_out(json::object& target, std::string_view key,
                                  const json::value& values) {
    const auto* list = values.if_array();
    if (list == nullptr)
      return wrong_patch(std::string(kDelete) + std::string(key) + " must be a list of values");
    auto* from = api::find_array(target, key);
    if (from == nullptr) return {};
    const api::EntrySet gone(list);
    json::array kept(from->storage());
    for (auto& each : *from) {
      if (!gone.contains(each)) kept.push_back(std::move(each));
    }
    *from = std::move(kept);
    return {};
  }

  ApiResult<void> member(json::object& target, std::string_view key, const json::value& change,
                         const Place& place) {
    const auto name = api::json_view(key);
    if (change.is_null()) {
      target.erase(name);
      return {};
    }
    if (const auto* object = change.if_object()) {
      json::value& into = target[name];
      if (!into.is_object()) into.emplace_object();
      return map(into.get_object(), *object, place.node);
    }
    const auto* array = change.if_array();
    if (array == nullptr || place.rule == nullptr || !place.rule->merge) {
      target[name] = change;
      return {};
    }
    json::value& into = target[name];
    if (!into.is_array()) into.emplace_array();
    const SchemaNode* items = place.node != nullptr ? place.node->items : nullptr;
    if (place.rule->key.empty()) {
      add_values(into.get_array(), *array);
      return {};
    }
    return entries(into.get_array(), *array, std::string(key), place.rule->key, items);
  }

  static void add_values(json::array& target, const json::array& patch) {
    std::set<std::string> there;
    for (const auto& each : target) there.insert(canonical(each));
    for (const auto& value : patch) {
      if (there.insert(canonical(value)).second) target.push_back(value);
    }
  }

  ApiResult<void> entries(json::array& target, const json::array& patch, const std::string& field,
                          const std::string& merge_key, const SchemaNode* items) {
    const bool replaces = std::any_of(patch.begin(), patch.end(), [](const json::value& each) {
      return each.is_object() && api::find_text(each.get_object(), kPatch) == "replace";
    });
    if (replaces) target.clear();
    Places places = places_of(target, patch, merge_key);
    std::vector<bool> gone(target.size(), false);
    for (const auto& each : patch) {
      const auto* entry = each.if_object();
      if (entry == nullptr) return wrong_patch("an entry of " + field + " is not an object");
      const std::string_view directive = api::find_text(*entry, kPatch);
      if (directive == "replace" && !entry->contains(merge_key)) continue;
      const std::string key = key_of(each, merge_key);
      if (key.empty())
        return wrong_patch("an entry of " + field +
                           " does not contain declared merge key: " + merge_key);
      std::size_t& at = places[key];
      if (directive == "delete") {
        if (at != kNowhere) gone[at] = true;
        at = kNowhere;
        continue;
      }
      if (at == kNowhere) {
        at = target.size();
        gone.push_back(false);
        target.emplace_back(json::object_kind);
      }
      json::value& into = target[at];
      if (!into.is_object()) into.emplace_object();
      if (auto done = map(into.get_object(), *entry, items); !done) return done;
    }
    leave_out(target, gone);
    return {};
  }

  /// Where the entries of a list are that a patch names, or kNowhere.
  using Places = std::unordered_map<std::string, std::size_t>;
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

  static Places places_of(const json::array& target, const json::array& patch,
                          const std::string& merge_key) {
    Places out;
    for (const auto& each : patch)
      if (each.is_object()) out.emplace(key_of(each, merge_key), kNowhere);
    for (std::size_t i = 0; i < target.size(); ++i) {
      const auto named = out.find(key_of(target[i], merge_key));
      if (named != out.end() && named->second == kNowhere) named->second = i;
    }
    return out;
  }

  static void leave_out(json::array& list, const std::vector<bool>& gone) {
    if (std::find(gone.begin(), gone.end(), true) == gone.end()) return;
    json::array kept(list.storage());
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!gone[i]) kept.push_back(std::move(list[i]));
    }
    list = std::move(kept);
  }

  /// Carries out the $setElementOrder/… of this map.
  static ApiResult<void> order(json::object& target, const json::object& patch,
                               const SchemaNode* node) {
    for (const auto& change : patch) {
      const std::string_view directive = api::view(change.key());
      if (!directive.starts_with(kOrder)) continue;
      const std::string_view key = directive.substr(kOrder.size());
      const auto* list = change.value().if_array();
      if (list == nullptr) return wrong_patch(std::string(directive) + " must be a list");
      auto* items = api::find_array(target, key);
      const Place place = place_of(node, key);
      if (items == nullptr || place.rule == nullptr || !place.rule->merge) continue;
      std::vector<std::string> wanted, keys;
      for (const auto& each : *list) wanted.push_back(key_of(each, place.rule->key));
      for (const auto& each : *items) keys.push_back(key_of(each, place.rule->key));
      // New entries stand behind those that were there: the present order is the earlier one, for
      // all that the patch does not name.
      order_list(*items, keys, keys, wanted);
    }
    return {};
  }

  const std::uint64_t most_steps_;
  const std::uint64_t began_;
};

}  // namespace

ApiResult<void> strategic_merge(json::object& target, const json::object& patch,
                                const SchemaNode& schema) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  Merger merger(api::json_bytes(target, kAny) + api::json_bytes(patch, kAny));
  return merger.map(target, patch, &schema);
}

}  // namespace sluice::host
