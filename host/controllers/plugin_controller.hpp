// PluginController: a plugin's controller/1 as one of the host's controllers.
//
// The sort of its keys is the number of the kind among those that the plugin watches; a key without
// a kind stands for all of them, after the plugin's process was started again, or for an object of
// another place. Kinds that the host does not have are left out. Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/objects/controller.hpp"
#include "host/plugins/bridge_controller.hpp"
#include "host/rest/selectors.hpp"

namespace sluice::host {

class PluginController final : public Controller {
 public:
  /// Both must outlive it.
  PluginController(ControllerBridge& plugin, const api::Scheme& scheme);

  std::string_view name() const override { return name_; }
  std::vector<std::string> watches() const override;
  std::string selector(std::string_view kind) const override;
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool follows(const StoredObject& workload) const override;
  void poll(std::vector<WorkKey>& keys) override;
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;
  Duration pause() const override { return plugin_.pause(); }
  Duration longest_retry() const override { return 300 * kSecond; }

 private:
  /// What the plugin was asked, while that is not answered or the answer not looked at.
  struct Asked {
    bool changed = false;  ///< since: it has to be asked once more
    std::optional<ControllerBridge::Looked> answer;
  };

  void name_all(const ObjectAccess& objects);
  RemoteChange what_of(const WorkKey& key) const;
  void note_change(const WorkKey& key);
  std::optional<WorkKey> owner_of(const StoredObject& object) const;
  WorkKey key_of(std::size_t number, std::string name) const {
    return {kinds_[number], std::move(name), static_cast<std::uint32_t>(number)};
  }

  ControllerBridge& plugin_;
  std::string name_;
  std::vector<const api::KindInfo*> kinds_;  // by number; nullptr: not there
  std::vector<LabelQuery> labels_;           // by number
  std::vector<WorkKey> named_;               // keys for the next poll
  std::unordered_map<WorkKey, Asked, WorkKeyHash> asked_;
};

/// Whether the object has the field at this path (`spec.x`).
bool has_field(const StoredObject& object, std::string_view field);

}  // namespace sluice::host
