#include "api/builtin/failure_policy.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/builtin/rules.hpp"
#include "api/schema/formats.hpp"
#include "api/schema/rules.hpp"

namespace sluice::api::builtin {
namespace {

namespace json = boost::json;

using Names = std::set<std::string_view>;

Names container_names(const json::object& spec) {
  const json::object& pod = part(part(spec, "template"), "spec");
  Names names;
  for (const char* list : {"containers", "initContainers"})
    for_objects(pod, list, [&](std::size_t, const json::object& container) {
      names.insert(find_text(container, "name"));
    });
  return names;
}

/// Increasing and each once; 0 is success, of which a rule for failures cannot speak.
void check_values(const json::object& codes, const std::string& field, Outcome& outcome) {
  const json::array* values = find_array(codes, "values");
  if (values == nullptr) return;
  std::optional<std::int64_t> last;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const json::value& value = (*values)[i];
    const std::int64_t* code = value.if_int64();
    if (code == nullptr) continue;  // the schema reported it
    const std::string at = indexed(field, i);
    if (*code == 0 && find_text(codes, "operator") == "In")
      add_invalid(outcome, at, value, "must not be 0 for the In operator");
    if (last && *last == *code)
      add_problem(outcome, Problem::Kind::kDuplicate, at,
                  "Duplicate value: " + std::to_string(*code));
    if (last && *last > *code) return add_invalid(outcome, field, *values, "must be ordered");
    last = *code;
  }
}

void check_codes(const json::object& codes, const Names& containers, const std::string& field,
                 Outcome& outcome) {
  const std::string_view container = find_text(codes, "containerName");
  if (find(codes, "containerName") != nullptr && !containers.contains(container))
    add_invalid(outcome, field + ".containerName", json::value(json_view(container)),
                "must be one of the container or initContainer names in the pod template");
  check_values(codes, field + ".values", outcome);
}

void check_rule(const json::object& rule, const Names& containers, bool per_index,
                const std::string& field, Outcome& outcome) {
  const std::string_view action = find_text(rule, "action");
  if (action == "FailIndex" && !per_index)
    add_invalid(outcome, field + ".action", json::value(json_view(action)),
                "requires the backoffLimitPerIndex to be set");
  const json::object* codes = find_object(rule, "onExitCodes");
  const json::array* conditions = find_array(rule, "onPodConditions");
  if ((codes != nullptr) == (conditions != nullptr))
    return add_invalid(outcome, field, json::value(rule),
                       "exactly one of onExitCodes and onPodConditions must be set");
  if (codes != nullptr) return check_codes(*codes, containers, field + ".onExitCodes", outcome);
  for_objects(rule, "onPodConditions", [&](std::size_t i, const json::object& condition) {
    const std::string_view type = find_text(condition, "type");
    if (type.empty() || is_qualified_name(type)) return;  // the schema asks for one
    add_invalid(outcome, indexed(field + ".onPodConditions", i) + ".type",
                json::value(json_view(type)), kQualifiedNameRule);
  });
}

}  // namespace

void check_failure_policy(const json::object& spec, Outcome& outcome) {
  const json::object* policy = find_object(spec, "podFailurePolicy");
  if (policy == nullptr) return;
  const Names containers = container_names(spec);
  const bool per_index = find(spec, "backoffLimitPerIndex") != nullptr;
  for_objects(*policy, "rules", [&](std::size_t i, const json::object& rule) {
    check_rule(rule, containers, per_index, indexed("spec.podFailurePolicy.rules", i), outcome);
  });
}

}  // namespace sluice::api::builtin
