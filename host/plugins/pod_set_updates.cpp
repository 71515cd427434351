#include "host/plugins/pod_set_updates.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <set>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/formats.hpp"
#include "api/schema/predicates.hpp"
#include "host/objects/marks.hpp"

namespace sluice::host {

namespace {

namespace json = boost::json;

constexpr std::size_t kMostUpdates = 64U << 10;  // bytes

/// Of a label, an annotation, a taint.
bool is_key(std::string_view key) { return api::is_qualified_name(key) && api::is_short_key(key); }

bool is_value(std::string_view text) {
  return text.size() <= api::kLabelBytes && api::is_label_value(text);
}

/// Labels, annotations, or the labels of nodes.
std::string judge_pairs(std::string_view field, const json::value& value) {
  const std::string where = "`" + std::string(field) + "`";
  const json::object* pairs = value.if_object();
  const bool are_texts = pairs && std::all_of(pairs->begin(), pairs->end(), [](const auto& each) {
                           return each.value().is_string();
                         });
  if (!are_texts) return where + " has to be a map of texts";
  const bool annotations = field == "annotations";
  const std::string one = annotations ? "an annotation" : "a label";
  static const api::KindInfo kAnyKind;
  for (const auto& [key, text] : *pairs) {
    const std::string_view name = api::view(key);
    if (!is_key(name)) return where + ": \"" + std::string(name) + "\" is no key of " + one;
    if (!annotations && !is_value(api::view(text.get_string())))
      return where + ": \"" + std::string(text.get_string()) + "\" is no value of a label";
    if (field != "nodeSelector" && is_mark(kAnyKind, name))
      return where + ": only the system sets \"" + std::string(name) + "\"";
  }
  return {};
}

std::string judge_toleration(const json::object& toleration) {
  for (const auto& [key, value] : toleration) {
    const bool seconds = key == "tolerationSeconds";
    if (!seconds && key != "key" && key != "operator" && key != "value" && key != "effect")
      return "there is no `" + std::string(key) +
             "`; key, operator, value, effect and tolerationSeconds are there";
    if (seconds ? !value.is_int64() : !value.is_string())
      return "`" + std::string(key) + "` has to be " + (seconds ? "a whole number" : "a text");
  }
  const std::string_view key = api::find_text(toleration, "key");
  const std::string_view value = api::find_text(toleration, "value");
  if (!key.empty() && !is_key(key)) return "\"" + std::string(key) + "\" is no key of a taint";
  if (!is_value(value)) return "\"" + std::string(value) + "\" is no value of a taint";
  return {};
}

std::string judge_tolerations(const json::value& value) {
  const json::array* list = value.if_array();
  const bool are_objects = list && std::all_of(list->begin(), list->end(),
                                               [](const auto& each) { return each.is_object(); });
  if (!are_objects) return "`tolerations` has to be a list of objects";
  for (const json::value& each : *list)
    if (const std::string wrong = judge_toleration(each.get_object()); !wrong.empty())
      return "`tolerations`: " + wrong;
  constexpr std::pair<const char*, const char*> kRules[] = {
      {"tolerationKeyOperator", "operator must be Exists when `key` is empty"},
      {"tolerationSecondsEffect", "effect must be NoExecute when `tolerationSeconds` is set"},
      {"tolerationOperator", "operator is one of Equal and Exists"},
      {"tolerationValue", "`value` must be empty when operator is Exists"},
      {"tolerationEffect", "effect is one of NoSchedule, PreferNoSchedule and NoExecute"},
  };
  for (const auto& [rule, sentence] : kRules)
    if (!api::predicate(rule)({}, value)) return "`tolerations`: " + std::string(sentence);
  return {};
}

/// What is wrong with one pod set's update; empty: nothing.
std::string judge_update(const json::value& update, std::set<std::string_view>& pod_sets) {
  const json::object* object = update.if_object();
  if (object == nullptr) return "each has to be an object";
  const json::value* name = object->if_contains("name");
  if (name == nullptr || !name->is_string() || name->get_string().empty())
    return "each needs the `name` of a pod set";
  if (!pod_sets.insert(api::view(name->get_string())).second)
    return "the pod set \"" + std::string(name->get_string()) + "\" is there twice";
  for (const auto& [key, value] : *object) {
    if (key == "name") continue;
    std::string wrong;
    if (key == "labels" || key == "annotations" || key == "nodeSelector")
      wrong = judge_pairs(api::view(key), value);
    else if (key == "tolerations")
      wrong = judge_tolerations(value);
    else
      wrong = "there is no `" + std::string(key) +
              "`; name, labels, annotations, nodeSelector and tolerations are there";
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace

std::string pod_set_updates_problem(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > kMostUpdates)
    return "pod_set_updates is longer than " + std::to_string(kMostUpdates) + " bytes";
  boost::system::error_code error;
  const json::value value = api::parse_deep(text, error);
  if (error) return "pod_set_updates is no JSON: " + error.message();
  if (!value.is_array()) return "pod_set_updates has to be a list";
  std::set<std::string_view> pod_sets;
  for (const json::value& update : value.get_array())
    if (std::string wrong = judge_update(update, pod_sets); !wrong.empty())
      return "pod_set_updates: " + wrong;
  return {};
}

}  // namespace sluice::host
