#include "host/whatif/question.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "host/access/denial.hpp"
#include "host/kernel/merge_patch.hpp"
#include "host/manifests/manifests.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/decode.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

ApiError no_such_kind(std::string_view api_version, std::string_view kind) {
  ApiError out;
  out.code = 404;
  out.reason = "NotFound";
  out.text = fmt::format("the server could not find the requested resource: kind {} of {}", kind,
                         api_version);
  return out;
}

ApiResult<Wish> read_wish(const api::Scheme& scheme, const json::value& value, std::string_view ns,
                          const std::string& path) {
  const json::object* object = value.if_object();
  if (!object) return bad_request(fmt::format("{}: must be an object", path));
  Wish wish;
  const std::string_view api_version = api::find_text(*object, "apiVersion");
  const std::string_view kind = api::find_text(*object, "kind");
  if (api_version.empty() || kind.empty())
    return bad_request(fmt::format("{}: Required value: apiVersion and kind", path));
  wish.kind = scheme.find(api_version, kind);
  if (!wish.kind || wish.kind->internal) return no_such_kind(api_version, kind);
  wish.version = api::version_of(api_version);
  const json::object& metadata = part(*object, "metadata");
  wish.name = api::find_text(metadata, "name");
  if (wish.kind->namespaced) {
    wish.ns = api::find_text(metadata, "namespace");
    if (wish.ns.empty()) wish.ns = ns;
    if (wish.ns.empty())
      return bad_request(fmt::format("{}.metadata.namespace: Required value", path));
  }
  wish.object = *object;
  return wish;
}

AccessRequest access(const Wish& wish, std::string_view verb) {
  AccessRequest out;
  out.verb = verb;
  out.group = wish.kind->group;
  out.resource = wish.kind->plural;
  out.ns = wish.ns;
  // A Namespace is an object of itself, as for every other request.
  if (out.group.empty() && out.resource == "namespaces") out.ns = wish.name;
  out.name = verb == "create" ? std::string_view() : std::string_view(wish.name);
  return out;
}

/// The verb with which the wish is carried out; 403 when none is allowed.
ApiResult<WriteVerb> verb_of(const Question& question, const Wish& wish, const May& may,
                             bool exists) {
  const auto allowed = [&](std::string_view verb) { return may(access(wish, verb)); };
  if (wish.remove) {
    if (const AccessAnswer answer = allowed("delete"); !answer.allowed)
      return access_denied(question.who, access(wish, "delete"), answer.reason);
    return WriteVerb::kDelete;
  }
  if (exists && allowed("patch").allowed) return WriteVerb::kPatch;
  // A user that may do neither does not learn whether the object exists.
  if (const AccessAnswer answer = allowed("create"); !answer.allowed)
    return access_denied(question.who, access(wish, "create"), answer.reason);
  return WriteVerb::kCreate;
}

/// What was applied before and is not any more goes: as nulls in the patch, a copy of `after`.
void drop_what_left(const json::object& before, const json::object& after, json::object& patch) {
  for (const auto& [name, value] : before) {
    const json::value* now = after.if_contains(name);
    if (!now)
      patch[name] = nullptr;
    else if (value.is_object() && now->is_object())
      drop_what_left(value.get_object(), now->get_object(), patch[name].get_object());
  }
}

/// As `kubectl apply` changes what is there: its fields are what the file says, those that it said
/// when it was applied last go, all others stay.
json::object patch_of(const Wish& wish, const StoredObject& stored) {
  json::object patch = wish.object;
  const json::object now = to_object(stored);
  const std::string_view last =
      api::find_text(part(part(now, "metadata"), "annotations"), kLastApplied);
  boost::system::error_code code;
  const json::value before = last.empty() ? json::value() : api::parse_deep(last, code);
  if (!code && before.is_object()) drop_what_left(before.get_object(), wish.object, patch);
  patch.erase("status");  // of the patch only: the annotation may tell of one
  return patch;
}

