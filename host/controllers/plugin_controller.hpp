// PluginController: a plugin's controller/1 as one of the host's controllers.
//
// The sort of its keys is the number of a watch, the first of those that see the same; a key
// without a kind stands for all of them, after the plugin's process was started again, or for an
// object of another place. Kinds that the host does not have are left out. Belongs to the kernel's
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/kernel/kernel.hpp"
#include "host/objects/controller.hpp"
#include "host/plugins/bridge_controller.hpp"
#include "host/rest/selectors.hpp"

namespace sluice::host {

class PluginController final : public Controller {
 public:
  /// Both must outlive it.
  PluginController(ControllerBridge& plugin, const Kernel& kernel);

  std::string_view name() const override { return name_; }
  std::vector<std::string> watches() const override;
  std::string selector(std::string_view kind) const override;
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool follows(const StoredObject& workload) const override;
  void poll(std::vector<WorkKey>& keys) override;
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;
  /// What a plugin decides rests on what it watches; without its process it decides nothing.
  bool decides() const override { return !plugin_.away(); }
  Duration pause() const override { return plugin_.pause(); }
  Duration longest_retry() const override { return 300 * kSecond; }

 private:
  /// What the plugin was asked, while that is not answered or the answer not looked at.
  struct Asked {
    bool changed = false;  ///< since: it has to be asked once more
    std::optional<ControllerBridge::Looked> answer;
  };

  /// The watches of one kind under which the plugin is told of the same objects.
  struct Group {
    std::vector<std::size_t> numbers;  // one or more, ascending
    bool all = false;                  // one of them is of every object of the kind
  };

  void add_to_group(std::size_t number);
  bool decisions_may_write(const StoredObject& workload, std::size_t number) const;
  bool may_see(std::size_t number, const StoredObject& object) const;
  bool wants(const Group& group, const StoredObject* object);
  void name_all();
  RemoteChange what_of(const WorkKey& key) const;
  void note_change(const WorkKey& key);
  std::optional<WorkKey> owner_of(const StoredObject& object) const;
  /// Of the group of this number, so that an object that several watches see is looked at once.
  WorkKey key_of(std::size_t number, std::string name) const {
    return {kinds_[number], std::move(name), static_cast<std::uint32_t>(firsts_[number])};
  }

  ControllerBridge& plugin_;
  const Kernel& kernel_;
  std::string name_;
  std::vector<const api::KindInfo*> kinds_;  // by number; nullptr: not there
  std::vector<LabelQuery> labels_;           // by number
  std::vector<std::size_t> firsts_;          // by number: the first number of its group
  /// By number: the member of a workload's status that decisions write, in which the field is;
  /// empty: in none.
  std::vector<std::string_view> decided_;
  std::vector<Group> groups_;
  std::vector<std::string_view> fields_;  // of wants(), kept for its memory
  std::vector<WorkKey> named_;            // keys for the next poll
  std::unordered_map<WorkKey, Asked, WorkKeyHash> asked_;
};

/// Whether the object has a field at one of these paths (`spec.x`). O(bytes) for all of them.
bool has_any_field(const StoredObject& object, std::span<const std::string_view> paths);

}  // namespace sluice::host
