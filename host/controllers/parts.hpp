// Short ways to read and make parts of objects in JSON form; what is absent or of another type
// reads as empty. Pure functions, any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string_view>

#include "core/api/json.hpp"

namespace sluice::host {

/// The member of this name where it is an object; else an empty one.
inline const boost::json::object& part_of(const boost::json::object& object, std::string_view key) {
  static const boost::json::object kNone;
  const boost::json::object* found = api::find_object(object, key);
  return found ? *found : kNone;
}

/// Calls `f(const object&)` for each entry of the list that is an object.
template <typename F>
void each_object(const boost::json::object& object, std::string_view key, F&& f) {
  const boost::json::array* found = api::find_array(object, key);
  if (!found) return;
  for (const boost::json::value& value : *found)
    if (const boost::json::object* entry = value.if_object()) f(*entry);
}

/// The member of this name, made where there is none.
inline boost::json::object& object_at(boost::json::object& object, std::string_view key) {
  boost::json::value& value = object[api::json_view(key)];
  return value.is_object() ? value.get_object() : value.emplace_object();
}
inline boost::json::array& array_at(boost::json::object& object, std::string_view key) {
  boost::json::value& value = object[api::json_view(key)];
  return value.is_array() ? value.get_array() : value.emplace_array();
}

/// The condition of this type in a status; nullptr without one.
inline const boost::json::object* find_condition(const boost::json::object& status,
                                                 std::string_view type) {
  const boost::json::object* found = nullptr;
  each_object(status, "conditions", [&](const boost::json::object& condition) {
    if (api::find_text(condition, "type") == type) found = &condition;
  });
  return found;
}
inline bool has_condition(const boost::json::object& status, std::string_view type) {
  const boost::json::object* found = find_condition(status, type);
  return found && api::find_text(*found, "status") == "True";
}

}  // namespace sluice::host
