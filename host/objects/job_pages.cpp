#include "host/objects/job_pages.hpp"

#include <algorithm>
#include <iterator>

#include "api/jobs/job_page.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kContributor = "JobKind ";
/// Groups whose kinds decide about rights, or about what is queued.
constexpr std::string_view kOwnGroups[] = {"kueue.x-k8s.io", "visibility.kueue.x-k8s.io",
                                           "sluice.dev", "internal.sluice.dev"};

/// Those of Kubernetes itself: kubectl changes their objects by patches that need the schema of
/// every list. Others may end in k8s.io, too.
constexpr std::string_view kOfKubernetes[] = {"admissionregistration.k8s.io",
                                              "apiextensions.k8s.io",
                                              "apiregistration.k8s.io",
                                              "authentication.k8s.io",
                                              "authorization.k8s.io",
                                              "certificates.k8s.io",
                                              "coordination.k8s.io",
                                              "discovery.k8s.io",
                                              "events.k8s.io",
                                              "flowcontrol.apiserver.k8s.io",
                                              "internal.apiserver.k8s.io",
                                              "metrics.k8s.io",
                                              "networking.k8s.io",
                                              "node.k8s.io",
                                              "rbac.authorization.k8s.io",
                                              "resource.k8s.io",
                                              "scheduling.k8s.io",
                                              "storage.k8s.io",
                                              "storagemigration.k8s.io"};

bool is_of_kubernetes(std::string_view group) {
  return group.find('.') == std::string_view::npos ||
         std::find(std::begin(kOfKubernetes), std::end(kOfKubernetes), group) !=
             std::end(kOfKubernetes);
}

}  // namespace

JobPages pages_of(const std::vector<json::object>& job_kinds) {
  JobPages out;
  for (const json::object& each : job_kinds) {
    std::string text;
    api::append_canonical_json(part(each, "spec"), text);
    out[text_in(part(each, "metadata"), "name")] = {std::move(text), {}};
  }
  return out;
}

std::string refuses_page(const api::Scheme& scheme, std::string_view name,
                         const json::object& spec) {
  if (const auto declared = api::declared_kind(spec, name); !declared) return declared.error().text;
  const std::string_view group = api::find_text(spec, "group");
  for (const std::string_view own : kOwnGroups)
    if (group == own)
      return "spec.group: found \"" + std::string(group) + "\", which is the host's own";
  if (is_of_kubernetes(group))
    return "spec.group: found \"" + std::string(group) +
           "\", a group of Kubernetes itself; allowed are those of others, such as example.com";
  const std::string_view plural = name.substr(0, name.find('.'));
  for (const api::KindInfo* kind : scheme.kinds()) {
    if (kind->group != group || page_of(*kind) == name) continue;
    if (kind->kind != api::find_text(spec, "kind") && kind->plural != plural) continue;
    return "spec.kind: " + kind->plural + "." + kind->group + " of kind " + kind->kind + " is " +
           (kind->contributed_by.empty() ? "built in"
                                         : "served already, by " + kind->contributed_by);
  }
  return {};
}

void declare_kinds(api::Scheme& scheme, JobPages& pages) {
  for (auto& [name, page] : pages) {
    if (!page.problem.empty()) continue;
    json::error_code error;
    const json::value spec = api::parse_deep(page.text, error);
    page.problem = error || !spec.is_object() ? "spec: it is no object"
                                              : refuses_page(scheme, name, spec.get_object());
    if (!page.problem.empty()) continue;
    const auto kind = api::declared_kind(spec.get_object(), name);
    const auto added = scheme.add(api::to_json(*kind), std::string(kContributor) + name);
    if (!added) page.problem = added.error().text;
  }
}

std::string_view page_of(const api::KindInfo& kind) {
  const std::string_view by = kind.contributed_by;
  return by.starts_with(kContributor) ? by.substr(kContributor.size()) : std::string_view();
}

}  // namespace sluice::host
