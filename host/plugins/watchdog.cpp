#include "host/plugins/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/base/log.hpp"
#include "host/plugins/call_board.hpp"

namespace sluice::host {

Watchdog::Watchdog(const LivenessLimits& limits)
    : limits_(limits), lookout_("watchdog", [this] {
        look();
        return limits_.look;
      }) {
  lookout_.start(limits_.look);
}

void Watchdog::watch(Parts parts) {
  const std::lock_guard lock(parts_mutex_);
  parts_ = std::move(parts);
}

std::vector<Busy> Watchdog::busy() const {
  std::vector<Busy> out;
  for (BoardCall& call : CallBoard::calls(limits_.told))
    out.push_back({"plugins", fmt::format("plugin {}, {}", call.plugin, call.hook),
                   std::move(call.about), call.took});
  {
    const std::lock_guard lock(parts_mutex_);
    if (parts_)
      for (Busy& part : parts_(limits_.told)) out.push_back(std::move(part));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Busy& a, const Busy& b) { return a.took > b.took; });
  return out;
}

void Watchdog::look() {
  std::map<std::string, Duration> still;
  for (const Busy& each : busy()) {
    const std::string key = each.what + "\n" + each.detail;
    const auto before = told_.find(key);
    const bool again = before == told_.end() || each.took < before->second ||
                       each.took - before->second >= limits_.told_again;
    still[key] = again ? each.took : before->second;
    if (!again) continue;
    const bool plugin = each.part == "plugins";
    log(LogLevel::kError, plugin ? "watchdog" : each.part,
        fmt::format("{}{}{} has not come back for {} s{}", each.what,
                    each.detail.empty() ? "" : " of ", each.detail, each.took / kSecond,
                    plugin ? "; what waits for it goes no further until it does" : ""));
  }
  told_ = std::move(still);
}

}  // namespace sluice::host
