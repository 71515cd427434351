// A parent and its options as objects: read into what decide.hpp decides on, and the texts in which
// decisions are written. Pure functions on JSON.
//
// The parent is marked by the annotation kParentMark and carries its Record in kRecord. An option
// is owned by its parent and says in annotations which option it is, which rank it has and why it
// is inactive, so that each of them can be understood alone after a restart.
#pragma once

#include <string>
#include <string_view>

#include "decide.hpp"
#include "sluice/cpp/json.hpp"
#include "sluice/cpp/marks.hpp"
#include "sluice/cpp/metadata.hpp"

namespace options {

inline constexpr std::string_view kParentMark = "kueue.x-k8s.io/parent-option";
inline constexpr std::string_view kRecord = "sluice.dev/option-race";
inline constexpr std::string_view kOption = "sluice.dev/option";
inline constexpr std::string_view kRank = "sluice.dev/option-rank";
inline constexpr std::string_view kHeld = "sluice.dev/option-held";

inline constexpr std::string_view kApi = "kueue.x-k8s.io/v1beta2";

std::vector<std::string> allowed_flavors(const sluice::Json& workload);

Record read_record(const sluice::Json& parent);
std::string write_record(const Record& record);

Option read_option(const sluice::Json& option, const sluice::Json& parent);

/// A new option of the parent.
sluice::Json make_option(const sluice::Json& parent, const Creation& creation);

/// Merge patch that brings to the option what changed on the parent: its priority. An empty object:
/// nothing did.
sluice::Json inherited_spec(const sluice::Json& parent, const sluice::Json& option);

/// The parent's status.options after the plan; null: it has none.
sluice::Json told_options(const sluice::Json& parent, const Plan& plan, Nanoseconds now);

}  // namespace options
