// What the tests of plugins in processes share: libraries that run isolated, a peer that speaks the
// protocol by hand, and waiting for what another process does.
//
// One thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/host/plugins/support.hpp"

namespace sluice::host {

inline constexpr const char* kCheckJson =
    R"({"metadata":{"name":"check"},"spec":{"controllerName":"example.com/peer"}})";

class ProcessTest : public PluginTest {
 protected:
  /// The library of this name, in a process.
  static PluginConfig isolated(std::string name, std::string config = "{}") {
    PluginConfig out = plugin(std::move(name), std::move(config));
    out.process.emplace();
    return out;
  }

  /// fixtures/peer.py, which does what the mode says.
  static PluginConfig peer(const std::string& mode) {
    PluginConfig out = isolated("peer");
    out.process->command = {SLUICE_PYTHON, "-ISB",
                            SLUICE_SOURCE "/tests/host/plugins/fixtures/peer.py"};
    out.process->environment = {{"PEER", mode}};
    out.process->first_pause = kMillisecond;
    out.process->longest_pause = kMillisecond;
    return out;
  }

  static CheckQuery query(const std::string& name, std::uint64_t attempt = 1) {
    CheckQuery out;
    const auto workload = std::make_shared<api::Workload>(make_workload(name));
    out.workload = workload;
    out.workload_json = R"({"metadata":{"namespace":"team-a","name":")" + name +
                        R"(","uid":"uid-)" + name + R"("},"spec":{"podSets":[]}})";
    out.check = "check";
    out.check_json = kCheckJson;
    out.attempt = attempt;
    return out;
  }

  /// Waits for something that another thread or process does.
  template <typename Condition>
  static bool eventually(Condition&& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(180);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::yield();
    }
    return true;
  }

  static bool wait_for_return(PluginSet& set) {
    return eventually([&] { return set.check_controllers().pause("example.com/peer") == 0; });
  }

  bool logged(const std::string& text) {
    const std::lock_guard lock(log_mutex);
    return std::any_of(log.begin(), log.end(), [&](const PluginLogLine& line) {
      return line.text.find(text) != std::string::npos;
    });
  }
};

}  // namespace sluice::host
