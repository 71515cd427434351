#include "host/writes/metadata.hpp"

#include <algorithm>

#include "api/json/json.hpp"
#include "host/objects/claims.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kSystemFields[] = {
    "uid",     "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds",
    "selfLink"};

std::size_t body_size(const json::object& object) {
  return static_cast<std::size_t>(
      std::count_if(object.begin(), object.end(),
                    [](const auto& entry) { return is_body_field(api::view(entry.key())); }));
}

api::ObjectMeta* meta_of(TypedObject& typed) {
  return std::visit(
      [](auto& held) -> api::ObjectMeta* {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return nullptr;
        } else {
          return &held->meta;
        }
      },
      typed);
}

/// Adds `,"name":"value"` to the text of a JSON object.
void append_text(std::string& object, std::string_view name, std::string_view value) {
  object.pop_back();
  if (object.size() > 1) object += ',';
  api::append_json_text(name, object);
  object += ':';
  api::append_json_text(value, object);
  object += '}';
}

}  // namespace

json::object& metadata_of(json::object& object) {
  json::value& metadata = object["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  return metadata.get_object();
}

const json::object* metadata_of(const json::object& object) {
  return api::find_object(object, "metadata");
}

void drop_system_metadata(json::object& object) {
  json::object& metadata = metadata_of(object);
  for (const auto field : kSystemFields) metadata.erase(api::json_view(field));
  metadata.erase("resourceVersion");
  drop_standing_aside(object);  // with it clients could write the status
}

void start_generation(json::object& object) {
  json::object& metadata = metadata_of(object);
  if (api::find_int(metadata, "generation").value_or(0) < 1) metadata["generation"] = 1;
  metadata.erase("resourceVersion");
}

void give_identity(json::object& object, std::string_view uid, Time now) {
  json::object& metadata = metadata_of(object);
  if (api::find_text(metadata, "uid").empty()) metadata["uid"] = api::json_view(uid);
  if (!api::find_time(metadata, "creationTimestamp"))
    metadata["creationTimestamp"] = format_time(now - now % kSecond);
  start_generation(object);
}

void give_identity(PreparedObject& object, std::string_view uid, std::optional<Time> created) {
  const bool gives_time = created && !object.has_creation_time;
  if (object.has_uid && !gives_time) return;
  std::string text = object.stored.metadata.text();
  api::ObjectMeta* meta = meta_of(object.typed);
  if (!object.has_uid) {
    append_text(text, "uid", uid);
    if (meta) meta->uid = uid;
  }
  if (gives_time) {
    append_text(text, "creationTimestamp", format_time(*created));
    if (meta) meta->creation_time = *created;
  }
  object.stored.metadata = Header(std::move(text));
  object.has_uid = true;
  object.has_creation_time |= gives_time;
}

void keep_system_metadata(const json::object& before, json::object& after) {
  const json::object* old = metadata_of(before);
  json::object& metadata = metadata_of(after);
  metadata.erase("resourceVersion");
  for (const auto field : kSystemFields) {
    const json::value* value = old ? api::find(*old, field) : nullptr;
    if (value) {
      metadata[api::json_view(field)] = *value;
    } else {
      metadata.erase(api::json_view(field));
    }
  }
  keep_claims(before, after);
}

bool body_differs(const json::object& before, const json::object& after) {
  if (body_size(before) != body_size(after)) return true;
  return std::any_of(after.begin(), after.end(), [&](const auto& entry) {
    if (!is_body_field(api::view(entry.key()))) return false;
    const json::value* old = before.if_contains(entry.key());
    return !old || *old != entry.value();
  });
}

bool object_differs(const json::object& before, const json::object& after) {
  if (body_differs(before, after)) return true;
  const json::value* old_status = before.if_contains("status");
  const json::value* status = after.if_contains("status");
  const auto is_empty = [](const json::value* value) {
    return !value || value->is_null() || (value->is_object() && value->get_object().empty());
  };
  if (is_empty(old_status) != is_empty(status)) return true;
  if (!is_empty(status) && *old_status != *status) return true;
  json::object old_metadata = metadata_of(before) ? *metadata_of(before) : json::object();
  json::object metadata = metadata_of(after) ? *metadata_of(after) : json::object();
  old_metadata.erase("resourceVersion");
  metadata.erase("resourceVersion");
  return old_metadata != metadata;
}

void advance_generation(json::object& object) {
  json::object& metadata = metadata_of(object);
  metadata["generation"] = api::find_int(metadata, "generation").value_or(0) + 1;
}

bool is_terminating(const json::object& object) {
  const json::object* metadata = metadata_of(object);
  return metadata && !api::find_text(*metadata, "deletionTimestamp").empty();
}

std::vector<std::string> finalizers_of(const json::object& object) {
  return texts_in(part(object, "metadata"), "finalizers");
}

bool has_finalizer(const json::object& object, std::string_view name) {
  const auto names = finalizers_of(object);
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add_finalizer(json::object& object, std::string_view name) {
  if (has_finalizer(object, name)) return;
  json::value& list = metadata_of(object)["finalizers"];
  if (!list.is_array()) list.emplace_array();
  list.get_array().emplace_back(api::json_view(name));
}

void remove_finalizer(json::object& object, std::string_view name) {
  json::object& metadata = metadata_of(object);
  json::array* list = api::find_array(metadata, "finalizers");
  if (!list) return;
  list->erase(std::remove_if(list->begin(), list->end(),
                             [&](const json::value& entry) {
                               const auto* text = entry.if_string();
                               return text && api::view(*text) == name;
                             }),
              list->end());
  if (list->empty()) metadata.erase("finalizers");
}

void mark_for_deletion(json::object& object, Time now, std::int64_t grace_seconds) {
  json::object& metadata = metadata_of(object);
  metadata["deletionTimestamp"] = format_time(later(now - now % kSecond, grace_seconds * kSecond));
  metadata["deletionGracePeriodSeconds"] = grace_seconds;
}

}  // namespace sluice::host
