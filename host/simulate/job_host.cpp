#include "host/simulate/job_host.hpp"

#include <fmt/format.h>

#include <utility>

#include "api/json/json.hpp"
#include "host/kernel/merge_patch.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// The same for the same job at the same time (FNV-1a).
std::string job_uid(const ObjectRef& job, Time now) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : fmt::format("{}/{} {} {}", job.kind->group, job.kind->kind, job.key, now))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:08x}-{:04x}-4000-a000-{:012x}", hash >> 32U, hash >> 16U & 0xffffU,
                     hash & 0xffffU);
}

/// The JSON merge patch that makes `after` of `before`.
json::object difference(const json::object& before, const json::object& after) {
  json::object patch;
  for (const auto& [key, value] : after) {
    const json::value* old = before.if_contains(key);
    if (old && *old == value) continue;
    if (old && old->is_object() && value.is_object()) {
      patch[key] = difference(old->get_object(), value.get_object());
    } else {
      patch[key] = value;
    }
  }
  for (const auto& entry : before)
    if (!after.contains(entry.key())) patch[entry.key()] = nullptr;
  return patch;
}

/// What a user says of a job: the queue decides when it is suspended.
json::object said_by_user(json::object object) {
  object.erase("status");
  object_of(object, "spec").erase("suspend");
  return object;
}

const JobKind& job_kind(const ObjectRef& job) { return *find_job_kind(*job.kind); }

}  // namespace

std::string SimulationIds::uid(Time now) {
  for (;;)
    if (std::string uid = counted_.uid(now); !index_.find(uid)) return uid;
}

bool WorkloadUids::wants(const api::KindInfo& kind) const {
  return kind.kind == "Workload" && kind.group == "kueue.x-k8s.io";
}

void WorkloadUids::creating(const api::KindInfo&, json::object& object, const ObjectAccess&, bool,
                            std::vector<api::Problem>&) {
  for_each_object(part(object, "metadata"), "ownerReferences", [&](const json::object& owner) {
    const auto kept = kept_.find(api::find_text(owner, "uid"));
    if (kept == kept_.end()) return;
    if (!index_.find(kept->second)) object_of(object, "metadata")["uid"] = kept->second;
    kept_.erase(kept);
  });
}

JobHost::JobHost(Kernel& kernel, const hooks::Hooks& hooks, PluginSet& plugins, bool manage_all)
    : kernel_(kernel),
      ids_(index_),
      objects_(kernel, index_, ids_),
      loop_(objects_, index_),
      policy_(manage_all),
      uids_(index_),
      jobs_(kernel.scheme(), hooks.job_mapping, manage_all),
      pods_(kernel.scheme()),
      checks_(kernel.scheme(), kernel.engine(), plugins.check_controllers()),
      plugins_(plugins, kernel, objects_),
      workloads_(*kernel.scheme().find("kueue.x-k8s.io/v1beta2", "Workload")) {
  objects_.add_policy(policy_);
  objects_.add_policy(runtimes_);
  objects_.add_policy(uids_);
  loop_.retry_on_change_only();
  loop_.add(jobs_);
  loop_.add(pods_);
  loop_.add(checks_);
  plugins_.join(loop_);
  plugins_.connect();
  kernel.listen(this);
  kernel.write_statuses();
}

bool JobHost::manages(const api::KindInfo& kind) { return find_job_kind(kind) != nullptr; }

Result<void> JobHost::apply(PreparedObject&& prepared, std::string workload_uid) {
  const ObjectRef ref{prepared.stored.kind, prepared.stored.key};
  json::object object = to_object(prepared.stored);
  const auto before = applied_.find(ref);
  json::object said = said_by_user(object);
  if (!objects_.exists(*ref.kind, ref.key)) {
    if (!prepared.has_uid) {
      std::string uid = job_uid(ref, kernel_.now());
      object_of(object, "metadata")["uid"] = uid;
      uids_.keep(uid, std::move(workload_uid));
    }
    WriteMode mode;
    mode.by_system = true;  // its status and identity are respected
    if (auto done = plain(objects_.create(*ref.kind, std::move(object), mode)); !done) return done;
  } else if (before != applied_.end()) {
    auto done = patch(*ref.kind, ref.key, difference(before->second, said), false);
    if (!done) return done;
  }
  applied_[ref] = std::move(said);
  return {};
}

Result<void> JobHost::patch(const api::KindInfo& kind, const std::string& key,
                            const json::value& merge, bool status) {
  json::value merged = kernel_.current(kind, key);
  merge_patch(merged, merge);
  if (!merged.is_object()) return Error{"the patch leaves no object"};
  return plain(objects_.replace({&kind, key}, std::move(merged.get_object()), status, WriteMode()));
}

void JobHost::remove(const api::KindInfo& kind, const std::string& key) {
  applied_.erase({&kind, key});
  const auto done = static_cast<ObjectAccess&>(objects_).remove(kind, key, Propagation::kBackground,
                                                                std::nullopt);
  SLUICE_CHECK(done.ok(), "a job cannot be deleted: ", done.error().text);
}

std::optional<ObjectRef> JobHost::job_of(const api::Workload& workload) const {
  for (const auto& owner : workload.meta.owners) {
    const api::KindInfo* kind = kernel_.scheme().find(owner.api_version, owner.kind);
    ObjectRef ref{kind, fmt::format("{}/{}", workload.meta.ns, owner.name)};
    if (kind && manages(*kind) && objects_.exists(*kind, ref.key)) return ref;
  }
  return std::nullopt;
}

std::optional<ObjectRef> JobHost::find(std::string_view key) const {
  for (const api::KindInfo* kind : kernel_.scheme().kinds())
    if (manages(*kind) && objects_.exists(*kind, key)) return ObjectRef{kind, std::string(key)};
  return std::nullopt;
}

std::optional<Duration> JobHost::runtime(const ObjectRef& job) const {
  return runtime_of(job_kind(job), *objects_.get(*job.kind, job.key));
}

std::optional<Time> JobHost::started(const ObjectRef& job) const {
  const auto object = objects_.get(*job.kind, job.key);
  return is_suspended(*object) ? std::nullopt : pods_started(*object);
}

bool JobHost::complete(const ObjectRef& job) {
  if (job_kind(job).group_kind() != "batch/Job") return false;
  const auto object = objects_.get(*job.kind, job.key);
  const auto done =
      objects_.update_status(*job.kind, job.key, succeeded_status(*object, objects_.now()));
  SLUICE_CHECK(done.ok(), "a job cannot complete: ", done.error().text);
  settle();
  return true;
}

void JobHost::changed(const ObjectChange& change) {
  if (change.kind == &workloads_ && observer_) {
    if (change.deleted()) observer_(change.key, false);
    if (change.stored && !change.before) observer_(change.key, true);
  }
  if (change.deleted() && manages(*change.kind)) applied_.erase({change.kind, change.key});
  loop_.changed(change);
}

}  // namespace sluice::host
