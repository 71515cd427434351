#include "core/types/pod.hpp"

#include <algorithm>
#include <charconv>

namespace sluice::api {
namespace {

/// The whole text as a decimal int64, or nothing.
std::optional<std::int64_t> to_int64(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const char* effect_name(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
  }
  return "";
}

}  // namespace

std::string Taint::text() const {
  std::string out = key;
  if (!value.empty()) out += "=" + value;
  return out + ":" + effect_name(effect);
}

bool Toleration::tolerates(const Taint& taint) const {
  if (effect && *effect != taint.effect) return false;
  if (!key.empty() && key != taint.key) return false;
  return op == Operator::kExists || value == taint.value;
}

bool NodeSelectorRequirement::matches(const LabelMap& labels) const {
  const std::string* value = labels.find(key);
  const auto listed = [&] {
    return std::find(values.begin(), values.end(), *value) != values.end();
  };
  switch (op) {
    case Operator::kIn:
      return value != nullptr && listed();
    case Operator::kNotIn:
      return value == nullptr || !listed();
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGt:
    case Operator::kLt:
      break;
  }
  if (value == nullptr || values.size() != 1) return false;
  const auto actual = to_int64(*value);
  const auto bound = to_int64(values[0]);
  if (!actual || !bound) return false;
  return op == Operator::kGt ? *actual > *bound : *actual < *bound;
}

}  // namespace sluice::api
