#include "host/writes/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/json/json.hpp"
#include "host/kernel/merge_patch.hpp"
#include "host/rest/field_manager.hpp"
#include "host/rest/json_patch.hpp"
#include "host/rest/strategic_merge.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::string key_of(const WriteRequest& request) {
  return request.kind->namespaced ? request.ns + "/" + request.name : request.name;
}

bool is_of_status(const WriteRequest& request) { return request.subresource == "status"; }

std::string api_version_of(const WriteRequest& request) {
  return request.kind->group.empty() ? request.version
                                     : request.kind->group + "/" + request.version;
}

/// Custom kinds may only be replaced by who says which version was read.
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
ApiResult<void> agree_with_url(const WriteRequest& request, json::object& body) {
  const std::string api_version = api_version_of(request);
  const auto differs = [&](std::string_view field, std::string_view wanted) {
    const std::string_view found = api::find_text(body, field);
    return !found.empty() && found != wanted;
  };
  if (differs("kind", request.kind->kind) || differs("apiVersion", api_version))
    return bad_request(fmt::format("the body is a {} of {}, and the URL is of a {} of {}",
                                   api::find_text(body, "kind"), api::find_text(body, "apiVersion"),
                                   request.kind->kind, api_version));
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
  if (!name.empty())
    return bad_request(fmt::format(
        "the name of the object ({}) does not match the name on the URL ({})", name, request.name));
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

}  // namespace

ApiResult<WriteOutcome> Writer::execute(WriteRequest request) {
  std::vector<std::string> warnings, advice;
  WriteMode mode;
  mode.advice = &advice;
  mode.dry_run = request.dry_run;
  mode.by_system = request.restore;
  mode.answer = request.wants_answer;
  mode.field_validation = request.field_validation;
  mode.field_manager = request.field_manager;
  if (constexpr std::string_view kPlugin = "system:plugin:"; request.user.starts_with(kPlugin))
    mode.plugin = std::string_view(request.user).substr(kPlugin.size());
  if (request.field_validation != FieldValidation::kIgnore) {
    mode.warnings = &warnings;
    warnings = request.decoding_problems;
  }
  if (guard_)
    mode.guard = [&](const api::KindInfo& kind, const json::object& object) {
      return guard_({request.user, {}, request.user_groups}, kind, object);
    };
  if (!request.subresource.empty() && request.subresource != "status" &&
      request.subresource != "scale")
    return not_found(*request.kind, request.name + "/" + request.subresource);
  ApiResult<WriteOutcome> done = [&]() -> ApiResult<WriteOutcome> {
    if (request.subresource == "scale") return scale(request, mode);
    switch (request.verb) {
      case WriteVerb::kCreate:
        return create(request, mode);
      case WriteVerb::kUpdate:
        return update(request, mode);
      case WriteVerb::kPatch:
        return patch(request, mode);
      case WriteVerb::kDelete:
        break;
    }
    return objects_.remove({request.kind, key_of(request)}, request.deletion, mode);
  }();
  if (!done) return done;
  done->warnings = std::move(warnings);
  done->warnings.insert(done->warnings.end(), advice.begin(), advice.end());
  return done;
}

ApiResult<WriteOutcome> Writer::create(WriteRequest& request, const WriteMode& mode) {
  if (request.prepared) return objects_.create(std::move(*request.prepared), mode);
  if (!request.body.is_object())
    return bad_request("the body must be one object, as JSON, YAML or protobuf");
  json::object body = std::move(request.body.get_object());
  if (auto agreed = agree_with_url(request, body); !agreed) return agreed.error();
  const json::object& metadata = metadata_of(body);
  if (!api::find_text(metadata, "resourceVersion").empty())
    return bad_request("resourceVersion should not be set on objects to be created");
  if (api::find_text(metadata, "name").empty() && api::find_text(metadata, "generateName").empty())
    return invalid(*request.kind, "",
                   {{api::Problem::Kind::kRequired, "metadata.name",
                     "Required value: name or generateName is required"}});
  return objects_.create(*request.kind, std::move(body), mode);
}

