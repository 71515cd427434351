// ResourceFlavor, ClusterQueue, Cohort and LocalQueue.
#include <algorithm>
#include <set>

#include "api/json/json.hpp"
#include "api/schema/formats.hpp"
#include "api/schema/rules.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

constexpr std::size_t kMaxFlavors = 256;
constexpr std::size_t kMaxResources = 256;
constexpr std::size_t kMaxPairsPerGroup = 512;

const json::object* spec_of(const json::object& object) { return find_object(object, "spec"); }

struct QuotaRules {
  bool has_parent = false;
  const char* parent_field = "cohort";
  bool lending_within_nominal = false;
};

/// The resource groups of one ClusterQueue or Cohort.
class GroupChecker {
 public:
  GroupChecker(const QuotaRules& rules, Outcome& outcome) : rules_(rules), outcome_(outcome) {}

  void check(const json::object& spec) {
    const json::array* groups = find_array(spec, "resourceGroups");
    if (groups == nullptr) return;
    for (std::size_t i = 0; i < groups->size(); ++i) {
      if (const auto* group = (*groups)[i].if_object()) {
        check_group(*group, indexed("spec.resourceGroups", i));
      }
    }
    too_many("spec.resourceGroups", flavors_.size(), kMaxFlavors, "flavors in all groups");
    too_many("spec.resourceGroups", resources_.size(), kMaxResources,
             "covered resources in all groups");
  }

  const std::set<std::string, std::less<>>& flavors() const { return flavors_; }

 private:
  void too_many(const std::string& field, std::size_t count, std::size_t most, const char* what) {
    if (count <= most) return;
    add_problem(outcome_, Problem::Kind::kTooMany, field,
                "Too many: " + std::to_string(count) + ": must have at most " +
                    std::to_string(most) + " " + what);
  }

  void check_group(const json::object& group, const std::string& field) {
    std::vector<std::string_view> covered;
    const json::array* resources = find_array(group, "coveredResources");
    for (std::size_t i = 0; resources != nullptr && i < resources->size(); ++i) {
      const auto* name = (*resources)[i].if_string();
      if (name == nullptr) continue;
      covered.push_back(view(*name));
      const std::string at = indexed(field + ".coveredResources", i);
      if (!is_qualified_name(view(*name))) {
        add_invalid(outcome_, at, (*resources)[i],
                    "must be a resource name: a qualified name like cpu or example.com/gpu");
      }
      if (!resources_.emplace(view(*name)).second) duplicate(at, view(*name));
    }
    const json::array* flavors = find_array(group, "flavors");
    std::size_t pairs = 0;
    for (std::size_t i = 0; flavors != nullptr && i < flavors->size(); ++i) {
      const auto* flavor = (*flavors)[i].if_object();
      if (flavor == nullptr) continue;
      const std::string at = indexed(field + ".flavors", i);
      const std::string_view name = find_text(*flavor, "name");
      if (!flavors_.emplace(name).second) duplicate(at + ".name", name);
      pairs += check_quotas(*flavor, covered, at + ".resources");
    }
    too_many(field, pairs, kMaxPairsPerGroup, "flavors times resources");
  }

  std::size_t check_quotas(const json::object& flavor, const std::vector<std::string_view>& covered,
                           const std::string& field) {
    const json::array* quotas = find_array(flavor, "resources");
    if (quotas == nullptr) return 0;
    for (std::size_t i = 0; i < quotas->size(); ++i) {
      const auto* quota = (*quotas)[i].if_object();
      if (quota == nullptr) continue;
      const std::string_view name = find_text(*quota, "name");
      if (i < covered.size() && covered[i] != name) {
        add_problem(outcome_, Problem::Kind::kInvalid, indexed(field, i) + ".name",
                    "Invalid value: " + shown(name) +
                        ": must match the name in coveredResources, " + std::string(covered[i]) +
                        " at this position");
      }
      check_quota(*quota, name, indexed(field, i));
    }
    return quotas->size();
  }

  void check_quota(const json::object& quota, std::string_view resource, const std::string& field) {
    for (const char* key : {"nominalQuota", "borrowingLimit", "lendingLimit"}) {
      const json::value* value = find(quota, key);
      if (value == nullptr) continue;
      const std::string problem = amount_problem(resource, quantity_or_zero(*value));
      if (!problem.empty()) add_invalid(outcome_, field + "." + key, *value, problem);
    }
    const json::value* lending = find(quota, "lendingLimit");
    const json::value* borrowing = find(quota, "borrowingLimit");
    const std::string unset = "must be nil when " + std::string(rules_.parent_field) + " is empty";
    if (lending != nullptr && !rules_.has_parent) {
      add_invalid(outcome_, field + ".lendingLimit", *lending, unset);
    }
    if (borrowing != nullptr && !rules_.has_parent && !rules_.lending_within_nominal) {
      add_invalid(outcome_, field + ".borrowingLimit", *borrowing, unset);
    }
    const json::value* nominal = find(quota, "nominalQuota");
    if (rules_.lending_within_nominal && lending != nullptr && nominal != nullptr &&
        quantity_or_zero(*nominal) < quantity_or_zero(*lending)) {
      add_invalid(
          outcome_, field + ".lendingLimit", *lending,
          "must be less than or equal to the nominalQuota, " + quantity_or_zero(*nominal).text());
    }
  }

