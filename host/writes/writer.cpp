#include "host/writes/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/json/json.hpp"
#include "host/kernel/merge_patch.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/field_manager.hpp"
#include "host/rest/json_patch.hpp"
#include "host/rest/strategic_merge.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

ObjectRef ref_of(const WriteRequest& request) {
  return {request.kind, key_of(*request.kind, request.ns, request.name)};
}

bool is_of_status(const WriteRequest& request) { return request.subresource == "status"; }

/// Custom kinds may only be replaced by a client that names the version it read.
bool is_custom(const api::KindInfo& kind) {
  constexpr std::string_view kBuiltIn[] = {"",
                                           "batch",
                                           "events.k8s.io",
                                           "rbac.authorization.k8s.io",
                                           "scheduling.k8s.io",
                                           "coordination.k8s.io"};
  return std::find(std::begin(kBuiltIn), std::end(kBuiltIn), kind.group) == std::end(kBuiltIn);
}

ApiError unsupported_patch(const api::KindInfo& kind) {
  ApiError out;
  out.code = 415;
  out.reason = "UnsupportedMediaType";
  out.text =
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
  out.group = kind.group;
  out.resource = kind.plural;
  return out;
}

/// The body names its kind, name and namespace as the URL does, or not at all.
ApiError is_named_otherwise(std::string_view name, const WriteRequest& request) {
  return bad_request(fmt::format(
      "the name of the object ({}) does not match the name on the URL ({})", name, request.name));
}

ApiResult<void> agree_with_url(const WriteRequest& request, json::object& body) {
  const std::string api_version = request.kind->api_version(request.version);
  const auto differs = [&](std::string_view field, std::string_view wanted) {
    const std::string_view found = api::find_text(body, field);
    return !found.empty() && found != wanted;
  };
  if (differs("kind", request.kind->kind) || differs("apiVersion", api_version))
    return bad_request(fmt::format("the body is a {} of {}, and the URL is of a {} of {}",
                                   api::find_text(body, "kind"), api::find_text(body, "apiVersion"),
                                   request.kind->kind, api_version));
  if (const json::value* given = body.if_contains("metadata");
      given && !given->is_object() && !given->is_null())
    return bad_request("metadata: must be an object");
  body["apiVersion"] = api_version;
  body["kind"] = request.kind->kind;
  json::object& metadata = metadata_of(body);
  const std::string_view ns = api::find_text(metadata, "namespace");
  if (request.kind->namespaced) {
    if (!ns.empty() && ns != request.ns)
      return bad_request(
          "the namespace of the provided object does not match the namespace sent on the request");
    metadata["namespace"] = request.ns;
  } else {
    metadata.erase("namespace");
  }
  const std::string_view name = api::find_text(metadata, "name");
  if (request.name.empty() || name == request.name) return {};
  if (!name.empty()) return is_named_otherwise(name, request);
  metadata["name"] = request.name;
  return {};
}

/// Whether the writer saw the object as it is: what it says of uid and resourceVersion.
ApiResult<void> check_precondition(const WriteRequest& request, const StoredObject& stored,
                                   const json::object& body, bool required) {
  const json::object* metadata = metadata_of(body);
  const std::string_view version =
      metadata ? api::find_text(*metadata, "resourceVersion") : std::string_view();
  const std::string_view uid = metadata ? api::find_text(*metadata, "uid") : std::string_view();
  if (version.empty() && required)
    return invalid(*request.kind, request.name,
                   {{api::Problem::Kind::kInvalid, "metadata.resourceVersion",
                     "Invalid value: 0: must be specified for an update"}});
  if (!version.empty() && version != "0" && version != std::to_string(stored.version))
    return conflict(*request.kind, request.name);
  const std::string_view own = stored.metadata.uid();
  if (!uid.empty() && uid != own)
    return conflict(*request.kind, request.name,
                    fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                "meta: {}",
                                uid, own));
  return {};
}

