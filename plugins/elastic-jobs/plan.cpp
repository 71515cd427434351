#include "plan.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "names.hpp"

namespace elastic {
namespace {

constexpr const char* kObsolete = "The workload slice is out of sync with its parent job";

bool raised(const JobSnapshot& job, const Slice& slice) {
  for (std::size_t i = 0; i < job.counts.size() && i < slice.counts.size(); ++i)
    if (job.counts[i] > slice.counts[i]) return true;
  return false;
}

bool lowered(const JobSnapshot& job, const Slice& slice) {
  for (std::size_t i = 0; i < job.counts.size() && i < slice.counts.size(); ++i)
    if (job.counts[i] < slice.counts[i]) return true;
  return false;
}

/// The generation; with a number when a slice was made for it already (and ended since).
std::string free_revision(const JobSnapshot& job) {
  const std::string generation = std::to_string(job.generation);
  std::size_t used = 0;
  for (const Slice& slice : job.slices)
    if (slice.revision == generation || slice.revision.starts_with(generation + ".")) ++used;
  return used == 0 ? generation : generation + "." + std::to_string(used);
}

NewSlice growth_of(const JobSnapshot& job, const Slice& current) {
  return {free_revision(job), current.name, current.origin.empty() ? current.name : current.origin};
}

/// Which one the job runs by: the latest that is admitted, else the oldest, which keeps its place.
const Slice* current_of(const std::vector<const Slice*>& open) {
  for (auto it = open.rbegin(); it != open.rend(); ++it)
    if ((*it)->admitted) return *it;
  return open.empty() ? nullptr : open.front();
}

/// A revision as numbers: the generation, and how many were made for it before.
std::pair<std::int64_t, std::int64_t> number_of(const std::string& revision) {
  std::pair<std::int64_t, std::int64_t> out;
  const char* const end = revision.data() + revision.size();
  const auto first = std::from_chars(revision.data(), end, out.first);
  if (first.ptr != end) std::from_chars(first.ptr + 1, end, out.second);
  return out;
}

std::vector<const Slice*> in_order(const JobSnapshot& job) {
  std::vector<const Slice*> out;
  for (const Slice& slice : job.slices) out.push_back(&slice);
  std::stable_sort(out.begin(), out.end(), [](const Slice* a, const Slice* b) {
    return number_of(a->revision) < number_of(b->revision);
  });
  return out;
}

/// The last one by which the job ran, or was to; nullptr: those that are left never were that, or
/// only until another took their place.
const Slice* last_of(const std::vector<const Slice*>& all) {
  for (auto it = all.rbegin(); it != all.rend(); ++it)
    if (!(*it)->displaced) return *it;
  return nullptr;
}

/// No slice is left that is not finished. A job that runs is stopped first, which makes another
/// generation of it: a slice of this one would be over at once.
void start_over(const JobSnapshot& job, const std::vector<const Slice*>& all, Plan& out) {
  const Slice* last = last_of(all);
  if (all.empty()) {
    if (job.suspended) out.create = NewSlice{free_revision(job), "", ""};
  } else if (job.suspended && last != nullptr && last->match == Match::kSame) {
    out.speaker = last->name;  // it failed to start: that stays until the job changes
  } else {
    out.recreate = true;
  }
}

void settle(const JobSnapshot& job, const std::vector<const Slice*>& open, const Slice& current,
            Plan& out) {
  out.speaker = current.name;
  const Slice* growth = nullptr;
  const bool grows = current.reserving && raised(job, current);
  for (const Slice* slice : open)
    if (slice->match == Match::kSame && slice->replaces == current.name) growth = slice;
  bool before = true;
  for (const Slice* slice : open) {
    if (slice == &current) before = false;
    if (slice == &current || (grows && slice == growth)) continue;
    if (before)
      out.finish.push_back(
          {slice->name, std::string(kReplaced), replaced_message(current.uid, job.uid)});
    else
      out.finish.push_back({slice->name, std::string(kOutOfSync), kObsolete});
  }
  if (current.match == Match::kCounts && (!current.reserving || lowered(job, current)))
    out.resize = current.name;
  if (grows && growth == nullptr) out.create = growth_of(job, current);
}

void drop_old(const std::vector<const Slice*>& all, std::size_t history, Plan& out) {
  std::vector<std::string> finished;
  for (const Slice* slice : all)
    if (slice->finished && slice->name != out.speaker) finished.push_back(slice->name);
  for (std::size_t i = 0; i + history < finished.size(); ++i)
    out.remove.push_back(std::move(finished[i]));
}

}  // namespace

std::string replaced_message(const std::string& uid, const std::string& job_uid) {
  return "Removed to accommodate a workload (UID: " + uid +
         ", JobUID: " + (job_uid.empty() ? "UNKNOWN" : job_uid) +
         ") due to workload slice aggregation";
}

Plan plan(const JobSnapshot& job, std::size_t history) {
  Plan out;
  const std::vector<const Slice*> all = in_order(job);
  std::vector<const Slice*> open;
  for (const Slice* slice : all)
    if (!slice->finished) open.push_back(slice);
  if (std::any_of(open.begin(), open.end(),
                  [](const Slice* slice) { return slice->match == Match::kOther; })) {
    out.recreate = true;
    return out;
  }
  if (const Slice* current = current_of(open))
    settle(job, open, *current, out);
  else
    start_over(job, all, out);
  if (!out.recreate) drop_old(all, history, out);
  return out;
}

}  // namespace elastic
