#include "host/writes/object_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/builtin/builtin.hpp"
#include "api/json/json.hpp"
#include "host/objects/marks.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/field_manager.hpp"
#include "host/writes/metadata.hpp"
#include "host/writes/size_limit.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

bool is_workload(const api::KindInfo& kind) {
  return kind.kind == "Workload" && kind.group == "kueue.x-k8s.io";
}

bool is_user(const WriteMode& mode) { return !mode.by_system && mode.plugin.empty(); }

std::string key_of(const api::KindInfo& kind, const json::object& object) {
  const json::object* metadata = metadata_of(object);
  if (!metadata) return {};
  const std::string name(api::find_text(*metadata, "name"));
  if (!kind.namespaced) return name;
  return fmt::format("{}/{}", api::find_text(*metadata, "namespace"), name);
}

ApiResult<void> without_outcome(const ApiResult<WriteOutcome>& result) {
  if (result) return {};
  return result.error();
}

/// Each write changes its own part only: the status, or all but the status.
void keep_other_part(const json::object& before, bool status, json::object& after) {
  if (!status) {
    after.erase("status");
    if (const auto* kept = api::find(before, "status")) after["status"] = *kept;
    return;
  }
  json::object joined(before, after.storage());
  joined.erase("status");
  if (auto* changed = after.if_contains("status")) joined["status"] = std::move(*changed);
  after = std::move(joined);
}

std::string version_of(const json::object& object, const api::KindInfo& kind) {
  const std::string_view full = api::find_text(object, "apiVersion");
  return std::string(full.empty() ? kind.hub().name : full.substr(full.find('/') + 1));
}

}  // namespace

ObjectWriter::ObjectWriter(Kernel& kernel, const ObjectIndex& index, IdSource& ids)
    : kernel_(kernel), index_(index), ids_(ids), deletion_(kernel, index) {}

/// Defaults, conversion, validation and field validation; `problems` are those found before.
std::optional<ApiError> ObjectWriter::judge(const api::KindInfo& kind, std::string_view name,
                                            json::object& object, const json::object* old,
                                            bool status, const WriteMode& mode,
                                            std::vector<api::Problem> problems) {
  if (auto refused = too_large(kind, name, object, mode.by_system)) return refused;
  IntakeOptions options;
  options.status = status;
  options.unknown_fields = mode.field_validation == FieldValidation::kIgnore
                               ? api::UnknownFields::kIgnore
                               : api::UnknownFields::kWarn;
  options.dry_run = mode.dry_run;
  options.warnings = mode.warnings;
  options.advice = mode.advice;
  if (old && is_workload(kind))
    if (const auto id = kernel_.engine().find(key_of(kind, *old)))
      options.may_lower_counts = kernel_.engine().may_lower_counts(*id);
  // As it was sent: the check converts.
  const std::string version = version_of(object, kind);
  if (problems.empty()) problems = kernel_.intake().check(kind, object, old, options);
  if (mode.field_validation == FieldValidation::kStrict && mode.warnings && !mode.warnings->empty())
    return bad_request(
        fmt::format("{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}",
                    kind.kind, version, kind.kind, fmt::join(*mode.warnings, ", ")));
  if (!problems.empty()) return invalid(kind, name, problems);
  return mode.guard ? mode.guard(kind, object) : std::nullopt;
}

WriteOutcome ObjectWriter::outcome_of(const StoredObject& stored, int code, const WriteMode& mode) {
  WriteOutcome out;
  out.code = code;
  if (mode.answer) out.object = stored;
  return out;
}

/// The name of a new object; generateName is drawn until it is free.
ApiResult<std::string> ObjectWriter::name_new(const api::KindInfo& kind,
                                              json::object& object) const {
  constexpr std::size_t kLongestBase = 58;  // five more make a label
  json::object& metadata = metadata_of(object);
  const std::string base(api::find_text(metadata, "generateName"));
  if (!api::find_text(metadata, "name").empty() || base.empty()) return key_of(kind, object);
  for (int attempt = 0; attempt < 8; ++attempt) {
    metadata["name"] = base.substr(0, kLongestBase) + ids_.suffix();
    std::string key = key_of(kind, object);
    if (!kernel_.exists(kind, key)) return key;
  }
  return conflict(kind, base, "no free name was found for metadata.generateName; try again");
}

