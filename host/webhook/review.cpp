#include "host/webhook/review.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "core/base/base64.hpp"
#include "core/base/utf8.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/decode.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kReviewVersion = "admission.k8s.io/v1";
constexpr const char* kReview = "AdmissionReview";
/// An API server cuts off what is longer.
constexpr std::size_t kLongestWarning = 256;

constexpr std::array<std::pair<std::string_view, ReviewedOperation>, 4> kOperations = {
    {{"CREATE", ReviewedOperation::kCreate},
     {"UPDATE", ReviewedOperation::kUpdate},
     {"DELETE", ReviewedOperation::kDelete},
     {"CONNECT", ReviewedOperation::kConnect}}};

ApiError wrong(std::string_view place, std::string_view found, std::string_view allowed) {
  constexpr std::size_t kShown = 64;
  return bad_request(fmt::format("{}: {}: found \"{}\"; allowed: {}", kReview, place,
                                 found.substr(0, kShown), allowed));
}

ApiResult<json::object> object_in(json::object& request, std::string_view name) {
  json::value* found = request.if_contains(name);
  if (!found || !found->is_object()) return wrong(fmt::format("request.{}", name), "", "an object");
  return std::move(found->get_object());
}

}  // namespace

ApiResult<AdmissionRequest> parse_admission_review(std::string_view text) {
  DecodeLimits limits;
  limits.bytes = kMostReviewBytes;
  limits.values *= 2;
  auto body = decode_json(text, limits);
  if (!body) return body.error();
  json::object* review = body->value.if_object();
  if (!review) return wrong("the body", "", "one object");
  if (api::find_text(*review, "kind") != kReview)
    return wrong("kind", api::find_text(*review, "kind"), kReview);
  if (api::find_text(*review, "apiVersion") != kReviewVersion)
    return wrong("apiVersion", api::find_text(*review, "apiVersion"), kReviewVersion);
  json::object* request = api::find_object(*review, "request");
  if (!request) return wrong("request", "", "an object");
  AdmissionRequest out;
  out.uid = api::find_text(*request, "uid");
  if (out.uid.empty()) return wrong("request.uid", "", "a text");
  const std::string_view operation = api::find_text(*request, "operation");
  const auto* known = std::find_if(kOperations.begin(), kOperations.end(),
                                   [&](const auto& each) { return each.first == operation; });
  if (known == kOperations.end())
    return wrong("request.operation", operation, "CREATE, UPDATE, DELETE, CONNECT");
  out.operation = known->second;
  const json::object& kind = part(*request, "kind");
  out.kind = api::find_text(kind, "kind");
  const std::string_view group = api::find_text(kind, "group");
  out.api_version = api::group_version(group, api::find_text(kind, "version"));
  if (out.kind.empty() || api::find_text(kind, "version").empty())
    return wrong("request.kind", out.kind, "group, version and kind");
  out.subresource = api::find_text(*request, "subResource");
  out.ns = api::find_text(*request, "namespace");
  out.name = api::find_text(*request, "name");
  const json::object& user = part(*request, "userInfo");
  out.user = api::find_text(user, "username");
  if (const json::array* groups = api::find_array(user, "groups"))
    for (const json::value& each : *groups)
      if (each.is_string()) out.groups.emplace_back(api::view(each.get_string()));
  out.field_manager = api::find_text(part(*request, "options"), "fieldManager");
  const bool update = out.operation == ReviewedOperation::kUpdate;
  if (!update && out.operation != ReviewedOperation::kCreate) return out;
  auto object = object_in(*request, "object");
  if (!object) return object.error();
  out.object = std::move(*object);
  if (!update) return out;
  auto old = object_in(*request, "oldObject");
  if (!old) return old.error();
  out.old = std::move(*old);
  return out;
}

std::string admission_answer(std::string_view uid, const Verdict& verdict) {
  json::object response{{"uid", api::json_view(uid)}, {"allowed", !verdict.refused}};
  if (verdict.refused) {
    response["status"] = to_status(*verdict.refused);
  } else if (!verdict.patch.empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = base64_text(api::to_json(verdict.patch));
  }
  json::array warnings;
  for (const std::string& each : verdict.warnings)
    warnings.emplace_back(api::json_view(cut_utf8(each, kLongestWarning)));
  if (!warnings.empty()) response["warnings"] = std::move(warnings);
  const json::object review{
      {"apiVersion", kReviewVersion}, {"kind", kReview}, {"response", std::move(response)}};
  std::string out;
  api::append_json(review, out);
  return out;
}

}  // namespace sluice::host
