#include "host/top/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "host/base/text.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

struct Pool {
  std::int64_t borrowed = 0, unused = 0;
};

std::int64_t unused_of(const TopQuota& quota) {
  return std::max<std::int64_t>(0, std::min(quota.nominal - quota.used, quota.lendable));
}

/// What sorts before: nothing that is shown in two ways depends on the order in which it came.
bool sorts_before(const TopQueue& a, const TopQueue& b, TopSort sort) {
  const auto key = [sort](const TopQueue& queue) {
    return sort == TopSort::kWaiting ? queue.waiting
           : sort == TopSort::kUse   ? percent_used(queue)
                                     : 0;
  };
  const auto first = key(a), second = key(b);
  return first != second ? first > second : a.name < b.name;
}

using Found = std::pair<const TopWorkload*, std::string_view>;  // with its ClusterQueue

bool sorts_before(const Found& a, const Found& b, TopSort sort) {
  const TopWorkload& one = *a.first;
  const TopWorkload& other = *b.first;
  const auto rest = [](const TopWorkload& each) {
    return std::tie(each.created, each.ns, each.name);
  };
  if (sort == TopSort::kWaiting)
    return std::tuple_cat(std::tie(one.since), rest(one)) <
           std::tuple_cat(std::tie(other.since), rest(other));
  if (sort != TopSort::kPriority && a.second != b.second) return a.second < b.second;
  if (one.priority != other.priority) return one.priority > other.priority;
  return rest(one) < rest(other);
}

}  // namespace

void TopModel::list_begins(const api::KindInfo& kind, std::uint64_t) { seen_[kind.kind].clear(); }

void TopModel::list_ends(const api::KindInfo& kind) {
  const std::set<std::string> seen = std::move(seen_[kind.kind]);
  seen_.erase(kind.kind);
  const std::lock_guard lock(mutex_);
  const auto gone = [&seen](const auto& entry) { return !seen.contains(entry.first); };
  if (kind.kind == "ClusterQueue") std::erase_if(queues_, gone);
  if (kind.kind == "Cohort") std::erase_if(cohorts_, gone);
  if (kind.kind == "LocalQueue") std::erase_if(doors_, gone);
  if (is_workload(kind)) std::erase_if(workloads_, gone);
}

