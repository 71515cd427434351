#include "host/kernel/merge_patch.hpp"

#include <utility>

#include "api/json/steps.hpp"

namespace sluice::host {

namespace json = boost::json;

void merge_patch(boost::json::value& target, const boost::json::value& patch) {
  api::Steps::count();
  const auto* changes = patch.if_object();
  if (!changes) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  auto& object = target.get_object();
  for (const auto& change : *changes) {
    if (change.value().is_null()) {
      object.erase(change.key());
    } else {
      merge_patch(object[change.key()], change.value());
    }
  }
}

json::object merge_patch_between(const json::object& before, const json::object& after) {
  json::object out;
  for (const auto& [key, value] : after) {
    const json::value* old = before.if_contains(key);
    if (old && *old == value) continue;
    if (old && old->is_object() && value.is_object()) {
      json::object inner = merge_patch_between(old->get_object(), value.get_object());
      if (!inner.empty()) out[key] = std::move(inner);
    } else if (!value.is_null()) {
      out[key] = value;
    } else if (old && !old->is_null()) {
      out[key] = nullptr;
    }
  }
  for (const auto& [key, value] : before)
    if (!value.is_null() && !after.contains(key)) out[key] = nullptr;
  return out;
}

}  // namespace sluice::host
