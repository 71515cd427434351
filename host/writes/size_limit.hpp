// How large an object may be that is stored: what every write keeps to before it does any work.
//
// A list, a watch and the store hold whole objects, and each write goes over all of one: its size
// is what one request may cost. The limit is that of Kubernetes. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <optional>
#include <string_view>

#include "host/objects/api_error.hpp"

namespace sluice::host {

inline constexpr std::size_t kMostObjectBytes = 3U << 19;  ///< 1.5 MiB, as compact JSON

/// 413 when the object would take more; writes of the host itself may take twice as much.
std::optional<ApiError> too_large(const api::KindInfo& kind, std::string_view name,
                                  const boost::json::object& object, bool by_system);

}  // namespace sluice::host
