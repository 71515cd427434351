#include "host/kernel/object_index.hpp"

#include <string_view>
#include <tuple>

#include "core/base/check.hpp"

namespace sluice::host {

bool ObjectIndex::Less::operator()(const ObjectRef& a, const ObjectRef& b) const {
  return std::tie(a.kind->group, a.kind->kind, a.key) <
         std::tie(b.kind->group, b.kind->kind, b.key);
}

void ObjectIndex::note_uid(const ObjectChange& change) {
  const std::string_view before = change.before ? change.before->metadata.uid() : "";
  const std::string_view now = change.stored ? change.stored->metadata.uid() : "";
  if (before == now) return;
  if (!before.empty()) by_uid_.erase(before);
  if (!now.empty()) by_uid_.put(now, {change.kind, change.key});
}

void ObjectIndex::update(const ObjectChange& change) {
  const bool same_metadata =
      change.stored && change.before && change.stored->metadata == change.before->metadata;
  if (same_metadata) return;  // a status, most often
  if (uids_ == Uids::kKept) note_uid(change);
  const std::string_view ns = change.ns();
  if (change.before) {
    for (const OwnerReference& owner : change.before->metadata.owners()) {
      const auto it = owned_.find(std::string(owner.uid));
      if (it == owned_.end()) continue;
      it->second.erase({change.kind, change.key});
      if (it->second.empty()) owned_.erase(it);
    }
    if (!ns.empty())
      if (const auto it = namespaces_.find(ns); it != namespaces_.end() && --it->second == 0)
        namespaces_.erase(it);
  }
  if (!change.stored) return;
  for (const OwnerReference& owner : change.stored->metadata.owners())
    owned_[std::string(owner.uid)].insert({change.kind, change.key});
  if (ns.empty()) return;
  if (const auto it = namespaces_.find(ns); it != namespaces_.end())
    ++it->second;
  else
    namespaces_.emplace(ns, 1);
}

const ObjectIndex::Refs& ObjectIndex::dependents(std::string_view uid) const {
  static const Refs kNone;
  const auto it = owned_.find(std::string(uid));
  return it == owned_.end() ? kNone : it->second;
}

std::vector<ObjectRef> ObjectIndex::owned_by(std::string_view uid) const {
  const Refs& found = dependents(uid);
  return {found.begin(), found.end()};
}

const ObjectRef* ObjectIndex::find(std::string_view uid) const {
  SLUICE_CHECK(uids_ == Uids::kKept, "UIDs are not kept");
  return by_uid_.find(uid);
}

std::size_t ObjectIndex::in_namespace(std::string_view ns) const {
  const auto it = namespaces_.find(ns);
  return it == namespaces_.end() ? 0 : it->second;
}

}  // namespace sluice::host
