#include "host/observe/read_only.hpp"

#include <algorithm>

namespace sluice::host {
namespace {

constexpr const char* kOnlyReads = "only reading is possible here; change the cluster itself";

}  // namespace

ReadersOnly::ReadersOnly(const api::Scheme& scheme, const std::vector<FollowedKind>& followed) {
  for (const api::KindInfo* kind : scheme.kinds()) {
    const bool shown = std::any_of(followed.begin(), followed.end(),
                                   [&](const FollowedKind& each) { return each.kind == kind; });
    if (!shown) hidden_.insert(kind->group + "/" + kind->plural);
  }
}

AccessAnswer ReadersOnly::may(const Identity&, const AccessRequest& request) const {
  const bool reads = request.verb == "get" || request.verb == "list" || request.verb == "watch";
  if (!reads) return {false, kOnlyReads};
  if (!request.path.empty()) return {true, ""};
  const std::string resource(request.resource);
  if (hidden_.contains(std::string(request.group) + "/" + resource))
    return {false, "this does not follow " + resource + "; ask the cluster itself"};
  return {true, ""};
}

AccessAnswer AnybodyAsks::may(const Identity& who, const AccessRequest& request) const {
  AccessRequest read = request;
  read.verb = "get";
  return readers_.may(who, read);
}

void NoWrites::submit(WriteRequest request, WriteDone done) {
  done(forbidden(*request.kind, request.name, kOnlyReads));
}

}  // namespace sluice::host