WriteRequest request_of(const Question& question, const Wish& wish, WriteVerb verb,
                        const StoredObject* stored) {
  WriteRequest out;
  out.verb = verb;
  out.kind = wish.kind;
  out.version = wish.version;
  out.ns = wish.ns;
  out.field_validation = question.field_validation;
  out.user = question.who.user;
  out.user_groups = question.who.groups;
  if (verb != WriteVerb::kCreate) out.name = wish.name;
  if (verb == WriteVerb::kCreate) out.body = wish.object;
  if (verb == WriteVerb::kPatch) out.body = patch_of(wish, *stored);
  return out;
}

/// As it is given; an empty one where there is none.
ApiResult<const json::array*> list_of(const json::object& spec, const char* name) {
  static const json::array kNone;
  const json::value* given = spec.if_contains(name);
  if (!given || given->is_null()) return &kNone;
  if (!given->is_array()) return bad_request(fmt::format("spec.{}: must be a list", name));
  return &given->get_array();
}

ApiError too_many(std::size_t wishes) {
  return bad_request(
      fmt::format("spec: Too many: {}: must have at most {} objects", wishes, kMostWishes));
}

/// The objects of a text as `kubectl apply -f` reads it: YAML of several documents, or JSON.
ApiResult<json::array> documents_of(const json::object& spec, const char* name) {
  const json::value* given = spec.if_contains(name);
  json::array out;
  if (!given || given->is_null()) return out;
  if (!given->is_string()) return bad_request(fmt::format("spec.{}: must be a text", name));
  ManifestLimits limits;
  limits.max_yaml_nodes = DecodeLimits().values;  // as for the body of a write
  limits.max_yaml_copies_bytes = DecodeLimits().bytes;
  const auto read =
      load_text(std::string(api::view(given->get_string())), fmt::format("spec.{}", name), limits,
                [&](Document&& document) -> Result<void> {
                  out.emplace_back(std::move(document.object));
                  return {};
                });
  if (!read) return bad_request(read.error().text);
  return out;
}

}  // namespace

ApiResult<void> judge_size(const json::object& spec) {
  std::size_t wishes = 0;
  for (const char* name : {"objects", "delete"}) {
    const auto given = list_of(spec, name);
    if (!given) return given.error();
    wishes += (*given)->size();
  }
  if (wishes > kMostWishes) return too_many(wishes);
  return {};
}

ApiResult<std::vector<Wish>> read_wishes(const api::Scheme& scheme, const json::object& spec) {
  struct Field {
    const char* list;
    const char* text;
    bool remove;
  };
  std::vector<Wish> out;
  for (const Field& field :
       {Field{"objects", "manifests", false}, Field{"delete", "deleteManifests", true}}) {
    const auto list = list_of(spec, field.list);
    if (!list) return list.error();
    const auto documents = documents_of(spec, field.text);
    if (!documents) return documents.error();
    for (const auto& [name, given] : {std::pair(field.list, *list), {field.text, &*documents}}) {
      for (std::size_t i = 0; i < given->size(); ++i) {
        const std::string path = fmt::format("spec.{}[{}]", name, i);
        auto wish = read_wish(scheme, (*given)[i], api::find_text(spec, "namespace"), path);
        if (!wish) return wish.error();
        wish->remove = field.remove;
        if (field.remove && wish->name.empty())
          return bad_request(fmt::format("{}.metadata.name: Required value", path));
        out.push_back(std::move(*wish));
      }
    }
  }
  if (out.empty() && !spec.contains("waiting"))
    return bad_request("spec.objects: Required value: what would be written");
  if (out.size() > kMostWishes) return too_many(out.size());
  return out;
}

