#include "host/access/priorities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "api/json/json.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

bool acts_for_the_system(const Identity& who) {
  return is_master(who) ||
         std::find(who.groups.begin(), who.groups.end(), kPluginsGroup) != who.groups.end();
}

}  // namespace

std::optional<ApiError> refuses_priority(const RbacIndex& index, const PriorityClasses& classes,
                                         const Identity& who, const api::KindInfo& kind,
                                         const json::object* before, const json::object& after) {
  if (!is_workload(kind)) return std::nullopt;
  const json::object& spec = part(after, "spec");
  const std::int64_t wanted = api::find_int(spec, "priority").value_or(0);
  const auto of_class = class_value(classes, spec);
  const std::int64_t most = of_class.value_or(0);
  if (wanted <= most) return std::nullopt;
  if (before && api::find_int(part(*before, "spec"), "priority").value_or(0) == wanted)
    return std::nullopt;
  if (acts_for_the_system(who)) return std::nullopt;
  const json::object& metadata = part(after, "metadata");
  const std::string ns(api::find_text(metadata, "namespace"));
  const std::string name(api::find_text(metadata, "name"));
  AccessRequest request;
  request.verb = "prioritize";
  request.group = kind.group;
  request.resource = kind.plural;
  request.ns = ns;
  request.name = name;
  if (index.may(who, request).allowed) return std::nullopt;
  return forbidden(
      kind, name,
      fmt::format("user \"{}\" may not give it priority {}: {} is {}, and more takes the verb "
                  "\"prioritize\" on workloads",
                  who.user, wanted, of_class ? "that of its class" : "without a class the most",
                  most));
}

}  // namespace sluice::host
