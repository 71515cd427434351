// Running a plugin's library in a process of its own: the other side of PluginProcess.
//
// `sluice plugin run NAME` is started by a host, with a socket and the library as descriptors. The
// library sees the same services as inside of a host (HostSide): what it says there becomes notes,
// what it asks of objects and state becomes requests. One call at a time, on the thread of run();
// services may be used by any thread, as in a host.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/plugins/clock.hpp"
#include "host/plugins/extensions.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/metrics.hpp"
#include "host/plugins/object_port.hpp"
#include "host/plugins/process/frames.hpp"
#include "host/plugins/process/messages.hpp"

namespace sluice::host {

/// Until the host hangs up. An error: nobody started it as a host does, or the library is none.
Result<void> run_plugin(const std::string& name);

/// The connection to the host, for the parts of the runner.
class HostLine {
 public:
  explicit HostLine(int fd) : socket_(fd) {}
  /// Any thread. A host that is gone is noticed by whoever reads.
  void send(const std::string& text);
  /// nullopt: the host hung up.
  std::optional<Message> receive();
  /// Asks, and waits. On the thread of a call.
  Message ask(std::string_view service, const api::JsonMembers& members);

 private:
  std::mutex mutex_;
  FrameSocket socket_;
  std::uint64_t requests_ = 0;
};

/// The host's clock: in a simulation the moment of the last call, else the machine's.
class RunnerClock final : public PluginClock {
 public:
  Time now() const override { return virtual_ ? now_.load() : system_.now(); }
  Duration steady() const override { return 0; }  // the host measures
  bool is_virtual() const override { return virtual_; }
  void set(Time now) { now_ = now; }
  void make_virtual(bool is) { virtual_ = is; }

 private:
  SystemPluginClock system_;
  std::atomic<Time> now_{0};
  std::atomic<bool> virtual_{false};
};

/// Objects and state of the host, asked for by requests. Writes are staged there, not here.
class RemotePort final : public ObjectPort {
 public:
  explicit RemotePort(HostLine& line) : line_(line) {}
  PortAnswer get(const PluginObjectRef& ref) const override;
  PortAnswer list(const PluginObjectRef& ref, std::string_view selector) const override;
  void begin(const std::string&) override {}
  void commit() override {}
  void drop() override {}
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
  HostLine& line_;
};

class Runner {
 public:
  Runner(HostLine& line, const sluice_plugin_t& root, std::string name);
  /// Answers calls until the host hangs up.
  void run();

 private:
  struct Answered {
    std::int32_t code = SLUICE_OK;
    api::JsonMembers members;
    std::string why;
  };
  std::string answer_to(const Message& call);
  Answered answer(std::string_view hook, const boost::json::object& call);
  Answered create(const boost::json::object& call);
  Answered points();
  Answered check(std::string_view hook, const boost::json::object& call);
  Answered judge_write(std::string_view hook, const boost::json::object& call);
  Answered reconcile(const boost::json::object& call);
  Answered notify(const boost::json::object& call);
  void flush();
  void flush_timers();
  void flush_metrics();

  HostLine& line_;
  const sluice_plugin_t& root_;
  std::string name_;
  RunnerClock clock_;
  MetricsRegistry metrics_;
  RemotePort port_;
  std::unique_ptr<HostSide> side_;
  sluice_instance_t* self_ = nullptr;
  Extensions extensions_;
  std::mutex flushing_;
  std::map<std::uint64_t, Time> timers_told_;  // guarded by flushing_
  std::map<std::pair<std::string, std::vector<std::string>>, std::int64_t> metrics_told_;  // same
};

}  // namespace sluice::host
