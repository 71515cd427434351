#include "host/writes/drafter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/builtin/builtin.hpp"
#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "host/objects/marks.hpp"
#include "host/objects/owner_checks.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/field_manager.hpp"
#include "host/writes/metadata.hpp"
#include "host/writes/size_limit.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

bool is_user(const WriteMode& mode) { return !mode.by_system && mode.plugin.empty(); }

std::vector<std::string>* advice_of(Draft& draft, const WriteMode& mode) {
  return mode.advises ? &draft.advice : nullptr;
}

/// Each write changes its own part only: the status, or all but the status. `owners_known`: who
/// owns which field stands in `after`.
void keep_other_part(const json::object& before, bool status, bool owners_known,
                     json::object& after) {
  if (!status) {
    after.erase("status");
    if (const auto* kept = api::find(before, "status")) after["status"] = *kept;
    return;
  }
  json::object joined(before, after.storage());
  joined.erase("status");
  if (auto* changed = after.if_contains("status")) joined["status"] = std::move(*changed);
  if (owners_known) keep_managed_fields(after, joined);
  after = std::move(joined);
}

std::string version_of(const json::object& object, const api::KindInfo& kind) {
  const std::string_view full = api::find_text(object, "apiVersion");
  return full.empty() ? kind.hub().name : std::string(api::version_of(full));
}

std::optional<ApiError> finalizers_refuse(const Edit& edit) {
  if (!edit.stored().metadata.terminating()) return std::nullopt;
  for (const auto& finalizer : finalizers_of(edit.after()))
    if (!edit.stored().metadata.has_finalizer(finalizer))
      return forbidden(edit.kind(), edit.name(),
                       fmt::format("no new finalizers can be added if the object is being "
                                   "deleted, found new finalizer \"{}\"",
                                   finalizer));
  return std::nullopt;
}

}  // namespace

bool names_itself(const api::KindInfo& kind) { return kind.kind == "Job" && kind.group == "batch"; }

bool Drafter::has_policy(const api::KindInfo& kind) const {
  return std::any_of(policies_.begin(), policies_.end(),
                     [&kind](const WritePolicy* policy) { return policy->wants(kind); });
}

void Drafter::validate(Draft& draft, const WriteMode& mode) const {
  draft.refused = draft.edit->is_new() ? judge_new(draft, mode) : judge_change(draft, mode);
  if (!draft.refused && !intake_.asks_plugins(draft.edit->kind())) encode(draft, mode);
}

/// How what the draft makes is validated, by its fields and by plugins.
IntakeOptions Drafter::options_of(Draft& draft, const WriteMode& mode) {
  const Edit& edit = *draft.edit;
  IntakeOptions out;
  out.status = edit.of_status();
  out.unknown_fields = mode.field_validation == FieldValidation::kIgnore
                           ? api::UnknownFields::kIgnore
                           : api::UnknownFields::kWarn;
  out.dry_run = mode.dry_run;
  out.asking.user = mode.user;
  out.advice = advice_of(draft, mode);
  if (edit.before() && is_workload(edit.kind()))
    out.may_lower_counts = draft.reads.may_lower_counts(edit.ref().key);
  return out;
}

/// Defaults, conversion, validation and field validation; `problems` are those found before.
std::optional<ApiError> Drafter::judge_fields(Draft& draft, const WriteMode& mode,
                                              std::vector<api::Problem> problems) const {
  Edit& edit = *draft.edit;
  const api::KindInfo& kind = edit.kind();
  json::object& object = edit.after();
  const std::string name(api::find_text(metadata_of(object), "name"));
  if (auto refused = too_large(kind, name, object, mode.by_system)) return refused;
  const bool tells = mode.field_validation != FieldValidation::kIgnore;
  std::vector<std::string> untold;
  GivenPriority priority;
  IntakeOptions options = options_of(draft, mode);
  options.warnings = tells ? &draft.warnings : &untold;
  options.priority = &priority;
  // As it was sent: the judging converts.
  const std::string version = version_of(object, kind);
  if (problems.empty()) problems = intake_.validate(kind, object, edit.before(), options);
  draft.reads.note(std::move(priority));
  if (mode.field_validation == FieldValidation::kStrict && !draft.warnings.empty())
    return bad_request(
        fmt::format("{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}",
                    kind.kind, version, kind.kind, fmt::join(draft.warnings, ", ")));
  if (!problems.empty()) return invalid(kind, name, problems);
  return std::nullopt;
}

