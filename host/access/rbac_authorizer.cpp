#include "host/access/rbac_authorizer.hpp"

namespace sluice::host {

RbacAuthorizer::RbacAuthorizer(const api::Scheme& scheme, LiveStore& store) : store_(store) {
  for (const char* kind : {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}) {
    const api::KindInfo* info = scheme.find("rbac.authorization.k8s.io/v1", kind);
    if (info == nullptr) continue;
    kinds_.push_back(info);
    subscriptions_.push_back(
        store.subscribe(*info, [this] { changes_.fetch_add(1, std::memory_order_release); }));
  }
}

RbacAuthorizer::~RbacAuthorizer() = default;

AccessAnswer RbacAuthorizer::may(const Identity& who, const AccessRequest& request) const {
  return index()->may(who, request);
}

std::shared_ptr<const RbacIndex> RbacAuthorizer::index() const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = changes_.load(std::memory_order_acquire);
  if (built_at_ != now) {
    index_ = build();
    built_at_ = now;
  }
  return index_;
}

std::shared_ptr<const RbacIndex> RbacAuthorizer::build() const {
  auto out = std::make_shared<RbacIndex>();
  std::unordered_map<std::string, Parsed> parsed;
  for (const api::KindInfo* kind : kinds_) {
    auto listing = store_.read(*kind, {});
    if (!listing) continue;
    for (RecordPtr& record : listing->objects) {
      std::string key = kind->kind + "/" + record->key;
      Parsed& entry = parsed[key];
      const auto before = parsed_.find(key);
      if (before != parsed_.end() && before->second.record == record) {
        entry = before->second;
      } else {
        entry.object =
            std::make_shared<const RbacObject>(RbacObject::parse(kind->kind, to_object(*record)));
        entry.record = std::move(record);
      }
      out->add(entry.object);
    }
  }
  parsed_ = std::move(parsed);
  out->finish();
  return out;
}

}  // namespace sluice::host
