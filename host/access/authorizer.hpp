// Authorizer: may this identity do that? Called for every request before anything of it is done.
//
// Implementations answer from the published objects, in microseconds, from any thread.
#pragma once

#include <string>
#include <string_view>

#include "host/access/identity.hpp"
#include "host/objects/kinds.hpp"

namespace sluice::host {

/// What is asked for, in the words of RBAC.
struct AccessRequest {
  std::string_view verb;  ///< get, list, watch, create, update, patch, delete, deletecollection
  std::string_view group, resource, subresource;
  std::string_view ns;    ///< empty: cluster-wide or all namespaces
  std::string_view name;  ///< empty: none or all
  std::string_view path;  ///< not empty: a path that is no resource; the fields above are not used
};

/// What decides whether somebody is told names of a namespace's workloads, and about them.
inline AccessRequest sight_of_workloads(std::string_view ns) {
  AccessRequest out;
  out.verb = "get";
  out.group = kQueueGroup;
  out.resource = "workloads";
  out.ns = ns;
  return out;
}

struct AccessAnswer {
  bool allowed = false;
  std::string reason;  ///< which binding allows it, or why it is denied
};

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  virtual AccessAnswer may(const Identity& who, const AccessRequest& request) const = 0;
};

}  // namespace sluice::host
