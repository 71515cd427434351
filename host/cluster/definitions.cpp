#include "host/cluster/definitions.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/node.hpp"
#include "core/base/check.hpp"
#include "host/cluster/relations.hpp"
#include "host/cluster/structural.hpp"
#include "host/cluster/validations.hpp"
#include "host/rest/openapi/limits.hpp"
#include "host/rest/resources.hpp"
#include "host/rest/selectors.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// What an API server can work out for `kubectl get`: a path to one value. What Sluice computes,
/// and paths to several values, of which it would show the first, it cannot.
json::array columns_of(const api::KindInfo::Version& version) {
  json::array out;
  for (const api::Column& column : version.columns) {
    if (column.json_path.starts_with('=') || column.json_path.find("[*]") != std::string::npos)
      continue;
    json::object made{{"name", column.name},
                      {"type", column.type.empty() ? "string" : column.type},
                      {"jsonPath", column.json_path}};
    if (!column.description.empty()) made["description"] = column.description;
    if (column.priority != 0) made["priority"] = column.priority;
    out.push_back(std::move(made));
  }
  return out;
}

/// Fields of the object itself by which lists may be asked for.
json::array selectable_of(const api::KindInfo& kind, const std::string& version) {
  json::array out;
  for (const std::string& field : selectable_fields(kind, version))
    out.push_back(json::object{{"jsonPath", "." + field}});
  return out;
}

json::object subresources_of(const api::KindInfo& kind) {
  json::object out;
  if (kind.status_subresource) out["status"] = json::object();
  if (!kind.scale_field.empty())
    out["scale"] = json::object{{"specReplicasPath", ".spec." + kind.scale_field},
                                {"statusReplicasPath", ".status." + kind.scale_status_field}};
  return out;
}

json::object version_of(const api::Scheme& scheme, const api::KindInfo& kind,
                        const api::KindInfo::Version& version, bool converted) {
  const api::SchemaNode* root = scheme.schema(kind.api_version(version.name), kind.kind);
  SLUICE_CHECK(root != nullptr, kind.kind, " ", version.name, " has no schema");
  // What is said of whole objects is said of the hub form; another form may have it elsewhere.
  const bool same_form = is_served(scheme, kind, version.name);
  json::array rules = same_form ? validations(scheme.update_rules(kind)) : json::array();
  if (version.storage)
    for (json::value& each : relations_of(kind)) rules.push_back(std::move(each));
  json::object out{
      {"name", version.name}, {"served", same_form || converted}, {"storage", version.storage}};
  if (version.deprecated) out["deprecated"] = true;
  out["schema"] = json::object{
      {"openAPIV3Schema", structural_schema(scheme, *root, kind.description, std::move(rules))}};
  if (json::object parts = subresources_of(kind); !parts.empty())
    out["subresources"] = std::move(parts);
  if (json::array columns = columns_of(version); !columns.empty())
    out["additionalPrinterColumns"] = std::move(columns);
  if (json::array fields = selectable_of(kind, version.name); !fields.empty())
    out["selectableFields"] = std::move(fields);
  return out;
}

json::object names_of(const api::KindInfo& kind) {
  json::object out{{"kind", kind.kind},
                   {"listKind", kind.kind + "List"},
                   {"plural", kind.plural},
                   {"singular", kind.singular}};
  if (!kind.short_names.empty()) out["shortNames"] = api::to_array(kind.short_names);
  if (!kind.categories.empty()) out["categories"] = api::to_array(kind.categories);
  return out;
}

}  // namespace

bool is_custom(const api::KindInfo& kind) {
  const bool of_kubernetes = takes_strategic_merge(kind.group);
  return !kind.internal && !of_kubernetes;
}

bool is_served(const api::Scheme& scheme, const api::KindInfo& kind, std::string_view version) {
  return kind.hub().name == version || scheme.same_form(kind, version);
}

json::object definition_of(const api::Scheme& scheme, const api::KindInfo& kind,
                           const WebhookPlace* converts) {
  const bool converted = converts && needs_conversion(scheme, kind);
  json::array versions;
  for (const auto& version : kind.versions)
    versions.push_back(version_of(scheme, kind, version, converted));
  json::object metadata{{"name", kind.plural + "." + kind.group}};
  if (converted) metadata["annotations"] = trust_annotations(*converts);
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", std::move(metadata)},
          {"spec", json::object{{"group", kind.group},
                                {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                                {"names", names_of(kind)},
                                {"conversion", converted ? webhook_conversion(*converts)
                                                         : json::object{{"strategy", "None"}}},
                                {"versions", std::move(versions)}}}};
}

}  // namespace sluice::host
