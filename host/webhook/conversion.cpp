#include "host/webhook/conversion.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/decode.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kConversionVersion = "apiextensions.k8s.io/v1";
constexpr const char* kConversion = "ConversionReview";
constexpr std::size_t kMostValues = 4'000'000;

ApiError wrong(std::string_view place, std::string_view allowed) {
  return bad_request(
      fmt::format("{}: {}: found something else; allowed: {}", kConversion, place, allowed));
}

/// The objects in `version`, in their order.
Result<json::array> converted(const api::Scheme& scheme, json::array& objects,
                              std::string_view wanted) {
  const std::string_view version = api::version_of(wanted);
  json::array out(objects.storage());
  out.reserve(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    json::object* object = objects[i].if_object();
    if (!object) return Error{fmt::format("request.objects[{}]: no object", i)};
    const std::string_view group = api::group_of(wanted);
    const std::string_view own = api::find_text(*object, "apiVersion");
    if (api::group_of(own) != group)
      return Error{
          fmt::format("request.objects[{}].apiVersion: found \"{}\"; allowed: a version "
                      "of {}",
                      i, own, group)};
    if (auto done = scheme.convert(*object, version); !done)
      return done.error().context(fmt::format("request.objects[{}]", i));
    out.push_back(std::move(*object));
  }
  return out;
}

}  // namespace

ApiResult<std::string> answer_conversion(const api::Scheme& scheme, std::string_view text) {
  auto body = decode_json(text, {.bytes = kMostConversionBytes, .values = kMostValues});
  if (!body) return body.error();
  json::object* review = body->value.if_object();
  if (!review || api::find_text(*review, "kind") != kConversion) return wrong("kind", kConversion);
  if (api::find_text(*review, "apiVersion") != kConversionVersion)
    return wrong("apiVersion", kConversionVersion);
  json::object* request = api::find_object(*review, "request");
  if (!request) return wrong("request", "an object");
  const std::string uid(api::find_text(*request, "uid"));
  if (uid.empty()) return wrong("request.uid", "a text");
  const std::string wanted(api::find_text(*request, "desiredAPIVersion"));
  if (wanted.find('/') == std::string::npos)
    return wrong("request.desiredAPIVersion", "GROUP/VERSION");
  json::array* objects = api::find_array(*request, "objects");
  if (!objects) return wrong("request.objects", "a list of objects");
  json::object response{{"uid", uid}};
  auto done = converted(scheme, *objects, wanted);
  if (done) {
    response["result"] = json::object{{"status", "Success"}};
    response["convertedObjects"] = std::move(*done);
  } else {
    response["result"] =
        json::object{{"status", "Failure"}, {"message", api::json_view(done.error().text)}};
  }
  const json::object answer{
      {"apiVersion", kConversionVersion}, {"kind", kConversion}, {"response", std::move(response)}};
  std::string out;
  api::append_json(answer, out);
  return out;
}

}  // namespace sluice::host
