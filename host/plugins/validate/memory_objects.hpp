// MemoryObjects: the objects that a plugin under test finds and writes, in memory, by the rules of
// the fake host that authors test with.
//
// Used inside a test's child process only; one thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/plugins/object_port.hpp"
#include "sluice/testing/objects.hpp"

namespace sluice::host {

class MemoryObjects final : public ObjectPort {
 public:
  testing::FakeObjects& objects() { return objects_; }

  PortAnswer get(const PluginObjectRef& ref) const override;
  PortAnswer list(const PluginObjectRef& ref, std::string_view selector) const override;
  void begin(const std::string& plugin) override;
  void commit() override;
  void drop() override;
  PortAnswer create(std::string_view object) override;
  PortAnswer update(std::string_view object, std::string_view subresource) override;
  PortAnswer patch(const PluginObjectRef& ref, std::string_view subresource,
                   std::string_view merge) override;
  PortAnswer remove(const PluginObjectRef& ref, std::string_view uid) override;
  PortAnswer release_claim(const PluginObjectRef& workload) override;
  PortAnswer set_state(std::string_view key, std::string_view value) override;
  void remove_state(std::string_view key) override;
  PortAnswer state(const std::string& plugin, std::string_view key) const override;
  std::vector<std::string> state_keys(const std::string& plugin,
                                      std::string_view prefix) const override;

 private:
  testing::FakeObjects objects_, before_;
};

}  // namespace sluice::host
