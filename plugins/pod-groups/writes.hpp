// What all writes of the plugin share: the references of its objects, and which refusals matter.
//
// Pure functions; any thread.
#pragma once

#include <string>

#include "names.hpp"
#include "sluice/cpp/objects.hpp"

namespace pods {

inline sluice::ObjectRef pod_ref(const std::string& ns, const std::string& name) {
  return {"v1", "Pod", ns, name};
}
inline sluice::ObjectRef workload_ref(const std::string& ns, const std::string& name) {
  return {std::string(kKueue), "Workload", ns, name};
}

/// What went in the meantime needs nothing more.
inline void unless_gone(const sluice::ObjectReply& reply) {
  if (reply.code != sluice::ObjectCode::kNotFound) reply.or_throw();
}

}  // namespace pods
