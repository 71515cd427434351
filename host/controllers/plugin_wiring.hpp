// PluginWiring: ties the plugins of a host to its kernel: what they read and write, the controllers
// that they are, the events that they emit.
//
//   PluginWiring wiring(plugins, kernel, objects);
//   wiring.join(loop);                                // before the store is loaded
//   …                                                 // the store is loaded
//   wiring.connect();                                 // from now on plugins reach the objects
//
// Belongs to the kernel's thread; must outlive the loop's use of it.
#pragma once

#include <deque>

#include "host/base/log.hpp"
#include "host/controllers/controller_loop.hpp"
#include "host/controllers/plugin_controller.hpp"
#include "host/plugins/plugin_set.hpp"
#include "host/writes/plugin_objects.hpp"

namespace sluice::host {

class PluginWiring {
 public:
  /// All must outlive it.
  PluginWiring(PluginSet& plugins, Kernel& kernel, ObjectWriter& objects)
      : plugins_(plugins), objects_(kernel, objects) {
    for (ControllerBridge& plugin : plugins.controllers())
      controllers_.emplace_back(plugin, kernel);
    for (const Validators::Judge& judge : plugins.validators().never_asked(kernel.scheme()))
      log(LogLevel::kWarning, "plugin " + judge.plugin,
          "it validates " + judge.kind.group_kind + ", which this host does not have");
  }
  ~PluginWiring() { plugins_.connect(nullptr); }
  PluginWiring(const PluginWiring&) = delete;
  PluginWiring& operator=(const PluginWiring&) = delete;

  void join(ControllerLoop& loop) {
    loop.add_source([this] { return plugins_.go_on(); });
    loop.add_source([this] {
      const auto events = plugins_.take_events();
      for (const PluginEvent& event : events) objects_.emit(event);
      return !events.empty();
    });
    for (PluginController& controller : controllers_) loop.add(controller);
  }
  void connect() { plugins_.connect(&objects_); }
  PluginObjects& objects() { return objects_; }

 private:
  PluginSet& plugins_;
  PluginObjects objects_;
  std::deque<PluginController> controllers_;
};

}  // namespace sluice::host
