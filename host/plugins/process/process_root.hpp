// ProcessRoot: a plugin in a process of its own, in the form of a library's root struct: its
// functions speak to the process. So the rest of the host loads, calls and judges it as any other
// plugin.
//
// It lives as long as an instance of it. Each instance has a process of its own; the first takes
// the one that said what the plugin is. load() on any thread, the rest as sluice_plugin_t says.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "host/config/config.hpp"
#include "host/plugins/plugin_file.hpp"
#include "host/plugins/process/plugin_process.hpp"
#include "sluice/abi.h"

namespace sluice::host {

class ProcessRoot : public sluice_plugin_t {
 public:
  /// Starts the process and asks what it is. `file`: the library that it runs; without one the
  /// command of `plugin.process` is the plugin. `program`: Sluice's own, which runs libraries;
  /// `folder`: in which commands run.
  static Result<std::shared_ptr<const ProcessRoot>> load(const PluginConfig& plugin,
                                                         const std::filesystem::path& folder,
                                                         const PluginFile* file,
                                                         const std::filesystem::path& program);
  ~ProcessRoot();
  ProcessRoot(const ProcessRoot&) = delete;
  ProcessRoot& operator=(const ProcessRoot&) = delete;

  /// The one that was started for load(), or another.
  std::unique_ptr<PluginProcess> take_process() const;

 private:
  ProcessRoot() : sluice_plugin_t{} {}

  std::string name_of_;
  ChildSpec spec_;
  ProcessHello hello_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<PluginProcess> spare_;  // guarded by mutex_
};

/// The process of an instance that a ProcessRoot made.
PluginProcess& process_of(sluice_instance_t* self);

/// What such an instance's functions answer when nobody answered them; the text of the fault says
/// why. No library's code: a library that says so has answered an unknown code.
inline constexpr std::int32_t kProcessAway = -0x70000001;
/// The same of a question that is not answered yet: ask it again to go on with it.
inline constexpr std::int32_t kProcessLater = -0x70000002;

/// Why a process may not provide this extension point; empty: it may.
std::string_view why_not_in_process(std::string_view id);

}  // namespace sluice::host
