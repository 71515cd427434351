#include "core/types/resource_rules.hpp"

#include <algorithm>
#include <map>

#include "core/types/amount.hpp"

namespace sluice {
namespace {

constexpr std::int64_t kMilli = 1000;

Wide rounded_up(Wide amount, std::int64_t divisor) { return (amount + divisor - 1) / divisor; }

bool counts_in_milli(std::string_view resource) { return resource == "cpu"; }

/// The amount in whole units.
Wide units_of(const api::ResourceRequest& request) {
  return counts_in_milli(request.resource) ? rounded_up(request.amount, kMilli)
                                           : Wide{request.amount};
}

class Asked {
 public:
  void add(const std::string& resource, Amount amount) {
    Amount& sum = amounts_[resource];
    sum = add_saturating(sum, amount);
  }

  void transform(const api::ResourceRequest& request, const ResourceTransformation& rule,
                 const std::vector<api::ResourceRequest>& all) {
    Amount amount = request.amount;
    for (const api::ResourceRequest& each : all)
      if (each.resource == rule.multiply_by)
        amount = multiply_saturating(amount, saturate(units_of(each)));
    const Amount units = saturate(units_of({request.resource, amount}));
    for (const auto& [resource, milli] : rule.outputs_milli) {
      const Wide out = Wide{milli} * units;
      add(resource, saturate(counts_in_milli(resource) ? out : rounded_up(out, kMilli)));
    }
    if (rule.retains_input) add(request.resource, amount);
  }

  std::vector<api::ResourceRequest> take() const {
    std::vector<api::ResourceRequest> out;
    for (const auto& [resource, amount] : amounts_) out.push_back({resource, amount});
    return out;
  }

 private:
  std::map<std::string, Amount> amounts_;
};

bool excluded(const std::string& resource, const ResourceRules& rules) {
  return std::any_of(rules.excluded_prefixes.begin(), rules.excluded_prefixes.end(),
                     [&](const std::string& prefix) { return resource.starts_with(prefix); });
}

}  // namespace

std::vector<api::ResourceRequest> asked_of_quota(const std::vector<api::ResourceRequest>& requests,
                                                 const ResourceRules& rules) {
  if (rules.empty()) return requests;
  std::vector<api::ResourceRequest> counted;
  for (const api::ResourceRequest& request : requests)
    if (!excluded(request.resource, rules)) counted.push_back(request);
  Asked asked;
  for (const api::ResourceRequest& request : counted) {
    const auto rule =
        std::find_if(rules.transformations.begin(), rules.transformations.end(),
                     [&](const auto& each) { return each.input == request.resource; });
    if (rule == rules.transformations.end())
      asked.add(request.resource, request.amount);
    else
      asked.transform(request, *rule, counted);
  }
  return asked.take();
}

}  // namespace sluice
