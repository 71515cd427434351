#include "pretended_cluster.hpp"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/kernel/merge_patch.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

ClusterAnswer with(int status, const json::object& body) {
  ClusterAnswer out;
  out.status = status;
  out.body = json::serialize(body);
  return out;
}

ClusterAnswer refusal(int status, const std::string& message) {
  return with(status, {{"kind", "Status"}, {"code", status}, {"message", message}});
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> out(1);
  for (const char c : path.substr(0, path.find('?'))) {
    if (c == '/')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

/// The members of an object in the order of their names, as an API server gives them out.
json::object in_order(const json::object& object) {
  std::string text;
  api::append_canonical_json(object, text);
  return json::parse(text).as_object();
}

}  // namespace

/// `/apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME/status` and what there is of it.
PretendedCluster::Named PretendedCluster::named(std::string_view path) const {
  const std::vector<std::string> parts = parts_of(path);
  const bool core = parts[1] == "api";
  std::size_t at = core ? 3 : 4;
  const std::string group = core ? "" : parts[2];
  std::string ns;
  if (parts[at] == "namespaces" && parts.size() > at + 2) {
    ns = parts[at + 1];
    at += 2;
  }
  Named out;
  for (const api::KindInfo* kind : scheme_.kinds())
    if (kind->group == group && kind->plural == parts[at]) out.kind = kind;
  SLUICE_CHECK(out.kind != nullptr, "no kind at ", path);
  out.key = ns;
  if (parts.size() > at + 1) out.key = ns.empty() ? parts[at + 1] : ns + "/" + parts[at + 1];
  out.status = parts.size() > at + 2;
  return out;
}

const json::object* PretendedCluster::find(const api::KindInfo& kind, const std::string& key) {
  const auto found = objects_[&kind].find(key);
  return found == objects_[&kind].end() ? nullptr : &found->second;
}

void PretendedCluster::put(const api::KindInfo& kind, const std::string& key, json::object object) {
  object_of(object, "metadata")["resourceVersion"] = std::to_string(++version_);
  object = in_order(object);
  if (witness) witness(kind, key, object);
  told.push_back({Letter::Says::kPut, &kind, kind.hub_api_version(), object});
  objects_[&kind][key] = std::move(object);
}

ClusterAnswer PretendedCluster::answer(const ClusterRequest& request) {
  const Named at = named(request.path);
  ClusterAnswer out;
  if (request.method == "POST") {
    out = created(at, request.body);
  } else if (request.method == "DELETE") {
    out = deleted(at);
  } else if (const json::object* found = find(*at.kind, at.key)) {
    out = request.method == "GET" ? with(200, *found) : patched(at, request.body);
  } else {
    out = refusal(404, "not found");
  }
  out.id = request.id;
  return out;
}

ClusterAnswer PretendedCluster::created(const Named& at, const std::string& body) {
  json::object object = json::parse(body).as_object();
  const std::string key = key_of(object);
  if (find(*at.kind, key)) return refusal(409, "already exists");
  create(*at.kind, std::move(object));
  return with(201, *find(*at.kind, key));
}

ClusterAnswer PretendedCluster::patched(const Named& at, const std::string& body) {
  json::object patch = json::parse(body).as_object();
  json::object& metadata = object_of(patch, "metadata");
  json::object object = *find(*at.kind, at.key);
  const json::object& present = part(object, "metadata");
  for (const char* field : {"resourceVersion", "uid"})
    if (api::find_text(metadata, field) != api::find_text(present, field))
      return refusal(409, fmt::format("another {}", field));
  // Each path changes its own part only.
  json::object only;
  if (at.status) {
    if (const json::value* status = patch.if_contains("status")) only["status"] = *status;
  } else {
    only = patch;
    only.erase("status");
  }
  json::value merged = object;
  merge_patch(merged, only);
  put(*at.kind, at.key, merged.as_object());
  return with(200, *find(*at.kind, at.key));
}

ClusterAnswer PretendedCluster::deleted(const Named& at) {
  if (!find(*at.kind, at.key)) return refusal(404, "not found");
  remove(*at.kind, at.key);
  return with(200, {{"kind", "Status"}, {"status", "Success"}});
}

void PretendedCluster::create(const api::KindInfo& kind, json::object object) {
  json::object& metadata = object_of(object, "metadata");
  metadata["uid"] = fmt::format("uid-{:06}", ++uids_);
  metadata["creationTimestamp"] = fmt::format("2026-01-01T00:00:{:02}Z", uids_ % 60);
  metadata["generation"] = 1;
  const std::string key = key_of(object);
  put(kind, key, std::move(object));
}

void PretendedCluster::change(const api::KindInfo& kind, const std::string& key,
                              const std::function<void(json::object&)>& edit) {
  json::object object = objects_[&kind].at(key);
  edit(object);
  put(kind, key, std::move(object));
}

/// Nothing here has finalizers: it is gone, and what it owns with it.
void PretendedCluster::remove(const api::KindInfo& kind, const std::string& key) {
  json::object object = std::move(objects_[&kind].at(key));
  objects_[&kind].erase(key);
  const std::string uid(api::find_text(part(object, "metadata"), "uid"));
  object_of(object, "metadata")["resourceVersion"] = std::to_string(++version_);
  told.push_back({Letter::Says::kRemove, &kind, kind.hub_api_version(), std::move(object)});
  std::vector<std::pair<const api::KindInfo*, std::string>> owned;
  for (const auto& [of, table] : objects_)
    for (const auto& [name, each] : table)
      for_each_object(part(each, "metadata"), "ownerReferences",
                      [&, kind_of = of, &key_of_it = name](const json::object& owner) {
                        if (api::find_text(owner, "uid") == uid)
                          owned.emplace_back(kind_of, key_of_it);
                      });
  for (const auto& [of, name] : owned) remove(*of, name);
}

std::vector<Letter> PretendedCluster::listed(const std::vector<const api::KindInfo*>& kinds) {
  std::vector<Letter> out;
  for (const api::KindInfo* kind : kinds) {
    out.push_back({Letter::Says::kListBegins, kind, {}, {}, version_});
    for (const auto& [key, object] : objects_[kind])
      out.push_back({Letter::Says::kPut, kind, kind->hub_api_version(), object});
    out.push_back({Letter::Says::kListEnds, kind, {}, {}});
  }
  return out;
}

}  // namespace sluice::host
