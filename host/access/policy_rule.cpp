#include "host/access/policy_rule.hpp"

#include <algorithm>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

constexpr double kMostParts = 100'000;

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool has_or_all(const std::vector<std::string>& list, std::string_view text) {
  return has(list, "*") || has(list, text);
}

/// `pods/log` or `pods`; a rule may say `*` or `*/log`.
bool resource_allowed(const std::vector<std::string>& list, std::string_view resource,
                      std::string_view subresource) {
  return std::any_of(list.begin(), list.end(), [&](std::string_view each) {
    if (each == "*") return true;
    if (subresource.empty()) return each == resource;
    const auto slash = each.find('/');
    if (slash == std::string_view::npos || each.substr(slash + 1) != subresource) return false;
    const std::string_view main = each.substr(0, slash);
    return main == "*" || main == resource;
  });
}

bool url_allowed(const std::vector<std::string>& list, std::string_view path) {
  return std::any_of(list.begin(), list.end(), [&](std::string_view each) {
    if (each == path || each == "*") return true;
    return each.ends_with('*') && path.starts_with(each.substr(0, each.size() - 1));
  });
}

/// Does one held rule cover all of a rule that has a single verb and so on?
bool covers(const PolicyRule& held, const PolicyRule& single) {
  if (!has_or_all(held.verbs, single.verbs[0])) return false;
  if (!single.urls.empty()) {
    const std::string_view url = single.urls[0];
    return std::any_of(held.urls.begin(), held.urls.end(), [&](std::string_view each) {
      if (each == url) return true;
      return each.ends_with('*') && url.starts_with(each.substr(0, each.size() - 1));
    });
  }
  const std::string_view resource = single.resources[0];
  const auto slash = resource.find('/');
  const bool resource_held = has_or_all(held.resources, resource) ||
                             (slash != std::string_view::npos &&
                              has(held.resources, "*" + std::string(resource.substr(slash))));
  if (!resource_held || !has_or_all(held.groups, single.groups[0])) return false;
  return held.names.empty() || (!single.names.empty() && has(held.names, single.names[0]));
}

bool holds_all(const std::vector<std::string>& held, const std::vector<std::string>& wanted) {
  return has(held, "*") || std::all_of(wanted.begin(), wanted.end(),
                                       [&](const auto& each) { return has(held, each); });
}

/// Does one held rule cover a whole rule? Quick, and true for a user that grants its own rights.
bool covers_whole(const PolicyRule& held, const PolicyRule& wanted) {
  return holds_all(held.verbs, wanted.verbs) && holds_all(held.groups, wanted.groups) &&
         holds_all(held.resources, wanted.resources) && holds_all(held.urls, wanted.urls) &&
         (held.names.empty() || (!wanted.names.empty() && holds_all(held.names, wanted.names)));
}

std::string list_text(const std::vector<std::string>& list) {
  std::string out = "[";
  for (const auto& each : list) {
    if (out.size() > 1) out += ' ';
    api::append_json_text(each, out);
  }
  return out + "]";
}

}  // namespace

bool PolicyRule::allows(const AccessRequest& request) const {
  if (!has_or_all(verbs, request.verb)) return false;
  if (!request.path.empty()) return url_allowed(urls, request.path);
  return has_or_all(groups, request.group) &&
         resource_allowed(resources, request.resource, request.subresource) &&
         (names.empty() || has(names, request.name));
}

const std::vector<PolicyRule>& every_right() {
  static const std::vector<PolicyRule> rights = {{{"*"}, {"*"}, {"*"}, {}, {}},
                                                 {{"*"}, {}, {}, {}, {"*"}}};
  return rights;
}

PolicyRule parse_rule(const json::object& rule) {
  return {texts_in(rule, "verbs"), texts_in(rule, "apiGroups"), texts_in(rule, "resources"),
          texts_in(rule, "resourceNames"), texts_in(rule, "nonResourceURLs")};
}

std::vector<PolicyRule> parse_rules(const json::object& role) {
  std::vector<PolicyRule> out;
  for_each_object(role, "rules", [&](const auto& rule) { out.push_back(parse_rule(rule)); });
  return out;
}

json::object to_json(const PolicyRule& rule) {
  json::object out;
  out["verbs"] = api::to_array(rule.verbs);
  if (!rule.groups.empty()) out["apiGroups"] = api::to_array(rule.groups);
  if (!rule.resources.empty()) out["resources"] = api::to_array(rule.resources);
  if (!rule.names.empty()) out["resourceNames"] = api::to_array(rule.names);
  if (!rule.urls.empty()) out["nonResourceURLs"] = api::to_array(rule.urls);
  return out;
}

std::vector<PolicyRule> uncovered(const std::vector<PolicyRule>& held, const PolicyRule& wanted,
                                  std::size_t most) {
  std::vector<PolicyRule> out;
  if (std::any_of(held.begin(), held.end(),
                  [&](const PolicyRule& each) { return covers_whole(each, wanted); }))
    return out;
  // A rule that stands for this many is not taken apart: it counts as not covered.
  const double parts =
      static_cast<double>(wanted.verbs.size()) *
      (static_cast<double>(wanted.urls.size()) +
       static_cast<double>(wanted.groups.size()) * static_cast<double>(wanted.resources.size()) *
           static_cast<double>(std::max<std::size_t>(1, wanted.names.size())));
  if (parts > kMostParts) return {wanted};
  const auto judge = [&](PolicyRule single) {
    const bool covered = std::any_of(held.begin(), held.end(),
                                     [&](const PolicyRule& each) { return covers(each, single); });
    if (!covered && out.size() < most) out.push_back(std::move(single));
  };
  for (const auto& verb : wanted.verbs) {
    for (const auto& url : wanted.urls) judge({{verb}, {}, {}, {}, {url}});
    for (const auto& group : wanted.groups) {
      for (const auto& resource : wanted.resources) {
        if (out.size() >= most) return out;
        if (wanted.names.empty()) judge({{verb}, {group}, {resource}, {}, {}});
        for (const auto& name : wanted.names) judge({{verb}, {group}, {resource}, {name}, {}});
      }
    }
  }
  return out;
}

std::string rule_text(const PolicyRule& rule) {
  if (!rule.urls.empty())
    return "{NonResourceURLs:" + list_text(rule.urls) + ", Verbs:" + list_text(rule.verbs) + "}";
  std::string out =
      "{APIGroups:" + list_text(rule.groups) + ", Resources:" + list_text(rule.resources);
  if (!rule.names.empty()) out += ", ResourceNames:" + list_text(rule.names);
  return out + ", Verbs:" + list_text(rule.verbs) + "}";
}

}  // namespace sluice::host
