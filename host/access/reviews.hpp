// Reviews: questions about access that clients create and get answered, without anything being
// stored: `kubectl auth can-i`, `whoami`, and what other services ask.
//
// Pure functions of their arguments, any thread. Whether the client may ask at all is checked
// before, as for every other request (verb create on the review's resource).
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "host/access/rbac_index.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

/// What discovery and routing need to know.
struct ReviewKind {
  std::string_view group, version, kind, plural;
  bool namespaced = false;
};

/// Preferred version of a group first.
std::span<const ReviewKind> review_kinds();

struct ReviewContext {
  const Identity& who;
  std::string_view ns;  ///< of the URL, for LocalSubjectAccessReview
  const RbacIndex& index;
  /// The user of a bearer token; for TokenReview.
  std::function<std::optional<Identity>(std::string_view token)> holder_of;
};

/// The request with its status filled in, for an answer 201. 400 or 422 when it asks for nothing.
ApiResult<boost::json::object> answer_review(const ReviewKind& kind, boost::json::object request,
                                             const ReviewContext& context);

}  // namespace sluice::host
