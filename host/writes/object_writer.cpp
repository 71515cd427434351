#include "host/writes/object_writer.hpp"

#include <fmt/format.h>

#include <boost/json/monotonic_resource.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/store/use.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kTreeBytes = 4;  // of an object's tree, for each byte of its text

ApiResult<void> without_outcome(const ApiResult<WriteOutcome>& result) {
  if (result) return {};
  return result.error();
}

}  // namespace

ObjectWriter::ObjectWriter(Kernel& kernel, const ObjectIndex& index, IdSource& ids)
    : kernel_(kernel),
      index_(index),
      ids_(ids),
      deletion_(kernel, index),
      drafter_(kernel.intake()),
      view_(kernel, ids) {}

WriteOutcome ObjectWriter::outcome_of(const StoredObject& stored, int code, const WriteMode& mode) {
  WriteOutcome out;
  out.code = code;
  if (mode.answer) out.object = stored;
  return out;
}

WriteOutcome ObjectWriter::answered_later() {
  WriteOutcome out;
  out.later = true;
  return out;
}

ApiResult<WriteOutcome> ObjectWriter::create(const api::KindInfo& kind, json::object object,
                                             const WriteMode& mode) {
  Draft draft(view_);
  draft.edit.emplace(kind).set_after(std::move(object));
  drafter_.validate(draft, mode);
  return take(draft, mode);
}

ApiResult<WriteOutcome> ObjectWriter::replace(Edit edit, const WriteMode& mode) {
  Draft draft(view_);
  draft.edit.emplace(std::move(edit));
  drafter_.validate(draft, mode);
  return take(draft, mode);
}

bool is_judged_when_written(const api::KindInfo& kind) {
  return kind.group.empty() || kind.group == "batch" || kind.job != nullptr;
}

/// Whether creating an object of the kind depends on more than what its encoded form was judged by.
bool ObjectWriter::needs_tree(const api::KindInfo& kind, const WriteMode& mode) const {
  return mode.guard || mode.dry_run || !mode.by_system || !mode.field_manager.empty() ||
         is_judged_when_written(kind) || drafter_.has_policy(kind);
}

ApiResult<WriteOutcome> ObjectWriter::create(PreparedObject prepared, const WriteMode& mode) {
  const api::KindInfo& kind = *prepared.stored.kind;
  if (needs_tree(kind, mode)) return create(kind, to_object(prepared.stored), mode);
  const std::string key = prepared.stored.key;
  const auto [ns, name] = split_key(key);
  if (!ns.empty())
    if (auto refused = drafter_.namespace_refuses(Reads(view_), kind, name, ns)) return *refused;
  if (kernel_.exists(kind, key)) return already_exists(kind, name);
  give_identity(prepared, prepared.has_uid ? std::string() : ids_.uid(now()), now());
  kernel_.commit(std::move(prepared));
  return outcome_of_new({&kind, key}, mode);
}

/// One that is born elsewhere is not there yet.
WriteOutcome ObjectWriter::outcome_of_new(const ObjectRef& ref, const WriteMode& mode) const {
  const StoredObject* stored = kernel_.store().find(*ref.kind, ref.key);
  if (stored) return outcome_of(*stored, 201, mode);
  WriteOutcome out;
  out.code = 202;
  return out;
}

ApiResult<WriteOutcome> ObjectWriter::take(Draft& draft, const WriteMode& mode) {
  if (draft.refused) return *draft.refused;
  Edit& edit = *draft.edit;
  const api::KindInfo& kind = edit.kind();
  // Plugins have their say first, if it can be stored at all.
  if (!draft.refused_late && (!draft.encoded || draft.judged)) {
    identify(draft);
    if (auto refused = drafter_.ask_plugins(draft, mode)) return *refused;
    if (draft.questions && draft.questions->wait()) return answered_later();
  }
  if (!draft.encoded) drafter_.encode(draft, mode);
  if (mode.guard)
    if (auto refused = mode.guard(kind, edit.before(), edit.after())) return *refused;
  if (draft.refused_late) return *draft.refused_late;
  return edit.is_new() ? store_new(draft, mode) : store_change(draft, mode);
}

/// Gives a new object the identity that it has not got yet, in each of its forms.
void ObjectWriter::identify(Draft& draft) {
  if (draft.identified) return;
  json::object& after = draft.edit->after();
  const std::string uid = ids_.uid_for(draft.edit->kind(), after, now());
  if (draft.judged) give_identity(*draft.judged, uid, now());
  if (draft.encoded)
    give_identity(draft.prepared, uid, now() - now() % kSecond);
  else
    give_identity(after, uid, now());
  draft.identified = true;
}

