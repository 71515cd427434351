// What keeps an observer from changing anything, and from showing as empty what it does not follow:
// the rights of users, a way for writes that leads nowhere, and the rights to ask what would be.
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

/// The writes of a question change nothing: users that may read all that is followed may ask about
/// those kinds; none may ask about a kind that is not followed, since the answer would be wrong.
class AnybodyAsks final : public Authorizer {
 public:
  /// It must outlive this.
  explicit AnybodyAsks(const ReadersOnly& readers) : readers_(readers) {}
  AccessAnswer may(const Identity& who, const AccessRequest& request) const override;

 private:
  const ReadersOnly& readers_;
};

class NoWrites final : public Writes {
 public:
  void submit(WriteRequest request, WriteDone done) override;
};

}  // namespace sluice::host
