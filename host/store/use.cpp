#include "host/store/use.hpp"

namespace sluice::host {

std::size_t stored_bytes(const StoredObject& object) {
  return object.key.size() + object.metadata.text().size() + object.body->size() +
         object.status.size() + object.hidden.size();
}

void UseTable::add(const StoredObject& object) {
  const std::size_t bytes = stored_bytes(object);
  objects_.fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  charged_.fetch_add(charged_bytes(bytes), std::memory_order_relaxed);
  const std::string_view ns = object.ns();
  if (ns.empty()) return;
  auto found = by_namespace_.find(ns);
  if (found == by_namespace_.end()) found = by_namespace_.emplace(ns, StoreUse()).first;
  ++found->second.objects;
  found->second.bytes += bytes;
  found->second.charged += charged_bytes(bytes);
}

void UseTable::remove(const StoredObject& object) {
  const std::size_t bytes = stored_bytes(object);
  objects_.fetch_sub(1, std::memory_order_relaxed);
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  charged_.fetch_sub(charged_bytes(bytes), std::memory_order_relaxed);
  const auto found = by_namespace_.find(object.ns());
  if (found == by_namespace_.end()) return;
  found->second.bytes -= bytes;
  found->second.charged -= charged_bytes(bytes);
  if (--found->second.objects == 0) by_namespace_.erase(found);
}

StoreUse UseTable::total() const {
  return {objects_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed),
          charged_.load(std::memory_order_relaxed)};
}

StoreUse UseTable::of(std::string_view ns) const {
  const auto found = by_namespace_.find(ns);
  return found == by_namespace_.end() ? StoreUse() : found->second;
}

}  // namespace sluice::host