json::object taken(const WriteRequest& request, json::value* used_up, json::storage_ptr storage) {
  if (used_up) return std::move(used_up->get_object());
  return {request.body.get_object(), std::move(storage)};
}

std::optional<ApiError> unknown_part(const WriteRequest& request) {
  if (request.subresource.empty() || is_of_status(request) || request.subresource == "scale")
    return std::nullopt;
  return not_found(*request.kind, request.name + "/" + request.subresource);
}

WriteMode mode_of(const WriteRequest& request) {
  WriteMode mode;
  mode.dry_run = request.dry_run;
  mode.by_system = request.restore;
  mode.answer = request.wants_answer;
  mode.field_validation = request.field_validation;
  mode.field_manager = request.field_manager;
  mode.user = request.user;
  mode.may_wait = request.may_wait;
  mode.advises = true;
  mode.plugin = plugin_of_user(request.user);
  return mode;
}

}  // namespace

bool Writer::holds(const WriteRequest& request) const {
  return request.draft && request.draft->reads.hold(objects_.view());
}

std::shared_ptr<Draft> Writer::draft(const WriteRequest& request, const DraftView& view) const {
  auto out = std::make_shared<Draft>(view);
  fill(*out, request, nullptr);
  if (!out->refused && !out->encoded) drafter_.encode_ahead(*out, mode_of(request));
  return out;
}

ApiResult<WriteOutcome> Writer::attempt(WriteRequest& request) {
  WriteMode mode = mode_of(request);
  if (guard_)
    mode.guard = [&](const api::KindInfo& kind, const json::object* before,
                     const json::object& after) {
      return guard_({request.user, {}, request.user_groups}, kind, before, after);
    };
  if (request.verb == WriteVerb::kDelete) {
    if (auto refused = unknown_part(request)) return *refused;
    return objects_.remove(ref_of(request), request.deletion, mode);
  }
  if (request.prepared) {
    SLUICE_CHECK(!request.may_wait, "a prepared object is used up, and cannot be tried again: ",
                 request.prepared->stored.key);
    return objects_.create(std::move(*request.prepared), mode);
  }
  std::shared_ptr<Draft> draft = holds(request) ? request.draft : nullptr;
  if (!draft) {
    const bool again = request.may_wait && drafter_.asks_plugins(*request.kind);
    draft = std::make_shared<Draft>(objects_.view());
    fill(*draft, request, again ? nullptr : &request.body);
    request.draft = draft;
  }
  auto done = objects_.take(*draft, mode);
  if (!done || done->later) return done;
  done->warnings = std::move(draft->warnings);
  done->warnings.insert(done->warnings.end(), draft->advice.begin(), draft->advice.end());
  return done;
}

/// What the request says, validated.
void Writer::fill(Draft& draft, const WriteRequest& request, json::value* used_up) const {
  if (request.field_validation != FieldValidation::kIgnore)
    draft.warnings = request.decoding_problems;
  draft.refused = unknown_part(request);
  if (draft.refused) return;
  draft.refused = [&]() -> std::optional<ApiError> {
    if (request.subresource == "scale") return scale(draft, request);
    switch (request.verb) {
      case WriteVerb::kCreate:
        return create(draft, request, used_up);
      case WriteVerb::kUpdate:
        return update(draft, request, used_up);
      case WriteVerb::kPatch:
        return patch(draft, request);
      case WriteVerb::kDelete:
        break;
    }
    SLUICE_CHECK(false, "a draft of a deletion");
    return std::nullopt;
  }();
  if (!draft.refused) drafter_.validate(draft, mode_of(request));
}

