#include "host/access/reviews.hpp"

#include <fmt/format.h>

#include <array>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

constexpr std::string_view kAuthorization = "authorization.k8s.io";
constexpr std::string_view kAuthentication = "authentication.k8s.io";
constexpr std::size_t kMostRules = 5'000;  // in an answer: one that may be asked for at any time

constexpr std::array kKinds = std::to_array<ReviewKind>({
    {kAuthorization, "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", false},
    {kAuthorization, "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", false},
    {kAuthorization, "v1", "SubjectAccessReview", "subjectaccessreviews", false},
    {kAuthorization, "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", true},
    {kAuthentication, "v1", "SelfSubjectReview", "selfsubjectreviews", false},
    {kAuthentication, "v1", "TokenReview", "tokenreviews", false},
    {kAuthentication, "v1beta1", "SelfSubjectReview", "selfsubjectreviews", false},
    {kAuthentication, "v1alpha1", "SelfSubjectReview", "selfsubjectreviews", false},
});

ApiError wrong(const ReviewKind& kind, std::string field, std::string detail) {
  api::KindInfo info;
  info.group = kind.group;
  info.kind = kind.kind;
  info.plural = kind.plural;
  return invalid(info, "", {{api::Problem::Kind::kInvalid, std::move(field), std::move(detail)}});
}

json::object user_info(const Identity& who) {
  json::object out;
  out["username"] = who.user;
  if (!who.uid.empty()) out["uid"] = who.uid;
  json::array groups;
  for (const auto& group : who.groups) groups.emplace_back(group);
  if (!groups.empty()) out["groups"] = std::move(groups);
  return out;
}

/// The views are of the review.
ApiResult<AccessRequest> asked(const ReviewKind& kind, const json::object& spec) {
  const auto* resource = api::find_object(spec, "resourceAttributes");
  const auto* path = api::find_object(spec, "nonResourceAttributes");
  if ((resource == nullptr) == (path == nullptr))
    return wrong(kind, "spec.resourceAttributes",
                 "Invalid value: exactly one of nonResourceAttributes or resourceAttributes must "
                 "be specified");
  AccessRequest out;
  if (path != nullptr) {
    out.path = api::find_text(*path, "path");
    out.verb = api::find_text(*path, "verb");
    if (out.path.empty()) out.path = "/";
    return out;
  }
  out.verb = api::find_text(*resource, "verb");
  out.group = api::find_text(*resource, "group");
  out.resource = api::find_text(*resource, "resource");
  out.subresource = api::find_text(*resource, "subresource");
  out.ns = api::find_text(*resource, "namespace");
  out.name = api::find_text(*resource, "name");
  return out;
}

json::object access_status(const AccessAnswer& answer) {
  json::object out;
  out["allowed"] = answer.allowed;
  if (!answer.reason.empty()) out["reason"] = answer.reason;
  return out;
}

ApiResult<json::object> subject_status(const ReviewKind& kind, const json::object& spec,
                                       const ReviewContext& context) {
  const auto request = asked(kind, spec);
  if (!request) return request.error();
  if (kind.kind == "LocalSubjectAccessReview") {
    if (!request->path.empty())
      return wrong(kind, "spec.nonResourceAttributes",
                   "Invalid value: disallowed on this kind of request");
    if (request->ns != context.ns)
      return wrong(kind, "spec.resourceAttributes.namespace",
                   "Invalid value: \"" + std::string(request->ns) +
                       "\": must match the namespace of the request");
  }
  Identity who;
  who.user = api::find_text(spec, "user");
  who.uid = api::find_text(spec, "uid");
  if (const auto* groups = api::find_array(spec, "groups")) {
    for (const auto& group : *groups) {
      if (const auto* text = group.if_string()) who.groups.emplace_back(api::view(*text));
    }
  }
  if (who.user.empty() && who.groups.empty())
    return wrong(kind, "spec.user",
                 "Invalid value: \"\": at least one of user or group must be specified");
  return access_status(context.index.may(who, *request));
}

ApiResult<json::object> rules_status(const json::object& spec, const ReviewContext& context) {
  const std::string_view ns = api::find_text(spec, "namespace");
  if (ns.empty()) return bad_request("no namespace on request");
  json::array resources, paths;
  PolicyRules rules = context.index.rules_for(context.who, ns, kMostRules + 1);
  const bool incomplete = rules.size() > kMostRules;
  if (incomplete) rules.pop_back();
  for (const PolicyRule& rule : rules)
    (rule.urls.empty() ? resources : paths).push_back(to_json(rule));
  json::object out;
  out["resourceRules"] = std::move(resources);
  out["nonResourceRules"] = std::move(paths);
  out["incomplete"] = incomplete;
  if (incomplete)
    out["evaluationError"] = fmt::format("only the first {} rules are told", kMostRules);
  return out;
}

json::object token_status(const json::object& spec, const ReviewContext& context) {
  json::object out;
  const std::string_view token = api::find_text(spec, "token");
  const auto holder = token.empty() || !context.holder_of ? std::nullopt : context.holder_of(token);
  out["authenticated"] = holder.has_value();
  if (holder) {
    out["user"] = user_info(*holder);
  } else {
    out["error"] = token.empty() ? "the token is empty" : "the token is not known";
  }
  return out;
}

ApiResult<json::object> status_of(const ReviewKind& kind, const json::object& spec,
                                  const ReviewContext& context) {
  if (kind.kind == "SelfSubjectReview") return json::object{{"userInfo", user_info(context.who)}};
  if (kind.kind == "TokenReview") return token_status(spec, context);
  if (kind.kind == "SelfSubjectRulesReview") return rules_status(spec, context);
  if (kind.kind != "SelfSubjectAccessReview") return subject_status(kind, spec, context);
  const auto request = asked(kind, spec);
  if (!request) return request.error();
  return access_status(context.index.may(context.who, *request));
}

}  // namespace

std::span<const ReviewKind> review_kinds() { return kKinds; }

ApiResult<json::object> answer_review(const ReviewKind& kind, json::object request,
                                      const ReviewContext& context) {
  static const json::object kNone;
  const auto* spec = api::find_object(request, "spec");
  auto status = status_of(kind, spec != nullptr ? *spec : kNone, context);
  if (!status) return status.error();
  request["apiVersion"] = api::group_version(kind.group, kind.version);
  request["kind"] = kind.kind;
  if (!request.contains("metadata")) request["metadata"] = json::object();
  // A token is not repeated, so that no log of answers holds one.
  if (auto* own = api::find_object(request, "spec"); own && kind.kind == "TokenReview")
    own->erase("token");
  request["status"] = std::move(*status);
  return request;
}

}  // namespace sluice::host
