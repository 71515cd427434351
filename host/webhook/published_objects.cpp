#include "host/webhook/published_objects.hpp"

#include <algorithm>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/rest/selectors.hpp"
#include "sluice/svc/objects.h"

namespace sluice::host {
namespace {

constexpr const char* kOnlyReads = "a review changes nothing";

ApiError no_write() { return unavailable(kOnlyReads, 0); }

PortAnswer not_now() { return {SLUICE_OBJECTS_NOT_NOW, kOnlyReads}; }

PortAnswer missing(std::string text) { return {SLUICE_OBJECTS_NOT_FOUND, std::move(text)}; }

}  // namespace

std::optional<boost::json::object> PublishedObjects::get(const api::KindInfo& kind,
                                                         std::string_view key) const {
  const RecordPtr found = store_.get(kind, key);
  if (!found) return std::nullopt;
  return to_object(*found);
}

std::vector<std::string> PublishedObjects::keys(const api::KindInfo& kind,
                                                std::string_view ns) const {
  std::vector<std::string> out;
  if (const auto listing = store_.read(kind, ns))
    for (const RecordPtr& each : listing->objects) out.push_back(each->key);
  return out;
}

std::vector<ObjectRef> PublishedObjects::owned_by(std::string_view uid, std::string_view ns) const {
  std::vector<ObjectRef> out;
  const api::KindInfo& workloads = api::kueue_kind(scheme_, "Workload");
  const auto listing = store_.read(workloads, ns);
  if (!listing) return out;
  for (const RecordPtr& each : listing->objects) {
    const auto& owners = each->metadata.owners();
    if (std::any_of(owners.begin(), owners.end(),
                    [uid](const OwnerReference& owner) { return owner.uid == uid; }))
      out.push_back({&workloads, each->key});
  }
  return out;
}

ApiResult<void> PublishedObjects::create(boost::json::object) { return no_write(); }
ApiResult<void> PublishedObjects::update(boost::json::object) { return no_write(); }
ApiResult<void> PublishedObjects::update_status(const api::KindInfo&, std::string_view,
                                                boost::json::object) {
  return no_write();
}
ApiResult<void> PublishedObjects::remove(const api::KindInfo&, std::string_view, Propagation,
                                         std::optional<std::int64_t>) {
  return no_write();
}
ApiResult<void> PublishedObjects::report_check(std::string_view, const api::AdmissionCheckState&) {
  return no_write();
}
ApiResult<void> PublishedObjects::finish_workload(std::string_view, std::string_view,
                                                  std::string_view) {
  return no_write();
}

PortAnswer PublishedPort::show(const StoredObject& stored, std::string_view api_version) const {
  const std::string_view version = api::version_of(api_version);
  if (version == stored.kind->hub().name) return {SLUICE_OBJECTS_OK, text_for_plugins(stored)};
  boost::json::object object = to_object(stored);
  if (auto done = scheme_.to_version(object, version); !done) return missing(done.error().text);
  return {SLUICE_OBJECTS_OK, text_for_plugins(object)};
}

PortAnswer PublishedPort::get(const PluginObjectRef& ref) const {
  const api::KindInfo* kind = scheme_.find(ref.api_version, ref.kind);
  if (!kind || kind->internal) return missing("there is no kind " + std::string(ref.kind));
  const RecordPtr found = store_.get(*kind, key_of(*kind, ref.ns, ref.name));
  if (!found) return missing(not_found(*kind, ref.name).text);
  return show(*found, ref.api_version);
}

PortAnswer PublishedPort::list(const PluginObjectRef& ref, std::string_view selector) const {
  const api::KindInfo* kind = scheme_.find(ref.api_version, ref.kind);
  if (!kind || kind->internal) return missing("there is no kind " + std::string(ref.kind));
  const auto labels = LabelQuery::parse(selector);
  if (!labels) return {SLUICE_OBJECTS_INVALID, labels.error().text};
  const auto listing = store_.read(*kind, ref.ns);
  if (!listing) return {SLUICE_OBJECTS_FAILED, listing.error().text};
  PortAnswer out{SLUICE_OBJECTS_OK, "["};
  for (const RecordPtr& each : listing->objects) {
    if (!labels->matches(*each)) continue;
    PortAnswer one = show(*each, ref.api_version);
    if (one.code != SLUICE_OBJECTS_OK) return one;
    if (out.text.size() > 1) out.text += ',';
    out.text += one.text;
  }
  out.text += ']';
  return out;
}

PortAnswer PublishedPort::state(const std::string&, std::string_view) const { return missing(""); }
PortAnswer PublishedPort::create(std::string_view) { return not_now(); }
PortAnswer PublishedPort::update(std::string_view, std::string_view) { return not_now(); }
PortAnswer PublishedPort::patch(const PluginObjectRef&, std::string_view, std::string_view) {
  return not_now();
}
PortAnswer PublishedPort::remove(const PluginObjectRef&, std::string_view) { return not_now(); }
PortAnswer PublishedPort::release_claim(const PluginObjectRef&) { return not_now(); }
PortAnswer PublishedPort::set_state(std::string_view, std::string_view) { return not_now(); }

}  // namespace sluice::host