ApiResult<WriteOutcome> ObjectWriter::store_new(Draft& draft, const WriteMode& mode) {
  const ObjectRef ref = draft.edit->ref();
  identify(draft);
  if (mode.dry_run) return outcome_of(draft.prepared.stored, 201, mode);
  kernel_.intake().remember(*ref.kind, draft.edit->after());
  kernel_.commit(std::move(draft.prepared));
  return outcome_of_new(ref, mode);
}

ApiResult<WriteOutcome> ObjectWriter::store_change(Draft& draft, const WriteMode& mode) {
  const Edit& edit = *draft.edit;
  const ObjectRef& ref = edit.ref();
  if (!draft.differs) return outcome_of(edit.stored(), 200, mode);
  if (mode.dry_run) {
    draft.prepared.stored.version = edit.stored().version;  // as an API server shows it
    return outcome_of(draft.prepared.stored, 200, mode);
  }
  if (edit.of_status() && is_workload(*ref.kind) &&
      !kernel_.is_staging())  // else when it takes effect
    if (auto applied = apply_workload_status(ref, edit.after()); !applied) return applied.error();
  const bool terminating = edit.stored().metadata.terminating();
  commit(draft);
  const StoredObject* stored = kernel_.store().find(*ref.kind, ref.key);
  SLUICE_CHECK(stored != nullptr, "lost ", ref.kind->kind, " ", ref.key);
  WriteOutcome done = outcome_of(*stored, 200, mode);
  if (terminating) done.removed = deletion_.written(ref);
  return done;
}

void ObjectWriter::commit(Draft& draft) {
  const Edit& edit = *draft.edit;
  PreparedObject& out = draft.prepared;
  if (!edit.of_status()) {
    kernel_.intake().remember(edit.kind(), edit.after());
    return kernel_.commit(std::move(out));
  }
  if (draft.workload_status) {
    const StoredObject* stored = kernel_.store().find(edit.kind(), edit.ref().key);
    if (const auto known = kernel_.typed_workload(*stored)) {
      auto workload = std::make_shared<api::Workload>(*known);
      workload->status = std::move(*draft.workload_status);
      workload->extensions = std::move(draft.extensions);
      out.typed = std::move(workload);
    } else {
      out.typed = kernel_.intake().decode(edit.kind(), edit.after());
    }
  }
  kernel_.commit(std::move(out), &part(edit.after(), "status"));
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
  const std::string_view name = ref.name();
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
  const StoredObject* stored = kernel_.store().find(kind, key);
  if (!stored) return std::nullopt;
  // The object owns its memory, which goes as a whole: it costs half of what single pieces do.
  return kernel_.current(*stored, json::make_shared_resource<json::monotonic_resource>(
                                      kTreeBytes * stored_bytes(*stored) + 1024));
}

bool ObjectWriter::exists(const api::KindInfo& kind, std::string_view key) const {
  return kernel_.exists(kind, key);
}

std::vector<std::string> ObjectWriter::keys(const api::KindInfo& kind, std::string_view ns) const {
  std::vector<std::string> out;
  for (const StoredObject* object : kernel_.store().list_in(kind, ns)) out.push_back(object->key);
  return out;
}

std::vector<ObjectRef> ObjectWriter::owned_by(std::string_view uid, std::string_view ns) const {
  std::vector<ObjectRef> out = index_.owned_by(uid);
  if (!ns.empty()) std::erase_if(out, [ns](const ObjectRef& each) { return each.ns() != ns; });
  return out;
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
  const ObjectRef ref{kind, key_in(*kind, object)};
  if (!kernel_.exists(*kind, ref.key)) return not_found(*kind, ref.name());
  WriteMode mode;
  mode.by_system = true;
  Edit edit = open_edit(view_, ref, view_.find(*kind, ref.key), false);
  edit.set_after(std::move(object));
  return without_outcome(replace(std::move(edit), mode));
}

ApiResult<void> ObjectWriter::update_status(const api::KindInfo& kind, std::string_view key,
                                            json::object status) {
  if (!kernel_.exists(kind, key)) return not_found(kind, split_key(key).name);
  if (kernel_.reads_statuses_of(kind)) {
    Edit edit = open_edit(view_, {&kind, std::string(key)}, view_.find(kind, key), true);
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
  const api::KindInfo& kind = api::kueue_kind(scheme(), "Workload");
  if (auto done = kernel_.report_check(key, check); !done)
    return conflict(kind, split_key(key).name, done.error().text);
  return {};
}

ApiResult<void> ObjectWriter::finish_workload(std::string_view key, std::string_view reason,
                                              std::string_view message) {
  const auto id = kernel_.engine().find(key);
  const api::KindInfo& kind = api::kueue_kind(scheme(), "Workload");
  if (!id) return not_found(kind, split_key(key).name);
  if (kernel_.engine().state(*id) == WorkloadState::kFinished) return {};
  if (auto done = kernel_.finish(key, reason, message); !done)
    return conflict(kind, split_key(key).name, done.error().text);
  return {};
}

}  // namespace sluice::host
