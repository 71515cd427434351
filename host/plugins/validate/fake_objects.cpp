#include "host/plugins/validate/fake_objects.hpp"

#include <boost/json.hpp>

#include "core/api/json.hpp"
#include "host/kernel/merge_patch.hpp"
#include "sluice/svc/objects.h"

namespace sluice::host {

namespace {

namespace json = boost::json;

std::string key_of(std::string_view version, std::string_view kind, std::string_view ns,
                   std::string_view name) {
  std::string key(version);
  return key.append(" ").append(kind).append(" ").append(ns).append("/").append(name);
}

std::string key_of(const PluginObjectRef& ref) {
  return key_of(ref.api_version, ref.kind, ref.ns, ref.name);
}

/// The key of an object as it describes itself; empty: it does not.
std::string key_of(const json::value& object) {
  if (!object.is_object()) return {};
  const json::object& whole = object.get_object();
  const json::object* metadata = api::find_object(whole, "metadata");
  if (metadata == nullptr || api::find_text(*metadata, "name").empty() ||
      api::find_text(whole, "kind").empty())
    return {};
  return key_of(api::find_text(whole, "apiVersion"), api::find_text(whole, "kind"),
                api::find_text(*metadata, "namespace"), api::find_text(*metadata, "name"));
}

PortAnswer missing() { return {SLUICE_OBJECTS_NOT_FOUND, "there is no such object"}; }
PortAnswer nameless() { return {SLUICE_OBJECTS_INVALID, "the object has no kind or no name"}; }

}  // namespace

std::string FakeObjects::text() const {
  std::string out;
  for (const auto& [key, object] : now_.objects) out.append(key).append(object).append("\n");
  for (const auto& [key, value] : now_.state)
    out.append(key).append("=").append(value).append("\n");
  return out;
}

PortAnswer FakeObjects::get(const PluginObjectRef& ref) const {
  const auto found = now_.objects.find(key_of(ref));
  return found == now_.objects.end() ? missing() : PortAnswer{0, found->second};
}

PortAnswer FakeObjects::list(const PluginObjectRef& ref, std::string_view) const {
  const std::string all_of = key_of(ref.api_version, ref.kind, ref.ns, "");
  const std::string prefix = ref.ns.empty() ? all_of.substr(0, all_of.size() - 1) : all_of;
  PortAnswer out{0, "["};
  for (const auto& [key, object] : now_.objects) {
    if (!key.starts_with(prefix)) continue;
    if (out.text.size() > 1) out.text += ',';
    out.text += object;
  }
  out.text += ']';
  return out;
}

void FakeObjects::begin(const std::string&) { before_ = now_; }

Result<void> FakeObjects::commit() { return {}; }

PortAnswer FakeObjects::create(std::string_view object) {
  boost::system::error_code error;
  json::value value = json::parse(object, error);
  const std::string key = error ? std::string() : key_of(value);
  if (key.empty()) return nameless();
  if (now_.objects.contains(key)) return {SLUICE_OBJECTS_ALREADY_EXISTS, "it exists already"};
  value.get_object()["metadata"].get_object()["uid"] = "uid-" + std::to_string(++now_.uids);
  return {0, now_.objects[key] = json::serialize(value)};
}

PortAnswer FakeObjects::update(std::string_view object, std::string_view) {
  boost::system::error_code error;
  const json::value value = json::parse(object, error);
  const std::string key = error ? std::string() : key_of(value);
  if (key.empty()) return nameless();
  if (!now_.objects.contains(key)) return missing();
  return {0, now_.objects[key] = json::serialize(value)};
}

PortAnswer FakeObjects::patch(const PluginObjectRef& ref, std::string_view,
                              std::string_view merge) {
  const auto found = now_.objects.find(key_of(ref));
  if (found == now_.objects.end()) return missing();
  boost::system::error_code error;
  const json::value patch = json::parse(merge, error);
  if (error || !patch.is_object()) return {SLUICE_OBJECTS_INVALID, "the patch is no JSON object"};
  json::value value = json::parse(found->second);
  merge_patch(value, patch);
  return {0, found->second = json::serialize(value)};
}

PortAnswer FakeObjects::remove(const PluginObjectRef& ref, std::string_view) {
  return now_.objects.erase(key_of(ref)) == 0 ? missing() : PortAnswer{};
}

PortAnswer FakeObjects::set_state(std::string_view key, std::string_view value) {
  now_.state[std::string(key)] = value;
  return {};
}

PortAnswer FakeObjects::state(const std::string&, std::string_view key) const {
  const auto found = now_.state.find(std::string(key));
  if (found == now_.state.end()) return {SLUICE_OBJECTS_NOT_FOUND, "no such key"};
  return {0, found->second};
}

std::vector<std::string> FakeObjects::state_keys(const std::string&,
                                                 std::string_view prefix) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : now_.state)
    if (key.starts_with(prefix)) out.push_back(key);
  return out;
}

}  // namespace sluice::host
