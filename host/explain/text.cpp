#include "host/explain/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <optional>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "core/base/time.hpp"
#include "core/reasons/reasons.hpp"
#include "host/base/table_text.hpp"
#include "host/explain/advice.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using Row = std::vector<std::string>;

/// An amount of the document, which is exact, in the engine's unit; nullopt: there is none.
std::optional<std::int64_t> amount_in(const json::object& object, std::string_view field,
                                      const std::string& resource) {
  const auto quantity = api::Quantity::parse(api::find_text(object, field));
  if (!quantity) return std::nullopt;
  return api::engine_amount(resource, *quantity);
}

}  // namespace

std::string bullets_text(const json::object& document, std::string_view key,
                         std::string_view title) {
  std::string out;
  if (const json::array* all = api::find_array(document, key))
    for (const json::value& each : *all)
      if (each.is_string()) out += fmt::format("  - {}\n", api::view(each.get_string()));
  return out.empty() ? out : fmt::format("\n{}:\n{}", title, out);
}

std::string queue_text(const json::object& queue) {
  const std::string local_queue = text_in(queue, "localQueue");
  if (local_queue.empty()) return {};  // it names none, as what would have to happen says
  std::string out = "LocalQueue " + local_queue;
  const std::string cluster_queue = text_in(queue, "clusterQueue");
  if (!cluster_queue.empty()) out += " of ClusterQueue " + cluster_queue;
  const json::array* cohorts = api::find_array(queue, "cohorts");
  if (!cohorts || cohorts->empty()) return out;
  out += ", cohort ";
  for (auto it = cohorts->rbegin(); it != cohorts->rend(); ++it)
    if (it->is_string()) out += "/" + std::string(api::view(it->get_string()));
  return out;
}

std::string checks_text(const json::object& document) {
  std::string out;
  for_each_object(document, "checks", [&](const json::object& check) {
    out += fmt::format("{}{} {}", out.empty() ? "" : "; ", text_in(check, "name"),
                       text_in(check, "state"));
    const std::string message = text_in(check, "message");
    if (!message.empty()) out += " (" + message + ")";
  });
  return out;
}

std::string admission_text(const json::object& document) {
  std::string out;
  for_each_object(document, "admission", [&](const json::object& pods) {
    out += fmt::format("{}pod set {}: {} pod{}", out.empty() ? "" : "; ", text_in(pods, "name"),
                       api::find_int(pods, "count").value_or(0),
                       api::find_int(pods, "count").value_or(0) == 1 ? "" : "s");
    const json::object& flavors = part(pods, "flavors");
    for (const auto& each : flavors) {
      const std::string resource(api::view(each.key()));
      const auto amount = amount_in(part(pods, "usage"), resource, resource);
      out += fmt::format(", {} of flavor {}", amount ? amount_of(resource, *amount) : resource,
                         text_in(flavors, resource));
    }
  });
  return out;
}

