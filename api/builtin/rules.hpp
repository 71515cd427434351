// The rules of single built-in kinds, as builtin.cpp puts them together, and what they share.
// Pure functions, any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"

namespace sluice::api::builtin {

void fill_in_job(boost::json::object& job);
void check_job(const boost::json::object& job, const boost::json::object* old, Outcome& outcome);

void check_job_update(const boost::json::object& job, const boost::json::object& old,
                      Outcome& outcome);
bool is_indexed(const boost::json::object& job_spec);

void fill_in_pod(boost::json::object& pod);
void check_pod(const boost::json::object& pod, const boost::json::object* old, Outcome& outcome);

/// Defaults of a pod spec that depend on other fields: image pull policies, volumes without source.
void fill_in_pod_spec(boost::json::object& spec);
/// Names, volumes, mounts, resources, tolerations of the pod spec at `field`.
void check_pod_spec(const boost::json::object& spec, const std::string& field, Outcome& outcome);
/// What never changes in one, and is judged only when it is made: what was stored under older rules
/// can still be written.
void check_new_pod_spec(const boost::json::object& spec, const std::string& field,
                        Outcome& outcome);

void fill_in_secret(boost::json::object& secret);
void check_secret(const boost::json::object& secret, const boost::json::object* old,
                  Outcome& outcome);
void check_config_map(const boost::json::object& map, const boost::json::object* old,
                      Outcome& outcome);
void check_event(const boost::json::object& event, const boost::json::object* old,
                 Outcome& outcome);
void fill_in_service(boost::json::object& service);

void fill_in_role_binding(boost::json::object& binding);
void check_role(const boost::json::object& role, const boost::json::object* old, Outcome& outcome);
void check_cluster_role(const boost::json::object& role, const boost::json::object* old,
                        Outcome& outcome);
void check_role_binding(const boost::json::object& binding, const boost::json::object* old,
                        Outcome& outcome);
void check_cluster_role_binding(const boost::json::object& binding, const boost::json::object* old,
                                Outcome& outcome);

// ---- shared

inline const boost::json::object& part(const boost::json::object& object, std::string_view key) {
  static const boost::json::object kEmpty;
  const boost::json::object* found = find_object(object, key);
  return found != nullptr ? *found : kEmpty;
}

/// Calls each(index, entry) for the objects of a list.
template <typename Object, typename Each>
void for_objects(Object& holder, std::string_view key, Each each) {
  auto* list = find_array(holder, key);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (auto* object = (*list)[i].if_object()) each(i, *object);
  }
}

/// Equal, where absent counts as null.
inline bool same(const boost::json::object& a, const boost::json::object& b, std::string_view key) {
  const boost::json::value* x = find(a, key);
  const boost::json::value* y = find(b, key);
  if (x == nullptr || y == nullptr) return x == y;
  return *x == *y;
}

/// `field is immutable`, with the new value.
void add_immutable(const boost::json::object& holder, std::string_view key,
                   const std::string& field, Outcome& outcome);
void add_required(Outcome& outcome, std::string field, const std::string& why = {});
void add_forbidden(Outcome& outcome, std::string field, const std::string& why);

}  // namespace sluice::api::builtin
