// Short ways to read objects in JSON form, where what is absent or of another type reads as empty.
// Pure functions, any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "core/base/time.hpp"

namespace sluice::api {

/// The member of this name where it is an object; else an empty one.
inline const boost::json::object& part(const boost::json::object& object, std::string_view key) {
  static const boost::json::object kNone;
  const boost::json::object* found = find_object(object, key);
  return found ? *found : kNone;
}

/// The text of this name, as one of its own; empty without one.
inline std::string text_in(const boost::json::object& object, std::string_view key) {
  return std::string(find_text(object, key));
}

/// Of the metadata of an object: its annotation or, without one, its label of this name.
inline std::string_view identifier_in(const boost::json::object& metadata, std::string_view name) {
  const std::string_view out = find_text(part(metadata, "annotations"), name);
  return out.empty() ? find_text(part(metadata, "labels"), name) : out;
}

/// Calls `f(const object&)` for each member of the array that is an object.
template <typename F>
void for_each_object(const boost::json::object& object, std::string_view key, F&& f) {
  const boost::json::array* found = find_array(object, key);
  if (!found) return;
  for (const boost::json::value& value : *found) {
    if (const boost::json::object* member = value.if_object()) f(*member);
  }
}

/// The texts of the array of this name; what else is in it is left out.
inline std::vector<std::string> texts_in(const boost::json::object& object, std::string_view key) {
  std::vector<std::string> out;
  const boost::json::array* found = find_array(object, key);
  if (!found) return out;
  for (const boost::json::value& value : *found) {
    if (const boost::json::string* text = value.if_string()) out.emplace_back(view(*text));
  }
  return out;
}

/// `array` as the member of this name, made where there is none.
inline boost::json::array& array_of(boost::json::object& object, std::string_view key) {
  boost::json::value& value = object[json_view(key)];
  return value.is_array() ? value.get_array() : value.emplace_array();
}

inline boost::json::object& object_of(boost::json::object& object, std::string_view key) {
  boost::json::value& value = object[json_view(key)];
  return value.is_object() ? value.get_object() : value.emplace_object();
}

/// `namespace/name` of an object, or `name`.
inline std::string key_of(const boost::json::object& object) {
  const boost::json::object& metadata = part(object, "metadata");
  const std::string_view ns = find_text(metadata, "namespace");
  std::string key(ns);
  if (!ns.empty()) key += '/';
  return key.append(find_text(metadata, "name"));
}

/// Whether the array of texts holds this one.
inline bool holds_text(const boost::json::object& object, std::string_view key,
                       std::string_view text) {
  const boost::json::array* found = find_array(object, key);
  if (!found) return false;
  for (const boost::json::value& value : *found) {
    if (value.is_string() && view(value.get_string()) == text) return true;
  }
  return false;
}

/// The condition of this type in a status; nullptr without one.
inline const boost::json::object* find_condition(const boost::json::object& status,
                                                 std::string_view type) {
  const boost::json::object* found = nullptr;
  for_each_object(status, "conditions", [&](const boost::json::object& condition) {
    if (find_text(condition, "type") == type) found = &condition;
  });
  return found;
}

/// A condition that changes at `now`. Who adds members, such as observedGeneration, adds them
/// behind.
inline boost::json::object make_condition(std::string_view type, bool on, std::string_view reason,
                                          std::string_view message, Time now) {
  return {{"type", json_view(type)},
          {"status", on ? "True" : "False"},
          {"reason", json_view(reason)},
          {"message", json_view(message)},
          {"lastTransitionTime", format_time(now)}};
}

/// Whether there is such a condition and it says this, whenever it began and whatever else it has.
inline bool condition_says(const boost::json::object* condition, bool on, std::string_view reason,
                           std::string_view message) {
  return condition && find_text(*condition, "status") == (on ? "True" : "False") &&
         find_text(*condition, "reason") == reason && find_text(*condition, "message") == message;
}

/// While its value is that of the former condition (nullptr: there was none), so is its time.
inline void keep_transition(boost::json::object& next, const boost::json::object* former) {
  if (former && find_text(*former, "status") == find_text(next, "status"))
    next["lastTransitionTime"] = text_in(*former, "lastTransitionTime");
}

/// Puts the condition in place of the last one of its type, or behind all others; while its value
/// is the same it keeps the time of the former one. False: that said just this.
inline bool put_condition(boost::json::object& status, boost::json::object next) {
  boost::json::array& conditions = array_of(status, "conditions");
  boost::json::object* present = nullptr;
  for (boost::json::value& entry : conditions)
    if (boost::json::object* old = entry.if_object();
        old && find_text(*old, "type") == find_text(next, "type"))
      present = old;
  if (!present) {
    conditions.push_back(std::move(next));
    return true;
  }
  keep_transition(next, present);
  if (*present == next) return false;
  *present = std::move(next);
  return true;
}

inline bool has_condition(const boost::json::object& status, std::string_view type) {
  const boost::json::object* found = find_condition(status, type);
  return found && find_text(*found, "status") == "True";
}

}  // namespace sluice::api
