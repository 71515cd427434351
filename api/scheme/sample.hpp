// Samples: objects of a kind that its schema and rules take, made from the schema alone: for those
// who try out what somebody does with objects of kinds that nobody here has heard of.
//
// Pure and deterministic; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string_view>

#include "api/scheme/scheme.hpp"
#include "core/base/result.hpp"

namespace sluice::api {

enum class SampleSize : std::uint8_t {
  kLeast,  ///< what has to be there
  kMost    ///< and every other field that goes together with those before it, but no status
};

/// An object called `sample` (in the namespace `team-a`) of that version, in hub form and with its
/// defaults. Named types (pod templates, selectors) are as small as they may be. An error: the kind
/// is not known, or none was found that breaks no rule; it holds what is wrong with the last one.
Result<boost::json::object> sample(const Scheme& scheme, std::string_view api_version,
                                   std::string_view kind, SampleSize size);

}  // namespace sluice::api
