#include "host/rest/discovery.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <vector>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "core/base/fnv.hpp"
#include "host/rest/accept.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

std::string text_of(const json::object& object) {
  std::string out;
  api::append_json(object, out);
  return out;
}

// ---- aggregated: one document for all groups

json::object kind_of(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", api::json_view(group)},
          {"version", api::json_view(version)},
          {"kind", api::json_view(kind)}};
}

json::object aggregated_resource(const ApiResource& resource) {
  json::object out{{"resource", resource.plural}};
  if (!resource.verbs.empty()) {
    out["responseKind"] = kind_of(resource.group, resource.version, resource.kind);
  }
  out["scope"] = resource.namespaced ? "Namespaced" : "Cluster";
  out["singularResource"] = resource.singular;
  out["verbs"] = api::to_array(resource.verbs);
  if (!resource.short_names.empty()) out["shortNames"] = api::to_array(resource.short_names);
  if (!resource.categories.empty()) out["categories"] = api::to_array(resource.categories);
  json::array subresources;
  for (const auto& each : resource.subresources) {
    subresources.push_back(
        json::object{{"subresource", each.name},
                     {"responseKind", kind_of(each.group, each.version, each.kind)},
                     {"verbs", api::to_array(each.verbs)}});
  }
  if (!subresources.empty()) out["subresources"] = std::move(subresources);
  return out;
}

/// `core`: only the core group, else all others.
json::object aggregated(const std::vector<ApiResource>& resources, bool core,
                        std::string_view version) {
  json::array items;
  for (const ApiResource& each : resources) {
    if (each.group.empty() != core) continue;
    const auto same_group = [&](const json::value& item) {
      const json::value* name = item.at("metadata").as_object().if_contains("name");
      return (name != nullptr ? api::view(name->get_string()) : std::string_view()) == each.group;
    };
    if (items.empty() || !same_group(items.back())) {
      json::object metadata;
      if (!each.group.empty()) metadata["name"] = each.group;
      items.push_back(json::object{{"metadata", std::move(metadata)}, {"versions", json::array()}});
    }
    json::array& versions = items.back().at("versions").as_array();
    if (versions.empty() || versions.back().at("version").as_string() != each.version) {
      versions.push_back(json::object{
          {"version", each.version}, {"resources", json::array()}, {"freshness", "Current"}});
    }
    versions.back().at("resources").as_array().push_back(aggregated_resource(each));
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/" + std::string(version)},
          {"metadata", json::object()},
          {"items", std::move(items)}};
}

// ---- legacy: a document per group version

json::object legacy_resource(const ApiResource& resource) {
  json::object out{{"name", resource.plural},
                   {"singularName", resource.singular},
                   {"namespaced", resource.namespaced},
                   {"kind", resource.kind},
                   {"verbs", api::to_array(resource.verbs)}};
  if (!resource.short_names.empty()) out["shortNames"] = api::to_array(resource.short_names);
  if (!resource.categories.empty()) out["categories"] = api::to_array(resource.categories);
  return out;
}

json::object legacy_subresource(const ApiResource& resource, const ApiSubresource& sub) {
  json::object out{{"name", resource.plural + "/" + sub.name},
                   {"singularName", ""},
                   {"namespaced", resource.namespaced},
                   {"kind", sub.kind},
                   {"verbs", api::to_array(sub.verbs)}};
  if (sub.group != resource.group || sub.version != resource.version) {
    out["group"] = sub.group;
    out["version"] = sub.version;
  }
  return out;
}

struct LegacyGroup {
  std::string name;
  std::vector<std::pair<std::string, json::array>> versions;  ///< with their resources
};

std::vector<LegacyGroup> legacy_groups(const std::vector<ApiResource>& resources) {
  std::vector<LegacyGroup> out;
  for (const ApiResource& each : resources) {
    if (out.empty() || out.back().name != each.group) out.push_back({each.group, {}});
    auto& versions = out.back().versions;
    if (versions.empty() || versions.back().first != each.version) {
      versions.emplace_back(each.version, json::array());
    }
    json::array& list = versions.back().second;
    if (!each.verbs.empty()) list.push_back(legacy_resource(each));
    for (const auto& sub : each.subresources) list.push_back(legacy_subresource(each, sub));
  }
  return out;
}

