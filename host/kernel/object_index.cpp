#include "host/kernel/object_index.hpp"

#include <array>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <optional>
#include <string_view>
#include <tuple>

#include "core/api/json.hpp"
#include "core/base/check.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Most objects have no owner and the text `"uid":` once: then that is theirs, and nothing has to
/// be parsed. (A quote inside of a text is escaped, so it cannot be part of one.)
std::optional<std::string_view> only_uid(std::string_view metadata) {
  constexpr std::string_view kField = "\"uid\":\"";
  const std::size_t at = metadata.find(kField);
  if (at == std::string_view::npos || metadata.find(kField, at + 1) != std::string_view::npos)
    return std::nullopt;
  if (metadata.find("\"ownerReferences\"") != std::string_view::npos) return std::nullopt;
  const std::size_t begin = at + kField.size();
  const std::size_t end = metadata.find_first_of("\"\\", begin);
  if (end == std::string_view::npos || metadata[end] != '"') return std::nullopt;
  return metadata.substr(begin, end - begin);
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

ObjectIndex::Facts ObjectIndex::facts_of(const StoredObject& stored) {
  Facts out;
  if (const auto uid = only_uid(stored.metadata)) {
    out.uid = *uid;
    return out;
  }
  boost::system::error_code code;
  std::array<unsigned char, 4096> buffer;  // most metadata fits
  json::monotonic_resource memory(buffer.data(), buffer.size());
  const json::value value = json::parse(stored.metadata, code, &memory);
  SLUICE_CHECK(!code && value.is_object(), "stored metadata is no object: ", stored.metadata);
  const json::object& metadata = value.get_object();
  out.uid = api::find_text(metadata, "uid");
  if (const auto* owners = api::find_array(metadata, "ownerReferences"))
    for (const auto& owner : *owners)
      if (const auto* reference = owner.if_object())
        out.owners.emplace_back(api::find_text(*reference, "uid"));
  return out;
}

void ObjectIndex::update(const ObjectChange& change) {
  const bool same_metadata =
      change.stored && change.before && change.stored->metadata == change.before->metadata;
  if (same_metadata) return;  // a status, most often
  const std::string_view ns = namespace_of(change);
  if (change.before) {
    const Facts old = facts_of(*change.before);
    by_uid_.erase(old.uid);
    for (const auto& owner : old.owners) {
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
  Facts now = facts_of(*change.stored);
  for (const auto& owner : now.owners) owned_[owner].insert({change.kind, change.key});
  if (!now.uid.empty()) by_uid_[std::move(now.uid)] = {change.kind, change.key};
  if (!ns.empty()) ++namespaces_[std::string(ns)];
}

std::vector<ObjectRef> ObjectIndex::owned_by(std::string_view uid) const {
  const auto it = owned_.find(std::string(uid));
  if (it == owned_.end()) return {};
  return {it->second.begin(), it->second.end()};
}

const ObjectRef* ObjectIndex::find(std::string_view uid) const {
  const auto it = by_uid_.find(std::string(uid));
  return it == by_uid_.end() ? nullptr : &it->second;
}

std::size_t ObjectIndex::in_namespace(std::string_view ns) const {
  const auto it = namespaces_.find(ns);
  return it == namespaces_.end() ? 0 : it->second;
}

}  // namespace sluice::host
