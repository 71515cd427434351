#include "host/simulate/simulated_jobs.hpp"

#include <fmt/format.h>

#include <utility>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "core/base/fnv.hpp"
#include "host/controllers/jobs/pods_ready.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

const api::JobKind& job_kind(const ObjectRef& job) { return *job.kind->job; }

}  // namespace

void WorkloadWatch::changed(const ObjectChange& change, std::vector<WorkKey>&) {
  if (!observer_) return;
  if (change.deleted()) observer_(change.key, false);
  if (change.stored && !change.before) observer_(change.key, true);
}

void SimulatedJobs::join(Machine& machine, bool judges) {
  machine_ = &machine;
  if (judges) machine.objects().add_policy(runtimes_);
  machine.controllers().retry_on_change_only();
}

std::string SimulatedJobs::uid(Time now) {
  for (;;)
    if (std::string uid = counted_.uid(now); !machine_->index().find(uid)) return uid;
}

std::string SimulatedJobs::uid_for(const api::KindInfo& kind, const json::object& object,
                                   Time now) {
  std::string found;
  if (is_workload(kind)) {
    for_each_object(part(object, "metadata"), "ownerReferences", [&](const json::object& owner) {
      const auto kept = kept_.find(api::find_text(owner, "uid"));
      if (kept == kept_.end()) return;
      if (found.empty() && !machine_->index().find(kept->second)) found = kept->second;
      kept_.erase(kept);
    });
  }
  return found.empty() ? uid(now) : found;
}

// The same for the same job at the same time.
std::string SimulatedJobs::uid_of_job(const ObjectRef& job, Time now, std::string workload_uid) {
  const std::uint64_t hash =
      Fnv().add(fmt::format("{}/{} {} {}", job.kind->group, job.kind->kind, job.key, now)).value();
  std::string uid = fmt::format("{:08x}-{:04x}-4000-a000-{:012x}", hash >> 32U,
                                hash >> 16U & 0xffffU, hash & 0xffffU);
  kept_[uid] = std::move(workload_uid);
  return uid;
}

bool SimulatedJobs::manages(const api::KindInfo& kind) { return kind.job != nullptr; }

std::optional<ObjectRef> SimulatedJobs::job_of(const api::Workload& workload) const {
  for (const auto& owner : workload.meta.owners) {
    const api::KindInfo* kind = machine_->scheme().find(owner.api_version, owner.kind);
    ObjectRef ref{kind, join_key(workload.meta.ns, owner.name)};
    if (kind && manages(*kind) && objects().exists(*kind, ref.key)) return ref;
  }
  return std::nullopt;
}

std::vector<WorkloadId> SimulatedJobs::workloads_of(std::string_view job) const {
  std::vector<WorkloadId> out;
  for (const api::KindInfo* kind : machine_->scheme().kinds()) {
    if (!manages(*kind)) continue;
    const StoredObject* stored = machine_->store().find(*kind, job);
    if (!stored) continue;
    for (const ObjectRef& owned : machine_->index().owned_by(stored->metadata.uid()))
      if (const auto id =
              is_workload(*owned.kind) ? machine_->engine().find(owned.key) : std::nullopt)
        out.push_back(*id);
  }
  std::ranges::sort(out);
  return out;
}

std::optional<ObjectRef> SimulatedJobs::find(std::string_view key) const {
  for (const api::KindInfo* kind : machine_->scheme().kinds())
    if (manages(*kind) && objects().exists(*kind, key)) return ObjectRef{kind, std::string(key)};
  return std::nullopt;
}

std::optional<Duration> SimulatedJobs::runtime(const ObjectRef& job) const {
  return time_to_end_of(job_kind(job), *objects().get(*job.kind, job.key));
}

std::optional<Time> SimulatedJobs::started(const ObjectRef& job) const {
  const auto object = objects().get(*job.kind, job.key);
  return job_kind(job).suspended(*object) ? std::nullopt : job_kind(job).running_since(*object);
}

bool SimulatedJobs::complete(const ObjectRef& job) {
  if (!job_kind(job).ends()) return false;
  const auto object = objects().get(*job.kind, job.key);
  const auto done = objects().update_status(*job.kind, job.key,
                                            ended_status(job_kind(job), *object, machine_->now()));
  SLUICE_CHECK(done.ok(), "a job cannot complete: ", done.error().text);
  machine_->controllers().run();
  return true;
}

Result<void> SimulatedJobs::end(const std::string& workload) {
  const Engine& engine = machine_->engine();
  const auto id = engine.find(workload);
  const WorkloadState state = id ? engine.state(*id) : WorkloadState::kFinished;
  if (id && state != WorkloadState::kAdmitted && state != WorkloadState::kFinished)
    return Error{workload + " is not admitted, so it cannot finish"};
  return machine_->kernel().finish(workload, "Succeeded", "Job finished successfully");
}

void SimulatedJobs::report_ready(WorkloadId workload) {
  const std::string& key = machine_->engine().key(workload);
  const api::KindInfo& kind = api::kueue_kind(machine_->scheme(), "Workload");
  json::object status = part(*objects().get(kind, key), "status");
  if (!set_pods_ready(status, true, machine_->now())) return;
  const auto done = objects().update_status(kind, key, std::move(status));
  SLUICE_CHECK(done.ok(), "pods of ", key, " cannot be ready: ", done.error().text);
}

}  // namespace sluice::host
