#include "host/decide/chains.hpp"

#include <fmt/format.h>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

constexpr int kHighest = 8;

/// What it shares with others that it belongs together with; empty: nothing.
std::string shared_by(const StoredObject& object) {
  const api::KindInfo& kind = *object.kind;
  if (kind.together.empty()) return {};
  const boost::json::object metadata = parse_stored(object.metadata.text());
  const std::string_view value = api::find_text(part(metadata, "labels"), kind.together);
  if (value.empty()) return {};
  return fmt::format("{}/{}/{}", object.ns(), kind.together, value);
}

/// The owner to go on with: that which controls it, else the first one that is there.
const StoredObject* owner_of(const StoredObject& object, const ObjectStore& store,
                             const ObjectIndex& index, std::string& uid) {
  const auto find = [&](const OwnerReference& owner) -> const StoredObject* {
    const ObjectRef* ref = index.find(owner.uid);
    return ref ? store.find(*ref->kind, ref->key) : nullptr;
  };
  if (const OwnerReference* controller = object.metadata.controller()) {
    uid = controller->uid;
    return find(*controller);
  }
  for (const OwnerReference& each : object.metadata.owners()) {
    const StoredObject* found = find(each);
    if (!found && !uid.empty()) continue;
    uid = each.uid;
    if (found) return found;
  }
  return nullptr;
}

}  // namespace

std::string chain_of(const StoredObject& object, const ObjectStore& store,
                     const ObjectIndex& index) {
  const StoredObject* at = &object;
  std::string top(at->metadata.uid()), shared;
  bool job = false;  // whose pods are of its chain, whatever they say
  for (int i = 0; at && i < kHighest; ++i) {
    job |= at->kind->job != nullptr;
    if (shared.empty()) shared = shared_by(*at);
    std::string uid;
    at = owner_of(*at, store, index, uid);
    if (uid.empty()) break;
    top = std::move(uid);
  }
  return job || shared.empty() ? top : shared;
}

}  // namespace sluice::host
