#include "host/executor/jobs/failure_policy.hpp"

#include <algorithm>

namespace sluice::host {
namespace {

std::string_view name_of(FailureRule::Action action) {
  switch (action) {
    case FailureRule::Action::kFailJob:
      return "FailJob";
    case FailureRule::Action::kFailIndex:
      return "FailIndex";
    case FailureRule::Action::kIgnore:
      return "Ignore";
    case FailureRule::Action::kCount:
      break;
  }
  return "Count";
}

/// What of the pod matches the rule, as a clause; empty: nothing.
std::string match(const FailureRule& rule, const JobPod& pod) {
  for (const JobPod::Exit& exit : pod.exits) {
    if (rule.codes.empty()) break;
    if (!rule.container.empty() && rule.container != exit.container) continue;
    const bool listed =
        std::find(rule.codes.begin(), rule.codes.end(), exit.code) != rule.codes.end();
    if (listed != rule.codes_in) continue;
    return "Container " + exit.container + " for pod " + pod.key + " failed with exit code " +
           std::to_string(exit.code);
  }
  for (const std::string& pattern : rule.patterns) {
    if (std::find(pod.conditions.begin(), pod.conditions.end(), pattern) == pod.conditions.end()) {
      continue;
    }
    return "Pod " + pod.key + " has condition " + pattern.substr(0, pattern.find('='));
  }
  return {};
}

}  // namespace

PolicyAnswer judge(const std::vector<FailureRule>& rules, const JobPod& pod) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string what = match(rules[i], pod);
    if (what.empty()) continue;
    return {rules[i].action, what + " matching " + std::string(name_of(rules[i].action)) +
                                 " rule at index " + std::to_string(i)};
  }
  return {};
}

}  // namespace sluice::host
