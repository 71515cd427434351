#include "host/objects/pods.hpp"

#include <string_view>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

bool runs_somewhere(const boost::json::object& pod) {
  const std::string_view phase = api::find_text(part(pod, "status"), "phase");
  return !api::find_text(part(pod, "spec"), "nodeName").empty() && phase != "Succeeded" &&
         phase != "Failed";
}

}  // namespace sluice::host