json::object group_object(const LegacyGroup& group) {
  json::array versions;
  for (const auto& [version, resources] : group.versions) {
    versions.push_back(json::object{{"groupVersion", api::group_version(group.name, version)},
                                    {"version", version}});
  }
  const json::value preferred = versions.front();
  return {{"name", group.name}, {"versions", std::move(versions)}, {"preferredVersion", preferred}};
}

json::object resource_list(const std::string& group_version, json::array resources) {
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", group_version},
          {"resources", std::move(resources)}};
}

json::object with_type(json::object object, std::string_view kind) {
  object["kind"] = api::json_view(kind);
  object["apiVersion"] = "v1";
  return object;
}

}  // namespace

ApiDocument make_document(std::string content_type, std::string body) {
  ApiDocument out;
  out.content_type = std::move(content_type);
  out.etag = "\"" + std::to_string(Fnv().add(body).value()) + "\"";
  out.body = std::make_shared<const std::string>(std::move(body));
  return out;
}

Discovery::Discovery(const api::Scheme& scheme) : Discovery(served_resources(scheme)) {
  // kubectl looks here for a kind that it finds nowhere else, before it says that there is none.
  legacy_["/apis/apiextensions.k8s.io/v1/customresourcedefinitions"] =
      make_document("application/json", text_of({{"kind", "CustomResourceDefinitionList"},
                                                 {"apiVersion", "apiextensions.k8s.io/v1"},
                                                 {"metadata", {{"resourceVersion", "1"}}},
                                                 {"items", json::array()}}));
}

Discovery::Discovery(const std::vector<ApiResource>& resources) {
  for (const bool core : {true, false}) {
    const char* path = core ? "/api" : "/apis";
    for (const char* version : {"v2", "v2beta1"}) {
      auto& into = version == std::string_view("v2") ? v2_ : v2beta1_;
      into[path] = make_document(std::string("application/json;g=apidiscovery.k8s.io;v=") +
                                     version + ";as=APIGroupDiscoveryList",
                                 text_of(aggregated(resources, core, version)));
    }
  }
  const auto add = [&](const std::string& path, const json::object& object) {
    legacy_[path] = make_document("application/json", text_of(object));
  };
  json::array groups;
  for (const LegacyGroup& group : legacy_groups(resources)) {
    const std::string prefix = group.name.empty() ? "" : group.name + "/";
    for (const auto& [version, list] : group.versions) {
      add((group.name.empty() ? "/api/" : "/apis/" + prefix) + version,
          resource_list(prefix + version, list));
    }
    if (group.name.empty()) continue;
    groups.push_back(group_object(group));
    add("/apis/" + group.name, with_type(group_object(group), "APIGroup"));
  }
  add("/apis", with_type({{"groups", std::move(groups)}}, "APIGroupList"));
  add("/api",
      with_type({{"versions", json::array{"v1"}}, {"serverAddressByClientCIDRs", json::array()}},
                "APIVersions"));
}

const ApiDocument* Discovery::find(std::string_view path, std::string_view accept) const {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const auto look = [&](const auto& documents) -> const ApiDocument* {
    const auto it = documents.find(path);
    return it != documents.end() ? &it->second : nullptr;
  };
  for (const MediaRange& range : parse_accept(accept)) {
    if (!range.covers("application/json")) continue;
    if (range.parameter("as") == "APIGroupDiscoveryList") {
      if (range.parameter("g") != "apidiscovery.k8s.io") continue;
      const std::string_view version = range.parameter("v");
      const ApiDocument* found = nullptr;
      if (version == "v2") found = look(v2_);
      if (version == "v2beta1") found = look(v2beta1_);
      if (found != nullptr) return found;
      continue;
    }
    if (range.parameter("as").empty()) return look(legacy_);
  }
  return look(legacy_);
}

}  // namespace sluice::host