  void duplicate(const std::string& field, std::string_view value) {
    add_problem(outcome_, Problem::Kind::kDuplicate, field, "Duplicate value: " + shown(value));
  }

  const QuotaRules& rules_;
  Outcome& outcome_;
  std::set<std::string, std::less<>> resources_, flavors_;
};

const json::array* check_entries(const json::object& object) {
  const json::object* at = spec_of(object);
  if (at != nullptr) at = find_object(*at, "admissionChecksStrategy");
  return at != nullptr ? find_array(*at, "admissionChecks") : nullptr;
}

/// Flavors that a check is bound to must be flavors of the queue; an entry that an update leaves as
/// it was is not looked at.
void check_on_flavors(const json::object& object, const json::object* old,
                      const std::set<std::string, std::less<>>& flavors, Outcome& outcome) {
  const json::array* checks = check_entries(object);
  const EntrySet before(old != nullptr ? check_entries(*old) : nullptr);
  for (std::size_t i = 0; checks != nullptr && i < checks->size(); ++i) {
    const json::value& entry = (*checks)[i];
    const json::object* check = entry.if_object();
    if (check == nullptr) continue;
    if (before.contains(entry)) continue;
    const json::array* names = find_array(*check, "onFlavors");
    for (std::size_t j = 0; names != nullptr && j < names->size(); ++j) {
      const auto* name = (*names)[j].if_string();
      if (name == nullptr || flavors.find(view(*name)) != flavors.end()) continue;
      add_invalid(outcome,
                  indexed("spec.admissionChecksStrategy.admissionChecks", i) + ".onFlavors[" +
                      std::to_string(j) + "]",
                  (*names)[j], "must be a flavor of this ClusterQueue");
    }
  }
}

}  // namespace

void check_resource_flavor(const json::object& object, Outcome& outcome) {
  const json::object* spec = spec_of(object);
  if (spec == nullptr) return;
  check_labels(find_object(*spec, "nodeLabels"), "spec.nodeLabels", outcome);
  const json::array* taints = find_array(*spec, "nodeTaints");
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; taints != nullptr && i < taints->size(); ++i) {
    const auto* taint = (*taints)[i].if_object();
    if (taint == nullptr) continue;
    const std::string field = indexed("spec.nodeTaints", i);
    const std::string_view key = find_text(*taint, "key");
    if (!is_qualified_name(key)) {
      add_problem(outcome, Problem::Kind::kInvalid, field + ".key",
                  "Invalid value: " + shown(key) + ": must be a qualified name");
    }
    if (!is_label_value(find_text(*taint, "value"))) {
      add_problem(
          outcome, Problem::Kind::kInvalid, field + ".value",
          "Invalid value: " + shown(find_text(*taint, "value")) + ": must be a valid label value");
    }
    if (!seen.emplace(key, find_text(*taint, "effect")).second) {
      add_problem(
          outcome, Problem::Kind::kDuplicate, field,
          "Duplicate value: " + shown((*taints)[i]) + ": taints must be unique by key and effect");
    }
  }
}

void check_cluster_queue(const json::object& object, const json::object* old, Outcome& outcome) {
  const json::object* spec = spec_of(object);
  if (spec == nullptr) return;
  const QuotaRules rules{!find_text(*spec, "cohortName").empty(), "cohort", true};
  GroupChecker groups(rules, outcome);
  groups.check(*spec);
  check_on_flavors(object, old, groups.flavors(), outcome);
  check_selector(find_object(*spec, "namespaceSelector"), "spec.namespaceSelector", outcome);
  check_fair_weight(object, outcome);
}

void check_cohort(const json::object& object, Outcome& outcome) {
  const json::object* spec = spec_of(object);
  if (spec == nullptr) return;
  const QuotaRules rules{!find_text(*spec, "parentName").empty(), "parent", false};
  GroupChecker groups(rules, outcome);
  groups.check(*spec);
  check_fair_weight(object, outcome);
}

void check_local_queue(const json::object& object, Outcome& outcome) {
  check_fair_weight(object, outcome);
}

}  // namespace sluice::api
