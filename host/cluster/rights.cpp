#include "host/cluster/rights.hpp"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <utility>

#include "host/cluster/roles.hpp"
#include "host/decide/followed_kinds.hpp"
#include "host/kube/access_question.hpp"
#include "host/kube/caller.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Of each verb on each resource.
std::vector<AccessQuestion> questions_of(const json::object& rule, const std::string& user,
                                         const std::string& ns) {
  std::vector<AccessQuestion> out;
  for (const std::string& group : texts_in(rule, "apiGroups"))
    for (const std::string& resource : texts_in(rule, "resources"))
      for (const std::string& verb : texts_in(rule, "verbs"))
        out.push_back({user, verb, group, resource, ns});
  return out;
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
  for (const json::value& rule : rules)
    for (const AccessQuestion& question : questions_of(rule.get_object(), user, ns)) {
      const ClusterAnswer answer = ask(access_request(question));
      const std::optional<bool> allowed = access_told(answer);
      if (!allowed) return {{}, trouble_of(answer)};
      if (*allowed) continue;
      const std::string& group = question.group;
      std::string& list =
          verbs[group.empty() ? question.resource : question.resource + "." + group];
      list += (list.empty() ? "" : ", ") + question.verb;
    }
  for (const auto& [resource, list] : verbs)
    out.rights.push_back(fmt::format("{} {}", list, resource));
  return out;
}

}  // namespace sluice::host
