// FakeObjects: an ObjectPort without a host: objects are texts in a table, nothing is judged but
// names, and every kind exists.
//
// Enough for what a plugin does with objects in a test of the validator. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "host/plugins/object_port.hpp"

namespace sluice::host {

class FakeObjects final : public ObjectPort {
 public:
  std::size_t count() const { return now_.objects.size(); }
  /// All of it as text, for comparisons.
  std::string text() const;

  PortAnswer get(const PluginObjectRef& ref) const override;
  PortAnswer list(const PluginObjectRef& ref, std::string_view selector) const override;
  void begin(const std::string& plugin) override;
  Result<void> commit() override;
  void drop() override { now_ = before_; }
  PortAnswer create(std::string_view object) override;
  PortAnswer update(std::string_view object, std::string_view subresource) override;
  PortAnswer patch(const PluginObjectRef& ref, std::string_view subresource,
                   std::string_view merge) override;
  PortAnswer remove(const PluginObjectRef& ref, std::string_view uid) override;
  PortAnswer set_state(std::string_view key, std::string_view value) override;
  void remove_state(std::string_view key) override { now_.state.erase(std::string(key)); }
  PortAnswer state(const std::string& plugin, std::string_view key) const override;
  std::vector<std::string> state_keys(const std::string& plugin,
                                      std::string_view prefix) const override;

 private:
  struct Tables {
    std::map<std::string, std::string> objects;  // by version, kind, namespace, name
    std::map<std::string, std::string> state;
    std::uint64_t uids = 0;
  };
  Tables now_, before_;
};

}  // namespace sluice::host
