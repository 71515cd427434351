#include "host/plugins/bridge_controller.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/base/text.hpp"

namespace sluice::host {
namespace {

std::optional<WatchedKind> watched_kind_of(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  WatchedKind out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].empty()) return std::nullopt;
    if (i == 0) {
      out.api_version = words[i];
    } else if (i == 1) {
      out.kind = words[i];
    } else if (words[i] == "claimed") {
      out.claimed = true;
    } else if (words[i] == "by-owner") {
      out.by_owner = true;
    } else if (words[i].starts_with("has:") && words[i].size() > 4) {
      out.has = words[i].substr(4);
    } else if (words[i].starts_with("label:") && words[i].size() > 6) {
      out.labels = words[i].substr(6);
    } else {
      return std::nullopt;
    }
  }
  if (words.size() < 2) return std::nullopt;
  return out;
}

}  // namespace

Result<ControllerBridge> ControllerBridge::make(LoadedPlugin& plugin) {
  ControllerBridge bridge(plugin);
  const auto lines =
      plugin.names(Hook::kControllerKinds, plugin.extensions().controller->kinds, "a kind");
  const std::string where = "plugin " + plugin.name() + " does not say which kinds it watches: ";
  if (!lines) return Error{where + lines.error().text};
  for (const std::string& line : *lines) {
    auto kind = watched_kind_of(line);
    if (!kind)
      return Error{where + "\"" + line +
                   "\" is not of the form GROUP/VERSION KIND [claimed] [by-owner] [has:FIELD] "
                   "[label:SELECTOR]"};
    bridge.kinds_.push_back(std::move(*kind));
  }
  if (bridge.kinds_.empty()) return Error{where + "it names none"};
  return bridge;
}

namespace {

/// A question that may outlive the call that asks it, with the answer to it.
struct AskedLook {
  RemoteChange what;
  std::int64_t again_ms = 0;
};

}  // namespace

std::optional<ControllerBridge::Looked> ControllerBridge::reconcile(
    RemoteChange what, std::function<void(Looked)> later) {
  const auto asked = std::make_shared<AskedLook>(AskedLook{std::move(what), 0});
  std::optional<Looked> now;
  LoadedPlugin* plugin = plugin_;
  const auto put = [plugin, asked] {
    constexpr std::int64_t kLongest = 366LL * 24 * 3600 * 1000;
    const sluice_reconcile_t raw{sizeof(sluice_reconcile_t),      0,
                                 abi_of(asked->what.api_version), abi_of(asked->what.kind),
                                 abi_of(asked->what.ns),          abi_of(asked->what.name),
                                 abi_of(asked->what.remote)};
    asked->again_ms = 0;
    const std::int32_t code =
        plugin->extensions().controller->reconcile(plugin->self(), &raw, &asked->again_ms);
    Nonsense nonsense;
    if (asked->again_ms < SLUICE_AGAIN_AT_ONCE || asked->again_ms > kLongest)
      nonsense.note("the time after which it wants to look again is negative or beyond a year");
    return plugin->judged(code, nonsense);
  };
  const auto said = [plugin](Answer answer, std::int64_t again_ms, const hooks::Fault& fault) {
    if (answer != Answer::kOk)
      return Looked(Error{answer == Answer::kClosed ? fault.text : plugin->health().last_fault()});
    if (again_ms == SLUICE_AGAIN_AT_ONCE) return Looked(Duration{0});
    return Looked(again_ms == 0 ? Duration{kNever} : Duration{again_ms * kMillisecond});
  };
  plugin->ask(Hook::kReconcile, {asked->what.ns, asked->what.name}, put,
              [asked, &now, said, later = std::move(later)](Answer answer,
                                                            const hooks::Fault& fault, bool late) {
                Looked looked = said(answer, asked->again_ms, fault);
                if (late)
                  later(std::move(looked));
                else
                  now = std::move(looked);
              });
  return now;
}

}  // namespace sluice::host
