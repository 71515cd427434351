#include "host/objects/api_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace sluice::host {
namespace {

namespace json = boost::json;

ApiError about(const api::KindInfo& kind, std::string_view name, int code, std::string reason,
               std::string text) {
  ApiError out;
  out.code = code;
  out.reason = std::move(reason);
  out.text = std::move(text);
  out.group = kind.group;
  out.resource = kind.plural;
  out.name = name;
  return out;
}

std::string_view cause_reason(api::Problem::Kind kind) {
  switch (kind) {
    case api::Problem::Kind::kRequired:
      return "FieldValueRequired";
    case api::Problem::Kind::kUnsupported:
      return "FieldValueNotSupported";
    case api::Problem::Kind::kDuplicate:
      return "FieldValueDuplicate";
    case api::Problem::Kind::kTooMany:
      return "FieldValueTooMany";
    case api::Problem::Kind::kTooLong:
      return "FieldValueTooLong";
    case api::Problem::Kind::kForbidden:
      return "FieldValueForbidden";
    case api::Problem::Kind::kInvalid:
    case api::Problem::Kind::kUnknownField:
    case api::Problem::Kind::kNoSuchKind:
      break;
  }
  return "FieldValueInvalid";
}

}  // namespace

ApiError bad_request(std::string text) {
  ApiError out;
  out.code = 400;
  out.reason = "BadRequest";
  out.text = std::move(text);
  return out;
}

ApiError not_found(const api::KindInfo& kind, std::string_view name) {
  return about(kind, name, 404, "NotFound",
               fmt::format("{} \"{}\" not found", kind.full_resource(), name));
}

ApiError already_exists(const api::KindInfo& kind, std::string_view name) {
  return about(kind, name, 409, "AlreadyExists",
               fmt::format("{} \"{}\" already exists", kind.full_resource(), name));
}

ApiError conflict(const api::KindInfo& kind, std::string_view name, std::string_view why) {
  constexpr std::string_view kModified =
      "the object has been modified; please apply your changes to the latest version and try again";
  return about(kind, name, 409, "Conflict",
               fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", kind.full_resource(),
                           name, why.empty() ? kModified : why));
}

ApiError invalid(const api::KindInfo& kind, std::string_view name,
                 const std::vector<api::Problem>& problems) {
  std::string list;
  for (const auto& problem : problems) list += (list.empty() ? "" : ", ") + problem.text();
  if (problems.size() > 1) list = "[" + list + "]";
  ApiError out = about(kind, name, 422, "Invalid",
                       fmt::format("{}{}{} \"{}\" is invalid: {}", kind.kind,
                                   kind.group.empty() ? "" : ".", kind.group, name, list));
  out.resource = kind.kind;  // kubectl says: The ClusterQueue "x" is invalid
  for (const auto& problem : problems)
    out.causes.push_back({std::string(cause_reason(problem.kind)), problem.detail, problem.field});
  return out;
}

ApiError forbidden(const api::KindInfo& kind, std::string_view name, std::string_view why) {
  return about(kind, name, 403, "Forbidden",
               fmt::format("{} \"{}\" is forbidden: {}", kind.full_resource(), name, why));
}

ApiError too_many_requests(std::string text) {
  ApiError out;
  out.code = 429;
  out.reason = "TooManyRequests";
  out.text = std::move(text);
  out.retry_after_seconds = 1;
  return out;
}

ApiError unavailable(std::string text, int retry_after_seconds) {
  ApiError out;
  out.code = 503;
  out.reason = "ServiceUnavailable";
  out.text = std::move(text);
  out.retry_after_seconds = retry_after_seconds;
  return out;
}

json::object to_status(const ApiError& error) {
  json::object details;
  if (!error.name.empty()) details["name"] = error.name;
  if (!error.group.empty()) details["group"] = error.group;
  if (!error.resource.empty()) details["kind"] = error.resource;
  if (!error.causes.empty()) {
    json::array causes;
    for (const auto& cause : error.causes) {
      json::object entry;
      if (!cause.reason.empty()) entry["reason"] = cause.reason;
      entry["message"] = cause.message;
      if (!cause.field.empty()) entry["field"] = cause.field;
      causes.push_back(std::move(entry));
    }
    details["causes"] = std::move(causes);
  }
  if (error.retry_after_seconds > 0) details["retryAfterSeconds"] = error.retry_after_seconds;
  json::object out;
  out["kind"] = "Status";
  out["apiVersion"] = "v1";
  out["metadata"] = json::object();
  out["status"] = "Failure";
  out["message"] = error.text;
  out["reason"] = error.reason;
  out["details"] = std::move(details);  // clients look into it without asking whether it is there
  out["code"] = error.code;
  return out;
}

}  // namespace sluice::host
