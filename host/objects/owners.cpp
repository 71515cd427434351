#include "host/objects/owners.hpp"

#include <string>

namespace sluice::host {

ObjectRef owner_named(const api::Scheme& scheme, const OwnerReference& owner, std::string_view ns) {
  const std::string name(owner.name);
  const api::KindInfo* kind = scheme.find(owner.api_version, owner.kind);
  if (!kind) return {};
  return {kind, kind->namespaced ? std::string(ns) + "/" + name : name};
}

}  // namespace sluice::host
