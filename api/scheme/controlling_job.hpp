// The jobs that control an object, as the object's owner references say.
//
// Pure functions; any thread once the scheme has all its kinds.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>
#include <vector>

#include "api/schema/kind_info.hpp"

namespace sluice::api {

class Scheme;

/// It is in the object's namespace. Views point into the object.
struct ControllingJob {
  const KindInfo* kind = nullptr;  ///< never nullptr
  std::string_view name, uid;
};

/// Those references that say `controller` and name a kind of job, in their order. A Kubernetes API
/// server takes no object with two.
std::vector<ControllingJob> controlling_jobs(const boost::json::object& object,
                                             const Scheme& scheme);

}  // namespace sluice::api
