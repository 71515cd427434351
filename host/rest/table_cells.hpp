// Computed cells of tables: what no JSON path says (the readiness of a pod, why a workload waits).
//
// Each appends one JSON value and takes wrong types for absent values. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "core/base/time.hpp"

namespace sluice::host {

using ComputedCell = void (*)(const boost::json::object& object, Time now, std::string& out);

/// Of a column whose path is `=NAME`; nullptr when there is none of that name.
ComputedCell computed_cell(std::string_view name);

/// How long ago `time` (RFC 3339) was; `<unknown>` when it is absent, `<invalid>` when it is none.
std::string age_text(std::string_view time, Time now);

// ---- the cells by kind, as table_cells.cpp puts them together
namespace cells {

struct Named {
  std::string_view name;
  ComputedCell cell;
};

ComputedCell of_pods(std::string_view name);
ComputedCell of_jobs(std::string_view name);
ComputedCell of_events(std::string_view name);
ComputedCell of_others(std::string_view name);

/// Empty texts become `<none>`.
void append_or_none(std::string_view text, std::string& out);
/// `a=b,c=d,e in (f,g)`; `<none>` when it is empty.
std::string selector_text(const boost::json::object* selector);
/// `a=b,c=d`; `<none>` when it is empty.
std::string labels_text(const boost::json::object* labels);
/// The condition of that type, nullptr when absent.
const boost::json::object* condition(const boost::json::object& object, std::string_view type);
bool is_true(const boost::json::object& object, std::string_view type);

}  // namespace cells

}  // namespace sluice::host
