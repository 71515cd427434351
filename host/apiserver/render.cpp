#include "host/apiserver/render.hpp"

#include <boost/json/object.hpp>

#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "host/base/wall_clock.hpp"

namespace sluice::host {
namespace {

void append_kind(std::string_view kind, std::string_view api_version, std::string& out) {
  out.append(R"({"kind":")").append(kind).append(R"(","apiVersion":")").append(api_version);
  out += '"';
}

std::string meta_api_version(const Form& form) { return "meta.k8s.io/" + form.meta_version; }

/// The text of a number at a path, or "0".
std::string number_at(std::string_view text, std::string_view path) {
  const std::string_view value = api::member_at(text, path);
  return value.empty() || value == "null" ? "0" : std::string(value);
}

/// `a=b,c=d` of spec.selector.matchLabels.
std::string selector_text(std::string_view body) {
  std::string out;
  api::each_member(api::member_at(body, "spec.selector.matchLabels"),
                   [&](std::string_view key, std::string_view value) {
                     std::string scratch;
                     if (!out.empty()) out += ',';
                     out.append(key).append("=").append(api::scalar_text(value, scratch));
                     return true;
                   });
  return out;
}

}  // namespace

Renderer::Renderer(const api::Scheme& scheme) : scheme_(scheme) {
  for (const auto* kind : scheme.kinds())
    for (const auto& version : kind->versions)
      formats_.emplace(&version, TableFormat(*kind, version.name));
}

const TableFormat& Renderer::format_of(const Route& route) const {
  return formats_.at(route.kind_version);
}

std::string metadata_text(const StoredObject& object) {
  std::string out = object.metadata.text();
  if (object.version == 0) return out;
  out.pop_back();
  if (out.back() != '{') out += ',';
  return out += R"("resourceVersion":")" + std::to_string(object.version) + "\"}";
}

std::string scale_text(const StoredObject& object) {
  const api::KindInfo& kind = *object.kind;
  std::string metadata = "{";
  const std::string all = metadata_text(object);
  for (const std::string_view key :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    const std::string_view value = api::member_text(all, key);
    if (value.empty()) continue;
    if (metadata.size() > 1) metadata += ',';
    metadata.append("\"").append(key).append("\":").append(value);
  }
  std::string out;
  append_kind("Scale", "autoscaling/v1", out);
  out += R"(,"metadata":)" + metadata + R"(},"spec":{"replicas":)";
  out += number_at(*object.body, "spec." + kind.scale_field);
  out += R"(},"status":{"replicas":)";
  out += kind.scale_status_field.empty() ? "0" : number_at(object.status, kind.scale_status_field);
  const std::string selector = selector_text(*object.body);
  if (!selector.empty()) {
    out += R"(,"selector":)";
    api::append_json_text(selector, out);
  }
  return out += "}}\n";
}

boost::json::object Renderer::in_version(const StoredObject& object,
                                         std::string_view version) const {
  boost::json::object converted = to_object(object);
  if (version == object.kind->hub().name) return converted;
  // A stored object can be said in every served version; what a version cannot say travels in an
  // annotation.
  if (auto done = scheme_.to_version(converted, version); !done)
    SLUICE_CHECK(false, done.error().text);
  return converted;
}

void Renderer::append_object(const StoredObject& object, std::string_view version,
                             std::string& out) const {
  if (version == object.kind->hub().name)
    out += to_text(object);
  else
    api::append_json(in_version(object, version), out);
}

void Renderer::append_partial(const StoredObject& object, const Form& form,
                              std::string& out) const {
  append_kind("PartialObjectMetadata", meta_api_version(form), out);
  out += R"(,"metadata":)" + metadata_text(object) + "}";
}

void Renderer::append(const StoredObject& object, const Route& route, const Form& form,
                      std::string& out) const {
  if (form.shape == Form::Shape::kPartial) {
    append_partial(object, form, out);
  } else if (form.shape == Form::Shape::kObject) {
    append_object(object, route.version, out);
  } else {
    append_table(object, route, form, true, out);
  }
  out += '\n';
}

void Renderer::append_table(const StoredObject& object, const Route& route, const Form& form,
                            bool columns, std::string& out) const {
  append_kind("Table", meta_api_version(form), out);
  out += R"(,"metadata":{"resourceVersion":")" + std::to_string(object.version) + "\"}";
  if (columns) out += R"(,"columnDefinitions":)" + format_of(route).columns();
  out += R"(,"rows":[)";
  append_row(object, route, form, out);
  out += "]}";
}

void Renderer::begin_list(const Route& route, const Form& form, const ListMeta& meta,
                          std::string& out) const {
  const bool table = form.shape == Form::Shape::kTable;
  if (form.shape == Form::Shape::kObject)
    append_kind(route.kind->kind + "List", route.api_version(), out);
  else
    append_kind(table ? "Table" : "PartialObjectMetadataList", meta_api_version(form), out);
  out += R"(,"metadata":{"resourceVersion":")" + std::to_string(meta.version) + "\"";
  if (!meta.next.empty()) out += R"(,"continue":")" + meta.next + "\"";
  if (meta.remaining > 0) out += R"(,"remainingItemCount":)" + std::to_string(meta.remaining);
  out += '}';
  if (table) out += R"(,"columnDefinitions":)" + format_of(route).columns();
  out += table ? R"(,"rows":[)" : R"(,"items":[)";
}

void Renderer::append_item(const StoredObject& object, const Route& route, const Form& form,
                           bool first, std::string& out) const {
  if (!first) out += ',';
  switch (form.shape) {
    case Form::Shape::kObject:
      return append_object(object, route.version, out);
    case Form::Shape::kPartial:
      return append_partial(object, form, out);
    case Form::Shape::kTable:
      return append_row(object, route, form, out);
  }
}

void Renderer::append_row(const StoredObject& object, const Route& route, const Form& form,
                          std::string& out) const {
  const Time now = wall_clock();
  out += R"({"cells":)";
  format_of(route).append_cells(in_version(object, route.version), now, out);
  if (form.row_object != Form::RowObject::kNone) {
    out += R"(,"object":)";
    if (form.row_object == Form::RowObject::kObject)
      append_object(object, route.version, out);
    else
      append_partial(object, form, out);
  }
  out += '}';
}

void Renderer::append_event(std::string_view type, const StoredObject& object, const Route& route,
                            const Form& form, bool columns, std::string& out) const {
  out.append(R"({"type":")").append(type).append(R"(","object":)");
  if (form.shape == Form::Shape::kTable)
    append_table(object, route, form, columns, out);
  else
    append_item(object, route, form, true, out);
  out += "}\n";
}

void Renderer::append_bookmark(std::uint64_t version, bool initial_end, const Route& route,
                               const Form& form, std::string& out) const {
  out += R"({"type":"BOOKMARK","object":)";
  std::string metadata = R"({"resourceVersion":")" + std::to_string(version) + "\"";
  if (initial_end) metadata += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
  metadata += '}';
  if (form.shape == Form::Shape::kObject)
    append_kind(route.kind->kind, route.api_version(), out);
  else
    append_kind(form.shape == Form::Shape::kTable ? "Table" : "PartialObjectMetadata",
                meta_api_version(form), out);
  out += R"(,"metadata":)" + metadata;
  // Clients read the bookmark of a table from the metadata of its one row's object.
  if (form.shape == Form::Shape::kTable) {
    out += R"(,"rows":[{"cells":[],"object":)";
    append_kind("PartialObjectMetadata", meta_api_version(form), out);
    out += R"(,"metadata":)" + metadata + "}}]";
  }
  out += "}}\n";
}

}  // namespace sluice::host
