// Amendments: what a webhook changes about an object, as a JSON patch (RFC 6902).
//
// What the system added or replaced is in it. What it left out is not, but for labels and
// annotations: an API server may know fields that are not known here. Metadata other than those
// two, status and the object's type are never touched. Pure functions, any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>

namespace sluice::host {

enum class Leaving : std::uint8_t {
  kIsNoWish,    ///< what is not in `after` was not known, and stays
  kIsRemoving,  ///< `after` came from the object itself: what is missing was taken out
};

/// The operations that make of `before` what `after` says.
boost::json::array amendments(const boost::json::object& before, const boost::json::object& after,
                              Leaving leaving);

}  // namespace sluice::host
