// ConversionReview (apiextensions.k8s.io/v1): objects of our kinds in another version, by the same
// conversion that a host of its own has.
//
// Nothing is lost on the way there and back (see Scheme). Objects are not validated: what is stored
// has to be readable. Pure functions over a filled Scheme; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/scheme/scheme.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

/// A review holds a whole page of a list.
inline constexpr std::size_t kMostConversionBytes = 32U << 20;

/// The review that answers; an error when `text` is none. Where an object cannot be converted the
/// answer says so.
ApiResult<std::string> answer_conversion(const api::Scheme& scheme, std::string_view text);

}  // namespace sluice::host
