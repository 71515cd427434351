#include "host/objects/pods.hpp"

#include <string_view>

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

}  // namespace sluice::host
