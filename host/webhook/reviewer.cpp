#include "host/webhook/reviewer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <memory>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "api/scheme/controlling_job.hpp"
#include "host/controllers/jobs/job_policy.hpp"
#include "host/controllers/jobs/job_view.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/header.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/marks.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/json_patch.hpp"
#include "host/webhook/amendments.hpp"
#include "host/webhook/review_view.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// The manager as which the controller writes what it decided (host/outbox). Its user alone would
/// not do: where the controller runs as a person, that user creates jobs, too.
constexpr std::string_view kManager = "sluice";

/// A write removes a finalizer, or an API server its notes: nothing that is reviewed.
bool is_housekeeping(json::object before, json::object after) {
  for (json::object* each : {&before, &after}) {
    each->erase("status");
    json::object& metadata = object_of(*each, "metadata");
    for (const char* name : {"finalizers", "managedFields", "resourceVersion", "generation"})
      metadata.erase(name);
  }
  return same_json(json::value(std::move(before)), json::value(std::move(after)));
}

WriteMode mode_of(const AdmissionRequest& request) {
  WriteMode mode;
  mode.dry_run = true;  // nothing of it is stored here
  mode.user = request.user;
  return mode;
}

}  // namespace

/// One object on its way through: the draft of what it comes to, and what that may look at.
struct Reviewer::Subject {
  Subject(const DraftView& of, ObjectRef hidden, std::string uid)
      : view(of, std::move(hidden), std::move(uid)), draft(view) {}
  ReviewView view;
  Draft draft;
};

Reviewer::Reviewer(const Configuration& config, Rules& rules, const LiveStore& store,
                   const PluginClock& clock)
    : rules_(rules),
      store_(store),
      managed_(config.managed_jobs),
      view_(store, *rules.intake, clock, ids_),
      objects_(store, rules.scheme, clock),
      port_(store, rules.scheme),
      job_policy_(config.managed_jobs),
      gates_(rules.hooks.pod_gate, rules.hooks.plugins),
      drafter_(*rules.intake) {
  drafter_.add_policy(job_kind_policy_);
  drafter_.add_policy(job_policy_);
  rules_.plugins->plugins().connect(&port_);
}

Reviewer::~Reviewer() { rules_.plugins->plugins().connect(nullptr); }

bool Reviewer::is_nobodys(const AdmissionRequest& request) const {
  const bool writes = request.operation == ReviewedOperation::kCreate ||
                      request.operation == ReviewedOperation::kUpdate;
  if (!writes) return true;
  // Who writes objects by a subresource sends a form of its own, which plugins alone judge.
  if (!request.subresource.empty() &&
      (rules_.scheme.find(request.api_version, request.kind) || !asks_plugins(request)))
    return true;
  if (!self_.empty() && request.user == self_ && request.field_manager == kManager) return true;
  if (!api::find_text(part(request.object, "metadata"), "deletionTimestamp").empty()) return true;
  return request.old && is_housekeeping(*request.old, request.object);
}

std::unique_ptr<Reviewer::Subject> Reviewer::subject_of(const AdmissionRequest& request,
                                                        const api::KindInfo& kind) {
  json::object object = request.object;
  json::object& metadata = object_of(object, "metadata");
  if (kind.namespaced) metadata["namespace"] = request.ns;
  std::string uid(api::find_text(metadata, "uid"));
  ObjectRef ref{&kind, key_in(kind, object)};
  if (!request.old) {
    auto out = std::make_unique<Subject>(view_, std::move(ref), std::move(uid));
    out->draft.edit.emplace(kind).set_after(std::move(object));
    return out;
  }
  auto memory = Edit::memory();
  json::object before(*request.old, memory.get());
  // An object that does not convert is not of the version that it names; validation reports that.
  static_cast<void>(rules_.scheme.convert(before, kind.hub().name));
  TextPool pool;
  auto stored = std::make_shared<const StoredObject>(to_stored(kind, before, pool));
  auto out = std::make_unique<Subject>(view_, ObjectRef(), std::move(uid));
  out->draft.edit.emplace(std::move(ref), std::move(stored), false, std::move(memory),
                          std::move(before));
  out->draft.edit->set_after(std::move(object));
  return out;
}

bool Reviewer::is_ours(const AdmissionRequest& request, const json::object& job) const {
  if (!managed_.covers(request.ns, objects_).value_or(true)) return false;
  return managed_.without_queue || is_queued(job) || (request.old && is_queued(*request.old));
}

