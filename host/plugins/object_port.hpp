// ObjectPort: the objects and the own state of plugins, as the services objects/1 and state/1 reach
// them: texts in, texts out.
//
// One port serves all plugins of a host. Between begin() and commit() or drop() writes are staged:
// the port shows them, and nobody else. What a plugin staged can be laid aside between two turns of
// its call, so that others write meanwhile. Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/plugins/text_gate.hpp"
#include "sluice/svc/objects.h"

namespace sluice::host {

struct PluginObjectRef {
  std::string_view api_version, kind, ns, name;
};
/// As a plugin names it; nothing of it is judged yet.
inline PluginObjectRef ref_of(const sluice_object_ref_t& raw) {
  return {view_of(raw.api_version), view_of(raw.kind), view_of(raw.namespace_of),
          view_of(raw.name)};
}

/// A code of svc/objects.h, and the answer or the sentence that explains the code.
struct PortAnswer {
  std::int32_t code = 0;
  std::string text;
};

class ObjectPort {
 public:
  virtual ~ObjectPort() = default;

  virtual PortAnswer get(const PluginObjectRef& ref) const = 0;
  virtual PortAnswer list(const PluginObjectRef& ref, std::string_view selector) const = 0;

  /// From now on writes are staged for this plugin. REQUIRES: none are.
  virtual void begin(const std::string& plugin) = 0;
  /// What was staged takes effect: each write was judged when it was staged.
  virtual void commit() = 0;
  virtual void drop() = 0;
  /// What was staged is laid aside, and is as if it had never been until resume(). At most once for
  /// each plugin. REQUIRES: after begin()
  virtual void suspend() {}
  /// It is staged again. An error: an object that it changes was changed by others meanwhile; then
  /// it is forgotten, as after drop().
  virtual Result<void> resume(const std::string& plugin) {
    static_cast<void>(plugin);
    return {};
  }

  // REQUIRE: after begin()
  virtual PortAnswer create(std::string_view object) = 0;
  virtual PortAnswer update(std::string_view object, std::string_view subresource) = 0;
  virtual PortAnswer patch(const PluginObjectRef& ref, std::string_view subresource,
                           std::string_view merge) = 0;
  virtual PortAnswer remove(const PluginObjectRef& ref, std::string_view uid) = 0;
  /// The workload is not the plugin's any more.
  virtual PortAnswer release_claim(const PluginObjectRef& workload) = 0;
  virtual PortAnswer set_state(std::string_view key, std::string_view value) = 0;
  virtual void remove_state(std::string_view key) = 0;

  virtual PortAnswer state(const std::string& plugin, std::string_view key) const = 0;
  /// In order of bytes.
  virtual std::vector<std::string> state_keys(const std::string& plugin,
                                              std::string_view prefix) const = 0;
};

}  // namespace sluice::host
