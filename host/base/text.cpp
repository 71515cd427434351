#include "host/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sluice::host {

std::string there_are(const std::vector<std::string>& names, std::size_t most) {
  if (names.empty()) return "there are none";
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  return fmt::format("there are: {}{}", fmt::join(names.begin(), names.begin() + shown, ", "),
                     names.size() > most ? ", …" : "");
}

}  // namespace sluice::host
