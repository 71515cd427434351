#include "host/objects/managed_jobs.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Most ask for no other label than the name, which is known without the object.
bool asks_for_labels(const api::LabelSelector& selector) {
  return !selector.match_labels.empty() ||
         std::any_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                     [](const auto& each) { return each.key != kNameLabel; });
}

std::string_view name_of(api::LabelSelector::Operator op) {
  switch (op) {
    case api::LabelSelector::Operator::kIn:
      return "In";
    case api::LabelSelector::Operator::kNotIn:
      return "NotIn";
    case api::LabelSelector::Operator::kExists:
      return "Exists";
    case api::LabelSelector::Operator::kDoesNotExist:
      break;
  }
  return "DoesNotExist";
}

}  // namespace

std::optional<bool> ManagedJobs::covers(std::string_view ns, const ObjectReader& objects) const {
  if (!asks_for_labels(namespaces)) return covers(ns, api::LabelMap());
  const api::KindInfo* kind = objects.scheme().find("v1", "Namespace");
  const auto object = kind ? objects.get(*kind, ns) : std::nullopt;
  if (!object) return std::nullopt;
  return covers(ns, api::decode_namespace(*object).meta.labels);
}

bool ManagedJobs::covers(std::string_view ns, api::LabelMap labels) const {
  labels.set(std::string(kNameLabel), std::string(ns));
  return namespaces.matches(labels);
}

std::string ManagedJobs::for_plugins() const {
  json::object labels;
  for (const auto& [key, value] : namespaces.match_labels) labels[key] = value;
  json::array expressions;
  for (const auto& each : namespaces.match_expressions) {
    json::array values(each.values.begin(), each.values.end());
    expressions.push_back(json::object{
        {"key", each.key}, {"operator", name_of(each.op)}, {"values", std::move(values)}});
  }
  json::array copied(copied_labels.begin(), copied_labels.end());
  return api::to_json(json::object{{"labelKeysToCopy", std::move(copied)},
                                   {"manageJobsWithoutQueueName", without_queue},
                                   {"managedJobsNamespaceSelector",
                                    json::object{{"matchLabels", std::move(labels)},
                                                 {"matchExpressions", std::move(expressions)}}}});
}

}  // namespace sluice::host
