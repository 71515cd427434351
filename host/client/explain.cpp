#include "host/client/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

bool is_job(const std::string& word) {
  return word == "job" || word == "jobs" || word == "job.batch" || word == "jobs.batch";
}

std::string workloads_of(const std::string& ns) {
  return fmt::format("/apis/kueue.x-k8s.io/v1beta2/namespaces/{}/workloads", percent_encoded(ns));
}

/// The workload that a Job waits for, else the one that it runs by, else one that is finished; of
/// several the newest.
std::string choose(const json::object& list) {
  std::string name, newest;
  int rank = -1;
  for_each_object(list, "items", [&](const json::object& workload) {
    const json::object& status = part(workload, "status");
    const int now = has_condition(status, "Finished")   ? 0
                    : has_condition(status, "Admitted") ? 1
                                                        : 2;
    const json::object& metadata = part(workload, "metadata");
    const std::string created(api::find_text(metadata, "creationTimestamp"));
    const bool better = now != rank ? now > rank : created >= newest;
    if (!name.empty() && !better) return;
    name = api::find_text(metadata, "name");
    newest = created;
    rank = now;
  });
  return name;
}

Result<std::string> workload_of_job(const Client& client, const std::string& ns,
                                    const std::string& job) {
  const auto object = client.call("GET", fmt::format("/apis/batch/v1/namespaces/{}/jobs/{}",
                                                     percent_encoded(ns), percent_encoded(job)));
  if (!object) return object.error();
  const std::string uid(api::find_text(part(*object, "metadata"), "uid"));
  const auto list = client.call("GET", fmt::format("{}?labelSelector=kueue.x-k8s.io%2Fjob-uid%3D{}",
                                                   workloads_of(ns), percent_encoded(uid)));
  if (!list) return list.error();
  std::string name = choose(*list);
  if (!name.empty()) return name;
  const std::string_view queue =
      api::find_text(part(part(*object, "metadata"), "labels"), "kueue.x-k8s.io/queue-name");
  if (queue.empty())
    return Error{fmt::format("job {}/{} is in no queue: it has no label kueue.x-k8s.io/queue-name",
                             ns, job)};
  return Error{fmt::format(
      "job {}/{} has no workload yet; kubectl describe job {} tells its events", ns, job, job)};
}

}  // namespace

Result<ExplainTarget> parse_explain_target(const std::string& text, const std::string& ns) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  ExplainTarget out;
  out.name = parts.back();
  parts.pop_back();
  if (!parts.empty() && is_job(parts.back())) {
    out.job = true;
    parts.pop_back();
  }
  if (!parts.empty()) {
    out.ns = parts.back();
    parts.pop_back();
    if (out.ns.empty()) parts.emplace_back();
  }
  if (!parts.empty() || out.name.empty())
    return Error{fmt::format(
        "found \"{}\"; allowed: NAMESPACE/WORKLOAD, WORKLOAD, job/NAME or NAMESPACE/job/NAME",
        text)};
  if (!ns.empty() && !out.ns.empty() && ns != out.ns)
    return Error{fmt::format("\"{}\" names namespace {}, --namespace names {}", text, out.ns, ns)};
  if (out.ns.empty()) out.ns = ns;
  return out;
}

Result<json::object> fetch_explanation(const Client& client, const ExplainTarget& target) {
  const std::string ns = target.ns.empty() ? client.config().ns : target.ns;
  const auto ask = [&](const std::string& workload, bool* missing) {
    return client.call("GET",
                       fmt::format("/apis/sluice.dev/v1alpha1/namespaces/{}/workloads/{}/explain",
                                   percent_encoded(ns), percent_encoded(workload)),
                       {}, missing);
  };
  if (!target.job) {
    bool missing = false;
    auto found = ask(target.name, &missing);
    if (!found || !missing) return found;
  }
  const Result<std::string> workload = workload_of_job(client, ns, target.name);
  if (workload) return ask(*workload, nullptr);
  if (target.job) return workload.error();
  return Error{fmt::format("there is no workload {}/{}, and as a job: {}", ns, target.name,
                           workload.error().text)};
}

}  // namespace sluice::host