namespace {

std::string since_text(const json::object& document, const json::object& part) {
  const auto since = api::find_time(part, "since");
  const auto now = api::find_time(document, "time");
  if (!since || !now) return {};
  return fmt::format("{} ({} ago)", format_time(*since - *since % kSecond),
                     span_text((*now - *since) / kSecond, 2));
}

std::string position_text(const json::object& queue) {
  const auto own = api::find_int(queue, "positionInClusterQueue");
  if (!own) return {};
  std::string out = fmt::format("{} of {} in the ClusterQueue, {} of {} in the LocalQueue", *own,
                                api::find_int(queue, "pendingInClusterQueue").value_or(0),
                                api::find_int(queue, "positionInLocalQueue").value_or(0),
                                api::find_int(queue, "pendingInLocalQueue").value_or(0));
  if (api::find_bool(queue, "parked", false)) out += "; parked until something changes";
  return out;
}

/// The workloads in front of it, those by name that the user may know.
std::string ahead_text(const json::object& queue) {
  std::string out;
  const json::array* names = api::find_array(queue, "ahead");
  const std::size_t named = names ? names->size() : 0;
  for (std::size_t i = 0; i < named; ++i)
    out += (i == 0 ? "" : ", ") + std::string(api::view((*names)[i].as_string()));
  const auto all = static_cast<std::size_t>(
      std::max<std::int64_t>(api::find_int(queue, "positionInClusterQueue").value_or(1) - 1, 0));
  if (all <= named) return out;
  return out + fmt::format("{}{} {}", named > 0 ? " and " : "", all - named,
                           named > 0  ? "more"
                           : all == 1 ? "workload"
                                      : "workloads");
}

/// Why it has this place, where plugins say so.
std::string order_text(const json::object& queue) {
  std::string out;
  const json::array* reasons = api::find_array(queue, "order");
  for (std::size_t i = 0; reasons && i < reasons->size(); ++i) {
    const json::object* each = (*reasons)[i].if_object();
    if (!each) continue;
    const std::string by = text_in(*each, "plugin");
    out += (out.empty() ? "" : "; ") + (by.empty() ? by : by + ": ") + text_in(*each, "message");
  }
  return out;
}

std::string preemptor_text(const json::object& by) {
  if (by.empty()) return {};
  std::string out = text_in(by, "workload");
  if (out.empty())
    out = api::find_bool(by, "gone", false) ? "a workload that is gone"
                                            : "a workload of another namespace";
  const std::string job = text_in(by, "job");
  if (!job.empty()) out += " (" + job + ")";
  const std::string queue = text_in(by, "clusterQueue");
  return queue.empty() ? out : out + " of ClusterQueue " + queue;
}

std::string refused_text(const json::object& document) {
  std::string out;
  for_each_object(document, "refusals", [&](const json::object& refusal) {
    const std::string plugin = text_in(refusal, "plugin");
    if (plugin.empty()) return;
    out += fmt::format("{}plugin {}", out.empty() ? "" : "; ", plugin);
    const std::string flavor = text_in(refusal, "flavor");
    if (!flavor.empty()) out += " for flavor " + flavor;
    out += ": " + text_in(refusal, "message");
  });
  return out;
}

std::string list_text(const json::object& document, std::string_view key) {
  std::string out;
  const auto* list = api::find_array(document, key);
  for (std::size_t i = 0; list && i < list->size(); ++i)
    out += (out.empty() ? "" : ", ") + std::string(api::view((*list)[i].as_string()));
  return out;
}

/// What is said of its checks beside their states, a line each.
void add_details(const json::object& document, std::vector<Row>& rows) {
  for_each_object(document, "checks", [&](const json::object& check) {
    const json::array* details = api::find_array(check, "details");
    for (std::size_t i = 0; details && i < details->size(); ++i)
      rows.push_back({"", std::string(api::view((*details)[i].as_string()))});
  });
}

void add_flavors(const json::object& resource, std::vector<Row>& rows) {
  const std::string name = text_in(resource, "resource");
  const auto said = [&name](const json::object& object, const char* field) {
    const auto amount = amount_in(object, field, name);
    return amount ? readable_amount(name, *amount) : text_in(object, field);
  };
  const std::string asked = said(resource, "requested");
  if (!api::find_bool(resource, "covered", true)) {
    rows.push_back({name, asked, "-", "-", "-", "-", "the queue has no quota of it"});
    return;
  }
  bool first = true;
  for_each_object(resource, "flavors", [&](const json::object& flavor) {
    std::string note = text_in(flavor, "unsuitable");
    if (note.empty() && api::find_bool(flavor, "never", false)) note = "more than it can ever have";
    rows.push_back({first ? name : "", first ? asked : "", text_in(flavor, "flavor"),
                    said(flavor, "available"), said(flavor, "maximum"), said(flavor, "missing"),
                    note});
    first = false;
  });
}

/// For a cluster on which another controller decides: what the cluster's objects say.
std::string cluster_text(const json::object& cluster) {
  std::string out = text_in(cluster, "state");
  for (const char* more : {"reason", "message"})
    if (const std::string said = text_in(cluster, more); !said.empty() && said != out)
      out += (more[0] == 'r' ? ", " : ": ") + said;
  return out;
}

std::string stand_ins_text(const json::object& document) {
  std::vector<Row> rows = {{"IN ITS PLACE", "STATE", "WHERE, OR WHY NOT"}};
  for_each_object(document, "standIns", [&](const json::object& each) {
    std::string why = admission_text(each);
    const std::string checks = checks_text(each);
    if (!checks.empty()) why += (why.empty() ? "" : "; checks: ") + checks;
    if (why.empty()) why = text_in(each, "message");
    rows.push_back({text_in(each, "workload"), text_in(each, "state"), why});
  });
  return rows.size() == 1 ? "" : "\n" + table_text(rows);
}

std::string pod_sets_text(const json::object& document) {
  std::string out;
  for_each_object(document, "podSets", [&](const json::object& pods) {
    const auto count = api::find_int(pods, "count").value_or(0);
    std::vector<Row> rows = {{"RESOURCE", "ASKED", "FLAVOR", "FREE", "AT MOST", "MISSING"}};
    for_each_object(pods, "resources",
                    [&](const json::object& resource) { add_flavors(resource, rows); });
    if (rows.size() == 1) return;  // it has no ClusterQueue that could give anything
    const auto least = api::find_int(pods, "minCount");
    out += fmt::format("\nPod set {}, {} pod{}{}:\n", text_in(pods, "name"), count,
                       count == 1 ? "" : "s", least ? fmt::format(", at least {}", *least) : "");
    out += table_text(rows);
  });
  return out;
}

}  // namespace

