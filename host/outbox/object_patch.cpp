#include "host/outbox/object_patch.hpp"

#include <fmt/format.h>

#include <utility>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/client/client.hpp"
#include "host/kernel/merge_patch.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

// What a writer may change of an object's metadata; the rest is the server's.
constexpr std::string_view kOurMetadata[] = {"labels", "annotations", "ownerReferences",
                                             "finalizers"};
constexpr const char* kWriter = "fieldManager=sluice&fieldValidation=Ignore";
// Kueue's own, with which it takes away what is not in its next one.
constexpr const char* kAdmitter = "fieldManager=kueue-admission&force=true&fieldValidation=Ignore";

json::object our_metadata(const StoredObject& object) {
  const json::object all = parse_stored(object.metadata.text());
  json::object out;
  for (const std::string_view field : kOurMetadata)
    if (const json::value* value = api::find(all, field)) out[api::json_view(field)] = *value;
  return out;
}

std::string collection_of(const api::KindInfo& kind, std::string_view key) {
  return collection_path(kind.hub_api_version(), kind.plural, namespace_of(key));
}

}  // namespace

json::object main_patch(const StoredObject& before, const StoredObject& after) {
  json::object out;
  if (!before.metadata.shares(after.metadata)) {
    json::object metadata = merge_patch_between(our_metadata(before), our_metadata(after));
    if (!metadata.empty()) out["metadata"] = std::move(metadata);
  }
  if (before.body != after.body && *before.body != *after.body)
    for (auto& [key, value] :
         merge_patch_between(parse_stored(*before.body), parse_stored(*after.body)))
      out[key] = std::move(value);
  return out;
}

json::object status_patch(const StoredObject& before, const StoredObject& after) {
  json::object out;
  if (before.status == after.status) return out;
  json::object status =
      merge_patch_between(parse_stored(before.status), parse_stored(after.status));
  if (!status.empty()) out["status"] = std::move(status);
  return out;
}

json::object removals_in(const json::object& patch) {
  json::object out;
  for (const auto& [key, value] : patch) {
    const json::object* members = value.if_object();
    json::object inner = members ? removals_in(*members) : json::object();
    if (value.is_null())
      out[key] = nullptr;
    else if (!inner.empty())
      out[key] = std::move(inner);
  }
  return out;
}

std::string path_of(const api::KindInfo& kind, std::string_view key) {
  return collection_of(kind, key) + "/" + percent_encoded(split_key(key).name);
}

ClusterRequest patch_request(const StoredObject& base, std::uint64_t version, json::object patch,
                             bool status) {
  json::object& metadata = object_of(patch, "metadata");
  metadata["resourceVersion"] = std::to_string(version);
  metadata["uid"] = api::json_view(base.metadata.uid());
  return {0, "PATCH",
          fmt::format("{}{}?{}", path_of(*base.kind, base.key), status ? "/status" : "", kWriter),
          "application/merge-patch+json", api::to_json(patch)};
}

ClusterRequest admission_request(const StoredObject& base, std::uint64_t version,
                                 const StoredObject& after) {
  json::object status = parse_stored(after.status);
  const auto [ns, name] = split_key(base.key);
  const json::object object{{"apiVersion", api::json_view(base.kind->hub_api_version())},
                            {"kind", api::json_view(base.kind->kind)},
                            {"metadata",
                             {{"namespace", api::json_view(ns)},
                              {"name", api::json_view(name)},
                              {"uid", api::json_view(base.metadata.uid())},
                              {"resourceVersion", std::to_string(version)}}},
                            {"status", std::move(status)}};
  return {0, "PATCH", fmt::format("{}/status?{}", path_of(*base.kind, base.key), kAdmitter),
          "application/apply-patch+yaml", api::to_json(object)};
}

ClusterRequest create_request(const StoredObject& object) {
  json::object made = to_object(object);
  json::object& metadata = object_of(made, "metadata");
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp", "generation",
                            "managedFields", "deletionTimestamp", "selfLink"})
    metadata.erase(field);
  return posting(fmt::format("{}?{}", collection_of(*object.kind, object.key), kWriter),
                 api::to_json(made));
}

ClusterRequest delete_request(const StoredObject& base) {
  const json::object options{
      {"apiVersion", "v1"},
      {"kind", "DeleteOptions"},
      {"preconditions", json::object{{"uid", api::json_view(base.metadata.uid())}}},
      {"propagationPolicy", "Background"}};
  return {0, "DELETE", path_of(*base.kind, base.key), "application/json", api::to_json(options)};
}

ClusterRequest read_request(const api::KindInfo& kind, std::string_view key) {
  ClusterRequest out;
  out.path = path_of(kind, key);
  return out;
}

}  // namespace sluice::host
