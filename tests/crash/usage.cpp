#include "tests/crash/usage.hpp"

#include <fmt/format.h>

#include "host/objects/parts.hpp"
#include "tests/crash/objects.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;

std::int64_t thousandths(const json::value& amount) {
  return api::quantity_or_zero(amount).milli();
}

void add(Usage& usage, const std::string& what, std::int64_t amount) {
  if (amount != 0) usage[what] += amount;
}

void add_queue(const json::object& queue, Usage& out) {
  const std::string name(api::find_text(part(queue, "metadata"), "name"));
  const auto add_list = [&](const char* field, const char* what) {
    for_each_object(part(queue, "status"), field, [&](const json::object& flavor) {
      for_each_object(flavor, "resources", [&](const json::object& resource) {
        const json::value* total = api::find(resource, "total");
        if (total)
          add(out,
              fmt::format("{} {} {} {}", name, api::find_text(flavor, "name"),
                          api::find_text(resource, "name"), what),
              thousandths(*total));
      });
    });
  };
  add_list("flavorsReservation", "reserved");
  add_list("flavorsUsage", "used");
}

std::int64_t reclaimed(const json::object& status, std::string_view pod_set) {
  std::int64_t out = 0;
  for_each_object(status, "reclaimablePods", [&](const json::object& entry) {
    if (api::find_text(entry, "name") == pod_set) out = api::find_int(entry, "count").value_or(0);
  });
  return out;
}

void add_workload(const json::object& workload, Usage& out) {
  const json::object& status = part(workload, "status");
  if (!has_condition(status, "QuotaReserved") || has_condition(status, "Finished")) return;
  const json::object& admission = part(status, "admission");
  const std::string_view queue = api::find_text(admission, "clusterQueue");
  for_each_object(admission, "podSetAssignments", [&](const json::object& set) {
    const std::int64_t count = api::find_int(set, "count").value_or(1);
    const std::int64_t left = count - reclaimed(status, api::find_text(set, "name"));
    for (const auto& entry : part(set, "resourceUsage")) {
      const std::string_view resource = api::view(entry.key());
      const std::string where =
          fmt::format("{} {} {}", queue, api::find_text(part(set, "flavors"), resource), resource);
      const std::int64_t amount = thousandths(entry.value()) / count * left;
      add(out, where + " reserved", amount);
      if (has_condition(status, "Admitted")) add(out, where + " used", amount);
    }
  });
}

}  // namespace

UsageSeen read_usage(AdminClient& client) {
  UsageSeen out;
  const Answer queues = client.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues");
  const Answer workloads = client.get("/apis/kueue.x-k8s.io/v1beta2/workloads");
  out.complete = queues.status == 200 && workloads.status == 200;
  for_each_object(parse_object(queues.body), "items",
                  [&](const json::object& queue) { add_queue(queue, out.told); });
  for_each_object(parse_object(workloads.body), "items",
                  [&](const json::object& workload) { add_workload(workload, out.summed); });
  return out;
}

std::string to_text(const Usage& usage) {
  std::string out;
  for (const auto& [what, amount] : usage) out += fmt::format("{} = {}m; ", what, amount);
  return out.empty() ? "nothing" : out;
}

}  // namespace sluice::host::test
