// What keeps an observer from changing anything, and from showing as empty what it does not look
// at: who may do what, and a way for writes that leads nowhere.
//
// Both answer from what they were made with; any thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "host/access/authorizer.hpp"
#include "host/kube/follower.hpp"
#include "host/objects/write.hpp"

namespace sluice::host {

/// Reading is allowed to all, of kinds that are followed and of what is computed; nothing else.
class ReadersOnly final : public Authorizer {
 public:
  ReadersOnly(const api::Scheme& scheme, const std::vector<FollowedKind>& followed);
  AccessAnswer may(const Identity& who, const AccessRequest& request) const override;

 private:
  std::set<std::string> hidden_;  // group/plural of kinds that are not followed
};

class NoWrites final : public Writes {
 public:
  void submit(WriteRequest request, WriteDone done) override;
};

}  // namespace sluice::host
