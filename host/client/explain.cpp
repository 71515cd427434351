#include "host/client/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "core/base/text.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// A kind of job whose workloads can be found by its name.
struct JobResource {
  std::string singular, plural, group;
  std::string path;  ///< of the API, up to its version; empty: the server knows it
};

const JobResource kJobResources[] = {{"job", "jobs", "batch", "batch/v1"},
                                     {"raycluster", "rayclusters", "ray.io", "ray.io/v1"}};

/// `job`, `jobs`, `job.batch`, `jobs.batch`: whatever kubectl understands; of all other kinds
/// `PLURAL.GROUP`, which no namespace can be called.
std::optional<JobResource> job_resource(std::string_view word) {
  for (const JobResource& each : kJobResources)
    for (const std::string& name : {each.singular, each.plural})
      if (word == name || word == name + "." + each.group) return each;
  const std::size_t dot = word.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  return JobResource{
      std::string(word), std::string(word.substr(0, dot)), std::string(word.substr(dot + 1)), {}};
}

/// Whether kubectl takes the word for the resource: its plural, singular or short name.
bool is_called(const json::object& resource, std::string_view word) {
  if (api::find_text(resource, "name") == word || api::find_text(resource, "singularName") == word)
    return true;
  const json::array* names = api::find_array(resource, "shortNames");
  return names && std::any_of(names->begin(), names->end(), [&](const json::value& name) {
           return name.is_string() && api::view(name.get_string()) == word;
         });
}

/// Where a version of a group is; kinds without a group have another place.
std::string root_of(std::string_view version) {
  const bool grouped = version.find('/') != std::string_view::npos;
  return fmt::format("/{}/{}", grouped ? "apis" : "api", version);
}

/// The kind in whatever group the server has it, as kubectl looks for it; nullopt: it has none.
Result<std::optional<JobResource>> looked_up(const Client& client, const std::string& word) {
  const auto groups = client.call("GET", "/apis");
  if (!groups) return groups.error();
  std::vector<std::string> versions{"v1"};  // kinds without a group come first, as in kubectl
  for_each_object(*groups, "groups", [&](const json::object& group) {
    versions.push_back(text_in(part(group, "preferredVersion"), "groupVersion"));
  });
  for (const std::string& version : versions) {
    const auto list = client.call("GET", root_of(version));
    if (!list) continue;
    std::optional<JobResource> found;
    for_each_object(*list, "resources", [&](const json::object& resource) {
      if (!api::find_bool(resource, "namespaced", false) || !is_called(resource, word)) return;
      const std::string plural = text_in(resource, "name");
      const std::string group(api::group_of(version));
      found = JobResource{group.empty() ? plural : plural + "." + group, plural, group, version};
    });
    if (found) return found;
  }
  return std::optional<JobResource>();
}

/// The kind that the word names; asks the server where that is not known here.
Result<JobResource> kind_named(const Client& client, const std::string& word) {
  if (auto kind = job_resource(word)) {
    if (!kind->path.empty()) return *kind;
    const auto group = client.call("GET", "/apis/" + percent_encoded(kind->group));
    if (!group) return group.error().context(kind->singular);
    kind->path = text_in(part(*group, "preferredVersion"), "groupVersion");
    const auto list = client.call("GET", root_of(kind->path));
    if (!list) return list.error().context(kind->singular);
    // `kubectl get -o name` has the singular: workload.kueue.x-k8s.io/NAME.
    for_each_object(*list, "resources", [&](const json::object& resource) {
      if (is_called(resource, kind->plural)) kind->plural = text_in(resource, "name");
    });
    return *kind;
  }
  auto found = looked_up(client, word);
  if (!found) return found.error();
  if (!*found) return Error{fmt::format("the server knows no kind \"{}\"", word)};
  return **found;
}

std::string workloads_of(const std::string& ns) {
  return fmt::format("/apis/kueue.x-k8s.io/v1beta2/namespaces/{}/workloads", percent_encoded(ns));
}

