#include "host/objects/managed_jobs.hpp"

#include <string>

#include "api/codec/codec.hpp"

namespace sluice::host {

bool ManagedJobs::holds(std::string_view ns, const ObjectReader& objects) const {
  if (!without_queue) return false;
  api::LabelMap labels;
  const api::KindInfo* kind = objects.scheme().find("v1", "Namespace");
  if (const auto object = kind ? objects.get(*kind, ns) : std::nullopt)
    labels = api::decode_namespace(*object).meta.labels;
  labels.set(std::string(kNameLabel), std::string(ns));
  return namespaces.matches(labels);
}

}  // namespace sluice::host
