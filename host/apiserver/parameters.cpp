#include "host/apiserver/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sluice::host {

bool flag(const Request& request, std::string_view parameter) {
  const std::string* value = request.parameter(parameter);
  if (value == nullptr || *value == "0") return false;
  constexpr std::string_view kFalse = "false";
  return !std::equal(value->begin(), value->end(), kFalse.begin(), kFalse.end(),
                     [](char a, char b) { return (a | 0x20) == b; });
}

ApiResult<std::optional<std::int64_t>> number_parameter(const Request& request,
                                                        std::string_view parameter,
                                                        std::int64_t least) {
  const auto* text = request.parameter(parameter);
  if (text == nullptr || text->empty()) return std::optional<std::int64_t>();
  std::int64_t value = 0;
  const char* const over = text->data() + text->size();
  const auto [end, bad] = std::from_chars(text->data(), over, value);
  if (bad != std::errc() || end != over)
    return wrong_parameter(parameter, *text, "an integer that is not negative");
  if (value < least)
    return wrong_parameter(parameter, *text,
                           least > 0 ? "greater than 0" : "an integer that is not negative");
  return std::optional<std::int64_t>(value);
}

ApiError wrong_parameter(std::string_view parameter, std::string_view value,
                         std::string_view allowed) {
  return bad_request(
      fmt::format("{}: Invalid value: \"{}\": must be {}", parameter, value, allowed));
}

}  // namespace sluice::host
