#include "telling.hpp"

#include <array>

#include "names.hpp"
#include "sluice/cpp/marks.hpp"

namespace elastic {
namespace {

using sluice::ObjectRef;
using sluice::Workload;

constexpr std::size_t kMostTold = 100'000;

/// The two kinds that can opt in.
ObjectRef job_object(std::string_view kind, std::string_view ns, std::string_view name) {
  const bool ray = kind == "RayCluster" || kind == "ray.io/RayCluster";
  return {ray ? "ray.io/v1" : "batch/v1", ray ? "RayCluster" : "Job", std::string(ns),
          std::string(name)};
}

std::string sizes_of(const Workload& slice) {
  std::string out;
  for (std::uint32_t i = 0; i < slice.pod_sets(); ++i) {
    if (i > 0) out += ", ";
    out += std::string(slice.pod_set_name(i)) + " " + std::to_string(slice.pod_set_count(i));
  }
  return out;
}

}  // namespace

Telling::Telling(const sluice::Context& context)
    : context_(context),
      created_(context.counter("workload_slices_created_total",
                               "Slices that were made to let a running job grow")),
      admitted_(context.counter("workload_slices_admitted_total",
                                "Growths of running jobs that were admitted")),
      replaced_(context.counter("workload_slices_replaced_total",
                                "Slices whose place was taken by a larger one")),
      superseded_(context.counter("workload_slices_superseded_total",
                                  "Slices that ended because the job got another size")),
      failed_(context.counter("workload_slices_failed_total",
                              "Growths of running jobs that lost what was reserved for them",
                              {"reason"})) {}

void Telling::created(const JobRef& job, const std::string& uid, const NewSlice& slice,
                      const std::string& size) {
  if (slice.replaces.empty()) return;
  if (told_.size() >= kMostTold) told_.clear();
  if (std::string& last = told_[uid]; last == slice.revision)
    return;
  else
    last = slice.revision;
  context_.add(created_, 1);
  context_.event(
      false, job_object(job.kind, job.ns, job.name), "WorkloadSliceCreated",
      "A workload slice of " + size + " was made to take the place of " + slice.replaces);
}

void Telling::tell(bool warning, const Workload& slice, std::string_view reason,
                   const std::string& message) const {
  if (const auto owner = slice.controller())
    context_.event(warning, job_object(owner->first, slice.namespace_of(), owner->second), reason,
                   message);
  else
    context_.event(warning, slice.namespace_of(), slice.name(), reason, message);
}

void Telling::decided(const sluice::Notification& told) {
  const Workload slice = told.workload();
  const auto grows = slice.annotation(kReplacementFor);
  const std::string name(slice.name());
  if (told.reason() == sluice::told::kPresentState) return;  // it was told when it happened
  switch (told.event()) {
    case sluice::Event::kAdmitted:
      if (!grows) return;
      context_.add(admitted_, 1);
      return tell(false, slice, "WorkloadSliceAdmitted",
                  "Workload slice " + name + " is admitted (" + sizes_of(slice) +
                      "); it takes the place of " + std::string(*grows));
    case sluice::Event::kFinished:
      if (told.reason() == kReplaced) {
        context_.add(replaced_, 1);
        context_.event(false, slice.namespace_of(), name, kReplaced,
                       "A larger workload slice took its place");
      } else if (told.reason() == kOutOfSync) {
        context_.add(superseded_, 1);
        tell(false, slice, "WorkloadSliceSuperseded",
             "Workload slice " + name + " (" + sizes_of(slice) +
                 ") ended: it is not what the job needs any more");
      }
      return;
    case sluice::Event::kReservationLost: {
      if (!grows) return;
      const std::array<std::string_view, 1> labels{told.reason()};
      context_.add(failed_, 1, labels);
      return tell(true, slice, "WorkloadSliceFailed",
                  "Workload slice " + name + " (" + sizes_of(slice) + ") lost its reservation, " +
                      std::string(told.reason()) + "; the job runs on at its size");
    }
    default:
      return;
  }
}

}  // namespace elastic
