#include "host/objects/pod_templates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

void keep_last(json::object& container, std::string_view list, auto name_of) {
  json::array* items = api::find_array(container, list);
  if (!items) return;
  std::set<std::string> seen;
  json::array kept;
  for (std::size_t i = items->size(); i > 0; --i) {
    json::value& each = (*items)[i - 1];
    const json::object* named = each.if_object();
    if (named && !seen.insert(name_of(*named)).second) continue;
    kept.push_back(std::move(each));
  }
  std::ranges::reverse(kept);
  *items = std::move(kept);
}

std::string name_of_port(const json::object& port) {
  const std::string_view protocol = api::find_text(port, "protocol");
  return fmt::format("{}/{}", api::find_int(port, "containerPort").value_or(0),
                     protocol.empty() ? "TCP" : protocol);
}

}  // namespace

void drop_doubles(json::object& pod_template) {
  json::object* spec = api::find_object(pod_template, "spec");
  if (!spec) return;
  for (const std::string_view containers : {"initContainers", "containers"}) {
    json::array* all = api::find_array(*spec, containers);
    if (!all) continue;
    for (json::value& each : *all) {
      json::object* container = each.if_object();
      if (!container) continue;
      keep_last(*container, "env",
                [](const json::object& variable) { return text_in(variable, "name"); });
      keep_last(*container, "ports", name_of_port);
    }
  }
}

void drop_doubles_in_pod_sets(json::object& workload) {
  json::object* spec = api::find_object(workload, "spec");
  json::array* sets = spec ? api::find_array(*spec, "podSets") : nullptr;
  if (!sets) return;
  for (json::value& each : *sets) {
    json::object* set = each.if_object();
    json::object* pod_template = set ? api::find_object(*set, "template") : nullptr;
    if (pod_template) drop_doubles(*pod_template);
  }
}

}  // namespace sluice::host
