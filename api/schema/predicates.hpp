// The named predicates that rules in the data refer to.
//
// Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "api/schema/node.hpp"

namespace sluice::api {

/// nullptr when there is no such predicate.
Rule::Predicate predicate(std::string_view name);
/// All names, for an error message.
std::string predicate_names();

/// The value at a dotted path below `object`, nullptr when absent. No list indexes.
const boost::json::value* value_at(const boost::json::object& object, std::string_view path);

}  // namespace sluice::api
