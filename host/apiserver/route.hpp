// Route: what a path asks for, in the words of the API.
//
// RouteTable is filled from the Scheme once and then only read: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/schema/kind_info.hpp"
#include "api/scheme/scheme.hpp"
#include "host/access/authorizer.hpp"
#include "host/apiserver/exchange.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {

struct Route {
  enum class Type : std::uint8_t {
    kUnknown,   ///< 404
    kHealth,    ///< /healthz, /livez, /readyz and what is below; open to all
    kVersion,   ///< open to all
    kDocument,  ///< discovery, OpenAPI and other paths that are no resource
    kResource,  ///< objects of a kind
    kReview,    ///< a question about access: POST only
    kPending,   ///< pending workloads of a queue
    kExplain,   ///< why a workload waits
    kUsage,     ///< what pods and nodes use
    kHistory,   ///< what became of workloads, and what quotas were
    kWhatIf,    ///< what would become of objects: POST only, open to all authenticated users
  };
  Type type = Type::kUnknown;
  std::string group, version, resource, subresource, ns, name;
  const api::KindInfo* kind = nullptr;                   ///< kResource
  const api::KindInfo::Version* kind_version = nullptr;  ///< kResource
  std::string_view verb;  ///< of RBAC; empty: the method is not allowed

  /// `namespace/name` or `name`.
  std::string key() const { return key_of(*kind, ns, name); }
  std::string api_version() const { return api::group_version(group, version); }
  bool collection() const { return name.empty(); }
};

class RouteTable {
 public:
  explicit RouteTable(const api::Scheme& scheme);
  Route find(const Request& request) const;

 private:
  struct Entry {
    const api::KindInfo* kind = nullptr;
    const api::KindInfo::Version* version = nullptr;
  };
  void find_resource(Route& route, std::vector<std::string_view> rest,
                     const Request& request) const;

  std::unordered_map<std::string, Entry> entries_;  // by group/version/plural
  std::unordered_map<std::string, bool> groups_;    // group/version
};

/// What RBAC is asked about the route.
AccessRequest access_of(const Route& route, const Request& request);

}  // namespace sluice::host