ApiResult<Waiting> read_waiting(const json::object& spec) {
  Waiting out;
  const json::value* given = spec.if_contains("waiting");
  if (!given || given->is_null()) return out;
  if (!given->is_object()) return bad_request("spec.waiting: must be an object");
  const json::object& waiting = given->get_object();
  auto list = list_of(waiting, "workloads");
  if (!list) return bad_request("spec.waiting.workloads: must be a list");
  const auto key_of = [&](const json::object& of, std::string_view name) {
    const std::string_view ns = api::find_text(of, "namespace");
    const std::string_view other = api::find_text(spec, "namespace");
    return fmt::format("{}/{}", ns.empty() ? other : ns, name);
  };
  for (const json::value& each : **list) {
    const json::object* ref = each.if_object();
    const std::string_view name = ref ? api::find_text(*ref, "name") : std::string_view();
    if (name.empty() || key_of(*ref, name).front() == '/')
      return bad_request(fmt::format(
          "spec.waiting.workloads[{}]: Required value: namespace and name", out.workloads.size()));
    out.workloads.push_back(key_of(*ref, name));
  }
  out.cluster_queue = api::find_text(waiting, "clusterQueue");
  if (const std::string_view name = api::find_text(waiting, "localQueue"); !name.empty())
    out.local_queue = key_of(waiting, name);
  const int ways = (out.workloads.empty() ? 0 : 1) + (out.cluster_queue.empty() ? 0 : 1) +
                   (out.local_queue.empty() ? 0 : 1);
  if (ways != 1)
    return bad_request(
        "spec.waiting: exactly one of workloads, clusterQueue, localQueue is allowed");
  if (out.local_queue.starts_with('/'))
    return bad_request("spec.waiting.namespace: Required value: that of the localQueue");
  if (out.workloads.size() > kMostWaiting)
    return bad_request(
        fmt::format("spec.waiting.workloads: Too many: {}: must have at most {} items",
                    out.workloads.size(), kMostWaiting));
  return out;
}

/// `key`: `namespace/name`, or `name`.
AccessRequest reading(std::string_view resource, std::string_view key) {
  AccessRequest out;
  out.verb = "get";
  out.group = kQueueGroup;
  out.resource = resource;
  const KeyParts parts = split_key(key);
  out.ns = parts.ns;
  out.name = parts.name;
  return out;
}

ApiResult<void> judge_access(const Question& question, const May& may, const Exists& exists) {
  for (const Wish& wish : question.wishes) {
    const bool there = !wish.name.empty() && exists(*wish.kind, wish.key());
    if (auto verb = verb_of(question, wish, may, there); !verb) return verb.error();
  }
  for (const std::string& key : question.waiting.workloads)
    if (const AccessAnswer answer = may(reading("workloads", key)); !answer.allowed)
      return access_denied(question.who, reading("workloads", key), answer.reason);
  return {};
}

ApiResult<void> judge_queue(const Waiting& waiting, const api::Scheme& scheme, const May& may,
                            const Exists& exists) {
  if (!waiting.asks_of_queue()) return {};
  const bool local = !waiting.local_queue.empty();
  const std::string& key = local ? waiting.local_queue : waiting.cluster_queue;
  const api::KindInfo& kind = api::kueue_kind(scheme, local ? "LocalQueue" : "ClusterQueue");
  if (exists(kind, key) || !may_read_queue(waiting, may)) return {};
  return not_found(kind, split_key(key).name);
}

bool may_read_queue(const Waiting& waiting, const May& may) {
  const bool local = !waiting.local_queue.empty();
  return may(local ? reading("localqueues", waiting.local_queue)
                   : reading("clusterqueues", waiting.cluster_queue))
      .allowed;
}

ApiResult<std::vector<Granted>> put_question(const Question& question, const May& may,
                                             Machine& machine) {
  std::vector<Granted> out;
  for (const Wish& wish : question.wishes) {
    const StoredObject* stored =
        wish.name.empty() ? nullptr : machine.store().find(*wish.kind, wish.key());
    const auto verb = verb_of(question, wish, may, stored != nullptr);
    if (!verb) return verb.error();
    auto done = machine.write(request_of(question, wish, *verb, stored));
    if (!done) return done.error();
    out.push_back({done->object.key, std::move(done->warnings)});
  }
  return out;
}

}  // namespace sluice::host
