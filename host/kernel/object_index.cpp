#include "host/kernel/object_index.hpp"

#include <array>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <cstring>
#include <string_view>
#include <tuple>

#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "core/base/check.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// UIDs of the owners. Most objects have none, and of all others nothing else is parsed.
std::vector<std::string> owners_of(const StoredObject& stored) {
  constexpr std::string_view kField = "\"ownerReferences\"";
  std::vector<std::string> out;
  const std::string& metadata = stored.metadata;
  if (!::memmem(metadata.data(), metadata.size(), kField.data(), kField.size())) return out;
  const std::string_view owners = member_text(metadata, "ownerReferences");
  if (owners.empty()) return out;  // the text of something else
  boost::system::error_code code;
  std::array<unsigned char, 4096> buffer;  // most lists fit
  json::monotonic_resource memory(buffer.data(), buffer.size());
  const json::value list = json::parse(api::json_view(owners), code, &memory);
  if (code || !list.is_array()) return out;
  for (const json::value& owner : list.get_array())
    if (const auto* reference = owner.if_object())
      out.emplace_back(api::find_text(*reference, "uid"));
  return out;
}

std::string uid_of(const StoredObject& stored) {
  std::string scratch;
  return std::string(scalar_text(member_text(stored.metadata, "uid"), scratch));
}

std::string_view namespace_of(const ObjectChange& change) {
  if (!change.kind->namespaced) return {};
  return std::string_view(change.key).substr(0, change.key.find('/'));
}

}  // namespace

bool ObjectIndex::Less::operator()(const ObjectRef& a, const ObjectRef& b) const {
  return std::tie(a.kind->group, a.kind->kind, a.key) <
         std::tie(b.kind->group, b.kind->kind, b.key);
}

void ObjectIndex::note_uid(const ObjectChange& change) {
  if (change.before) by_uid_.erase(uid_of(*change.before));
  if (!change.stored) return;
  if (std::string uid = uid_of(*change.stored); !uid.empty())
    by_uid_[std::move(uid)] = {change.kind, change.key};
}

void ObjectIndex::update(const ObjectChange& change) {
  const bool same_metadata =
      change.stored && change.before && change.stored->metadata == change.before->metadata;
  if (same_metadata) return;  // a status, most often
  if (uids_ == Uids::kKept) note_uid(change);
  const std::string_view ns = namespace_of(change);
  if (change.before) {
    for (const auto& owner : owners_of(*change.before)) {
      const auto it = owned_.find(owner);
      if (it == owned_.end()) continue;
      it->second.erase({change.kind, change.key});
      if (it->second.empty()) owned_.erase(it);
    }
    if (!ns.empty())
      if (const auto it = namespaces_.find(ns); it != namespaces_.end() && --it->second == 0)
        namespaces_.erase(it);
  }
  if (!change.stored) return;
  for (auto& owner : owners_of(*change.stored))
    owned_[std::move(owner)].insert({change.kind, change.key});
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
  const auto it = by_uid_.find(std::string(uid));
  return it == by_uid_.end() ? nullptr : &it->second;
}

std::size_t ObjectIndex::in_namespace(std::string_view ns) const {
  const auto it = namespaces_.find(ns);
  return it == namespaces_.end() ? 0 : it->second;
}

}  // namespace sluice::host
