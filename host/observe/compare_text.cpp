#include <fmt/format.h>

#include "api/json/json.hpp"
#include "host/explain/text.hpp"
#include "host/objects/parts.hpp"
#include "host/observe/compare.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::string names(const json::object& object, std::string_view key) {
  std::string out;
  if (const json::array* list = api::find_array(object, key))
    for (const json::value& each : *list)
      if (each.is_string())
        out += (out.empty() ? "" : ", ") + std::string(api::view(each.get_string()));
  return out;
}

std::string sluice_text(const json::object& sluice) {
  const std::string action = text_in(sluice, "action");
  if (action == "Wait") return "would let it wait: " + text_in(sluice, "message");
  const std::string victims = names(sluice, "preempts");
  std::string out;
  if (action == "Admit") {
    out = "would admit it";
  } else if (action == "Reserve") {
    out = "would reserve quota for it, and then wait for its checks";
  } else {
    return fmt::format("would {} it: {}", action == "Finish" ? "finish" : "deactivate",
                       text_in(sluice, "message"));
  }
  if (!victims.empty()) out += ", preempting " + victims;
  const std::string where = admission_text(sluice);
  return where.empty() ? out : out + ": " + where;
}

std::string cluster_text(const json::object& cluster) {
  const std::string message = text_in(cluster, "message");
  return text_in(cluster, "state") + (message.empty() ? "" : ": " + message);
}

std::string workload_text(const json::object& row) {
  const std::string queue = text_in(row, "clusterQueue");
  return fmt::format("{} {}/{}, queue {}{}\n    Sluice   {}\n    cluster  {}\n",
                     api::find_bool(row, "agrees", false) ? "=" : "!", text_in(row, "namespace"),
                     text_in(row, "name"), text_in(row, "queue"),
                     queue.empty() ? "" : " of ClusterQueue " + queue,
                     sluice_text(part(row, "sluice")), cluster_text(part(row, "cluster")));
}

}  // namespace

std::string comparison_text(const json::object& comparison) {
  std::string same;
  std::string other;
  for_each_object(comparison, "workloads", [&](const json::object& row) {
    (api::find_bool(row, "agrees", false) ? same : other) += workload_text(row);
  });
  std::string evicted;
  for_each_object(comparison, "evictions", [&](const json::object& each) {
    if (!text_in(each, "by").empty()) return;  // shown with its preemptor
    evicted += fmt::format("! {}\n    Sluice   would evict it, {}: {}\n", text_in(each, "workload"),
                           text_in(each, "reason"), text_in(each, "message"));
  });
  std::string unread;
  for_each_object(comparison, "unread", [&](const json::object& each) {
    unread += fmt::format("? {} {} has no part in this: {}\n", text_in(each, "kind"),
                          text_in(each, "object"), text_in(each, "why"));
  });
  if (const json::array* fields = api::find_array(comparison, "unknownFields"))
    for (const json::value& each : *fields)
      if (each.is_string())
        unread += fmt::format("? left out, as not known here: {}\n", api::view(each.get_string()));
  const auto waiting = api::find_int(comparison, "waiting").value_or(0);
  const auto differ = api::find_int(comparison, "differ").value_or(0);
  return other + evicted + same + unread +
         fmt::format("{} {}; Sluice would decide otherwise about {}\n", waiting,
                     waiting == 1 ? "workload waits" : "workloads wait", differ);
}

}  // namespace sluice::host
