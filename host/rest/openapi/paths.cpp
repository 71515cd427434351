#include "host/rest/openapi/paths.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "api/json/json.hpp"

namespace sluice::host {

namespace json = boost::json;
using api::json_view;

namespace {

struct Parameter {
  std::string_view name, type;
};

constexpr Parameter kList[] = {
    {"allowWatchBookmarks", "boolean"},
    {"continue", "string"},
    {"fieldSelector", "string"},
    {"labelSelector", "string"},
    {"limit", "integer"},
    {"resourceVersion", "string"},
    {"resourceVersionMatch", "string"},
    {"sendInitialEvents", "boolean"},
    {"timeoutSeconds", "integer"},
    {"watch", "boolean"},
};
constexpr Parameter kWrite[] = {
    {"dryRun", "string"}, {"fieldManager", "string"}, {"fieldValidation", "string"}};
constexpr Parameter kPatch[] = {{"dryRun", "string"},
                                {"fieldManager", "string"},
                                {"fieldValidation", "string"},
                                {"force", "boolean"}};
constexpr Parameter kDelete[] = {{"dryRun", "string"},
                                 {"gracePeriodSeconds", "integer"},
                                 {"orphanDependents", "boolean"},
                                 {"propagationPolicy", "string"}};
constexpr Parameter kLog[] = {{"container", "string"},     {"follow", "boolean"},
                              {"limitBytes", "integer"},   {"previous", "boolean"},
                              {"sinceSeconds", "integer"}, {"sinceTime", "string"},
                              {"tailLines", "integer"},    {"timestamps", "boolean"}};
constexpr Parameter kPending[] = {{"limit", "integer"}, {"offset", "integer"}};

constexpr const char* kJsonType = "application/json";
constexpr const char* kPatchTypes[] = {
    "application/json-patch+json", "application/merge-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml"};

/// `kueueV1beta2` for kueue.x-k8s.io/v1beta2.
std::string camel(std::string_view group, std::string_view version) {
  std::string out(group.empty() ? "core" : group.substr(0, group.find('.')));
  out += version;
  const std::size_t at = out.size() - version.size();
  if (out[0] >= 'a') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  out[at] = static_cast<char>(out[at] - 'a' + 'A');
  return out;
}

class PathWriter {
 public:
  PathWriter(const ApiResource& resource, OpenApiVersion version, SchemaSet& schemas,
             json::object& paths)
      : resource_(resource),
        v3_(version == OpenApiVersion::kV3),
        schemas_(schemas),
        paths_(paths),
        prefix_(resource.group.empty() ? "/api/" : "/apis/" + resource.group + "/") {
    prefix_ += resource.version;
    id_ = camel(resource.group, resource.version) + (resource.namespaced ? "Namespaced" : "");
    gvk_ = {resource.group, resource.version, resource.kind};
  }

  void stored() {
    schemas_.add_kind(gvk_, true);
    const std::string many = place();
    const std::string one = many + "/{name}";
    if (resource_.namespaced) {
      json::object& all = item(prefix_ + "/" + resource_.plural, false, false);
      all["get"] = operation({"list", "ForAllNamespaces", kList, false, true});
    }
    json::object& collection = item(many, resource_.namespaced, false);
    collection["get"] = operation({"list", "", kList, false, true});
    collection["post"] = operation({"post", "", kWrite, true});
    collection["delete"] = operation({"deletecollection", "", kDelete, false});
    json::object& object = item(one, resource_.namespaced, true);
    object["get"] = operation({"get", "", {}, false});
    object["put"] = operation({"put", "", kWrite, true});
    object["patch"] = operation({"patch", "", kPatch, true});
    object["delete"] = operation({"delete", "", kDelete, false});
    for (const ApiSubresource& each : resource_.subresources) subresource(each, one);
  }

  /// Only asked, never stored: POST, or the subresources.
  void answered() {
    if (!resource_.verbs.empty()) {
      schemas_.add_kind(gvk_, false);
      item(place(), resource_.namespaced, false)["post"] = operation({"post", "", kWrite, true});
    }
    for (const ApiSubresource& each : resource_.subresources) {
      subresource(each, place() + "/{name}");
    }
  }

 private:
  struct Operation {
    std::string_view action, suffix;
    std::span<const Parameter> parameters;
    bool body = false;
    bool list = false;
  };

  std::string place() const {
    return prefix_ + (resource_.namespaced ? "/namespaces/{namespace}/" : "/") + resource_.plural;
  }

  json::object& item(const std::string& path, bool in_namespace, bool named) {
    json::array parameters;
    if (named) parameters.push_back(parameter({"name", "string"}, true));
    if (in_namespace) parameters.push_back(parameter({"namespace", "string"}, true));
    json::object& out = paths_[path].emplace_object();
    if (!parameters.empty()) out["parameters"] = std::move(parameters);
    return out;
  }

  json::object parameter(const Parameter& of, bool in_path) const {
    json::object out{{"name", json_view(of.name)}, {"in", in_path ? "path" : "query"}};
    if (in_path) out["required"] = true;
    if (v3_) {
      out["schema"] = json::object{{"type", json_view(of.type)}};
    } else {
      out["type"] = json_view(of.type);
    }
    return out;
  }