std::optional<ApiError> Writer::create(Draft& draft, const WriteRequest& request,
                                       json::value* used_up) const {
  if (!request.body.is_object())
    return bad_request("the body must be one object, as JSON, YAML or protobuf");
  Edit& edit = draft.edit.emplace(*request.kind);
  edit.set_after(taken(request, used_up, edit.storage()));
  json::object& body = edit.after();
  if (auto agreed = agree_with_url(request, body); !agreed) return agreed.error();
  const json::object& metadata = metadata_of(body);
  if (!api::find_text(metadata, "resourceVersion").empty())
    return bad_request("resourceVersion should not be set on objects to be created");
  const json::value* name = metadata.if_contains("name");
  const bool is_text = !name || name->is_null() || name->is_string();  // else the schema says so
  if (is_text && api::find_text(metadata, "name").empty() &&
      api::find_text(metadata, "generateName").empty())
    return invalid(*request.kind, "",
                   {{api::Problem::Kind::kRequired, "metadata.name",
                     "Required value: name or generateName is required"}});
  return std::nullopt;
}

std::optional<ApiError> Writer::update(Draft& draft, const WriteRequest& request,
                                       json::value* used_up) const {
  if (!request.body.is_object())
    return bad_request("the body must be one object, as JSON, YAML or protobuf");
  json::object body = taken(request, used_up, {});
  if (auto agreed = agree_with_url(request, body); !agreed) return agreed.error();
  const ObjectRef ref = ref_of(request);
  const RecordPtr stored = draft.reads.find(*ref.kind, ref.key);
  if (!stored) return not_found(*ref.kind, request.name);
  if (auto seen = check_precondition(request, *stored, body, is_custom(*ref.kind)); !seen)
    return seen.error();
  draft.edit.emplace(open_edit(draft.reads.view(), ref, stored, is_of_status(request)));
  draft.edit->set_after(std::move(body));
  return std::nullopt;
}

ApiResult<json::object> Writer::patched(const WriteRequest& request, const Edit& edit) const {
  const api::KindInfo& kind = edit.kind();
  json::object before = edit.copy();
  if (auto converted = drafter_.scheme().to_version(before, request.version); !converted)
    return bad_request(converted.error().text);
  json::value document(std::move(before));
  switch (request.patch_type) {
    case PatchType::kMerge:
      merge_patch(document, request.body);
      break;
    case PatchType::kJson:
      if (auto done = json_patch(document, request.body); !done) return done.error();
      break;
    case PatchType::kStrategic: {
      if (is_custom(kind)) return unsupported_patch(kind);
      if (!request.body.is_object()) return bad_request("a strategic merge patch is an object");
      const auto* schema =
          drafter_.scheme().schema(request.kind->api_version(request.version), kind.kind);
      SLUICE_CHECK(schema != nullptr, "no schema of ", kind.kind);
      auto done = strategic_merge(document.get_object(), request.body.get_object(), *schema);
      if (!done) return done.error();
      break;
    }
    case PatchType::kApply:  // apply()
      break;
  }
  if (!document.is_object()) return bad_request("the patch leaves no object");
  return std::move(document.get_object());
}

/// Server-side apply: makes the object where there is none.
std::optional<ApiError> Writer::apply(Draft& draft, const WriteRequest& request) const {
  if (!request.body.is_object()) return bad_request("an apply patch is one object");
  json::object config = request.body.get_object();
  if (auto agreed = agree_with_url(request, config); !agreed) return agreed.error();
  const ObjectRef ref = ref_of(request);
  const DraftView& view = draft.reads.view();
  const RecordPtr stored = draft.reads.find(*ref.kind, ref.key);
  if (!stored && !request.subresource.empty()) return not_found(*ref.kind, request.name);
  if (!stored && !request.may_create)
    return forbidden(*ref.kind, request.name,
                     "there is none, and user \"" + request.user + "\" may not create it");
  if (stored) {
    if (auto seen = check_precondition(request, *stored, config, false); !seen) return seen.error();
    draft.edit.emplace(open_edit(view, ref, stored, is_of_status(request)));
  } else {
    draft.edit.emplace(*ref.kind);
  }
  auto applied = apply_configuration(
      view.scheme(), {*request.kind, request.field_manager, request.subresource, view.now()},
      request.version, draft.edit->before(), config, request.force);
  if (!applied) return applied.error();
  draft.records_owners = false;  // they are part of the result
  draft.edit->set_after(std::move(*applied));
  return std::nullopt;
}

