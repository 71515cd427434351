#include "api/codec/status_text.hpp"

#include <algorithm>

#include "api/json/json_text.hpp"

namespace sluice::api {
namespace {

std::string_view unquoted(std::string_view value) {
  const bool text = value.size() >= 2 && value.front() == '"';
  return text ? value.substr(1, value.size() - 2) : std::string_view();
}

ConditionText condition_in(std::string_view text) {
  ConditionText out;
  out.whole = text;
  each_member(text, [&out](std::string_view key, std::string_view value) {
    if (key == "type") out.type = unquoted(value);
    if (key == "status") out.status = unquoted(value);
    if (key == "reason") out.reason = unquoted(value);
    if (key == "message") out.message = unquoted(value);
    if (key == "observedGeneration") out.observed_generation = value;
    return true;
  });
  return out;
}

}  // namespace

std::vector<ConditionText> conditions_in(std::string_view status) {
  std::vector<ConditionText> out;
  each_element(member_text(status, "conditions"),
               [&out](std::string_view condition) { out.push_back(condition_in(condition)); });
  return out;
}

const ConditionText* find_condition(const std::vector<ConditionText>& conditions,
                                    std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [type](const ConditionText& each) { return each.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

bool has_condition(const std::vector<ConditionText>& conditions, std::string_view type) {
  const ConditionText* found = find_condition(conditions, type);
  return found && found->is_true();
}

std::string_view admission_in(std::string_view status) { return member_text(status, "admission"); }

}  // namespace sluice::api
