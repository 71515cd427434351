#include "core/quota/flavor_resource.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace sluice {
namespace {

std::uint64_t pair_key(FlavorId flavor, ResourceId resource) {
  return (std::uint64_t{flavor} << 32U) | resource;
}

}  // namespace

FrId FlavorResources::intern(FlavorId flavor, ResourceId resource) {
  SLUICE_CHECK(flavor != kNone && resource != kNone, "flavor ", flavor, " with resource ",
               resource);
  const auto [it, fresh] =
      ids_.emplace(pair_key(flavor, resource), static_cast<FrId>(pairs_.size()));
  if (fresh) pairs_.push_back({flavor, resource});
  return it->second;
}

FrId FlavorResources::find(FlavorId flavor, ResourceId resource) const {
  const auto it = ids_.find(pair_key(flavor, resource));
  return it == ids_.end() ? kNone : it->second;
}

std::size_t FlavorResources::retain_resources(std::vector<bool> used) {
  used.resize(resources_.size());
  for (const Pair& pair : pairs_) used[pair.resource] = true;
  return resources_.retain(used);
}

}  // namespace sluice
