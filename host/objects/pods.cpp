#include "host/objects/pods.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

bool has_ended(const boost::json::object& status) {
  const std::string_view phase = api::find_text(status, "phase");
  return phase == "Succeeded" || phase == "Failed";
}

bool runs_somewhere(const boost::json::object& pod) {
  return !api::find_text(part(pod, "spec"), "nodeName").empty() && !has_ended(part(pod, "status"));
}

void LastFailure::look_at(const boost::json::object& pod) {
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for_each_object(part(pod, "status"), list, [&](const boost::json::object& container) {
      const boost::json::object& ended = part(part(container, "state"), "terminated");
      const auto code = api::find_int(ended, "exitCode");
      std::string at = text_in(ended, "finishedAt");
      if (!code || *code == 0 || at < at_) return;
      at_ = std::move(at);
      const std::string said = text_in(ended, "message");
      text_ = fmt::format("pod {} ended with exit status {}{}{}",
                          text_in(part(pod, "metadata"), "name"), *code, said.empty() ? "" : ": ",
                          said);
    });
  }
}

}  // namespace sluice::host