std::optional<ApiError> ObjectWriter::namespace_refuses(const api::KindInfo& kind,
                                                        std::string_view name,
                                                        std::string_view ns) const {
  if (!kind.namespaced || !require_namespaces_) return std::nullopt;
  const api::KindInfo* namespaces = scheme().find("v1", "Namespace");
  if (!namespaces) return std::nullopt;
  const StoredObject* found = kernel_.store().find(*namespaces, ns);
  if (!found) return not_found(*namespaces, ns);
  if (!found->metadata.terminating()) return std::nullopt;
  return forbidden(kind, name,
                   fmt::format("unable to create new content in namespace {} because it is being "
                               "terminated",
                               ns));
}

ApiResult<WriteOutcome> ObjectWriter::create(const api::KindInfo& kind, json::object object,
                                             const WriteMode& mode) {
  auto named = name_new(kind, object);
  if (!named) return named.error();
  const std::string key = *named;
  const std::string name(api::find_text(metadata_of(object), "name"));
  if (auto refused =
          namespace_refuses(kind, name, api::find_text(metadata_of(object), "namespace")))
    return *refused;
  if (kernel_.exists(kind, key)) return already_exists(kind, name);
  if (!mode.by_system) drop_system_metadata(object);
  if (is_user(mode)) drop_marks(kind, object, mode.advice);
  if (!mode.by_system && kind.status_subresource) object.erase("status");
  give_identity(object, ids_.uid_for(kind, object, now()), now());
  if (!mode.by_system || !object.contains("status")) {
    auto status = api::initial_status(kind.group, kind.kind, object);
    if (!status.empty()) object["status"] = std::move(status);
  }
  if (kind.kind == "Job" && kind.group == "batch")
    api::default_job(object, api::find_text(metadata_of(object), "uid"));
  std::vector<api::Problem> problems;
  if (is_user(mode)) check_owners(scheme(), kind, nullptr, object, problems);
  for (WritePolicy* policy : policies_)
    if (policy->wants(kind)) policy->creating(kind, object, *this, mode.by_system, problems);
  if (auto refused = judge(kind, name, object, nullptr, false, mode, std::move(problems)))
    return *refused;
  if (!mode.field_manager.empty())
    track_update(scheme(), {kind, mode.field_manager, "", now()}, nullptr, object);
  if (auto refused = too_large(kind, name, object, mode.by_system)) return *refused;
  return store_new({&kind, key_of(kind, object)}, object, mode);
}

/// Whether creating an object of the kind depends on more than what its sealed form was judged by:
/// built-in kinds get names and statuses that their identity decides.
bool ObjectWriter::needs_tree(const api::KindInfo& kind, const WriteMode& mode) const {
  return mode.guard || mode.dry_run || !mode.by_system || !mode.field_manager.empty() ||
         kind.group.empty() || kind.group == "batch" ||
         std::any_of(policies_.begin(), policies_.end(),
                     [&kind](const WritePolicy* policy) { return policy->wants(kind); });
}

ApiResult<WriteOutcome> ObjectWriter::create(PreparedObject prepared, const WriteMode& mode) {
  const api::KindInfo& kind = *prepared.stored.kind;
  if (needs_tree(kind, mode)) return create(kind, to_object(prepared.stored), mode);
  const std::string key = prepared.stored.key;
  const std::size_t slash = kind.namespaced ? key.find('/') : std::string::npos;
  const std::string name = slash == std::string::npos ? key : key.substr(slash + 1);
  if (slash != std::string::npos)
    if (auto refused = namespace_refuses(kind, name, std::string_view(key).substr(0, slash)))
      return *refused;
  if (kernel_.exists(kind, key)) return already_exists(kind, name);
  give_identity(prepared, prepared.has_uid ? std::string() : ids_.uid(now()), now());
  kernel_.commit(std::move(prepared));
  return outcome_of(*kernel_.store().find(kind, key), 201, mode);
}

WriteOutcome ObjectWriter::store_new(const ObjectRef& ref, const json::object& object,
                                     const WriteMode& mode) {
  PreparedObject prepared = kernel_.intake().seal(*ref.kind, object, mode.dry_run);
  if (mode.dry_run) return outcome_of(prepared.stored, 201, mode);
  kernel_.commit(std::move(prepared));
  return outcome_of(*kernel_.store().find(*ref.kind, ref.key), 201, mode);
}

