#include "host/rest/openapi/open_api.hpp"

#include <boost/json/object.hpp>

#include "api/json/json.hpp"
#include "host/base/version.hpp"
#include "host/rest/accept.hpp"
#include "host/rest/openapi/gnostic.hpp"
#include "host/rest/openapi/paths.hpp"
#include "host/rest/openapi/schemas.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

constexpr std::string_view kJson = "application/json";
// What clients ask for has an @, which is no media type that they could read in an answer.
constexpr std::string_view kProtobufAsked =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr std::string_view kProtobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

json::object info() { return {{"title", "Sluice"}, {"version", api::json_view(version())}}; }

ApiDocument json_document(const json::object& object) {
  std::string text;
  api::append_json(object, text);
  return make_document(std::string(kJson), std::move(text));
}

std::string path_of(const ApiResource& resource) {
  return (resource.group.empty() ? "api/" : "apis/" + resource.group + "/") + resource.version;
}

json::object v2_document(const api::Scheme& scheme, const std::vector<ApiResource>& resources) {
  SchemaSet schemas(scheme, OpenApiVersion::kV2);
  json::object paths;
  for (const auto& each : resources) add_paths(each, OpenApiVersion::kV2, schemas, paths);
  return {{"swagger", "2.0"},
          {"info", info()},
          {"paths", std::move(paths)},
          {"definitions", schemas.take()}};
}

}  // namespace

OpenApi::Documents OpenApi::make(const api::Scheme& scheme,
                                 const std::vector<ApiResource>& resources) {
  Documents out;
  const json::object v2 = v2_document(scheme, resources);
  out.v2_json = json_document(v2);
  out.v2_protobuf = make_document(std::string(kProtobuf), encode_openapi_v2(v2));
  json::object index;
  for (std::size_t i = 0; i < resources.size();) {
    const std::string place = path_of(resources[i]);
    SchemaSet schemas(scheme, OpenApiVersion::kV3);
    json::object paths;
    for (; i < resources.size() && path_of(resources[i]) == place; ++i) {
      add_paths(resources[i], OpenApiVersion::kV3, schemas, paths);
    }
    ApiDocument document =
        json_document({{"openapi", "3.0.0"},
                       {"info", info()},
                       {"paths", std::move(paths)},
                       {"components", json::object{{"schemas", schemas.take()}}}});
    const std::string path = "/openapi/v3/" + place;
    const std::string hash = document.etag.substr(1, document.etag.size() - 2);
    index[place] = json::object{{"serverRelativeURL", path + "?hash=" + hash}};
    out.v3.emplace(path, std::move(document));
  }
  out.index = json_document({{"paths", std::move(index)}});
  return out;
}

OpenApi::Answer OpenApi::find(std::string_view path, std::string_view accept) const {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  if (!path.starts_with("/openapi/")) return {};
  std::call_once(
      once_, [this] { documents_ = std::make_unique<const Documents>(make(scheme_, resources_)); });
  const bool v2 = path == "/openapi/v2";
  const ApiDocument* document = nullptr;
  if (v2) document = &documents_->v2_json;
  if (path == "/openapi/v3") document = &documents_->index;
  if (const auto it = documents_->v3.find(path); it != documents_->v3.end()) document = &it->second;
  if (document == nullptr) return {};
  for (const MediaRange& range : parse_accept(accept)) {
    if (v2 && (range.type == kProtobuf || range.type == kProtobufAsked)) {
      return {true, &documents_->v2_protobuf};
    }
    if (range.covers(kJson)) return {true, document};
  }
  return {true, nullptr};
}

}  // namespace sluice::host