  void subresource(const ApiSubresource& each, const std::string& one) {
    const GroupVersionKind own = std::exchange(gvk_, {each.group, each.version, each.kind});
    json::object& object = item(one + "/" + each.name, resource_.namespaced, true);
    std::string suffix = each.name;
    suffix[0] = static_cast<char>(suffix[0] - 'a' + 'A');
    if (each.name == "log") {
      object["get"] = text_operation("get", suffix, kLog);
    } else {
      schemas_.add_kind(gvk_, false);
      for (const auto& verb : each.verbs) {
        const std::string action = verb == "update" ? "put" : verb;
        std::span<const Parameter> parameters;
        if (action == "put") parameters = kWrite;
        if (action == "patch") parameters = kPatch;
        if (each.name == "pendingworkloads") parameters = kPending;
        object[action] = operation({action, suffix, parameters, action != "get"});
      }
    }
    gvk_ = own;
  }

  json::object base(std::string_view action, std::string_view suffix,
                    std::span<const Parameter> parameters) const {
    std::string id(action == "put" ? "replace" : action == "post" ? "create" : action);
    if (action == "get") id = "read";
    if (action == "deletecollection") id = "deleteCollection";
    id += suffix == "ForAllNamespaces" ? camel(resource_.group, resource_.version) : id_;
    id += resource_.kind;
    json::object out{{"operationId", id + std::string(suffix)},
                     {"x-kubernetes-action", json_view(action)},
                     {"x-kubernetes-group-version-kind", gvk_object(gvk_)}};
    json::array list;
    for (const Parameter& each : parameters) list.push_back(parameter(each, false));
    if (!list.empty()) out["parameters"] = std::move(list);
    return out;
  }

  json::object text_operation(std::string_view action, std::string_view suffix,
                              std::span<const Parameter> parameters) const {
    json::object out = base(action, suffix, parameters);
    json::object response{{"description", "OK"}};
    if (v3_) {
      response["content"] = content({"text/plain"}, {{"type", "string"}});
    } else {
      out["produces"] = json::array{"text/plain"};
      response["schema"] = json::object{{"type", "string"}};
    }
    out["responses"] = json::object{{"200", std::move(response)}};
    return out;
  }

  static json::object content(std::initializer_list<const char*> types,
                              const json::object& schema) {
    json::object out;
    for (const char* type : types) out[type] = json::object{{"schema", schema}};
    return out;
  }

  json::object operation(const Operation& of) {
    json::object out = base(of.action, of.suffix, of.parameters);
    const bool removal = of.action.starts_with("delete");
    if (of.body || removal) {
      add_body(of.action, removal ? schemas_.delete_options() : schemas_.ref(gvk_), out);
    }
    json::object answer = removal   ? removal_answer(of.action)
                          : of.list ? schemas_.list_ref(gvk_)
                                    : schemas_.ref(gvk_);
    json::object response{{"description", of.action == "post" ? "Created" : "OK"}};
    if (v3_) {
      response["content"] = content({kJsonType}, answer);
    } else {
      response["schema"] = std::move(answer);
    }
    out["responses"] = json::object{{of.action == "post" ? "201" : "200", std::move(response)}};
    return out;
  }

  /// A Status, once it is gone; an object that something still holds is answered as it is marked,
  /// which the older form has no words for.
  json::object removal_answer(std::string_view action) {
    json::object status = schemas_.status();
    if (!v3_ || action != "delete") return status;
    return {{"anyOf", json::array{std::move(status), schemas_.ref(gvk_)}}};
  }

  void add_body(std::string_view action, json::object schema, json::object& out) const {
    const bool patch = action == "patch";
    // A patch is a part of the object, or a list of operations.
    if (patch) schema = {};
    if (v3_) {
      json::object body{{"content", json::object()}};
      json::object& types = body["content"].get_object();
      if (patch) {
        for (const char* type : kPatchTypes) {
          if (takes(type)) types[type] = json::object{{"schema", schema}};
        }
      } else {
        types = content({kJsonType}, schema);
      }
      out["requestBody"] = std::move(body);
      return;
    }
    if (patch) {
      json::array types;
      for (const char* type : kPatchTypes) {
        if (takes(type)) types.emplace_back(type);
      }
      out["consumes"] = std::move(types);
      schema = {{"type", "object"}};
    }
    json::object body{{"name", "body"}, {"in", "body"}, {"schema", std::move(schema)}};
    if (!patch && !action.starts_with("delete")) body["required"] = true;
    if (!out.contains("parameters")) out["parameters"] = json::array();
    out["parameters"].get_array().push_back(std::move(body));
  }

  /// Only built-in kinds know strategic merge patches.
  bool takes(std::string_view patch_type) const {
    return patch_type != kPatchTypes[2] || takes_strategic_merge(resource_.group);
  }

  const ApiResource& resource_;
  const bool v3_;
  SchemaSet& schemas_;
  json::object& paths_;
  std::string prefix_, id_;
  GroupVersionKind gvk_;
};

}  // namespace

void add_paths(const ApiResource& resource, OpenApiVersion version, SchemaSet& schemas,
               json::object& paths) {
  PathWriter writer(resource, version, schemas, paths);
  if (resource.info != nullptr) {
    writer.stored();
  } else {
    writer.answered();
  }
}

}  // namespace sluice::host
