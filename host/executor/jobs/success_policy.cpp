#include "host/executor/jobs/success_policy.hpp"

namespace sluice::host {
namespace {

bool is_met(const SuccessRule& rule, const IndexSet& succeeded, std::int64_t completions) {
  if (!rule.indexes) return rule.count && succeeded.count_below(completions) >= *rule.count;
  const std::int64_t named = rule.indexes->count_below(completions);
  if (named == 0) return false;
  const std::int64_t there = rule.indexes->count_common(succeeded, completions);
  return there == named || (rule.count && there >= *rule.count);
}

}  // namespace

std::string meets(const std::vector<SuccessRule>& rules, const IndexSet& succeeded,
                  std::int64_t completions) {
  if (succeeded.empty()) return {};
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (is_met(rules[i], succeeded, completions))
      return "Matched rules at index " + std::to_string(i);
  return {};
}

}  // namespace sluice::host
