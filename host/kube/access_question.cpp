#include "host/kube/access_question.hpp"

#include <boost/json/object.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

namespace json = boost::json;

ClusterRequest access_request(const AccessQuestion& question) {
  const std::size_t slash = question.resource.find('/');
  json::object attributes{{"group", question.group},
                          {"resource", question.resource.substr(0, slash)},
                          {"verb", question.verb}};
  if (slash != std::string::npos) attributes["subresource"] = question.resource.substr(slash + 1);
  if (!question.ns.empty()) attributes["namespace"] = question.ns;
  json::object spec{{"resourceAttributes", std::move(attributes)}};
  const bool own = question.user.empty();
  if (!own) spec["user"] = question.user;
  const json::object review{{"apiVersion", "authorization.k8s.io/v1"},
                            {"kind", own ? "SelfSubjectAccessReview" : "SubjectAccessReview"},
                            {"spec", std::move(spec)}};
  return posting(own ? "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
                     : "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                 api::to_json(review));
}

std::optional<bool> access_told(const ClusterAnswer& answer) {
  const auto review = api::parse_object(answer.body);
  if (!review) return std::nullopt;
  const json::value* allowed = api::find(part(*review, "status"), "allowed");
  if (allowed == nullptr || !allowed->is_bool()) return std::nullopt;
  return allowed->get_bool();
}

}  // namespace sluice::host