ApiResult<WriteOutcome> Writer::update(WriteRequest& request, const WriteMode& mode) {
  if (!request.body.is_object())
    return bad_request("the body must be one object, as JSON, YAML or protobuf");
  json::object body = std::move(request.body.get_object());
  if (auto agreed = agree_with_url(request, body); !agreed) return agreed.error();
  const ObjectRef ref{request.kind, key_of(request)};
  const StoredObject* stored = objects_.kernel().store().find(*ref.kind, ref.key);
  if (!stored) return not_found(*ref.kind, request.name);
  if (auto seen = check_precondition(request, *stored, body, is_custom(*ref.kind)); !seen)
    return seen.error();
  Edit edit(objects_.kernel(), ref, is_of_status(request));
  edit.set_after(std::move(body));
  return objects_.replace(std::move(edit), mode);
}

ApiResult<json::object> Writer::patched(const WriteRequest& request, const Edit& edit) const {
  const api::KindInfo& kind = edit.kind();
  json::object before = edit.copy();
  if (auto converted = objects_.scheme().to_version(before, request.version); !converted)
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
      const auto* schema = objects_.scheme().schema(api_version_of(request), kind.kind);
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
ApiResult<WriteOutcome> Writer::apply(const WriteRequest& request, WriteMode mode) {
  if (!request.body.is_object()) return bad_request("an apply patch is one object");
  json::object config = request.body.get_object();
  if (auto agreed = agree_with_url(request, config); !agreed) return agreed.error();
  const ObjectRef ref{request.kind, key_of(request)};
  const StoredObject* stored = objects_.kernel().store().find(*ref.kind, ref.key);
  if (!stored && !request.subresource.empty()) return not_found(*ref.kind, request.name);
  if (!stored && !request.may_create)
    return forbidden(*ref.kind, request.name,
                     "there is none, and user \"" + request.user + "\" may not create it");
  std::optional<Edit> edit;
  if (stored) {
    if (auto seen = check_precondition(request, *stored, config, false); !seen) return seen.error();
    edit.emplace(objects_.kernel(), ref, is_of_status(request));
  }
  auto applied = apply_configuration(
      objects_.scheme(),
      {*request.kind, request.field_manager, request.subresource, objects_.now()}, request.version,
      edit ? &edit->before() : nullptr, config, request.force);
  if (!applied) return applied.error();
  mode.field_manager = {};  // the owners are part of the result
  if (!edit) return objects_.create(*ref.kind, std::move(*applied), mode);
  edit->set_after(std::move(*applied));
  return objects_.replace(std::move(*edit), mode);
}

ApiResult<WriteOutcome> Writer::patch(const WriteRequest& request, const WriteMode& mode) {
  if (request.patch_type == PatchType::kApply) return apply(request, mode);
  const ObjectRef ref{request.kind, key_of(request)};
  const StoredObject* stored = objects_.kernel().store().find(*ref.kind, ref.key);
  if (!stored) return not_found(*ref.kind, request.name);
  Edit edit(objects_.kernel(), ref, is_of_status(request));
  auto after = patched(request, edit);
  if (!after) return after.error();
  if (auto seen = check_precondition(request, *stored, *after, false); !seen) return seen.error();
  const json::object* metadata = metadata_of(std::as_const(*after));
  if (api::find_text(*metadata, "name") != request.name ||
      (ref.kind->namespaced && api::find_text(*metadata, "namespace") != request.ns))
    return bad_request("metadata.name and metadata.namespace cannot be patched");
  edit.set_after(std::move(*after));
  return objects_.replace(std::move(edit), mode);
}

/// The Scale of a kind stands for one number of its spec.
ApiResult<WriteOutcome> Writer::scale(const WriteRequest& request, const WriteMode& mode) {
  const ObjectRef ref{request.kind, key_of(request)};
  const StoredObject* stored = objects_.kernel().store().find(*ref.kind, ref.key);
  if (!stored || request.kind->scale_field.empty())
    return not_found(*ref.kind, request.name + "/scale");
  const json::object* body = request.body.if_object();
  const json::object* spec = body ? api::find_object(*body, "spec") : nullptr;
  const auto replicas = spec ? api::find_int(*spec, "replicas") : std::nullopt;
  if (!replicas)
    return invalid(*request.kind, request.name,
                   {{api::Problem::Kind::kRequired, "spec.replicas", "Required value"}});
  if (auto seen = check_precondition(request, *stored, *body, false); !seen) return seen.error();
  Edit edit(objects_.kernel(), ref, false);
  edit.set_after(edit.copy());
  json::value& target = edit.after()["spec"];
  if (!target.is_object()) target.emplace_object();
  target.get_object()[request.kind->scale_field] = *replicas;
  return objects_.replace(std::move(edit), mode);
}

}  // namespace sluice::host