void TopModel::put(const api::KindInfo& kind, const std::string&, json::object object) {
  const std::string key = key_of(object);
  if (const auto listing = seen_.find(kind.kind); listing != seen_.end())
    listing->second.insert(key);
  if (is_workload(kind)) {
    TopWorkload workload = top_workload(object);
    const std::lock_guard lock(mutex_);
    if (workload.state == TopState::kFinished)
      workloads_.erase(key);
    else
      workloads_[key] = std::move(workload);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (kind.kind == "ClusterQueue") queues_[key] = top_queue(object);
  if (kind.kind == "Cohort") cohorts_[key] = top_cohort(object);
  if (kind.kind == "LocalQueue") doors_[key] = text_in(part(object, "spec"), "clusterQueue");
}

void TopModel::remove(const api::KindInfo& kind, const json::object& object) {
  const std::string key = key_of(object);
  if (const auto listing = seen_.find(kind.kind); listing != seen_.end())
    listing->second.erase(key);
  const std::lock_guard lock(mutex_);
  if (kind.kind == "ClusterQueue") queues_.erase(key);
  if (kind.kind == "Cohort") cohorts_.erase(key);
  if (kind.kind == "LocalQueue") doors_.erase(key);
  if (is_workload(kind)) workloads_.erase(key);
}

/// Whether it is the cohort, or one below it; a cycle of cohorts ends the search.
bool TopModel::below(const std::string& cohort, const std::string& wanted) const {
  std::set<std::string> passed;
  for (std::string at = cohort; !at.empty() && passed.insert(at).second;) {
    if (at == wanted) return true;
    const auto found = cohorts_.find(at);
    at = found == cohorts_.end() ? "" : found->second.parent;
  }
  return false;
}

std::string TopModel::root_of(const std::string& cohort) const {
  std::set<std::string> passed;
  std::string at = cohort;
  for (auto found = cohorts_.find(at);
       found != cohorts_.end() && !found->second.parent.empty() && passed.insert(at).second;
       found = cohorts_.find(at))
    at = found->second.parent;
  return at;
}

/// What each queue lends is known in sum only: what all queues of a tree borrow. Of one queue it is
/// at least what no other queue could have lent, and at most what it does not use itself. Where
/// quota was lowered below its use, more is borrowed than anybody has to lend: then all of that is
/// lent.
void TopModel::set_lent(std::vector<TopQueue>& queues) const {
  std::map<std::tuple<std::string, std::string, std::string>, Pool> pools;
  const auto pool = [&](const std::string& root, const TopQuota& quota) -> Pool& {
    return pools[{root, quota.flavor, quota.resource}];
  };
  for (const auto& [name, cohort] : cohorts_)
    for (const TopQuota& quota : cohort.quotas) pool(root_of(name), quota).unused += quota.nominal;
  for (const TopQueue& queue : queues) {
    if (queue.cohort.empty()) continue;
    for (const TopQuota& quota : queue.quotas) {
      Pool& sum = pool(root_of(queue.cohort), quota);
      sum.borrowed += quota.borrowed;
      sum.unused += unused_of(quota);
    }
  }
  for (TopQueue& queue : queues) {
    if (queue.cohort.empty()) continue;
    for (TopQuota& quota : queue.quotas) {
      const Pool& sum = pool(root_of(queue.cohort), quota);
      const std::int64_t own = unused_of(quota);
      const std::int64_t lent = std::min(sum.borrowed, sum.unused);
      quota.lent_least = std::max<std::int64_t>(0, lent - (sum.unused - own));
      quota.lent_most = std::min(own, lent);
    }
  }
}

std::set<std::string> TopModel::led_to(const std::string& ns) const {
  std::set<std::string> out;
  const std::string begin = ns + "/";
  for (auto door = doors_.lower_bound(begin); door != doors_.end(); ++door) {
    if (!door->first.starts_with(begin)) break;
    out.insert(door->second);
  }
  return out;
}

std::vector<TopQueue> TopModel::queues_for(const TopQuery& query) const {
  std::vector<TopQueue> out;
  const std::set<std::string> own = led_to(query.ns);
  for (const auto& [name, queue] : queues_) out.push_back(queue);
  set_lent(out);
  std::erase_if(out, [&](const TopQueue& queue) {
    const bool named = query.queues.empty() || std::find(query.queues.begin(), query.queues.end(),
                                                         queue.name) != query.queues.end();
    if (!query.ns.empty() && !own.contains(queue.name)) return true;
    return !named || (!query.cohort.empty() && !below(queue.cohort, query.cohort));
  });
  std::sort(out.begin(), out.end(), [&](const TopQueue& a, const TopQueue& b) {
    return query.reverse ? sorts_before(b, a, query.sort) : sorts_before(a, b, query.sort);
  });
  return out;
}

TopView TopModel::view(const TopQuery& query) const {
  const std::lock_guard lock(mutex_);
  TopView out;
  out.queues = queues_for(query);
  const bool any_queue = query.queues.empty() && query.cohort.empty();
  std::set<std::string_view> names(query.queues.begin(), query.queues.end());
  if (!query.cohort.empty()) {
    names.clear();
    for (const TopQueue& queue : out.queues) names.insert(queue.name);
  }
  std::vector<Found> found;
  for (const auto& [key, workload] : workloads_) {
    if (!query.ns.empty() && workload.ns != query.ns) continue;
    std::string_view queue = workload.cluster_queue;
    if (const auto door = doors_.find(join_key(workload.ns, workload.local_queue));
        queue.empty() && door != doors_.end())
      queue = door->second;
    if (!any_queue && !names.contains(queue)) continue;
    const bool waiting = waits(workload.state);
    out.waiting += waiting ? 1 : 0;
    if (waiting || query.all) found.emplace_back(&workload, queue);
  }
  out.fitting = found.size();
  const std::size_t from = std::min(query.from, found.size());
  const std::size_t to = from + std::min(query.most, found.size() - from);
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(to), found.end(),
                    [&](const Found& a, const Found& b) {
                      return query.reverse ? sorts_before(b, a, query.sort)
                                           : sorts_before(a, b, query.sort);
                    });
  for (std::size_t i = from; i < to; ++i) {
    out.workloads.push_back(*found[i].first);
    out.workloads.back().cluster_queue = found[i].second;
  }
  return out;
}

std::vector<std::string> TopModel::not_there(const TopQuery& query) const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> queues, cohorts;
  for (const auto& [name, queue] : queues_) {
    queues.insert(name);
    if (!queue.cohort.empty()) cohorts.insert(queue.cohort);
  }
  for (const auto& [name, cohort] : cohorts_) cohorts.insert(name);
  std::vector<std::string> out;
  const auto look = [&out](const char* kind, const std::set<std::string>& all,
                           const std::string& name) {
    if (!all.contains(name))
      out.push_back(
          fmt::format("there is no {} {}; {}", kind, name, there_are({all.begin(), all.end()})));
  };
  for (const std::string& name : query.queues) look("ClusterQueue", queues, name);
  if (!query.cohort.empty()) look("Cohort", cohorts, query.cohort);
  return out;
}

}  // namespace sluice::host