std::optional<ApiError> Drafter::ask_plugins(Draft& draft, const WriteMode& mode) const {
  Edit& edit = *draft.edit;
  json::object& object = draft.judged ? *draft.judged : edit.after();
  IntakeOptions options = options_of(draft, mode);
  bool changed = false;
  options.asking.changed = &changed;
  if (mode.may_wait) options.asking.questions = &draft.questions;
  const auto problems = intake_.ask_plugins(edit.kind(), object, edit.before(), options);
  if (!problems.empty())
    return invalid(edit.kind(), api::find_text(metadata_of(object), "name"), problems);
  if (!changed || !draft.judged) return std::nullopt;
  edit.set_after(std::move(*draft.judged));
  draft.encoded = false;
  draft.judged.reset();
  draft.refused_late.reset();
  return std::nullopt;
}

void Drafter::encode_ahead(Draft& draft, const WriteMode& mode) const {
  draft.judged.emplace(draft.edit->after(), draft.edit->storage());
  encode(draft, mode);
}

/// The key of a new object; generateName is drawn until it is free.
ApiResult<std::string> Drafter::name_new(Draft& draft) {
  constexpr std::size_t kLongestBase = 58;  // five more make a label
  const api::KindInfo& kind = draft.edit->kind();
  json::object& object = draft.edit->after();
  json::object& metadata = metadata_of(object);
  const std::string base(api::find_text(metadata, "generateName"));
  if (!api::find_text(metadata, "name").empty() || base.empty()) return key_in(kind, object);
  for (int attempt = 0; attempt < 8; ++attempt) {
    metadata["name"] = base.substr(0, kLongestBase) + draft.reads.view().ids().suffix();
    std::string key = key_in(kind, object);
    if (!draft.reads.exists(kind, key)) return key;
  }
  return conflict(kind, base, "no free name was found for metadata.generateName; try again");
}

std::optional<ApiError> Drafter::namespace_refuses(const Reads& reads, const api::KindInfo& kind,
                                                   std::string_view name,
                                                   std::string_view ns) const {
  if (!kind.namespaced || !require_namespaces_) return std::nullopt;
  const api::KindInfo* namespaces = reads.scheme().find("v1", "Namespace");
  if (!namespaces) return std::nullopt;
  const RecordPtr found = reads.find(*namespaces, ns);
  if (!found) return not_found(*namespaces, ns);
  if (!found->metadata.terminating()) return std::nullopt;
  return forbidden(kind, name,
                   fmt::format("unable to create new content in namespace {} because it is being "
                               "terminated",
                               ns));
}

void Drafter::amend(Draft& draft, const WriteMode& mode,
                    std::vector<api::Problem>& problems) const {
  Edit& edit = *draft.edit;
  const api::KindInfo& kind = edit.kind();
  const json::object* before = edit.before();
  json::object& after = edit.after();
  if (is_user(mode) && before) keep_marks(kind, *before, after, advice_of(draft, mode));
  if (is_user(mode) && !before) {
    if (!mode.keeps_marks) drop_marks(kind, after, advice_of(draft, mode));
    mark_creator(kind, mode.user, after);
  }
  if (edit.of_status()) return;
  if (is_user(mode)) check_owners(draft.reads, kind, mode.user, before, after, problems);
  for (const WritePolicy* policy : policies_) {
    if (!policy->wants(kind)) continue;
    if (before)
      policy->updating(kind, after, *before, draft.reads, mode.by_system, problems);
    else
      policy->creating(kind, after, draft.reads, mode.by_system, problems);
  }
}

