// What is demanded of objects beyond the shape of their fields, as CEL rules of a
// CustomResourceDefinition (x-kubernetes-validations).
//
// Only what such a rule can say exactly becomes one: an API server refuses by it what Sluice
// refuses, and nothing else. Pure functions over immutable schemas; any thread.
#pragma once

#include <boost/json/array.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/node.hpp"

namespace sluice::host {

/// The rule as an expression over `self`, a value of `node`; nullopt when CEL cannot say it within
/// what an API server lets a rule cost.
std::optional<std::string> expression_of(const api::Rule& rule, const api::SchemaNode& node);

/// `rule` as an expression over the whole object, old and new.
std::string expression_of(const api::UpdateRule& rule);

/// Those of `rules` that can be said, each with its message.
boost::json::array validations(const api::SchemaNode& node);
/// Those about changes, for the root of a kind.
boost::json::array validations(const std::vector<api::UpdateRule>& rules);

/// Whether a field of this path is there: `has(self.a) && has(self.a.b)`.
std::string is_there(std::string_view object, std::string_view path);
/// `self.a.b`, names that are no identifiers escaped.
std::string place_of(std::string_view object, std::string_view path);

}  // namespace sluice::host
