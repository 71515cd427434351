#include "host/cluster/rights.hpp"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <utility>

#include "api/json/json.hpp"
#include "host/cluster/roles.hpp"
#include "host/decide/followed_kinds.hpp"
#include "host/kube/caller.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// A right of a rule, as a question names it.
json::object attributes_of(const std::string& group, const std::string& resource,
                           const std::string& verb, const std::string& ns) {
  const std::size_t slash = resource.find('/');
  json::object out{{"group", group}, {"resource", resource.substr(0, slash)}, {"verb", verb}};
  if (slash != std::string::npos) out["subresource"] = resource.substr(slash + 1);
  if (!ns.empty()) out["namespace"] = ns;
  return out;
}

/// Whether the user may; nullopt with the reason in `unseen`.
std::optional<bool> may(json::object attributes, const std::string& user, const AskCluster& ask,
                        std::string& unseen) {
  ClusterRequest request;
  request.method = "POST";
  request.path = kReviews;
  request.content_type = "application/json";
  request.body = api::to_json(json::object{
      {"apiVersion", "authorization.k8s.io/v1"},
      {"kind", "SubjectAccessReview"},
      {"spec", json::object{{"user", user}, {"resourceAttributes", std::move(attributes)}}}});
  const ClusterAnswer answer = ask(std::move(request));
  const auto said = api::parse_object(answer.body);
  if (answer.status == 201 && said && said->contains("status"))
    return api::find_bool(part(*said, "status"), "allowed", false);
  unseen = trouble_of(answer);
  return std::nullopt;
}

}  // namespace

ControllerRights rights_to_decide(const Configuration& config, Rules& rules) {
  std::vector<ObjectRight> rights = rules.plugins->plugins().rights();
  for (ObjectRight& each : rights_to_retain(config.retention, rules.scheme))
    rights.push_back(std::move(each));
  return {rules_to_decide(followed_kinds(config, rules), rights), rules_to_lead()};
}

Lacking lacking(const json::array& rules, const std::string& user, const std::string& ns,
                const AskCluster& ask) {
  Lacking out;
  std::map<std::string, std::string> verbs;  // by resource
  for (const json::value& each : rules) {
    const json::object& rule = each.get_object();
    for (const std::string& group : texts_in(rule, "apiGroups"))
      for (const std::string& resource : texts_in(rule, "resources"))
        for (const std::string& verb : texts_in(rule, "verbs")) {
          const auto allowed = may(attributes_of(group, resource, verb, ns), user, ask, out.unseen);
          if (!allowed) return out;
          if (*allowed) continue;
          std::string& list = verbs[group.empty() ? resource : resource + "." + group];
          list += (list.empty() ? "" : ", ") + verb;
        }
  }
  for (const auto& [resource, list] : verbs)
    out.rights.push_back(fmt::format("{} {}", list, resource));
  return out;
}

}  // namespace sluice::host
