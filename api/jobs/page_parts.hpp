// The parts that a page of a kind of job is read from: names, paths, expressions. An error names
// the field (`where`), the value and what is allowed. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

#include "api/jobs/count_expression.hpp"
#include "api/jobs/declared_job.hpp"
#include "core/base/result.hpp"

namespace sluice::api {

constexpr std::size_t kMostEntries = 18;

/// The object has no other keys.
Result<void> only(const boost::json::object& object, const std::string& where,
                  std::initializer_list<std::string_view> allowed);
std::string quoted(std::string_view text);
/// A name of Kubernetes: small letters, digits, and `extra` within.
bool is_name(std::string_view text, std::string_view extra);
Result<JsonPath> read_path(std::string_view text, const std::string& where);
/// A path of names alone.
Result<JsonPlace> read_place(std::string_view text, const std::string& where);
/// `reports`: whether something is reported, which paths that start with @ read.
Result<CountExpression> read_count(const boost::json::value& value, const std::string& where,
                                   bool reports = false);

/// One entry of podSets.
Result<DeclaredPodSet> read_pod_set(const boost::json::object& from, const std::string& where);

}  // namespace sluice::api
