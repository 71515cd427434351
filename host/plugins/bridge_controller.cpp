#include "host/plugins/bridge_controller.hpp"

namespace sluice::host {

Result<ControllerBridge> ControllerBridge::make(LoadedPlugin& plugin) {
  ControllerBridge bridge(plugin);
  std::string text;
  const sluice_sink_t sink = sink_into(text);
  hooks::Fault fault;
  const Answer answer = plugin.call(Hook::kControllerKinds, fault, [&] {
    return plugin.extensions().controller->kinds(plugin.self(), &sink);
  });
  const std::string where = "plugin " + plugin.name() + " does not say which kinds it watches: ";
  if (answer != Answer::kOk) return Error{where + plugin.health().last_fault()};
  for (const std::string& line : lines_of(text)) {
    const std::size_t space = line.find(' ');
    if (space == 0 || space == std::string::npos || line.find(' ', space + 1) != std::string::npos)
      return Error{where + "\"" + line + "\" is not of the form GROUP/VERSION KIND"};
    bridge.kinds_.push_back({line.substr(0, space), line.substr(space + 1)});
  }
  if (bridge.kinds_.empty()) return Error{where + "it names none"};
  return bridge;
}

Result<Duration> ControllerBridge::reconcile(const WatchedKind& kind, std::string_view ns,
                                             std::string_view name) {
  const sluice_reconcile_t raw{sizeof(sluice_reconcile_t), 0,          abi_of(kind.api_version),
                               abi_of(kind.kind),          abi_of(ns), abi_of(name)};
  constexpr std::int64_t kLongest = 366LL * 24 * 3600 * 1000;
  std::int64_t again_ms = 0;
  hooks::Fault fault;
  const Answer answer = plugin_->call_writing(Hook::kReconcile, fault, [&] {
    const std::int32_t code =
        plugin_->extensions().controller->reconcile(plugin_->self(), &raw, &again_ms);
    return code == SLUICE_OK && (again_ms < 0 || again_ms > kLongest) ? LoadedPlugin::kNonsense
                                                                      : code;
  });
  if (answer == Answer::kOk) return again_ms == 0 ? kNever : again_ms * kMillisecond;
  return Error{answer == Answer::kClosed ? fault.text : plugin_->health().last_fault()};
}

}  // namespace sluice::host