std::optional<ApiError> Writer::patch(Draft& draft, const WriteRequest& request) const {
  if (request.patch_type == PatchType::kApply) return apply(draft, request);
  const ObjectRef ref = ref_of(request);
  const RecordPtr stored = draft.reads.find(*ref.kind, ref.key);
  if (!stored) return not_found(*ref.kind, request.name);
  Edit& edit =
      draft.edit.emplace(open_edit(draft.reads.view(), ref, stored, is_of_status(request)));
  auto after = patched(request, edit);
  if (!after) return after.error();
  if (auto seen = check_precondition(request, *stored, *after, false); !seen) return seen.error();
  const json::object* metadata = metadata_of(std::as_const(*after));
  if (metadata == nullptr) return bad_request("metadata: the patch leaves no object there");
  // By these it is judged: as another kind it would pass the rules of that one.
  if (api::find_text(*after, "kind") != ref.kind->kind ||
      api::find_text(*after, "apiVersion") != request.kind->api_version(request.version))
    return bad_request("apiVersion and kind cannot be patched");
  if (api::find_text(*metadata, "name") != request.name ||
      (ref.kind->namespaced && api::find_text(*metadata, "namespace") != request.ns))
    return bad_request("metadata.name and metadata.namespace cannot be patched");
  edit.set_after(std::move(*after));
  return std::nullopt;
}

/// The Scale that the request leaves: of a patch, that of what is there.
ApiResult<json::object> Writer::scale_of(const WriteRequest& request, const Edit& edit) const {
  if (request.verb != WriteVerb::kPatch || request.patch_type != PatchType::kJson) {
    const json::object* body = request.body.if_object();
    return body ? *body : json::object();
  }
  const json::object& object = *edit.before();
  const json::value* replicas = api::find(part(object, "spec"), request.kind->scale_field);
  json::value scale =
      json::object{{"apiVersion", "autoscaling/v1"},
                   {"kind", "Scale"},
                   {"metadata", part(object, "metadata")},
                   {"spec", json::object{{"replicas", replicas ? *replicas : json::value(1)}}}};
  if (auto done = json_patch(scale, request.body); !done) return done.error();
  if (!scale.is_object()) return bad_request("the patch leaves no object");
  return std::move(scale.get_object());
}

/// The Scale of a kind stands for one number of its spec.
std::optional<ApiError> Writer::scale(Draft& draft, const WriteRequest& request) const {
  const ObjectRef ref = ref_of(request);
  const RecordPtr stored = draft.reads.find(*ref.kind, ref.key);
  if (!stored || request.kind->scale_field.empty())
    return not_found(*ref.kind, request.name + "/scale");
  Edit& edit = draft.edit.emplace(open_edit(draft.reads.view(), ref, stored, false));
  const auto body = scale_of(request, edit);
  if (!body) return body.error();
  const auto replicas = api::find_int(part(*body, "spec"), "replicas");
  if (!replicas)
    return invalid(*request.kind, request.name,
                   {{api::Problem::Kind::kRequired, "spec.replicas", "Required value"}});
  const std::string_view name = api::find_text(part(*body, "metadata"), "name");
  if (!name.empty() && name != request.name) return is_named_otherwise(name, request);
  if (auto seen = check_precondition(request, *stored, *body, false); !seen) return seen.error();
  edit.set_after(edit.copy());
  json::value& target = edit.after()["spec"];
  if (!target.is_object()) target.emplace_object();
  target.get_object()[request.kind->scale_field] = *replicas;
  return std::nullopt;
}

}  // namespace sluice::host
