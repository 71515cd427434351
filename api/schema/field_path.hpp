// Field paths: `spec.podSets[].count`, `spec.nodeLabels{}`, as the descriptions of kinds name the
// places of a schema.
//
// judge_path() is asked where a path comes in (source.cpp); path_parts() takes any text. Pure
// functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::api {

enum class PathForm : std::uint8_t {
  kPlace,   ///< names, and behind them `[]` and `{}`
  kMember,  ///< names alone, for what is read from an object without its schema
  kName,    ///< one name
};

/// Is `path` of this form? It is not empty. The error says what was found and what is allowed.
Result<void> judge_path(std::string_view path, PathForm form = PathForm::kPlace);

/// `spec.podSets[].count` → spec, podSets, [], count. What is no path that judge_path() takes gives
/// some parts, too.
std::vector<std::string> path_parts(std::string_view path);

}  // namespace sluice::api
