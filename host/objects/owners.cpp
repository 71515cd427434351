#include "host/objects/owners.hpp"

#include "host/objects/object_key.hpp"

namespace sluice::host {

ObjectRef owner_named(const api::Scheme& scheme, const OwnerReference& owner, std::string_view ns) {
  const api::KindInfo* kind = scheme.find(owner.api_version, owner.kind);
  if (!kind) return {};
  return {kind, key_of(*kind, ns, owner.name)};
}

}  // namespace sluice::host
