// TraitsSource: what the plugins say of a workload, made into the engine's input, and into the
// claims that are kept with the workload.
//
// A claim outlives its plugin: while that one is absent the workload waits and says why, and one
// that stood aside goes on doing so. A fault takes no trait away. Same object, queue and claims,
// same answer: so simulation, replay and a restart agree. Plugins are called on the caller's
// thread, the kernel's.
#pragma once

#include <string>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/objects/claims.hpp"

namespace sluice::host {

class TraitsSource {
 public:
  struct Told {
    hooks::Traits traits;
    Claims claims;
  };

  explicit TraitsSource(const hooks::HostHooks& hooks)
      : provider_(hooks.workload_traits), loaded_(hooks.plugins) {}

  /// Is there a plugin that answers?
  bool asks() const { return provider_ != nullptr; }
  /// `before`: the claims so far.
  Told ask(const hooks::TraitsQuery& query, const Claims& before) const;

 private:
  bool all_loaded(const Claims& claims) const { return claims.first_absent(loaded_).empty(); }

  hooks::WorkloadTraits* provider_;
  std::vector<std::string> loaded_;
};

}  // namespace sluice::host
