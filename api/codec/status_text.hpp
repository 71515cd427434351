// What the status of a stored object says, read where it stands without parsing it.
//
// For those who look at each change of a workload, of which most are nothing to them, and for who
// writes the next status over it. The text is compact JSON of our own; views point into it. Pure
// functions, any thread, O(length).
#pragma once

#include <string_view>
#include <vector>

namespace sluice::api {

/// One of status.conditions. Texts as JSON writes them, without the quotes; absent: empty.
struct ConditionText {
  std::string_view type, status, reason, message;
  std::string_view observed_generation;  ///< the JSON of it
  std::string_view whole;                ///< the JSON of the condition

  bool is_true() const { return status == "True"; }
};

/// In their order; none where there is no status.
std::vector<ConditionText> conditions_in(std::string_view status);

/// nullptr without one of this type.
const ConditionText* find_condition(const std::vector<ConditionText>& conditions,
                                    std::string_view type);
bool has_condition(const std::vector<ConditionText>& conditions, std::string_view type);

/// The text of a workload's status.admission; empty: it has none.
std::string_view admission_in(std::string_view status);

}  // namespace sluice::api
