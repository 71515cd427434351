// AdmissionReview (admission.k8s.io/v1): what an API server asks before it stores an object, read
// from its text and answered in one.
//
// Pure functions, any thread. What comes from the line is not trusted: whatever is no such review
// is an error that names the place.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/objects/api_error.hpp"

namespace sluice::host {

/// A review holds an object twice at most, as it was and as it is to be.
inline constexpr std::size_t kMostReviewBytes = 8U << 20;

enum class ReviewedOperation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };

struct AdmissionRequest {
  std::string uid;
  ReviewedOperation operation = ReviewedOperation::kCreate;
  std::string api_version, kind;  ///< of the object as it is sent
  std::string subresource;        ///< empty: the object itself
  std::string ns, name;
  std::string user;
  std::vector<std::string> groups;
  std::string field_manager;               ///< of the write; empty: it names none
  boost::json::object object;              ///< kCreate, kUpdate
  std::optional<boost::json::object> old;  ///< kUpdate
};

/// What is answered.
struct Verdict {
  std::optional<ApiError> refused;
  boost::json::array patch;  ///< operations of a JSON patch; empty: it stays as it is
  std::vector<std::string> warnings;
};

ApiResult<AdmissionRequest> parse_admission_review(std::string_view text);

/// The review that answers the request with this uid.
std::string admission_answer(std::string_view uid, const Verdict& verdict);

}  // namespace sluice::host