Verdict Reviewer::mutate_job(const AdmissionRequest& request, Subject& subject) {
  Verdict out;
  Draft& draft = subject.draft;
  WriteMode mode = mode_of(request);
  mode.user = {};  // noted below
  mode.advises = true;
  std::vector<api::Problem> problems;
  drafter_.amend(draft, mode, problems);
  const api::KindInfo& kind = draft.edit->kind();
  json::object& after = draft.edit->after();
  if (!request.old && is_ours(request, after)) mark_creator(kind, request.user, after);
  out.patch = amendments(request.object, after, Leaving::kIsRemoving);
  out.warnings = std::move(draft.advice);
  return out;
}

Verdict Reviewer::validate_job(const AdmissionRequest& request, Subject& subject) {
  Verdict out;
  if (is_ours(request, request.object)) out.refused = refusal_of(subject, mode_of(request));
  return out;
}

/// By all that a write passes on a host.
std::optional<ApiError> Reviewer::refusal_of(Subject& subject, const WriteMode& mode) {
  Draft& draft = subject.draft;
  if (is_workload(draft.edit->kind())) know_classes(draft.edit->after());
  drafter_.validate(draft, mode);
  if (!draft.refused && !draft.encoded) {
    draft.refused = drafter_.ask_plugins(draft, mode);
    if (!draft.refused) drafter_.encode(draft, mode);
  }
  return draft.refused ? draft.refused : draft.refused_late;
}

/// Who wishes for what only the system sets is told here: the step that validates does not see it.
Verdict Reviewer::mutate(Subject& subject, const WriteMode& mode) {
  Verdict out;
  const Edit& edit = *subject.draft.edit;
  const json::object before = edit.after();
  json::object wished = before;
  if (edit.before())
    keep_marks(edit.kind(), *edit.before(), wished, &out.warnings);
  else
    drop_marks(edit.kind(), wished, &out.warnings);
  if (refusal_of(subject, mode)) return out;
  // The API server converts; a patch is of the version that it sent.
  if (before.at("apiVersion") != subject.draft.edit->after().at("apiVersion")) return out;
  out.patch = amendments(before, subject.draft.edit->after(), Leaving::kIsNoWish);
  return out;
}

Verdict Reviewer::validate(Subject& subject, const WriteMode& mode) {
  Verdict out;
  WriteMode telling = mode;
  telling.advises = true;
  // What the mutating step noted is no wish of the user.
  if (!subject.draft.edit->before()) forget_creator(mode.user, subject.draft.edit->after());
  out.refused = refusal_of(subject, telling);
  out.warnings = std::move(subject.draft.advice);
  return out;
}

void Reviewer::add_gates(const AdmissionRequest& request, json::object& pod) {
  std::vector<std::string> gates;
  for (const api::ControllingJob& owner : api::controlling_jobs(pod, rules_.scheme))
    gates = gates_.gates_of_new_pod({owner.kind, join_key(request.ns, owner.name)}, objects_);
  if (gates.empty()) return;
  json::array& list = array_of(object_of(pod, "spec"), "schedulingGates");
  for (const std::string& gate : gates) {
    const bool there = std::any_of(list.begin(), list.end(), [&](const json::value& each) {
      return each.is_object() && api::find_text(each.get_object(), "name") == gate;
    });
    if (!there) list.push_back(json::object{{"name", gate}});
  }
}

bool Reviewer::asks_plugins(const AdmissionRequest& request) const {
  return rules_.plugins->plugins().validators().wants(request.api_version, request.kind);
}

/// What plugins make of an object that the API server judges by its fields, and what they refuse.
void Reviewer::ask_plugins(const AdmissionRequest& request, json::object& object,
                           std::vector<api::Problem>& problems) {
  if (!asks_plugins(request)) return;
  WriteValidators::Asking asking;
  asking.user = request.user;
  rules_.plugins->check(
      request.api_version, request.kind, object, request.old ? &*request.old : nullptr,
      [](json::object&) { return std::vector<api::Problem>(); }, problems, asking);
}

