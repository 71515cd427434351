#include "settings.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

namespace afs {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
    {{"ms", 0.001}, {"h", 3600}, {"m", 60}, {"s", 1}}};

double duration_at(const sluice::Json& config, const char* key, const char* otherwise,
                   double least) {
  const std::string text = config.string_or(key, otherwise);
  const auto seconds = duration_of(text);
  if (!seconds || *seconds < least)
    throw sluice::Refused(std::string(key) + ": \"" + text +
                          "\": must be a duration of at least 1s, such as 5m or 168h");
  return *seconds;
}

}  // namespace

std::optional<double> duration_of(std::string_view text) {
  double out = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::size_t digits = text.find_first_not_of("0123456789.");
    if (digits == 0 || digits == text.npos) return std::nullopt;
    const std::string number(text.substr(0, digits));
    char* end = nullptr;
    const double count = std::strtod(number.c_str(), &end);
    if (*end != '\0') return std::nullopt;
    text.remove_prefix(digits);
    bool known = false;
    for (const auto& [name, seconds] : kUnits) {
      if (!text.starts_with(name)) continue;
      out += count * seconds;
      text.remove_prefix(name.size());
      known = true;
      break;
    }
    if (!known) return std::nullopt;
  }
  return out;
}

Rates rates_of(const sluice::Json& config) {
  Rates out;
  out.half_life_seconds = duration_at(config, "usageHalfLifeTime", "168h", 1);
  out.sampling_seconds = duration_at(config, "usageSamplingInterval", "5m", 1);
  const sluice::Json* weights = config.find("resourceWeights");
  if (weights == nullptr) return out;
  for (const auto& [resource, weight] : weights->members()) {
    const bool number = weight.is_string() || weight.type() == sluice::Json::Type::kNumber;
    const auto value = number ? quantity_of(weight.as_string()) : std::nullopt;
    if (!value || *value < 0)
      throw sluice::Refused("resourceWeights." + resource + ": " + weight.dump() +
                            ": must be a number that is not negative");
    out.weights[resource] = *value;
  }
  return out;
}

}  // namespace afs