bool owned_by(const json::object& metadata, std::string_view uid) {
  bool out = false;
  for_each_object(metadata, "ownerReferences",
                  [&](const json::object& owner) { out |= api::find_text(owner, "uid") == uid; });
  return out;
}

/// The higher, the more it is the one that people ask about: the job's own before those that stand
/// in for it, then one that waits, one that runs, one that is off, one that is finished.
int rank_of(const json::object& workload, std::string_view uid) {
  const json::object& status = part(workload, "status");
  const int state = has_condition(status, "Finished")                         ? 0
                    : !api::find_bool(part(workload, "spec"), "active", true) ? 1
                    : has_condition(status, "Admitted")                       ? 2
                                                                              : 3;
  return state + (owned_by(part(workload, "metadata"), uid) ? 4 : 0);
}

std::string path_of(const JobResource& kind, const std::string& ns, const std::string& job) {
  return fmt::format("{}/namespaces/{}/{}/{}", root_of(kind.path), percent_encoded(ns), kind.plural,
                     percent_encoded(job));
}

/// What the newest warning about the job says; empty: there is none, or it may not be read.
std::string newest_warning(const Client& client, const std::string& ns, const std::string& uid) {
  const auto list = client.call(
      "GET", fmt::format("/api/v1/namespaces/{}/events?fieldSelector=involvedObject.uid%3D{}",
                         percent_encoded(ns), percent_encoded(uid)));
  if (!list) return {};
  std::string out, newest;
  for_each_object(*list, "items", [&](const json::object& event) {
    const std::string at = text_in(event, "lastTimestamp");
    if (api::find_text(event, "type") != "Warning" || at < newest) return;
    newest = at;
    out = text_in(event, "message");
  });
  return out;
}

/// Of several objects that are one workload each owns it; no label of it names them all.
std::string workload_owned(const Client& client, const std::string& ns,
                           const json::object& metadata) {
  std::string out;
  const auto list = client.call("GET", workloads_of(ns));
  if (!list) return out;
  const std::string_view uid = api::find_text(metadata, "uid");
  for_each_object(*list, "items", [&](const json::object& workload) {
    const json::object& own = part(workload, "metadata");
    if (out.empty() && owned_by(own, uid)) out = text_in(own, "name");
  });
  return out;
}

Result<std::string> workload_of_job(const Client& client, const JobResource& kind,
                                    const std::string& ns, const std::string& job) {
  const auto object = client.call("GET", path_of(kind, ns, job));
  if (!object) return object.error();
  const std::string uid(api::find_text(part(*object, "metadata"), "uid"));
  const auto list = client.call("GET", fmt::format("{}?labelSelector=kueue.x-k8s.io%2Fjob-uid%3D{}",
                                                   workloads_of(ns), percent_encoded(uid)));
  if (!list) return list.error();
  std::string name = workload_to_explain(*list, uid);
  if (!name.empty()) return name;
  name = workload_owned(client, ns, part(*object, "metadata"));
  if (!name.empty()) return name;
  const json::object& metadata = part(*object, "metadata");
  if (api::find_text(part(metadata, "labels"), "kueue.x-k8s.io/queue-name").empty() &&
      identifier_in(metadata, "kueue.x-k8s.io/prebuilt-workload-name").empty())
    return Error{fmt::format("{} {}/{} is in no queue: it has no label kueue.x-k8s.io/queue-name",
                             kind.singular, ns, job)};
  const std::string why = newest_warning(client, ns, uid);
  if (!why.empty())
    return Error{fmt::format("{} {}/{} has no workload: {}", kind.singular, ns, job, why)};
  return Error{
      fmt::format("{0} {1}/{2} has no workload yet; kubectl describe -n {1} {0} {2} tells its "
                  "events",
                  kind.singular, ns, job)};
}

}  // namespace