/// A controller makes it of the template of a job that waits for quota itself, or with one that
/// owns it, so that what the template has of marks came with that one's start.
bool Reviewer::is_of_queued_job(const AdmissionRequest& request, const json::object& pod) const {
  if (request.old || !is_controller(request.user, request.ns)) return false;
  const std::vector<JobInControl> jobs = jobs_in_control(pod, objects_);
  return std::any_of(jobs.begin(), jobs.end(), [this](const JobInControl& job) {
    return job.object &&
           (is_queued(*job.object) || !annotation_of(*job.object, kStartedWith).empty() ||
            runs_with_owner(*job.object, objects_, managed_.without_queue));
  });
}

/// What is wrong with it is found again, and refused, by the validating step.
Verdict Reviewer::mutate_pod(const AdmissionRequest& request, Subject& subject) {
  Verdict out;
  Edit& edit = *subject.draft.edit;
  WriteMode mode = mode_of(request);
  mode.user = {};  // noted below, of pods that wait
  mode.advises = true;
  std::vector<api::Problem> problems;
  if (asks_plugins(request)) {
    mode.keeps_marks = is_of_queued_job(request, edit.after());
    drafter_.amend(subject.draft, mode, problems);
  }
  json::object& pod = edit.after();
  if (!request.old) add_gates(request, pod);
  const json::object before = pod;
  ask_plugins(request, pod, problems);
  if (!request.old && !same_json(json::value(before), json::value(pod)))
    mark_creator(edit.kind(), request.user, pod);
  out.patch = amendments(request.object, pod, Leaving::kIsRemoving);
  out.warnings = std::move(subject.draft.advice);
  return out;
}

Verdict Reviewer::validate_pod(const AdmissionRequest& request, Subject& subject) {
  Verdict out;
  const Edit& edit = *subject.draft.edit;
  std::vector<api::Problem> problems;
  drafter_.amend(subject.draft, mode_of(request), problems);
  json::object pod = request.object;
  ask_plugins(request, pod, problems);
  if (!problems.empty()) out.refused = invalid(edit.kind(), edit.name(), problems);
  return out;
}

/// Of a kind that a plugin names and that is not kept here as the API has it.
Verdict Reviewer::review_unknown(const AdmissionRequest& request, ReviewStep step) {
  Verdict out;
  json::object object = request.object;
  std::vector<api::Problem> problems;
  ask_plugins(request, object, problems);
  if (step == ReviewStep::kMutating) {
    out.patch = amendments(request.object, object, Leaving::kIsRemoving);
  } else if (!problems.empty()) {
    api::KindInfo kind;
    kind.kind = request.kind;
    kind.group = api::group_of(request.api_version);
    out.refused = invalid(kind, request.name, problems);
  }
  return out;
}

/// The values of the classes that a workload may name.
void Reviewer::know_classes(const json::object& workload) {
  if (part(workload, "spec").contains("priority")) return;
  for (const auto& [version, name] :
       {std::pair(api::kKueueVersion, "WorkloadPriorityClass"),
        std::pair(std::string_view("scheduling.k8s.io/v1"), "PriorityClass")}) {
    const api::KindInfo* kind = rules_.scheme.find(version, name);
    const auto listing = kind ? store_.read(*kind, {}) : Result<Listing>(Listing());
    if (!listing) continue;
    std::vector<json::object> classes;
    for (const RecordPtr& each : listing->objects) classes.push_back(to_object(*each));
    rules_.intake->remember_all(*kind, classes);
  }
}

Verdict Reviewer::review(const AdmissionRequest& request, ReviewStep step) {
  if (is_nobodys(request)) return {};
  const api::KindInfo* kind = rules_.scheme.find(request.api_version, request.kind);
  const bool kept = kind && !kind->internal;
  if (!kept && asks_plugins(request)) return review_unknown(request, step);
  if (!kept) {
    Verdict out;
    out.refused = bad_request(
        fmt::format("this controller has no kind {} of {}: give the cluster the webhooks of its "
                    "configuration (sluice manifests)",
                    request.kind, request.api_version));
    return out;
  }
  const bool mutating = step == ReviewStep::kMutating;
  const auto made = subject_of(request, *kind);
  Subject& subject = *made;
  const WriteMode mode = mode_of(request);
  if (is_pod(*kind))
    return mutating ? mutate_pod(request, subject) : validate_pod(request, subject);
  if (kind->job) return mutating ? mutate_job(request, subject) : validate_job(request, subject);
  return mutating ? mutate(subject, mode) : validate(subject, mode);
}

}  // namespace sluice::host
