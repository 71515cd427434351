// ApiResource: what is served under a group version: the kinds of a Scheme, and the resources that
// are only answered and never stored (reviews, logs, pending workloads).
//
// The one list from which discovery documents, OpenAPI documents and routing are made. Plain
// values; served_resources() is pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/kind_info.hpp"
#include "api/scheme/scheme.hpp"

namespace sluice::host {

struct ApiSubresource {
  std::string name;                  ///< status, scale, log, pendingworkloads
  std::string group, version, kind;  ///< of what is answered
  std::vector<std::string> verbs;
};

struct ApiResource {
  std::string group, version;  ///< empty group: the core group
  std::string plural, singular, kind;
  bool namespaced = false;
  std::vector<std::string> short_names, categories;
  std::vector<std::string> verbs;  ///< empty: there are only subresources
  std::vector<ApiSubresource> subresources;
  const api::KindInfo* info = nullptr;  ///< of a stored kind, else nullptr

  std::string api_version() const { return api::group_version(group, version); }
};

/// In the order of discovery: groups by name (the core group first), versions with the preferred
/// one first, resources by plural.
std::vector<ApiResource> served_resources(const api::Scheme& scheme);

/// Those of them that tell who waits in a queue, in this version.
std::vector<ApiResource> pending_resources(std::string_view version);

/// Workloads as those of whom is told why they are where they are; see docs/explain.md.
ApiResource explained_resource();

/// Strategic merge patches need what is known of the types of Kubernetes' own groups; kinds of
/// other groups do not take them.
bool takes_strategic_merge(std::string_view group);

}  // namespace sluice::host
