// elastic-jobs: running jobs grow and shrink without being stopped (KEP-77). What becomes of a
// job's slices is decided in plan.hpp; here that is bound to the host.
//
// Nothing is remembered that objects do not say: a slice carries what it replaces, where its chain
// began, and the flavors that it has to stay on.
#include <sluice/plugin.hpp>

#include <set>

#include "names.hpp"
#include "opt_in.hpp"
#include "plan.hpp"
#include "schema.hpp"
#include "sticky.hpp"
#include "telling.hpp"

namespace elastic {

using sluice::Json;
using sluice::ObjectRef;
using sluice::Workload;

namespace {

constexpr const char* kWorkloads = "kueue.x-k8s.io/v1beta2";

bool is_true(const Workload& workload, std::string_view condition) {
  return workload.condition(condition).value_or("") == "True";
}

/// The pod set of the workload that is called so; nullopt: it has none.
std::optional<std::uint32_t> find_pod_set(const Workload& workload, std::string_view name) {
  for (std::uint32_t i = 0; i < workload.pod_sets(); ++i)
    if (workload.pod_set_name(i) == name) return i;
  return std::nullopt;
}

std::string text_or_empty(std::optional<std::string_view> text) {
  return std::string(text.value_or(""));
}

/// The part behind the slash of NAMESPACE/NAME, if the namespace is the workload's own. A workload
/// that no job controls is no slice, whatever it says.
std::string replaced_name(const Workload& workload) {
  if (!workload.controller()) return {};
  const std::string key = text_or_empty(workload.annotation(kReplacementFor));
  const std::string own = std::string(workload.namespace_of()) + "/";
  return key.starts_with(own) && key != workload.key() ? key.substr(own.size()) : std::string();
}

Slice slice_of(const sluice::Job& job, std::uint64_t i) {
  const Workload workload = job.workload(i);
  Slice out;
  out.name = workload.name();
  out.uid = workload.uid();
  for (std::uint64_t set = 0; set < job.pod_sets(); ++set) {
    const auto at = find_pod_set(workload, job.pod_set_name(set));
    out.counts.push_back(at ? workload.pod_set_count(*at) : 0);
  }
  out.match = static_cast<Match>(job.match(i));
  out.finished = is_true(workload, "Finished");
  if (const auto end = workload.condition_details("Finished"); out.finished && end)
    out.displaced = end->reason == kReplaced || end->reason == kOutOfSync;
  out.reserving = !out.finished && is_true(workload, "QuotaReserved");
  out.admitted = !out.finished && is_true(workload, "Admitted");
  out.replaces = replaced_name(workload);
  out.origin = text_or_empty(workload.annotation(kOrigin));
  out.revision = text_or_empty(workload.annotation(kRevision));
  return out;
}

static_assert(static_cast<int>(Match::kCounts) == SLUICE_MATCH_COUNTS);
static_assert(static_cast<int>(Match::kOther) == SLUICE_MATCH_OTHER);

bool is_prebuilt(const Json& job) { return !sluice::identifier_of(job, kPrebuilt).empty(); }

/// The job as an object, when it opts in.
std::optional<Json> opted_in(const sluice::Job& job) {
  if (job.kind() != "batch/Job" && job.kind() != "ray.io/RayCluster") return std::nullopt;
  if (!mentions_opt_in(job.json())) return std::nullopt;
  Json object = Json::parse(job.json());
  if (!opts_in(object)) return std::nullopt;
  // A prebuilt workload is its first slice, once it is the job's.
  if (is_prebuilt(object) && job.workloads() == 0) return std::nullopt;
  return object;
}

JobSnapshot snapshot_of(const sluice::Job& job, const Json& object) {
  JobSnapshot out;
  out.uid = object.string_or("metadata.uid", "");
  out.generation = object.int_or("metadata.generation", 1);
  out.suspended = object.bool_or("spec.suspend", false);
  for (std::uint64_t i = 0; i < job.pod_sets(); ++i) out.counts.push_back(job.pod_set_count(i));
  for (std::uint64_t i = 0; i < job.workloads(); ++i) out.slices.push_back(slice_of(job, i));
  return out;
}

std::optional<Workload> find_slice(const sluice::Job& job, std::string_view name) {
  for (std::uint64_t i = 0; i < job.workloads(); ++i)
    if (job.workload(i).name() == name) return job.workload(i);
  return std::nullopt;
}

/// The flavors of an admission, for what is to stay on them.
std::string sticky_text_of(const Workload& slice) {
  std::vector<StickyPodSet> sets;
  for (std::uint32_t i = 0; i < slice.pod_sets(); ++i) {
    std::set<std::string> flavors;
    const auto add = [&](std::string_view resource) {
      if (const auto flavor = slice.admitted_flavor(i, resource)) flavors.emplace(*flavor);
    };
    slice.each_pod_request(i, [&](std::string_view resource, std::int64_t) { add(resource); });
    add("pods");
    sets.push_back({std::string(slice.pod_set_name(i)), {flavors.begin(), flavors.end()}});
  }
  return sticky_text(sets);
}

/// Labels that the job has and its slice, too: whoever finds the one by them finds the next one.
std::vector<std::pair<std::string, std::string>> shared_labels(const Json& job,
                                                               const Workload& slice) {
  std::vector<std::pair<std::string, std::string>> out;
  const Json* labels = job.find("metadata.labels");
  if (labels == nullptr) return out;
  for (const auto& [name, value] : labels->members())
    if (name != kQueue && slice.label(name) == value.as_string())
      out.emplace_back(name, value.as_string());
  return out;
}

std::string sizes_of(const sluice::Job& job) {
  std::string out;
  for (std::uint64_t i = 0; i < job.pod_sets(); ++i) {
    if (i > 0) out += ", ";
    out += std::string(job.pod_set_name(i)) + " " + std::to_string(job.pod_set_count(i));
  }
  return out;
}

}  // namespace

class ElasticJobs {
 public:
  static constexpr std::string_view kDescription =
      "KEP-77: running jobs grow and shrink without being stopped";
  static constexpr std::string_view kConfigSchema = R"({
    "type": "object",
    "properties": {
      "preemptedWorkloadSliceHistory": {
        "type": "integer", "minimum": 0, "maximum": 1000, "default": 5,
        "description": "how many finished slices of a job are kept"
      }
    }
  })";

  explicit ElasticJobs(const sluice::Context& context)
      : context_(context),
        history_(
            static_cast<std::size_t>(context.config().int_or("preemptedWorkloadSliceHistory", 5))),
        telling_(context) {}

  void deactivate() { leave(); }

  std::string schema() const { return std::string(kSchema); }

  // ---- workload-traits/1, flavor-filter/1: what a slice is to the engine

  void traits(const Workload& workload, sluice::Traits& traits) {
    if (!opts_in(workload)) return;
    traits.may_lower_counts();
    const std::string replaced = replaced_name(workload);
    if (replaced.empty()) return;
    const std::string key = std::string(workload.namespace_of()) + "/" + replaced;
    traits.replaces(
        key, sluice::Ends::kFinished, kReplaced,
        replaced_message(std::string(workload.uid()), text_or_empty(workload.label(kJobUid))));
    traits.follows(key);
    // Two growths of one size differ in what they replace, so in what they need.
    traits.shape_key(key);
  }

  void filter(const sluice::FilterQuery& query, sluice::FilterAnswer& answer) const {
    const Workload workload = query.workload();
    const auto text = workload.annotation(kFlavors);
    if (!text || !workload.annotation(kReplacementFor)) return;
    std::vector<std::string_view> offered;
    for (std::uint32_t i = 0; i < query.flavors(); ++i) offered.push_back(query.flavor(i));
    const std::string_view kept =
        sticky_flavor(*text, workload.pod_set_name(query.pod_set()), offered);
    if (kept.empty()) return;
    for (std::uint32_t i = 0; i < query.flavors(); ++i)
      if (offered[i] != kept)
        answer.skip(i, "couldn't change flavor from: " + std::string(kept) +
                           " to: " + std::string(offered[i]));
  }

  // ---- job-mapping/1, pod-gate/1: what a job is made of

  void plan(const sluice::Job& job, sluice::JobPlan& out) {
    const auto object = opted_in(job);
    if (!object) return;
    const Plan plan = elastic::plan(snapshot_of(job, *object), history_);
    if (plan.recreate && is_prebuilt(*object)) return;  // whoever built it builds another one
    if (plan.recreate) return out.recreate();
    for (const std::string& name : plan.remove) out.remove(name);
    for (const EndedSlice& each : plan.finish) out.finish(each.name, each.reason, each.message);
    if (!plan.resize.empty()) out.resize(plan.resize);
    if (plan.create) create(job, *object, *plan.create, out);
    if (!plan.speaker.empty()) out.speaker(plan.speaker);
  }

  std::vector<std::string> pod_gates(const sluice::Job& job) {
    const auto object = opted_in(job);
    if (!object || !is_queued(job, *object)) return {};
    return {std::string(kGate)};
  }

  void pod_grants(const sluice::Job& job, sluice::Grants& grants) {
    const auto object = opted_in(job);
    if (!object || !is_queued(job, *object)) return;
    const Plan plan = elastic::plan(snapshot_of(job, *object), history_);
    const auto slice = find_slice(job, plan.speaker);
    const bool admitted = slice && is_true(*slice, "Admitted") && !is_true(*slice, "Evicted") &&
                          !is_true(*slice, "Finished");
    for (std::uint64_t i = 0; i < job.pod_sets(); ++i) {
      const auto at = admitted ? find_pod_set(*slice, job.pod_set_name(i)) : std::nullopt;
      grants.grant(i, at ? slice->admitted_count(*at).value_or(0) : 0);
    }
  }

  // ---- validator/1

  std::vector<std::string> kinds() const {
    return {"batch/Job", "ray.io/RayCluster", "kueue.x-k8s.io/Workload"};
  }
  void validate(const sluice::Write& write, sluice::FieldErrors& errors) {
    check_write(
        write,
        [this](std::string_view ns, std::string_view uid) {
          if (uid.empty()) return false;
          const std::string selector = std::string(kJobUid) + "=" + std::string(uid);
          return !context_.objects().list(kWorkloads, "Workload", ns, selector).empty();
        },
        errors);
  }

  // ---- post-admit/1

  /// Who opts in has traits, and so is claimed.
  std::vector<std::string> told_events() const {
    return {"Admitted claimed", "Finished claimed", "ReservationLost claimed"};
  }
  sluice::Told notify(const sluice::Notification& told) {
    if (opts_in(told.workload())) telling_.decided(told);
    return sluice::Told::kDone;
  }

 private:
  void create(const sluice::Job& job, const Json& object, const NewSlice& slice,
              sluice::JobPlan& out) {
    const std::string ns = object.string_or("metadata.namespace", "");
    sluice::NewWorkload wanted;
    wanted.revision = slice.revision;
    wanted.annotations.emplace_back(kRevision, slice.revision);
    if (!slice.replaces.empty()) {
      wanted.annotations.emplace_back(kReplacementFor, ns + "/" + slice.replaces);
      wanted.annotations.emplace_back(kOrigin, slice.origin);
      wanted.annotations.emplace_back(sluice::mark::kTakesOverFrom, slice.replaces);
      if (const auto current = find_slice(job, slice.replaces)) {
        wanted.annotations.emplace_back(kFlavors, sticky_text_of(*current));
        wanted.labels = shared_labels(object, *current);
      }
      telling_.created({std::string(job.kind()), ns, object.string_or("metadata.name", "")},
                       object.string_or("metadata.uid", ""), slice, sizes_of(job));
    }
    // The older spelling alone would not tell other tools that the workload opts in.
    wanted.annotations.emplace_back(kOptIn, "true");
    out.create(wanted);
  }

  /// A job that no queue manages must not wait for a gate that nothing lifts.
  static bool is_queued(const sluice::Job& job, const Json& object) {
    if (job.workloads() > 0) return true;
    const Json* labels = object.find("metadata.labels");
    const Json* owners = object.find("metadata.ownerReferences");
    const bool owned = owners != nullptr && owners->size() > 0;
    return labels != nullptr && labels->member(kQueue) != nullptr && !owned;
  }

  /// Turned off: growths that wait have no meaning any more, and the slices that jobs run by are
  /// workloads like all others.
  void leave() {
    std::vector<Json> all;
    try {
      all = context_.objects().list(kWorkloads, "Workload");
    } catch (const sluice::ObjectError&) {
      return;  // the host ends: it comes back with the plugin, or says what waits for it
    }
    for (const Json& workload : all) {
      if (!opts_in(workload) || sluice::condition_is_true(workload, "Finished")) continue;
      const ObjectRef ref{kWorkloads, "Workload", workload.string_or("metadata.namespace", ""),
                          workload.string_or("metadata.name", "")};
      const Json* annotations = workload.find("metadata.annotations");
      if (annotations->member(kReplacementFor) != nullptr &&
          !sluice::condition_is_true(workload, "Admitted") && !done(ref, end(ref, workload)))
        continue;  // claimed still, it waits for the plugin
      done(ref, context_.objects().release_claim(ref));
    }
  }

  /// One that is refused, in a namespace that is full, keeps nobody from turning the plugin off.
  bool done(const ObjectRef& ref, const sluice::ObjectReply& reply) const {
    if (!reply)
      context_.warn("workload " + ref.ns + "/" + ref.name +
                    " is left as it is, because this is refused: " + reply.text);
    return static_cast<bool>(reply);
  }

  sluice::ObjectReply end(const ObjectRef& ref, const Json& workload) {
    Json conditions = Json::array();
    if (const Json* present = workload.find("status.conditions"))
      for (const Json& each : present->items())
        if (each.string_or("type", "") != "Finished") conditions.push_back(each);
    Json finished = Json::object();
    finished["type"] = "Finished";
    finished["status"] = "True";
    finished["reason"] = kOutOfSync;
    finished["message"] = "The plugin elastic-jobs, which let the job grow, was turned off";
    finished["lastTransitionTime"] = workload.string_or("metadata.creationTimestamp", "");
    conditions.push_back(finished);
    Json patch = Json::object();
    patch["status"]["conditions"] = conditions;
    return context_.objects().patch(ref, patch, "status");
  }

  sluice::Context context_;
  std::size_t history_;
  Telling telling_;
};

}  // namespace elastic

SLUICE_MAY("list kueue.x-k8s.io/Workload");
SLUICE_MAY("patch kueue.x-k8s.io/Workload/status");
SLUICE_PLUGIN(elastic::ElasticJobs, "elastic-jobs", "0.1.0")
