// RemoteHub: the remotes of all plugins of a host.
//
// The members of RemoteObjectsPort belong to the kernel's thread and never wait. One thread keeps
// the remotes: it connects, probes and ends them. What is submitted leaves in two steps: seal() at
// the end of a turn, release() when that turn is durable, so that no other place learns of a
// decision that a crash could undo.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/plugins/clock.hpp"
#include "host/plugins/remote_port.hpp"
#include "host/remotes/remote.hpp"
#include "host/rest/resources.hpp"

namespace sluice::host {

class RemoteHub final : public RemoteObjectsPort {
 public:
  /// `changed`: a plugin has to look at something; called from any thread. All must outlive it.
  RemoteHub(const api::Scheme& scheme, const PluginClock& clock, std::function<void()> changed,
            RemoteLimits limits = {});
  ~RemoteHub() override { stop(); }

  void start();
  /// Ends all connections; nothing leaves any more.
  void stop();

  PortAnswer set(const std::string& plugin, std::string_view remote,
                 std::string_view spec) override;
  void remove(const std::string& plugin, std::string_view remote) override;
  PortAnswer state(const std::string& plugin, std::string_view remote) const override;
  PortAnswer get(const std::string& plugin, std::string_view remote,
                 const PluginObjectRef& ref) const override;
  PortAnswer list(const std::string& plugin, std::string_view remote, const PluginObjectRef& ref,
                  std::string_view selector) const override;
  PortAnswer writing(const std::string& plugin, std::string_view remote,
                     const PluginObjectRef& ref) const override;
  PortAnswer check(const std::string& plugin, RemoteWrite& write, std::size_t more) const override;
  void submit(const std::string& plugin, std::vector<RemoteWrite> writes) override;
  PortAnswer ask(const std::string& plugin, std::string_view remote, const PluginObjectRef& ref,
                 std::string_view question) override;
  PortAnswer answer(const std::string& plugin, std::string_view remote,
                    const PluginObjectRef& ref) override;
  std::vector<RemoteChange> take_changes(const std::string& plugin) override;

  /// What was submitted up to now belongs to the turn that ends; its number. [kernel]
  std::uint64_t seal();
  /// That turn, and those before it, are durable. Any thread.
  void release(std::uint64_t turn);

  /// By plugin and name. Any thread.
  std::vector<RemoteHealth> health() const;

 private:
  using Name = std::pair<std::string, std::string>;  // plugin, remote
  using Held = std::vector<std::pair<std::shared_ptr<Remote>, RemoteKey>>;

  /// Where the question is to go; empty, and why in `wrong`: nowhere.
  std::string path_of(const PluginObjectRef& ref, bool reads, PortAnswer& wrong) const;
  std::shared_ptr<Remote> find(const std::string& plugin, std::string_view remote) const;
  void keep();
  void tend_soon();
  Duration tend_all();

  const api::Scheme& scheme_;
  // Reviews and the like, of which nothing is kept, and what is worked out of one object.
  const std::vector<ApiResource> answered_only_;
  const PluginClock& clock_;
  const std::function<void()> changed_;
  const RemoteLimits limits_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::map<Name, std::shared_ptr<Remote>> remotes_;
  std::vector<std::shared_ptr<Remote>> ending_;
  std::map<std::string, std::vector<std::string>> ended_;  // by plugin: to be told of
  Held held_;
  std::map<std::uint64_t, Held> sealed_;
  std::uint64_t turn_ = 0;
  bool woken_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::host
