// RbacAuthorizer: answers from the published Roles, ClusterRoles and their bindings of a LiveStore.
//
// The compiled index is made anew when one of these objects changed: once such a write is
// acknowledged, each answer takes it into account. Any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/access/authorizer.hpp"
#include "host/access/rbac_index.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

class RbacAuthorizer final : public Authorizer {
 public:
  /// Both must outlive this.
  RbacAuthorizer(const api::Scheme& scheme, LiveStore& store);
  ~RbacAuthorizer() override;

  AccessAnswer may(const Identity& who, const AccessRequest& request) const override;

  /// All roles and bindings as they are published now.
  std::shared_ptr<const RbacIndex> index() const;

 private:
  struct Parsed {
    RecordPtr record;
    std::shared_ptr<const RbacObject> object;
  };
  std::shared_ptr<const RbacIndex> build() const;

  LiveStore& store_;
  std::vector<const api::KindInfo*> kinds_;
  mutable std::atomic<std::uint64_t> changes_{1};
  mutable std::mutex mutex_;
  mutable std::uint64_t built_at_ = 0;                                   // value of changes_
  mutable std::shared_ptr<const RbacIndex> index_;                       // of that time
  mutable std::unordered_map<std::string, Parsed> parsed_;               // by kind and key
  std::vector<std::unique_ptr<LiveStore::Subscription>> subscriptions_;  // last: first to go
};

}  // namespace sluice::host
