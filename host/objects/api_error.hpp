// ApiError: why a request was refused, as the Kubernetes API says it.
//
// It is what a Status object of kind Failure holds (docs: reference of the API). A plain value; the
// functions are pure and may be called from any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/result.hpp"

namespace sluice::host {

struct ApiCause {
  std::string reason;  ///< FieldValueInvalid, FieldValueRequired, FieldManagerConflict, …
  std::string message;
  std::string field;
};

struct ApiError {
  int code = 500;      ///< HTTP status
  std::string reason;  ///< NotFound, AlreadyExists, Conflict, Invalid, BadRequest, Forbidden, …
  std::string text;    ///< the message
  std::string group;   ///< details: of the object the request was about; may be empty
  std::string resource;
  std::string name;
  std::vector<ApiCause> causes;
  int retry_after_seconds = 0;  ///< 0: none
};

template <typename T>
using ApiResult = Result<T, ApiError>;

ApiError bad_request(std::string text);
ApiError not_found(const api::KindInfo& kind, std::string_view name);
ApiError already_exists(const api::KindInfo& kind, std::string_view name);
/// `why` empty: the object has been modified.
ApiError conflict(const api::KindInfo& kind, std::string_view name, std::string_view why = {});
/// 422 with a cause per problem.
ApiError invalid(const api::KindInfo& kind, std::string_view name,
                 const std::vector<api::Problem>& problems);
ApiError forbidden(const api::KindInfo& kind, std::string_view name, std::string_view why);
/// 429: try again in a second.
ApiError too_many_requests(std::string text);
ApiError unavailable(std::string text, int retry_after_seconds);

/// `{kind: Status, apiVersion: v1, …}`.
boost::json::object to_status(const ApiError& error);

}  // namespace sluice::host
