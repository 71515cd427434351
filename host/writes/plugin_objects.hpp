// PluginObjects: the ObjectPort of a host: what plugins read and write, by the same rules as what
// clients of the API do, as the user system:plugin:NAME.
//
// What a plugin's call writes is one Transaction: the plugin sees it at once, all others when the
// call is over, or never. The engine hears of a workload with the commit, and writes what it makes
// of it into its status. Own state of plugins is kept as objects of a kind that the API does not
// serve. Belongs to the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/plugins/object_port.hpp"
#include "host/writes/transaction.hpp"
#include "host/writes/writer.hpp"

namespace sluice::host {

struct PluginEvent;

class PluginObjects final : public ObjectPort {
 public:
  /// Both must outlive it.
  PluginObjects(Kernel& kernel, ObjectWriter& objects);

  /// As for clients: what a user may not give to others, a plugin may not either.
  void set_guard(WriteGuard guard) { writer_.set_guard(std::move(guard)); }

  /// Publishes what a plugin emitted.
  void emit(const PluginEvent& event);

  PortAnswer get(const PluginObjectRef& ref) const override;
  PortAnswer list(const PluginObjectRef& ref, std::string_view selector) const override;
  void begin(const std::string& plugin) override;
  void commit() override;
  void drop() override;
  void suspend() override;
  Result<void> resume(const std::string& plugin) override;
  PortAnswer create(std::string_view object) override;
  PortAnswer update(std::string_view object, std::string_view subresource) override;
  PortAnswer patch(const PluginObjectRef& ref, std::string_view subresource,
                   std::string_view merge) override;
  PortAnswer release_claim(const PluginObjectRef& workload) override;
  PortAnswer remove(const PluginObjectRef& ref, std::string_view uid) override;
  PortAnswer set_state(std::string_view key, std::string_view value) override;
  void remove_state(std::string_view key) override;
  PortAnswer state(const std::string& plugin, std::string_view key) const override;
  std::vector<std::string> state_keys(const std::string& plugin,
                                      std::string_view prefix) const override;

 private:
  using Keys = std::set<std::string, std::less<>>;
  /// Of a call that goes on in a later turn.
  struct Suspended {
    std::unique_ptr<Transaction> transaction;
    std::vector<std::pair<std::string, bool>> key_changes;
  };

  PortAnswer write(WriteRequest request);
  WriteRequest request(WriteVerb verb, const api::KindInfo& kind, std::string_view api_version,
                       std::string_view ns, std::string_view name,
                       std::string_view subresource) const;
  PortAnswer show_now(const StoredObject& stored, std::string_view version) const;
  PortAnswer show(boost::json::object object, std::string_view version) const;
  Keys& keys_of(const std::string& plugin) const;
  std::string state_key(std::string_view key) const { return plugin_ + ":" + std::string(key); }

  Kernel& kernel_;
  ObjectWriter& objects_;
  Writer writer_;
  const api::KindInfo* state_kind_;
  std::string plugin_;                        // that made the present call
  std::unique_ptr<Transaction> transaction_;  // of the running call, once it wrote
  mutable std::map<std::string, Keys> keys_;  // of the state that is there; read on first use
  std::vector<std::pair<std::string, bool>> key_changes_;  // staged: key, whether it was added
  std::map<std::string, Suspended> suspended_;             // by plugin
};

}  // namespace sluice::host
