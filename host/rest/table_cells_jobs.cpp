// Cells of jobs and workloads.
#include <array>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/table.hpp"
#include "host/rest/table_cells.hpp"

namespace sluice::host::cells {

namespace json = boost::json;

namespace {

using api::find_text;

void job_status(const json::object& job, Time, std::string& out) {
  // Where nobody writes the condition the job says itself that it is held.
  const bool held = api::find_bool(part(job, "spec"), "suspend", false) &&
                    api::find_int(part(job, "status"), "active").value_or(0) == 0;
  std::string_view status = held ? "Suspended" : "Running";
  if (is_true(job, "Complete")) {
    status = "Complete";
  } else if (is_true(job, "Failed")) {
    status = "Failed";
  } else if (!find_text(part(job, "metadata"), "deletionTimestamp").empty()) {
    status = "Terminating";
  } else if (is_true(job, "Suspended")) {
    status = "Suspended";
  } else if (is_true(job, "FailureTarget")) {
    status = "FailureTarget";
  } else if (is_true(job, "SuccessCriteriaMet")) {
    status = "SuccessCriteriaMet";
  }
  api::append_json_text(status, out);
}

void job_completions(const json::object& job, Time, std::string& out) {
  const json::object& spec = part(job, "spec");
  std::string text =
      std::to_string(api::find_int(part(job, "status"), "succeeded").value_or(0)) + "/";
  const auto completions = api::find_int(spec, "completions");
  const std::int64_t parallelism = api::find_int(spec, "parallelism").value_or(1);
  if (completions) {
    text += std::to_string(*completions);
  } else {
    text += parallelism > 1 ? "1 of " + std::to_string(parallelism) : "1";
  }
  api::append_json_text(text, out);
}

/// From the start to the end, or until now.
void job_duration(const json::object& job, Time now, std::string& out) {
  const auto time_at = [](const json::object& object, std::string_view key) {
    return parse_time(find_text(object, key));
  };
  const json::object& status = part(job, "status");
  const auto start = time_at(status, "startTime");
  auto end = time_at(status, "completionTime");
  if (const json::object* failed = condition(job, "Failed"); !end && is_true(job, "Failed")) {
    end = time_at(*failed, "lastTransitionTime");
  }
  api::append_json_text(start ? human_duration(end.value_or(now) - *start) : "", out);
}

std::string of_containers(const json::object& job, std::string_view field) {
  std::string text;
  const json::array* list =
      api::find_array(part(part(part(job, "spec"), "template"), "spec"), "containers");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (i > 0) text += ',';
    if (const auto* each = (*list)[i].if_object()) text += find_text(*each, field);
  }
  return text;
}

void job_containers(const json::object& job, Time, std::string& out) {
  api::append_json_text(of_containers(job, "name"), out);
}

void job_images(const json::object& job, Time, std::string& out) {
  api::append_json_text(of_containers(job, "image"), out);
}

void job_selector(const json::object& job, Time, std::string& out) {
  api::append_json_text(selector_text(api::find_object(part(job, "spec"), "selector")), out);
}

/// The condition that says where a workload stands: how it ended, or why it waits; nullptr while it
/// is admitted, or before anything was said about it.
const json::object* telling(const json::object& workload) {
  if (is_true(workload, "Finished")) return condition(workload, "Finished");
  if (is_true(workload, "Admitted")) return nullptr;
  const auto is_false = [&](std::string_view type) -> const json::object* {
    const json::object* found = condition(workload, type);
    return found != nullptr && find_text(*found, "status") == "False" ? found : nullptr;
  };
  if (is_true(workload, "QuotaReserved")) {
    const json::object* admitted = is_false("Admitted");
    return admitted != nullptr ? admitted : condition(workload, "QuotaReserved");
  }
  if (const json::object* requeued = is_false("Requeued")) return requeued;
  if (const json::object* reserved = is_false("QuotaReserved")) return reserved;
  return is_true(workload, "Evicted") ? condition(workload, "Evicted") : nullptr;
}

void append_telling(const json::object& workload, std::string_view field, std::string& out) {
  const json::object* found = telling(workload);
  api::append_json_text(found != nullptr ? find_text(*found, field) : std::string_view(), out);
}

void workload_reason(const json::object& workload, Time, std::string& out) {
  append_telling(workload, "reason", out);
}

void workload_message(const json::object& workload, Time, std::string& out) {
  append_telling(workload, "message", out);
}

constexpr std::array<Named, 8> kJobCells = {{
    {"jobStatus", job_status},
    {"jobCompletions", job_completions},
    {"jobDuration", job_duration},
    {"jobContainers", job_containers},
    {"jobImages", job_images},
    {"jobSelector", job_selector},
    {"workloadReason", workload_reason},
    {"workloadMessage", workload_message},
}};

}  // namespace

ComputedCell of_jobs(std::string_view name) {
  for (const Named& each : kJobCells) {
    if (each.name == name) return each.cell;
  }
  return nullptr;
}

}  // namespace sluice::host::cells
