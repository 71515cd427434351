#include "api/json/decode_parts.hpp"

#include <optional>

#include "api/json/json.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

TaintEffect effect_of(std::string_view name) {
  if (name == "NoExecute") return TaintEffect::kNoExecute;
  if (name == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  return TaintEffect::kNoSchedule;
}

LabelSelector::Operator label_operator(std::string_view name) {
  if (name == "NotIn") return LabelSelector::Operator::kNotIn;
  if (name == "Exists") return LabelSelector::Operator::kExists;
  if (name == "DoesNotExist") return LabelSelector::Operator::kDoesNotExist;
  return LabelSelector::Operator::kIn;
}

FlavorQuotas decode_flavor_quotas(const json::object& from) {
  FlavorQuotas flavor;
  flavor.flavor = find_text(from, "name");
  const json::array* resources = find_array(from, "resources");
  for (std::size_t i = 0; resources != nullptr && i < resources->size(); ++i) {
    const auto* each = (*resources)[i].if_object();
    if (each == nullptr) continue;
    ResourceQuota quota;
    quota.resource = find_text(*each, "name");
    quota.nominal = optional_quantity(*each, "nominalQuota").value_or(Quantity());
    quota.borrowing_limit = optional_quantity(*each, "borrowingLimit");
    quota.lending_limit = optional_quantity(*each, "lendingLimit");
    flavor.resources.push_back(std::move(quota));
  }
  return flavor;
}

}  // namespace

const json::object& find_part(const json::object& object, std::string_view key) {
  static const json::object kNone;
  const json::object* found = find_object(object, key);
  return found != nullptr ? *found : kNone;
}

std::optional<Quantity> optional_quantity(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return quantity_or_zero(*value);
}

std::vector<std::string> decode_texts(const json::array* from) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; from != nullptr && i < from->size(); ++i) {
    if (const auto* text = (*from)[i].if_string()) texts.emplace_back(view(*text));
  }
  return texts;
}

std::vector<std::string> one_or_more_texts(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  if (value == nullptr) return {};
  if (const auto* text = value->if_string()) return {std::string(view(*text))};
  return decode_texts(value->if_array());
}

std::vector<Toleration> decode_tolerations(const json::array* from) {
  std::vector<Toleration> tolerations;
  for (std::size_t i = 0; from != nullptr && i < from->size(); ++i) {
    const auto* each = (*from)[i].if_object();
    if (each == nullptr) continue;
    Toleration toleration;
    toleration.key = find_text(*each, "key");
    if (find_text(*each, "operator") == "Exists") toleration.op = Toleration::Operator::kExists;
    toleration.value = find_text(*each, "value");
    const std::string_view effect = find_text(*each, "effect");
    if (!effect.empty()) toleration.effect = effect_of(effect);
    toleration.seconds = find_int(*each, "tolerationSeconds");
    tolerations.push_back(std::move(toleration));
  }
  return tolerations;
}

std::vector<Taint> decode_taints(const json::array* from) {
  std::vector<Taint> taints;
  for (std::size_t i = 0; from != nullptr && i < from->size(); ++i) {
    const auto* each = (*from)[i].if_object();
    if (each == nullptr) continue;
    taints.push_back({std::string(find_text(*each, "key")), std::string(find_text(*each, "value")),
                      effect_of(find_text(*each, "effect"))});
  }
  return taints;
}

std::vector<ResourceGroup> decode_resource_groups(const json::array* from) {
  std::vector<ResourceGroup> groups;
  for (std::size_t i = 0; from != nullptr && i < from->size(); ++i) {
    const auto* each = (*from)[i].if_object();
    if (each == nullptr) continue;
    ResourceGroup group;
    group.covered_resources = decode_texts(find_array(*each, "coveredResources"));
    const json::array* flavors = find_array(*each, "flavors");
    for (std::size_t j = 0; flavors != nullptr && j < flavors->size(); ++j) {
      const auto* flavor = (*flavors)[j].if_object();
      if (flavor != nullptr) group.flavors.push_back(decode_flavor_quotas(*flavor));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

LabelSelector decode_selector(const json::object& from) {
  LabelSelector selector;
  selector.match_labels = find_labels(from, "matchLabels");
  const json::array* expressions = find_array(from, "matchExpressions");
  for (std::size_t i = 0; expressions != nullptr && i < expressions->size(); ++i) {
    const auto* each = (*expressions)[i].if_object();
    if (each == nullptr) continue;
    selector.match_expressions.push_back({std::string(find_text(*each, "key")),
                                          label_operator(find_text(*each, "operator")),
                                          decode_texts(find_array(*each, "values"))});
  }
  return selector;
}

StopPolicy decode_stop_policy(std::string_view name) {
  if (name == "Hold") return StopPolicy::kHold;
  if (name == "HoldAndDrain") return StopPolicy::kHoldAndDrain;
  return StopPolicy::kNone;
}

}  // namespace sluice::api
