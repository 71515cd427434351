#include "api/scheme/controlling_job.hpp"

#include "api/json/parts.hpp"
#include "api/scheme/scheme.hpp"

namespace sluice::api {

std::vector<ControllingJob> controlling_jobs(const boost::json::object& object,
                                             const Scheme& scheme) {
  std::vector<ControllingJob> out;
  for_each_object(part(object, "metadata"), "ownerReferences",
                  [&](const boost::json::object& owner) {
                    if (!find_bool(owner, "controller", false)) return;
                    const KindInfo* kind =
                        scheme.find(find_text(owner, "apiVersion"), find_text(owner, "kind"));
                    if (!kind || !kind->job) return;
                    out.push_back({kind, find_text(owner, "name"), find_text(owner, "uid")});
                  });
  return out;
}

}  // namespace sluice::api
