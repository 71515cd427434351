#include "host/controllers/jobs/running_pods.hpp"

#include "host/controllers/jobs/job_view.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/pods.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

/// Calls tell(reference, pod) for each, until it answers false.
template <typename Tell>
void each_running_pod(const ObjectAccess& objects, std::string_view uid, std::string_view ns,
                      Tell tell) {
  for (const ObjectRef& owned : objects.owned_by(uid, ns)) {
    if (!is_pod(*owned.kind)) continue;
    const auto pod = objects.get(*owned.kind, owned.key);
    if (pod && runs_somewhere(*pod) && !tell(owned, *pod)) return;
  }
}

}  // namespace

bool has_running_pods(const ObjectAccess& objects, std::string_view uid, std::string_view ns) {
  bool any = false;
  each_running_pod(objects, uid, ns, [&](const ObjectRef&, const boost::json::object&) {
    any = true;
    return false;
  });
  return any;
}

std::map<std::string, std::int32_t, std::less<>> running_pods(const ObjectAccess& objects,
                                                              std::string_view uid,
                                                              std::string_view ns) {
  std::map<std::string, std::int32_t, std::less<>> out;
  each_running_pod(objects, uid, ns, [&](const ObjectRef&, const boost::json::object& pod) {
    ++out[std::string(label_of(pod, kPodSetLabel))];
    return true;
  });
  return out;
}

Result<void> end_running_pods(ObjectAccess& objects, std::string_view uid, std::string_view ns) {
  Result<void> done;
  each_running_pod(objects, uid, ns, [&](const ObjectRef& ref, const boost::json::object& pod) {
    if (!is_terminating(pod)) done = plain(objects.remove(*ref.kind, ref.key));
    return done.ok();
  });
  return done;
}

}  // namespace sluice::host
