// RemoteObjectsPort: the objects of other places, as the service remotes/1 reaches them: texts in,
// texts out.
//
// One port serves all plugins of a host; each has remotes of its own. Reading never waits. What is
// submitted leaves when the turn that decided it is durable, which the port's owner knows. Belongs
// to the kernel's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/plugins/object_port.hpp"

namespace sluice::host {

enum class RemoteVerb : std::uint8_t { kCreate, kPatch, kErase };

/// A write to an object of another place.
struct RemoteWrite {
  RemoteVerb verb = RemoteVerb::kCreate;
  std::string remote;
  std::string api_version, kind, ns, name;
  std::string subresource;  ///< kPatch: empty or `status`
  std::string body;         ///< the object, or the merge patch
  std::string uid;          ///< kErase: only if it has this one; empty: whichever
};

/// What a plugin is to look at: an object of a remote, a question that it asked there, or, without
/// a kind, the remote itself.
struct RemoteChange {
  std::string remote;
  std::string api_version, kind, ns, name;
  auto operator<=>(const RemoteChange&) const = default;
};

class RemoteObjectsPort {
 public:
  virtual ~RemoteObjectsPort() = default;

  // Answers as in svc/remotes.h.
  virtual PortAnswer set(const std::string& plugin, std::string_view remote,
                         std::string_view spec) = 0;
  virtual void remove(const std::string& plugin, std::string_view remote) = 0;
  virtual PortAnswer state(const std::string& plugin, std::string_view remote) const = 0;
  virtual PortAnswer get(const std::string& plugin, std::string_view remote,
                         const PluginObjectRef& ref) const = 0;
  virtual PortAnswer list(const std::string& plugin, std::string_view remote,
                          const PluginObjectRef& ref, std::string_view selector) const = 0;
  virtual PortAnswer writing(const std::string& plugin, std::string_view remote,
                             const PluginObjectRef& ref) const = 0;

  /// Whether it would be taken, beside `more` others: names what is wrong with it.
  virtual PortAnswer check(const std::string& plugin, RemoteWrite& write,
                           std::size_t more) const = 0;
  /// Checked writes of a call that succeeded, in order.
  virtual void submit(const std::string& plugin, std::vector<RemoteWrite> writes) = 0;

  /// Asks the remote; `ref` names the question.
  virtual PortAnswer ask(const std::string& plugin, std::string_view remote,
                         const PluginObjectRef& ref, std::string_view question) = 0;
  virtual PortAnswer answer(const std::string& plugin, std::string_view remote,
                            const PluginObjectRef& ref) = 0;

  /// What the plugin has to look at since the last call, each once.
  virtual std::vector<RemoteChange> take_changes(const std::string& plugin) = 0;
};

}  // namespace sluice::host
