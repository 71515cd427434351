#include "host/plugins/validate/memory_objects.hpp"

#include <utility>

#include "sluice/svc/state.h"

namespace sluice::host {

namespace {

/// fn(text) → code, where malformed JSON is INVALID.
template <typename Fn>
PortAnswer answered(Fn fn) {
  PortAnswer answer;
  try {
    answer.code = fn(answer.text);
  } catch (const JsonError& e) {
    answer = {SLUICE_OBJECTS_INVALID, e.what()};
  }
  return answer;
}

}  // namespace

PortAnswer MemoryObjects::get(const PluginObjectRef& ref) const {
  const Json* found = objects_.find(ref.kind, ref.ns, ref.name);
  if (found != nullptr) return {SLUICE_OBJECTS_OK, found->dump()};
  return {SLUICE_OBJECTS_NOT_FOUND, std::string(ref.name) + " not found"};
}

PortAnswer MemoryObjects::list(const PluginObjectRef& ref, std::string_view selector) const {
  Json found = Json::array();
  for (Json& object : objects_.list(ref.kind, ref.ns)) {
    // A selector that it does not know selects nothing.
    if (testing::FakeObjects::matches(object, selector).value_or(false))
      found.push_back(std::move(object));
  }
  return {SLUICE_OBJECTS_OK, found.dump()};
}

void MemoryObjects::begin(const std::string&) { before_ = objects_; }
void MemoryObjects::commit() {}
void MemoryObjects::drop() { objects_ = before_; }

PortAnswer MemoryObjects::create(std::string_view object) {
  return answered([&](std::string& text) { return objects_.create(Json::parse(object), text); });
}

PortAnswer MemoryObjects::update(std::string_view object, std::string_view subresource) {
  return answered(
      [&](std::string& text) { return objects_.update(Json::parse(object), subresource, text); });
}

PortAnswer MemoryObjects::patch(const PluginObjectRef& ref, std::string_view subresource,
                                std::string_view merge) {
  return answered([&](std::string& text) {
    return objects_.patch(ref.kind, ref.ns, ref.name, subresource, Json::parse(merge), text);
  });
}

PortAnswer MemoryObjects::remove(const PluginObjectRef& ref, std::string_view uid) {
  return answered(
      [&](std::string& text) { return objects_.remove_if(ref.kind, ref.ns, ref.name, uid, text); });
}

PortAnswer MemoryObjects::release_claim(const PluginObjectRef& workload) {
  return answered([&](std::string& text) {
    return objects_.release_claim(workload.kind, workload.ns, workload.name, text);
  });
}

PortAnswer MemoryObjects::set_state(std::string_view key, std::string_view value) {
  if (key.empty() || key.size() > SLUICE_STATE_MAX_KEY || value.size() > SLUICE_STATE_MAX_VALUE)
    return {SLUICE_OBJECTS_INVALID, "the key or the value is too long"};
  objects_.state[std::string(key)] = value;
  return {};
}

void MemoryObjects::remove_state(std::string_view key) { objects_.state.erase(std::string(key)); }

PortAnswer MemoryObjects::state(const std::string&, std::string_view key) const {
  const auto it = objects_.state.find(key);
  if (it == objects_.state.end()) return {SLUICE_OBJECTS_NOT_FOUND, ""};
  return {SLUICE_OBJECTS_OK, it->second};
}

std::vector<std::string> MemoryObjects::state_keys(const std::string&,
                                                   std::string_view prefix) const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : objects_.state)
    if (key.starts_with(prefix)) keys.push_back(key);
  return keys;
}

}  // namespace sluice::host
