// CallWatch: says in the log which plugin the host waits for when a call does not come back.
//
// A [control] call holds up every write, and nothing can end it; whoever operates the host has to
// learn whose call it is. Looks from a thread of its own, which lives as long as the object.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "host/plugins/clock.hpp"
#include "host/plugins/plugin_set.hpp"

namespace sluice::host {

class CallWatch {
 public:
  /// Both must outlive it.
  CallWatch(const PluginSet& plugins, const PluginClock& clock);
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

 private:
  void watch();
  void look();

  const PluginSet& plugins_;
  const PluginClock& clock_;
  std::map<std::string, Duration> next_;  // per plugin: when it is told again, steady; its thread's
  std::mutex mutex_;
  std::condition_variable ended_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sluice::host
