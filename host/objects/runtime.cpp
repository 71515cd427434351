#include "host/objects/runtime.hpp"

#include <fmt/format.h>

#include "api/json/json.hpp"
#include "core/base/time.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

void check_runtime(const boost::json::object& object, const std::string& place,
                   std::vector<api::Problem>& problems) {
  const boost::json::object& annotations = part(part(object, "metadata"), "annotations");
  const boost::json::value* given = api::find(annotations, kRuntimeAnnotation);
  if (!given || parse_duration(api::find_text(annotations, kRuntimeAnnotation))) return;
  problems.push_back({api::Problem::Kind::kInvalid,
                      fmt::format("{}metadata.annotations[{}]", place, kRuntimeAnnotation),
                      fmt::format("Invalid value: {}: must be a duration such as 1500ms, 90s, "
                                  "2m30s or 1h",
                                  api::to_json(*given))});
}

}  // namespace sluice::host
