#include "host/writes/plugin_objects.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "core/base/base64.hpp"
#include "core/base/check.hpp"
#include "core/base/utf8.hpp"
#include "host/base/log.hpp"
#include "host/objects/claims.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/pod_templates.hpp"
#include "host/plugins/host_side.hpp"
#include "host/rest/selectors.hpp"
#include "host/writes/metadata.hpp"
#include "sluice/svc/objects.h"
#include "sluice/svc/state.h"

namespace sluice::host {
namespace {

namespace json = boost::json;

PortAnswer answer_of(const ApiError& error) {
  std::int32_t code = SLUICE_OBJECTS_FAILED;
  if (error.code == 400 || error.code == 415 || error.code == 422) code = SLUICE_OBJECTS_INVALID;
  if (error.code == 403) code = SLUICE_OBJECTS_FORBIDDEN;
  if (error.code == 404) code = SLUICE_OBJECTS_NOT_FOUND;
  if (error.code == 409)
    code =
        error.reason == "AlreadyExists" ? SLUICE_OBJECTS_ALREADY_EXISTS : SLUICE_OBJECTS_CONFLICT;
  return {code, error.text};
}

PortAnswer senseless(std::string text) { return {SLUICE_OBJECTS_INVALID, std::move(text)}; }

PortAnswer no_kind(std::string_view api_version, std::string_view kind) {
  return {SLUICE_OBJECTS_NOT_FOUND,
          "this host has no kind " + std::string(kind) + " of " + std::string(api_version)};
}

const api::KindInfo* find_kind(const api::Scheme& scheme, std::string_view api_version,
                               std::string_view kind) {
  const api::KindInfo* found = scheme.find(api_version, kind);
  return found == nullptr || found->is_hidden() ? nullptr : found;
}

bool is_subresource(std::string_view name) { return name.empty() || name == "status"; }

}  // namespace

PluginObjects::PluginObjects(Kernel& kernel, ObjectWriter& objects)
    : kernel_(kernel),
      objects_(objects),
      writer_(objects),
      state_kind_(kernel.scheme().find("internal.sluice.dev/v1", "PluginState")) {
  SLUICE_CHECK(state_kind_ != nullptr, "no kind for the state of plugins");
}

void PluginObjects::emit(const PluginEvent& event) {
  const api::KindInfo* kind = find_kind(kernel_.scheme(), event.api_version, event.kind);
  if (kind == nullptr) {
    log(LogLevel::kWarning, "plugin " + event.plugin,
        "its event is about a kind that is not there: " + event.api_version + " " + event.kind);
    return;
  }
  objects_.emit(
      {{kind, key_of(*kind, event.ns, event.name)}, event.warning, event.reason, event.message});
}

PortAnswer PluginObjects::show(json::object object, std::string_view version) const {
  if (auto converted = kernel_.scheme().to_version(object, version); !converted)
    return senseless(converted.error().text);
  return {SLUICE_OBJECTS_OK, text_for_plugins(object)};
}

/// As show() of what is there now, put together from texts where no version has to be made. A
/// status that is stored with each step is taken from there: what a plugin reads is what was
/// committed, and it is called whenever that changes.
PortAnswer PluginObjects::show_now(const StoredObject& stored, std::string_view version) const {
  if (version != stored.kind->hub().name) {
    json::monotonic_resource memory;
    return show(kernel_.current(*stored.kind, stored.key, &memory), version);
  }
  const auto now = kernel_.writes_all_statuses() ? std::nullopt : kernel_.shown(stored);
  return {SLUICE_OBJECTS_OK, text_for_plugins(now ? *now : stored)};
}

PortAnswer PluginObjects::get(const PluginObjectRef& ref) const {
  const api::KindInfo* kind = find_kind(kernel_.scheme(), ref.api_version, ref.kind);
  if (kind == nullptr) return no_kind(ref.api_version, ref.kind);
  const std::string key = key_of(*kind, ref.ns, ref.name);
  const StoredObject* stored = kernel_.store().find(*kind, key);
  if (stored == nullptr) return answer_of(not_found(*kind, ref.name));
  return show_now(*stored, api::version_of(ref.api_version));
}

PortAnswer PluginObjects::list(const PluginObjectRef& ref, std::string_view selector) const {
  const api::KindInfo* kind = find_kind(kernel_.scheme(), ref.api_version, ref.kind);
  if (kind == nullptr) return no_kind(ref.api_version, ref.kind);
  const auto labels = LabelQuery::parse(selector);
  if (!labels) return answer_of(labels.error());
  const std::string_view version = api::version_of(ref.api_version);
  PortAnswer out{0, "["};
  for (const StoredObject* stored : kernel_.store().list_in(*kind, ref.ns)) {
    if (!labels->matches(*stored)) continue;
    PortAnswer one = show_now(*stored, version);
    if (one.code != SLUICE_OBJECTS_OK) return one;
    if (out.text.size() > 1) out.text += ',';
    out.text += one.text;
  }
  out.text += ']';
  return out;
}

void PluginObjects::begin(const std::string& plugin) {
  plugin_ = plugin;
  transaction_ = std::make_unique<Transaction>(objects_);
}

void PluginObjects::drop() {
  transaction_.reset();
  for (auto change = key_changes_.rbegin(); change != key_changes_.rend(); ++change) {
    Keys& keys = keys_of(plugin_);
    if (change->second)
      keys.erase(change->first);
    else
      keys.insert(change->first);
  }
  key_changes_.clear();
}

void PluginObjects::commit() {
  transaction_->commit();
  transaction_.reset();
  key_changes_.clear();
}

void PluginObjects::suspend() {
  const auto [at, fresh] = suspended_.try_emplace(plugin_);
  SLUICE_CHECK(fresh, "two transactions of one plugin are laid aside: ", plugin_);
  Suspended& aside = at->second;
  transaction_->suspend();
  aside.key_changes = std::exchange(key_changes_, {});
  aside.transaction = std::move(transaction_);
}

Result<void> PluginObjects::resume(const std::string& plugin) {
  auto aside = suspended_.extract(plugin);
  SLUICE_CHECK(!aside.empty(), "nothing of this plugin is laid aside: ", plugin);
  plugin_ = plugin;
  key_changes_ = std::move(aside.mapped().key_changes);
  transaction_ = std::move(aside.mapped().transaction);
  auto resumed = transaction_->resume();
  if (!resumed) drop();
  return resumed;
}

WriteRequest PluginObjects::request(WriteVerb verb, const api::KindInfo& kind,
                                    std::string_view api_version, std::string_view ns,
                                    std::string_view name, std::string_view subresource) const {
  WriteRequest out;
  out.verb = verb;
  out.kind = &kind;
  out.version = api::version_of(api_version);
  if (kind.namespaced) out.ns = ns;
  out.name = name;
  out.subresource = subresource;
  out.user = plugin_user(plugin_);
  out.user_groups = {std::string(kPluginsGroup)};
  out.field_manager = out.user;
  return out;
}

PortAnswer PluginObjects::write(WriteRequest request) {
  const std::string version = request.version;
  const bool gone = request.verb == WriteVerb::kDelete;
  auto done = writer_.execute(std::move(request));
  if (!done) return answer_of(done.error());
  if (gone) return {};
  if (version == done->object.kind->hub().name)
    return {SLUICE_OBJECTS_OK, text_for_plugins(done->object)};
  return show(to_object(done->object), version);
}

PortAnswer PluginObjects::create(std::string_view object) {
  boost::system::error_code error;
  json::value body = api::parse_deep(object, error);
  if (error || !body.is_object()) return senseless("the object is no JSON object");
  json::object& whole = body.get_object();
  const std::string api_version(api::find_text(whole, "apiVersion"));
  const std::string_view kind_name = api::find_text(whole, "kind");
  const api::KindInfo* kind = find_kind(kernel_.scheme(), api_version, kind_name);
  if (kind == nullptr) return no_kind(api_version, kind_name);
  const std::string ns(api::find_text(metadata_of(whole), "namespace"));
  if (kind->namespaced && ns.empty()) return senseless("metadata.namespace: Required value");
  if (is_workload(*kind)) drop_doubles_in_pod_sets(whole);
  WriteRequest wanted = request(WriteVerb::kCreate, *kind, api_version, ns, "", "");
  wanted.body = std::move(body);
  return write(std::move(wanted));
}

PortAnswer PluginObjects::update(std::string_view object, std::string_view subresource) {
  boost::system::error_code error;
  json::value body = api::parse_deep(object, error);
  if (error || !body.is_object()) return senseless("the object is no JSON object");
  if (!is_subresource(subresource)) return senseless("subresource: \"\" or status is allowed");
  const std::string api_version(api::find_text(body.get_object(), "apiVersion"));
  const std::string_view kind_name = api::find_text(body.get_object(), "kind");
  const api::KindInfo* kind = find_kind(kernel_.scheme(), api_version, kind_name);
  if (kind == nullptr) return no_kind(api_version, kind_name);
  json::object& metadata = metadata_of(body.get_object());
  const std::string ns(api::find_text(metadata, "namespace"));
  const std::string name(api::find_text(metadata, "name"));
  const StoredObject* stored = kernel_.store().find(*kind, key_of(*kind, ns, name));
  if (stored == nullptr) return answer_of(not_found(*kind, name));
  if (api::find_text(metadata, "resourceVersion").empty())  // whichever there is
    metadata["resourceVersion"] = std::to_string(stored->version);
  WriteRequest wanted = request(WriteVerb::kUpdate, *kind, api_version, ns, name, subresource);
  wanted.body = std::move(body);
  return write(std::move(wanted));
}

PortAnswer PluginObjects::patch(const PluginObjectRef& ref, std::string_view subresource,
                                std::string_view merge) {
  const api::KindInfo* kind = find_kind(kernel_.scheme(), ref.api_version, ref.kind);
  if (kind == nullptr) return no_kind(ref.api_version, ref.kind);
  if (!is_subresource(subresource)) return senseless("subresource: \"\" or status is allowed");
  boost::system::error_code error;
  json::value body = api::parse_deep(merge, error);
  if (error || !body.is_object()) return senseless("the patch is no JSON object");
  WriteRequest wanted =
      request(WriteVerb::kPatch, *kind, ref.api_version, ref.ns, ref.name, subresource);
  wanted.body = std::move(body);
  return write(std::move(wanted));
}

PortAnswer PluginObjects::release_claim(const PluginObjectRef& ref) {
  const api::KindInfo* kind = find_kind(kernel_.scheme(), ref.api_version, ref.kind);
  if (kind == nullptr || !is_workload(*kind)) return senseless("only workloads are claimed");
  const StoredObject* stored = kernel_.store().find(*kind, key_of(*kind, ref.ns, ref.name));
  if (stored == nullptr) return answer_of(not_found(*kind, ref.name));
  Claims claims = claims_of(*stored);
  if (!claims.has(plugin_)) return {};
  claims.remove(plugin_);
  StoredObject changed = *stored;
  set_claims(changed, claims);
  PreparedObject released = kernel_.intake().encode(*kind, to_object(changed));
  kernel_.commit(std::move(released));
  return {};
}

// Staged as gone; what else goes with it is found when it takes effect.
PortAnswer PluginObjects::remove(const PluginObjectRef& ref, std::string_view uid) {
  const api::KindInfo* kind = find_kind(kernel_.scheme(), ref.api_version, ref.kind);
  if (kind == nullptr) return no_kind(ref.api_version, ref.kind);
  const std::string key = key_of(*kind, ref.ns, ref.name);
  if (!kernel_.exists(*kind, key)) return answer_of(not_found(*kind, ref.name));
  if (auto refused = refuses_to_go({kind, key})) return answer_of(*refused);
  if (const StoredObject* stored = kernel_.store().find(*kind, key);
      !uid.empty() && (!stored || stored->metadata.uid() != uid))
    return answer_of(conflict(*kind, ref.name, "it has another uid"));
  kernel_.erase(*kind, key);
  return {};
}

PluginObjects::Keys& PluginObjects::keys_of(const std::string& plugin) const {
  const auto [it, fresh] = keys_.try_emplace(plugin);
  if (!fresh) return it->second;
  const std::string prefix = plugin + ":";
  for (const StoredObject* stored : kernel_.store().list(*state_kind_))
    if (stored->key.starts_with(prefix)) it->second.insert(stored->key.substr(prefix.size()));
  return it->second;
}

PortAnswer PluginObjects::state(const std::string& plugin, std::string_view key) const {
  const std::string whole = plugin + ":" + std::string(key);
  if (!kernel_.exists(*state_kind_, whole)) return {SLUICE_OBJECTS_NOT_FOUND, "no such key"};
  const json::object object = kernel_.current(*state_kind_, whole);
  return {SLUICE_OBJECTS_OK, base64_bytes(api::find_text(object, "data"))};
}

std::vector<std::string> PluginObjects::state_keys(const std::string& plugin,
                                                   std::string_view prefix) const {
  const Keys& keys = keys_of(plugin);
  std::vector<std::string> out;
  for (auto it = keys.lower_bound(prefix); it != keys.end() && it->starts_with(prefix); ++it)
    out.push_back(*it);
  return out;
}

PortAnswer PluginObjects::set_state(std::string_view key, std::string_view value) {
  if (key.empty() || key.size() > SLUICE_STATE_MAX_KEY ||
      find_bad_utf8(key) != std::string_view::npos)
    return senseless("a key has 1 to 253 bytes of UTF-8");
  if (value.size() > SLUICE_STATE_MAX_VALUE) return senseless("a value has at most 65536 bytes");
  Keys& keys = keys_of(plugin_);
  if (!keys.contains(key)) {
    if (keys.size() >= SLUICE_STATE_MAX_KEYS) return senseless("a plugin has at most 10000 keys");
    keys.emplace(key);
    key_changes_.emplace_back(key, true);
  }
  const json::object object{{"apiVersion", "internal.sluice.dev/v1"},
                            {"kind", "PluginState"},
                            {"metadata", json::object{{"name", state_key(key)}}},
                            {"data", base64_text(value)}};
  kernel_.commit(kernel_.intake().encode(*state_kind_, object));
  return {};
}

void PluginObjects::remove_state(std::string_view key) {
  Keys& keys = keys_of(plugin_);
  const auto found = keys.find(key);
  if (found == keys.end()) return;
  keys.erase(found);
  key_changes_.emplace_back(key, false);
  kernel_.erase(*state_kind_, state_key(key));
}

}  // namespace sluice::host
