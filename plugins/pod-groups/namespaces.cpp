#include "namespaces.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "sluice/cpp/context.hpp"

namespace pods {
namespace {

using sluice::Json;

constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";

}  // namespace

Namespaces::Namespaces(const Json& selector, LabelsOf labels_of)
    : labels_of_(std::move(labels_of)) {
  if (const Json* labels = selector.find("matchLabels"))
    for (const auto& [key, value] : labels->members())
      all_.push_back({key, true, false, {value.as_string()}});
  const Json* expressions = selector.find("matchExpressions");
  if (expressions == nullptr) return;
  for (const Json& each : expressions->items()) {
    const std::string op = each.string_or("operator", "");
    const bool any = op == "Exists" || op == "DoesNotExist";
    if (!any && op != "In" && op != "NotIn")
      throw sluice::Refused("namespaceSelector.matchExpressions: found operator \"" + op +
                            "\"; allowed: In, NotIn, Exists, DoesNotExist");
    Requirement out{each.string_or("key", ""), op == "In" || op == "Exists", any, {}};
    if (const Json* values = each.find("values"))
      for (const Json& value : values->items()) out.values.push_back(value.as_string());
    all_.push_back(std::move(out));
  }
}

bool Namespaces::cover(const std::string& ns) const {
  Json labels = Json::object();
  if (std::any_of(all_.begin(), all_.end(),
                  [](const Requirement& each) { return each.key != kNameLabel; })) {
    auto known = labels_of_(ns);
    if (!known) return true;
    labels = *std::move(known);
  }
  labels[kNameLabel] = ns;
  return std::all_of(all_.begin(), all_.end(), [&labels](const Requirement& each) {
    const Json* found = labels.member(each.key);
    const bool matches =
        found != nullptr && (each.any_value || std::find(each.values.begin(), each.values.end(),
                                                         found->as_string()) != each.values.end());
    return matches == each.wants;
  });
}

}  // namespace pods
