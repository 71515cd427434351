// What plugins say about a workload.
#include <algorithm>

#include "core/engine/arrivals.hpp"
#include "core/engine/workload_views.hpp"

namespace sluice {
namespace {

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) out.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace

void Arrivals::ask_traits(WorkloadId id, bool holds_quota) {
  WorkloadRecord& w = model_.workloads[id];
  hooks::Traits traits;
  if (hooks_.workload_traits) {
    hooks::Fault fault;
    const LocalQueueRecord* local = model_.local_queue_of(*w.object);
    const std::string_view queue =
        local ? std::string_view(local->cluster_queue) : std::string_view();
    hooks_.workload_traits->traits({*w.object, queue, holds_quota}, traits, fault);
    if (fault) {
      // What was known stays, so that nobody loses anything because of the fault.
      traits = w.extras ? w.extras->traits : hooks::Traits();
      traits.conflict = fault.sentence();
    } else if (traits.has_group) {
      // A group's name is its owner's own: a stranger cannot join.
      traits.group.id = w.object->meta.ns + "/" + std::string(w.object->meta.controller_uid()) +
                        "/" + traits.group.id;
    }
    mark(id, traits, !fault);
  }
  const bool plain = traits.takes_part && !traits.has_group && !traits.has_replaces &&
                     traits.evict_with.empty() && traits.follows.empty() &&
                     traits.counted_as == hooks::CountedAs::kItself && traits.shape_key.empty() &&
                     traits.inactive_because.empty() && !traits.may_lower_counts &&
                     traits.conflict.empty();
  if (plain && !w.extras && !relations_.named(w.key)) return;
  w.more().traits = std::move(traits);
  relations_.link(id);
}

/// The mark names the plugins that claim the workload: those that do are added, and a loaded one
/// that was asked and does not is taken out. A second mark says that it takes no part, for when
/// nobody is there who would say so.
void Arrivals::mark(WorkloadId id, const hooks::Traits& traits, bool asked) {
  WorkloadRecord& w = model_.workloads[id];
  const api::LabelMap& annotations = w.object->meta.annotations;
  const std::string* held = annotations.find(kClaimedBy);
  if (!held && traits.claimed_by.empty()) return;
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::vector<std::string> marks = split_names(held ? *held : std::string());
  std::vector<std::string> changed;
  for (const std::string& plugin : traits.claimed_by) {
    if (has(marks, plugin)) continue;
    marks.push_back(plugin);
    changed.push_back(plugin);
  }
  for (std::size_t i = 0; asked && i < marks.size();) {
    if (has(traits.claimed_by, marks[i]) || !has(hooks_.plugins, marks[i])) {
      ++i;
      continue;
    }
    changed.push_back(marks[i]);
    marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const bool stood_aside = annotations.find(kTakesNoPart) != nullptr;
  // An absent plugin may be the one that wants it to stand aside.
  const bool aside = !marks.empty() && (!traits.takes_part || (stood_aside && !all_loaded(marks)));
  if (changed.empty() && aside == stood_aside) return;
  if (changed.empty()) changed = {marks.empty() ? std::string() : marks.front()};
  for (const std::string& plugin : changed) turn_.decide(DecisionType::kMarked, id).reason = plugin;
  auto object = std::make_shared<api::Workload>(*w.object);
  std::string text;
  for (const std::string& name : marks) text += (text.empty() ? "" : ",") + name;
  object->meta.annotations.erase(kClaimedBy);
  object->meta.annotations.erase(kTakesNoPart);
  if (!text.empty()) object->meta.annotations.set(std::string(kClaimedBy), std::move(text));
  if (aside) object->meta.annotations.set(std::string(kTakesNoPart), "true");
  w.object = std::move(object);
}

bool Arrivals::all_loaded(const std::vector<std::string>& plugins) const {
  return std::all_of(plugins.begin(), plugins.end(), [this](const std::string& name) {
    return std::find(hooks_.plugins.begin(), hooks_.plugins.end(), name) != hooks_.plugins.end();
  });
}

/// Asks anew, for one whose object did not change.
void Arrivals::refresh_traits(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  const bool was_aside = w.stands_aside();
  relations_.unlink(id);
  ask_traits(id, w.holds_quota());
  follow_part(id, was_aside);
  w.shape = shape_of(w);
}

/// What it means that a workload takes part from now on, or no more. Standing aside, its status is
/// what its plugin writes, beginning with what was true; taking part again, it has what that says.
void Arrivals::follow_part(WorkloadId id, bool was_aside) {
  WorkloadRecord& w = model_.workloads[id];
  const bool aside = w.stands_aside();
  if (aside && !was_aside) {
    auto object = std::make_shared<api::Workload>(*w.object);
    object->status = own_status(model_, w, id);
    std::erase_if(object->status.conditions, [](const api::Condition& c) {  // why it waited before
      return c.type == "QuotaReserved" && c.status != "True";
    });
    w.object = std::move(object);
  } else if (!aside && was_aside && !w.holds_quota() && w.state != WorkloadState::kFinished) {
    w.conditions.clear();
    w.state = WorkloadState::kPending;
    lifecycle_.load_status(id);
    if (!w.object->active && w.state == WorkloadState::kPending) w.state = WorkloadState::kInactive;
  }
  if (aside && !w.holds_quota()) w.state = reported_state(w);
  count_holding(model_, id);
  count_workload(model_, id);
}

}  // namespace sluice
