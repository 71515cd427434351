// MappingBridge and PodGateBridge: what plugins say about a job's workloads and pods.
//
// At most one plugin answers for a job's workloads; a second answer becomes JobPlan::conflict,
// which names both. Gates are joined, of grants the least counts. Called by one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

/// How gates begin that the host sets itself; behind it stands the name of a plugin.
inline constexpr std::string_view kFaultGate = "sluice.dev/waits-for-";
/// The gate that new pods get while the plugin of this name cannot say which they need.
std::string gate_of_faulty_plugin(const std::string& plugin);

class MappingBridge final : public hooks::JobMapping {
 public:
  explicit MappingBridge(std::vector<LoadedPlugin*> plugins) : plugins_(std::move(plugins)) {}

  void plan(const hooks::JobQuery& query, hooks::JobPlan& out, hooks::Fault& fault) override;

 private:
  std::vector<LoadedPlugin*> plugins_;
};

class PodGateBridge final : public hooks::PodGate {
 public:
  explicit PodGateBridge(std::vector<LoadedPlugin*> plugins) : plugins_(std::move(plugins)) {}

  void gates(const hooks::JobQuery& query, std::vector<std::string>& out,
             hooks::Fault& fault) override;
  void granted(const hooks::JobQuery& query, hooks::PodGrants& out, hooks::Fault& fault) override;

 private:
  std::vector<LoadedPlugin*> plugins_;
};

}  // namespace sluice::host
