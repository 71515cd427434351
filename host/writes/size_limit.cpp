#include "host/writes/size_limit.hpp"

#include <fmt/format.h>

#include "api/json/json.hpp"

namespace sluice::host {

std::optional<ApiError> too_large(const api::KindInfo& kind, std::string_view name,
                                  const boost::json::object& object, bool by_system) {
  const std::size_t most = kMostObjectBytes * (by_system ? 2 : 1);
  if (api::json_bytes(object, most) <= most) return std::nullopt;
  ApiError out;
  out.code = 413;
  out.reason = "RequestEntityTooLarge";
  out.text = fmt::format("the {} \"{}\" would be larger than the limit of {} bytes", kind.kind,
                         name, most);
  out.group = kind.group;
  out.resource = kind.plural;
  out.name = name;
  return out;
}

}  // namespace sluice::host