std::string workload_to_explain(const json::object& list, std::string_view uid) {
  std::string name, newest;
  int rank = -1;
  for_each_object(list, "items", [&](const json::object& workload) {
    const int now = rank_of(workload, uid);
    const json::object& metadata = part(workload, "metadata");
    const std::string created(api::find_text(metadata, "creationTimestamp"));
    const bool better = now != rank ? now > rank : created >= newest;
    if (!better) return;
    name = api::find_text(metadata, "name");
    newest = created;
    rank = now;
  });
  return name;
}

Result<ExplainTarget> parse_explain_target(const std::string& text, const std::string& ns) {
  const auto pieces = split(text, '/');
  std::vector<std::string> parts(pieces.begin(), pieces.end());
  ExplainTarget out;
  out.name = parts.back();
  parts.pop_back();
  // A word that is neither one of the namespace that is named already is a kind that the server
  // knows.
  const auto kind = parts.empty() ? std::nullopt : job_resource(parts.back());
  const bool other = parts.size() == 2 || (parts.size() == 1 && !ns.empty() && parts[0] != ns);
  if (kind || (other && !parts.back().empty())) {
    out.kind = kind ? kind->singular : parts.back();
    parts.pop_back();
  }
  if (!parts.empty()) {
    out.ns = parts.back();
    parts.pop_back();
    if (out.ns.empty()) parts.emplace_back();
  }
  if (!parts.empty() || out.name.empty())
    return Error{fmt::format(
        "found \"{}\"; allowed: NAMESPACE/WORKLOAD, WORKLOAD, job/NAME, raycluster/NAME, "
        "PLURAL.GROUP/NAME of another kind of job, or one of these after NAMESPACE/",
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
  if (!target.kind.empty()) {
    const auto kind = kind_named(client, target.kind);
    if (!kind) return kind.error();
    if (kind->plural == "workloads" && kind->group == "kueue.x-k8s.io")
      return ask(target.name, nullptr);
    const Result<std::string> workload = workload_of_job(client, *kind, ns, target.name);
    return workload ? ask(*workload, nullptr) : workload.error();
  }
  bool missing = false;
  auto found = ask(target.name, &missing);
  if (found && !missing) return found;
  // `jobset/train`, as kubectl has it: what stands first may be a kind and no namespace.
  if (!target.ns.empty() && target.ns != client.config().ns)
    if (const auto kind = looked_up(client, target.ns); kind && *kind)
      return fetch_explanation(client, {client.config().ns, target.name, (*kind)->singular});
  if (!found) return found;
  std::string tried;
  for (const JobResource& kind : kJobResources) {
    const Result<std::string> workload = workload_of_job(client, kind, ns, target.name);
    if (workload) return ask(*workload, nullptr);
    tried += fmt::format("; as a {}: {}", kind.singular, workload.error().text);
  }
  return Error{nothing_found(ns, target.name, tried)};
}

std::string nothing_found(const std::string& ns, const std::string& name,
                          const std::string& tried) {
  return fmt::format(
      "there is no workload {}/{}{}; of several pods that become one workload together ask for one "
      "of them: pod/NAME",
      ns, name, tried);
}

bool is_gone(const Client& client, const ExplainTarget& target) {
  const std::string ns = target.ns.empty() ? client.config().ns : target.ns;
  std::vector<std::string> paths;
  if (!target.kind.empty()) {
    const auto kind = kind_named(client, target.kind);
    if (!kind) return false;
    paths.push_back(path_of(*kind, ns, target.name));
  } else {
    for (const JobResource& kind : kJobResources) paths.push_back(path_of(kind, ns, target.name));
  }
  if (target.kind.empty()) paths.push_back(workloads_of(ns) + "/" + percent_encoded(target.name));
  return std::all_of(paths.begin(), paths.end(), [&](const std::string& path) {
    const Result<ClientAnswer> answer = client.request("GET", path);
    return answer && answer->status == 404;
  });
}

}  // namespace sluice::host