/// Whether what the edit makes of the object may not be; it is in the form to be stored otherwise.
std::optional<ApiError> ObjectWriter::refuses(Edit& edit, std::string_view name,
                                              const WriteMode& mode) {
  const api::KindInfo& kind = edit.kind();
  const json::object& before = edit.before();
  json::object& after = edit.after();
  keep_system_metadata(before, after);
  if (is_user(mode)) keep_marks(kind, before, after, mode.advice);
  std::vector<api::Problem> problems;
  if (!edit.of_status()) {
    if (is_user(mode)) check_owners(scheme(), kind, &before, after, problems);
    for (WritePolicy* policy : policies_)
      if (policy->wants(kind))
        policy->updating(kind, after, before, *this, mode.by_system, problems);
  }
  if (auto refused = judge(kind, name, after, &before, edit.of_status(), mode, std::move(problems)))
    return refused;
  if (edit.of_status() || kind.status_subresource) keep_other_part(before, edit.of_status(), after);
  if (!edit.stored().metadata.terminating()) return std::nullopt;
  for (const auto& finalizer : finalizers_of(after))
    if (!edit.stored().metadata.has_finalizer(finalizer))
      return forbidden(kind, name,
                       fmt::format("no new finalizers can be added if the object is being "
                                   "deleted, found new finalizer \"{}\"",
                                   finalizer));
  return std::nullopt;
}

ApiResult<WriteOutcome> ObjectWriter::replace(Edit edit, const WriteMode& mode) {
  const api::KindInfo& kind = edit.kind();
  const ObjectRef ref = edit.ref();
  const std::string name = ref.key.substr(ref.key.find('/') + 1);
  if (auto refused = refuses(edit, name, mode)) return *refused;
  const bool status = edit.of_status();
  const json::object& before = edit.before();
  json::object& after = edit.after();
  if (!mode.field_manager.empty())
    track_update(scheme(), {kind, mode.field_manager, status ? "status" : "", now()}, &before,
                 after);
  if (!object_differs(before, after)) return outcome_of(edit.stored(), 200, mode);
  if (auto refused = too_large(kind, name, after, mode.by_system)) return *refused;
  if (body_differs(before, after)) advance_generation(after);
  if (mode.dry_run) return outcome_of(edit.preview(kernel_), 200, mode);
  if (status && is_workload(kind) && !kernel_.is_staging())  // else when it takes effect
    if (auto applied = apply_workload_status(ref, after); !applied) return applied.error();
  const bool terminating = edit.stored().metadata.terminating();
  edit.commit(kernel_);
  const StoredObject* stored = kernel_.store().find(kind, ref.key);
  SLUICE_CHECK(stored != nullptr, "lost ", kind.kind, " ", ref.key);
  WriteOutcome done = outcome_of(*stored, 200, mode);
  if (terminating) done.removed = deletion_.written(ref);
  return done;
}

/// What a status write decides: that the job has ended.
ApiResult<void> ObjectWriter::apply_workload_status(const ObjectRef& ref,
                                                    const json::object& after) {
  const json::object* status = api::find_object(after, "status");
  const json::object* finished = status ? find_condition(*status, "Finished") : nullptr;
  if (!finished || api::find_text(*finished, "status") != "True") return {};
  return finish_workload(ref.key, api::find_text(*finished, "reason"),
                         api::find_text(*finished, "message"));
}

ApiResult<WriteOutcome> ObjectWriter::remove(const ObjectRef& ref, const DeleteOptions& options,
                                             const WriteMode& mode) {
  const api::KindInfo& kind = *ref.kind;
  const StoredObject* stored = kernel_.store().find(kind, ref.key);
  const std::string name = ref.key.substr(ref.key.find('/') + 1);
  if (!stored) return not_found(kind, name);
  if (auto refused = refuses_to_go(ref)) return *refused;
  const std::string_view uid = stored->metadata.uid();
  if (!options.uid.empty() && options.uid != uid)
    return conflict(kind, name,
                    fmt::format("the UID in the precondition ({}) does not match the UID in record "
                                "({}); the object might have been deleted and then recreated",
                                options.uid, uid));
  if (!options.resource_version.empty() &&
      options.resource_version != std::to_string(stored->version))
    return conflict(kind, name,
                    fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                                "ResourceVersion in record ({}); the object might have been "
                                "modified",
                                options.resource_version, stored->version));
  WriteOutcome out = outcome_of(*stored, 200, mode);
  if (mode.dry_run) return out;
  out.removed = deletion_.remove(ref, options.propagation, options.grace_period_seconds);
  if (!out.removed) out.object = *kernel_.store().find(kind, ref.key);
  return out;
}