std::string explanation_text(const json::object& document) {
  const json::object& metadata = part(document, "metadata");
  std::string head = fmt::format("{}/{}: {}", text_in(metadata, "namespace"),
                                 text_in(metadata, "name"), text_in(document, "state"));
  const std::string reason = text_in(document, "reason");
  if (!reason.empty() && reason != text_in(document, "state")) head += ", " + reason;
  std::vector<Row> rows;
  const auto row = [&rows](const char* name, const std::string& value) {
    if (!value.empty()) rows.push_back({name, value});
  };
  row("Since", since_text(document, document));
  row("In the cluster", cluster_text(part(document, "cluster")));
  row("Queue", queue_text(part(document, "queue")));
  row("Position", position_text(part(document, "queue")));
  row("Ahead", ahead_text(part(document, "queue")));
  row("Order", order_text(part(document, "queue")));
  const std::string now = text_in(document, "now");
  row("Why", now.empty() ? text_in(document, "message") : now);
  const bool tried = reason != "PendingEvaluation" && reason != "Admitted";
  if (!now.empty() && tried) row("Last try", text_in(document, "message"));
  row("Said no", refused_text(document));
  row(text_in(document, "state") == "Finished" ? "Ran on" : "Runs on", admission_text(document));
  row("Pods", text_in(document, "pods"));
  row("Checks", checks_text(document));
  add_details(document, rows);
  if (const std::string replaced = text_in(document, "willReplace"); !replaced.empty())
    row("Will replace", replaced + "; what it holds counts as free here");
  row("Will evict", list_text(document, "willEvict"));
  const json::object& evicted = part(document, "evicted");
  if (!evicted.empty())
    row("Evicted", fmt::format("{}, {}: {}", since_text(document, evicted),
                               text_in(evicted, "reason"), text_in(evicted, "message")));
  row("For", preemptor_text(part(evicted, "by")));
  return head + "\n" + table_text(rows) + stand_ins_text(document) + pod_sets_text(document) +
         bullets_text(document, "wouldHelp", "What would have to happen");
}

}  // namespace sluice::host
