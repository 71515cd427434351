// PluginNotices: makes what plugins are told of the decisions, for those who want to be told.
//
// Invariant: what was told has a higher sequence than what was told before. Reads engine and store,
// which must outlive it, and changes neither; a plugin that is told may change both. Belongs to the
// kernel's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/engine/engine.hpp"
#include "host/kernel/plugin_port.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

class PluginNotices {
 public:
  /// `changes`: grows with every change of the store.
  PluginNotices(const Engine& engine, const ObjectStore& store, const api::KindInfo& workload_kind,
                PluginPort& plugins, const std::uint64_t& changes)
      : engine_(engine),
        store_(store),
        workload_kind_(workload_kind),
        plugins_(plugins),
        changes_(changes) {}

  /// A workload is about to be deleted: where it holds quota that is an eviction to whoever counts
  /// what runs. Before the engine and the store lose it.
  void note_deletion(WorkloadId id);
  /// What was noted, and what a step decided, after its commit.
  void tell(const std::vector<Decision>& decisions);
  /// Who holds quota, for plugins that have forgotten it.
  void tell_present_state();

 private:
  void tell(hooks::Event event, WorkloadId id, const std::string& reason,
            std::vector<std::string> others);
  void tell_again(hooks::Event event, WorkloadId id);
  /// nullopt: no plugin wants it.
  std::optional<hooks::Notification> notice(hooks::Event event, WorkloadId id) const;
  std::shared_ptr<const api::Workload> told_of(WorkloadId id) const;

  const Engine& engine_;
  const ObjectStore& store_;
  const api::KindInfo& workload_kind_;
  PluginPort& plugins_;
  const std::uint64_t& changes_;
  std::uint64_t told_ = 0;
  std::vector<hooks::Notification> deleted_;
  // The workload that was told of last, as it was when so much had changed.
  std::optional<WorkloadId> last_;
  std::uint64_t as_of_ = 0;
  std::shared_ptr<const api::Workload> workload_;
};

}  // namespace sluice::host
