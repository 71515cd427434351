#include "api/schema/predicates.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/check_list.hpp"

namespace sluice::api {

namespace json = boost::json;

const json::value* value_at(const json::object& object, std::string_view path) {
  const json::object* at = &object;
  for (;;) {
    const auto dot = path.find('.');
    const json::value* value = find(*at, path.substr(0, dot));
    if (value == nullptr || value->is_null() || dot == std::string_view::npos) {
      return value != nullptr && value->is_null() ? nullptr : value;
    }
    at = value->if_object();
    if (at == nullptr) return nullptr;
    path.remove_prefix(dot + 1);
  }
}

namespace {

bool is_one_of(std::string_view text, const std::vector<std::string>& values) {
  return std::find(values.begin(), values.end(), text) != values.end();
}

const json::object& as_object(const json::value& self) {
  static const json::object kEmpty;
  const auto* object = self.if_object();
  return object != nullptr ? *object : kEmpty;
}

std::string_view text_at(const json::object& object, std::string_view path) {
  const json::value* value = value_at(object, path);
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? view(*text) : std::string_view();
}

bool conditions_hold(const Rule& rule, const json::object& self) {
  return std::all_of(rule.when.begin(), rule.when.end(), [&](const RuleCondition& condition) {
    if (condition.values.empty()) return value_at(self, condition.field) != nullptr;
    return value_at(self, condition.field) != nullptr &&
           is_one_of(text_at(self, condition.field), condition.values);
  });
}

template <typename Test>
bool all_objects(const json::value& self, Test test) {
  const auto* list = self.if_array();
  if (list == nullptr) return true;
  return std::all_of(list->begin(), list->end(), [&](const json::value& each) {
    const auto* object = each.if_object();
    return object == nullptr || test(*object);
  });
}

bool known_effect(std::string_view effect) {
  return effect == "NoSchedule" || effect == "PreferNoSchedule" || effect == "NoExecute";
}

std::size_t list_size(const json::object& object, std::string_view key) {
  const json::array* list = find_array(object, key);
  return list != nullptr ? list->size() : 0;
}

// --- general, for the data of the core and of plugins ---------------------------------------

bool allowed_if(const Rule& rule, const json::value& self) {
  const auto& object = as_object(self);
  return value_at(object, rule.field) == nullptr || conditions_hold(rule, object);
}

bool required_if(const Rule& rule, const json::value& self) {
  const auto& object = as_object(self);
  return value_at(object, rule.field) != nullptr || !conditions_hold(rule, object);
}

bool forbidden_if(const Rule& rule, const json::value& self) {
  const auto& object = as_object(self);
  return value_at(object, rule.field) == nullptr || !conditions_hold(rule, object);
}

bool value_if(const Rule& rule, const json::value& self) {
  const auto& object = as_object(self);
  return value_at(object, rule.field) == nullptr || !conditions_hold(rule, object) ||
         is_one_of(text_at(object, rule.field), rule.one_of);
}

std::size_t present(const Rule& rule, const json::value& self) {
  const auto& object = as_object(self);
  return static_cast<std::size_t>(
      std::count_if(rule.fields.begin(), rule.fields.end(), [&](const std::string& field) {
        const json::value* value = value_at(object, field);
        if (value == nullptr) return false;
        const auto* list = value->if_array();
        return list == nullptr || !list->empty();
      }));
}

bool exactly_one(const Rule& rule, const json::value& self) { return present(rule, self) == 1; }
bool exclusive(const Rule& rule, const json::value& self) { return present(rule, self) <= 1; }
/// Two that say the same are one: an apply adds the list to what is shown as a strategy.
bool exclusive_checks(const Rule& rule, const json::value& self) {
  return exclusive(rule, self) || check_list_is_strategy(as_object(self));
}

// --- taints and tolerations ------------------------------------------------------------------

bool taint_effect(const Rule&, const json::value& self) {
  return all_objects(self, [](const auto& taint) {
    return find(taint, "effect") == nullptr || known_effect(find_text(taint, "effect"));
  });
}

bool toleration_effect(const Rule&, const json::value& self) {
  return all_objects(self, [](const auto& each) {
    const std::string_view effect = find_text(each, "effect");
    return effect.empty() || known_effect(effect);
  });
}

bool toleration_key_operator(const Rule&, const json::value& self) {
  return all_objects(self, [](const auto& each) {
    return !find_text(each, "key").empty() || find_text(each, "operator") == "Exists";
  });
}

bool toleration_seconds_effect(const Rule&, const json::value& self) {
  return all_objects(self, [](const auto& each) {
    return find(each, "tolerationSeconds") == nullptr || find_text(each, "effect") == "NoExecute";
  });
}

bool toleration_operator(const Rule&, const json::value& self) {
  return all_objects(self, [](const auto& each) {
    const std::string_view op = find_text(each, "operator");
    return op.empty() || op == "Equal" || op == "Exists";
  });
}

bool toleration_value(const Rule&, const json::value& self) {
  return all_objects(self, [](const auto& each) {
    return find_text(each, "operator") != "Exists" || find_text(each, "value").empty();
  });
}

// --- selector requirements ---------------------------------------------------------------------

bool selector_values(const Rule&, const json::value& self) {
  const auto& object = as_object(self);
  const std::string_view op = find_text(object, "operator");
  return (op != "In" && op != "NotIn") || list_size(object, "values") > 0;
}

bool selector_no_values(const Rule&, const json::value& self) {
  const auto& object = as_object(self);
  const std::string_view op = find_text(object, "operator");
  return (op != "Exists" && op != "DoesNotExist") || list_size(object, "values") == 0;
}

bool selector_one_number(const Rule&, const json::value& self) {
  const auto& object = as_object(self);
  const std::string_view op = find_text(object, "operator");
  if (op != "Gt" && op != "Lt") return true;
  const json::array* values = find_array(object, "values");
  const json::string* text =
      values != nullptr && values->size() == 1 ? (*values)[0].if_string() : nullptr;
  if (text == nullptr) return false;
  std::int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  return error == std::errc() && stop == end;
}

// --- one kind's own ------------------------------------------------------------------------------

bool topology_needs_labels(const Rule&, const json::value& self) {
  const auto& spec = as_object(self);
  const json::object* labels = find_object(spec, "nodeLabels");
  return find_text(spec, "topologyName").empty() || (labels != nullptr && !labels->empty());
}

bool no_borrowing_limit_without(const Rule& rule, const json::value& self) {
  const auto& spec = as_object(self);
  if (!find_text(spec, rule.field).empty()) return true;
  const json::value* groups = find(spec, "resourceGroups");
  return groups == nullptr || all_objects(*groups, [](const json::object& group) {
           const json::value* flavors = find(group, "flavors");
           return flavors == nullptr || all_objects(*flavors, [](const json::object& flavor) {
                    const json::value* resources = find(flavor, "resources");
                    return resources == nullptr ||
                           all_objects(*resources, [](const json::object& resource) {
                             return find(resource, "borrowingLimit") == nullptr;
                           });
                  });
         });
}

bool resources_per_flavor(const Rule&, const json::value& self) {
  const auto& group = as_object(self);
  const std::size_t covered = list_size(group, "coveredResources");
  const json::value* flavors = find(group, "flavors");
  return flavors == nullptr || all_objects(*flavors, [&](const json::object& flavor) {
           return list_size(flavor, "resources") == covered;
         });
}

bool min_count_within_count(const Rule&, const json::value& self) {
  const auto& pod_set = as_object(self);
  const auto min_count = find_int(pod_set, "minCount");
  return !min_count || *min_count <= find_int(pod_set, "count").value_or(1);
}

bool assignment_per_pod_set(const Rule&, const json::value& self) {
  const auto& workload = as_object(self);
  const json::object* status = find_object(workload, "status");
  const json::object* admission = status != nullptr ? find_object(*status, "admission") : nullptr;
  if (admission == nullptr) return true;
  const json::value* conditions = find(*status, "conditions");
  const bool reserved =
      conditions != nullptr && !all_objects(*conditions, [](const auto& each) {
        return find_text(each, "type") != "QuotaReserved" || find_text(each, "status") != "True";
      });
  const json::object* spec = find_object(workload, "spec");
  return !reserved || spec == nullptr ||
         list_size(*spec, "podSets") == list_size(*admission, "podSetAssignments");
}

bool values_per_level_length(const Rule&, const json::value& self) {
  const auto& topology = as_object(self);
  const json::value* slices = find(topology, "slices");
  return slices == nullptr || all_objects(*slices, [&](const json::object& slice) {
           return list_size(slice, "valuesPerLevel") == list_size(topology, "levels");
         });
}

bool pod_counts_length(const Rule&, const json::value& self) {
  const auto& slice = as_object(self);
  const json::object* counts = find_object(slice, "podCounts");
  if (counts == nullptr || find(*counts, "individual") == nullptr) return true;
  return static_cast<std::int64_t>(list_size(*counts, "individual")) ==
         find_int(slice, "domainCount").value_or(0);
}

bool roots_length(const Rule&, const json::value& self) {
  const auto& slice = as_object(self);
  const json::value* levels = find(slice, "valuesPerLevel");
  return levels == nullptr || all_objects(*levels, [&](const json::object& level) {
           const json::object* individual = find_object(level, "individual");
           return individual == nullptr ||
                  static_cast<std::int64_t>(list_size(*individual, "roots")) ==
                      find_int(slice, "domainCount").value_or(0);
         });
}

constexpr std::array<std::pair<std::string_view, Rule::Predicate>, 26> kPredicates = {{
    {"allowedIf", allowed_if},
    {"requiredIf", required_if},
    {"forbiddenIf", forbidden_if},
    {"valueIf", value_if},
    {"exactlyOne", exactly_one},
    {"exclusive", exclusive},
    {"exclusiveChecks", exclusive_checks},
    {"taintEffect", taint_effect},
    {"tolerationEffect", toleration_effect},
    {"tolerationKeyOperator", toleration_key_operator},
    {"tolerationSecondsEffect", toleration_seconds_effect},
    {"tolerationOperator", toleration_operator},
    {"tolerationValue", toleration_value},
    {"selectorValues", selector_values},
    {"selectorNoValues", selector_no_values},
    {"selectorOneNumber", selector_one_number},
    {"topologyNeedsLabels", topology_needs_labels},
    {"noBorrowingLimitWithout", no_borrowing_limit_without},
    {"resourcesPerFlavor", resources_per_flavor},
    {"minCountWithinCount", min_count_within_count},
    {"assignmentPerPodSet", assignment_per_pod_set},
    {"valuesPerLevelLength", values_per_level_length},
    {"podCountsLength", pod_counts_length},
    {"rootsLength", roots_length},
    {"immutable", nullptr},  // about a change: see UpdateRule
    {"immutableOnceSet", nullptr},
}};

}  // namespace

Rule::Predicate predicate(std::string_view name) {
  for (const auto& [each, function] : kPredicates) {
    if (each == name) return function;
  }
  return nullptr;
}

std::string predicate_names() {
  std::string out;
  for (const auto& [name, function] : kPredicates) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

}  // namespace sluice::api
