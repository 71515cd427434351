// Dense numbers for flavors, resources and their pairs.
//
// Everything below the API works on these ids instead of texts. Invariant: ids do not change, and
// flavors and pairs stay, so that data indexed by them stays valid. Resources come from workloads,
// too, which may name what they like: those without a pair are forgotten where nobody asks for
// them, and nothing is sized by how many there are. Used by the engine's thread only for intern*()
// and retain_resources(); the readers may be called concurrently in between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/intern.hpp"
#include "core/types/amount.hpp"

namespace sluice {

using FlavorId = std::uint32_t;
using ResourceId = std::uint32_t;
using FrId = std::uint32_t;  ///< a (flavor, resource) pair, "fr" in semantics

inline constexpr std::uint32_t kNone = 0xffffffffU;

/// An amount of one fr.
struct FrAmount {
  FrId fr = kNone;
  Amount amount = 0;
  bool operator==(const FrAmount&) const = default;
};

class FlavorResources {
 public:
  FlavorId intern_flavor(std::string_view name) { return flavors_.intern(name); }
  ResourceId intern_resource(std::string_view name) { return resources_.intern(name); }
  FrId intern(FlavorId flavor, ResourceId resource);

  /// kNone when the pair was never interned.
  FrId find(FlavorId flavor, ResourceId resource) const;

  const std::string& flavor_name(FlavorId id) const { return flavors_.text(id); }
  const std::string& resource_name(ResourceId id) const { return resources_.text(id); }
  FlavorId flavor_of(FrId fr) const { return pairs_[fr].flavor; }
  ResourceId resource_of(FrId fr) const { return pairs_[fr].resource; }
  std::size_t size() const { return pairs_.size(); }
  const StringPool& resources() const { return resources_; }

  /// Forgets the resources that are not `used`, by id, and in no pair. Returns the bytes of the
  /// names that stay.
  std::size_t retain_resources(std::vector<bool> used);

 private:
  struct Pair {
    FlavorId flavor;
    ResourceId resource;
  };
  StringPool flavors_;
  StringPool resources_;
  std::vector<Pair> pairs_;
  std::unordered_map<std::uint64_t, FrId> ids_;
};

}  // namespace sluice
