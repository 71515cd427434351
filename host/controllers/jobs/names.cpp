#include "host/controllers/jobs/names.hpp"

#include <fmt/format.h>

#include "api/scheme/controlling_job.hpp"
#include "core/base/text.hpp"
#include "host/base/digest.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kHashDigits = 5;
constexpr std::size_t kLongestPrefix = 252 - kHashDigits;

}  // namespace

std::string workload_name(std::string_view kind, std::string_view group, std::string_view job,
                          std::string_view uid, std::string_view revision) {
  std::string prefix = lower_ascii(kind);
  prefix += '-';
  prefix += job;
  prefix.resize(std::min(prefix.size(), kLongestPrefix));
  std::string hashed = fmt::format("{}\n{}\n{}\n{}", kind, group, job, uid);
  if (!revision.empty()) hashed += fmt::format("\n{}", revision);
  return prefix + "-" + sha1_hex(hashed).substr(0, kHashDigits);
}

std::vector<const api::KindInfo*> job_kinds(const api::Scheme& scheme) {
  std::vector<const api::KindInfo*> out = scheme.kinds();
  std::erase_if(out, [](const api::KindInfo* kind) { return kind->job == nullptr; });
  return out;
}

std::vector<std::string> workloads_and(std::span<const api::KindInfo* const> jobs) {
  std::vector<std::string> out = {"kueue.x-k8s.io/Workload"};
  for (const api::KindInfo* kind : jobs) out.push_back(kind->group_kind());
  return out;
}

std::vector<JobInControl> jobs_in_control(const boost::json::object& owned,
                                          const ObjectReader& objects) {
  const std::string_view ns = api::find_text(part(owned, "metadata"), "namespace");
  std::vector<JobInControl> out;
  for (const api::ControllingJob& each : api::controlling_jobs(owned, objects.scheme())) {
    JobInControl job{{each.kind, join_key(ns, each.name)}, std::string(each.uid), std::nullopt};
    job.object = objects.get(*job.ref.kind, job.ref.key);
    if (job.object && api::find_text(part(*job.object, "metadata"), "uid") != job.uid)
      job.object.reset();
    out.push_back(std::move(job));
  }
  return out;
}

void name_owners(std::span<const api::KindInfo* const> kinds, const StoredObject& object,
                 std::vector<WorkKey>& keys) {
  for (const OwnerReference& owner : object.metadata.owners())
    for (const api::KindInfo* each : kinds)
      if (owner.kind == each->kind && owner.group() == each->group)
        keys.push_back({each, join_key(object.ns(), owner.name)});
}

}  // namespace sluice::host
