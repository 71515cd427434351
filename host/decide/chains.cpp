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
  const std::string_view value = identifier_in(metadata, kind.together);
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
  // Whose pods are of its chain, whatever they say, as is its workload; or what a plugin takes for
  // one.
  bool job = false;
  for (int i = 0; at && i < kHighest; ++i) {
    job |= at->kind->job != nullptr || at->kind->is_followed_only();
    if (shared.empty()) shared = shared_by(*at);
    std::string uid;
    at = owner_of(*at, store, index, uid);
    if (uid.empty()) break;
    top = std::move(uid);
  }
  return job || shared.empty() ? top : shared;
}

QuotaTrees quota_trees(std::function<const Model&()> model) {
  QuotaTrees out;
  out.shape = [model] { return model().epoch; };
  out.of = [model = std::move(model)](std::string_view queue) -> std::optional<std::uint32_t> {
    const Model& now = model();
    const QuotaTree& tree = now.tree;
    const QueueRecord* found = now.find_queue(queue);
    // One that has just come is in the tree from its next build on.
    if (!found || found->id >= tree.node_count()) return std::nullopt;
    return tree.root(found->id);
  };
  return out;
}

}  // namespace sluice::host