std::optional<json::object> ObjectWriter::get(const api::KindInfo& kind,
                                              std::string_view key) const {
  if (!kernel_.exists(kind, key)) return std::nullopt;
  return kernel_.current(kind, key);
}

bool ObjectWriter::exists(const api::KindInfo& kind, std::string_view key) const {
  return kernel_.exists(kind, key);
}

std::vector<std::string> ObjectWriter::keys(const api::KindInfo& kind, std::string_view ns) const {
  std::vector<std::string> out;
  const std::string prefix = ns.empty() ? std::string() : fmt::format("{}/", ns);
  for (const StoredObject* object : kernel_.store().list(kind))
    if (object->key.starts_with(prefix)) out.push_back(object->key);
  return out;
}

std::vector<ObjectRef> ObjectWriter::owned_by(std::string_view uid) const {
  return index_.owned_by(uid);
}

ApiResult<void> ObjectWriter::create(json::object object) {
  const api::KindInfo* kind =
      scheme().find(api::find_text(object, "apiVersion"), api::find_text(object, "kind"));
  if (!kind)
    return bad_request(fmt::format("no kind {} in {}", api::find_text(object, "kind"),
                                   api::find_text(object, "apiVersion")));
  WriteMode mode;
  mode.by_system = true;
  return without_outcome(create(*kind, std::move(object), mode));
}

ApiResult<void> ObjectWriter::update(json::object object) {
  const api::KindInfo* kind =
      scheme().find(api::find_text(object, "apiVersion"), api::find_text(object, "kind"));
  if (!kind)
    return bad_request(fmt::format("no kind {} in {}", api::find_text(object, "kind"),
                                   api::find_text(object, "apiVersion")));
  const ObjectRef ref{kind, key_of(*kind, object)};
  if (!kernel_.exists(*kind, ref.key))
    return not_found(*kind, ref.key.substr(ref.key.find('/') + 1));
  WriteMode mode;
  mode.by_system = true;
  Edit edit(kernel_, ref, false);
  edit.set_after(std::move(object));
  return without_outcome(replace(std::move(edit), mode));
}

ApiResult<void> ObjectWriter::update_status(const api::KindInfo& kind, std::string_view key,
                                            json::object status) {
  if (!kernel_.exists(kind, key)) return not_found(kind, key.substr(key.find('/') + 1));
  if (kernel_.reads_statuses_of(kind)) {
    Edit edit(kernel_, {&kind, std::string(key)}, true);
    edit.set_after(edit.copy());
    edit.after()["status"] = std::move(status);
    WriteMode mode;
    mode.by_system = true;
    return without_outcome(replace(std::move(edit), mode));
  }
  // Only people read it: nothing else of the object is looked at.
  PreparedObject prepared;
  prepared.stored = *kernel_.store().find(kind, key);
  boost::system::error_code code;
  const json::value held = api::parse_deep(prepared.stored.status, code);
  if (held.is_object() && held.get_object() == status) return {};
  kernel_.commit(std::move(prepared), &status);
  return {};
}

ApiResult<void> ObjectWriter::remove(const api::KindInfo& kind, std::string_view key,
                                     Propagation propagation,
                                     std::optional<std::int64_t> grace_seconds) {
  const ObjectRef ref{&kind, std::string(key)};
  if (auto refused = refuses_to_go(ref)) return *refused;
  if (kernel_.exists(kind, key)) deletion_.remove(ref, propagation, grace_seconds);
  return {};
}

void ObjectWriter::emit(EventNote event) {
  if (events_) events_->emit(event);
}

ApiResult<void> ObjectWriter::report_check(std::string_view key,
                                           const api::AdmissionCheckState& check) {
  const api::KindInfo& kind = *scheme().find("kueue.x-k8s.io/v1beta2", "Workload");
  if (auto done = kernel_.report_check(key, check); !done)
    return conflict(kind, key.substr(key.find('/') + 1), done.error().text);
  return {};
}

ApiResult<void> ObjectWriter::finish_workload(std::string_view key, std::string_view reason,
                                              std::string_view message) {
  const auto id = kernel_.engine().find(key);
  const api::KindInfo& kind = *scheme().find("kueue.x-k8s.io/v1beta2", "Workload");
  if (!id) return not_found(kind, key.substr(key.find('/') + 1));
  if (kernel_.engine().state(*id) == WorkloadState::kFinished) return {};
  if (auto done = kernel_.conclude(key, reason, message); !done)
    return conflict(kind, key.substr(key.find('/') + 1), done.error().text);
  return {};
}

}  // namespace sluice::host