std::optional<ApiError> Drafter::judge_new(Draft& draft, const WriteMode& mode) const {
  Edit& edit = *draft.edit;
  const api::KindInfo& kind = edit.kind();
  const DraftView& view = draft.reads.view();
  json::object& object = edit.after();
  const auto key = name_new(draft);
  if (!key) return key.error();
  const std::string name(api::find_text(metadata_of(object), "name"));
  if (auto refused = namespace_refuses(draft.reads, kind, name,
                                       api::find_text(metadata_of(object), "namespace")))
    return refused;
  if (draft.reads.exists(kind, *key)) return already_exists(kind, name);
  if (!mode.by_system) drop_system_metadata(object);
  if (!mode.by_system && kind.status_subresource) object.erase("status");
  draft.identified = view.identifies(kind);
  if (draft.identified)
    give_identity(object, view.ids().uid_for(kind, object, view.now()), view.now());
  else
    start_generation(object);
  if (!mode.by_system || !object.contains("status")) {
    auto status = api::initial_status(kind.group, kind.kind, object);
    if (!status.empty()) object["status"] = std::move(status);
  }
  if (names_itself(kind)) api::default_job(object, api::find_text(metadata_of(object), "uid"));
  std::vector<api::Problem> problems;
  amend(draft, mode, problems);
  if (auto refused = judge_fields(draft, mode, std::move(problems))) return refused;
  edit.set_key(key_in(kind, object));
  return std::nullopt;
}

/// Whether what the edit makes of the object may not be; it is in hub form otherwise.
std::optional<ApiError> Drafter::judge_change(Draft& draft, const WriteMode& mode) const {
  Edit& edit = *draft.edit;
  const json::object& before = *edit.before();
  json::object& after = edit.after();
  keep_system_metadata(before, after);
  std::vector<api::Problem> problems;
  amend(draft, mode, problems);
  return judge_fields(draft, mode, std::move(problems));
}

/// Records whose fields these are.
void Drafter::track(Draft& draft, const WriteMode& mode) {
  Edit& edit = *draft.edit;
  const api::KindInfo& kind = edit.kind();
  const api::Scheme& scheme = draft.reads.scheme();
  const FieldOwner owner{kind, mode.field_manager, edit.of_status() ? "status" : "",
                         draft.reads.view().now()};
  json::object& after = edit.after();
  if (edit.before()) return track_update(scheme, owner, *edit.before(), after);
  json::object generated;
  if (names_itself(kind)) generated = api::generated_in_job(after);
  track_create(scheme, owner, generated, after);
}

void Drafter::encode(Draft& draft, const WriteMode& mode) const {
  Edit& edit = *draft.edit;
  const api::KindInfo& kind = edit.kind();
  const json::object* before = edit.before();
  json::object& after = edit.after();
  draft.encoded = true;
  if (before) {
    if (edit.of_status() || kind.status_subresource)
      keep_other_part(*before, edit.of_status(), !draft.records_owners, after);
    if ((draft.refused_late = finalizers_refuse(edit))) return;
  }
  if (draft.records_owners && !mode.field_manager.empty()) track(draft, mode);
  if (before && !(draft.differs = object_differs(*before, after))) return;
  if ((draft.refused_late = too_large(kind, edit.name(), after, mode.by_system))) return;
  if (before && body_differs(*before, after)) advance_generation(after);
  if (edit.of_status() && !mode.dry_run) return seal_status(draft);
  draft.prepared = intake_.encode(kind, after, mode.dry_run);
}

/// What the write leaves as it is, texts and decoded parts, is taken over and not made again.
void Drafter::seal_status(Draft& draft) const {
  const Edit& edit = *draft.edit;
  const StoredObject& stored = edit.stored();
  PreparedObject& out = draft.prepared;
  out.stored.kind = stored.kind;
  out.stored.key = stored.key;
  out.stored.metadata = stored.metadata;
  out.stored.body = stored.body;
  // The owners of fields of the status may have changed.
  if (std::string text = metadata_text(part(edit.after(), "metadata"));
      text != stored.metadata.text())
    out.stored.metadata = Header(std::move(text));
  if (!is_workload(edit.kind())) {
    out.typed = intake_.decode(edit.kind(), edit.after());
    return;
  }
  draft.workload_status = api::decode_workload_status(part(edit.after(), "status"));
  draft.extensions = intake_.scheme().extensions("Workload", edit.after());
}

}  // namespace sluice::host
