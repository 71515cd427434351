#include "tests/dst/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "api/json/json.hpp"
#include "api/json/parts.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;

/// Thousandths of a CPU of `2`, `"2"` or `"1500m"`.
std::int64_t milli(const json::object& object, std::string_view key) {
  const json::value* value = api::find(object, key);
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->get_int64() * 1000;
  if (!value->is_string()) return 0;
  const std::string text(api::view(value->get_string()));
  const std::int64_t number = std::atoll(text.c_str());
  return text.ends_with('m') ? number : number * 1000;
}

constexpr std::string_view kReplaces = "kueue.x-k8s.io/workload-slice-replacement-for";
constexpr Duration kUntilTold = 5 * kSecond;

std::string name_of(const json::object& object) {
  return std::string(api::find_text(part(object, "metadata"), "name"));
}

/// Pods of a pod set that still need something: all that it asks for but those that are over
/// (status.reclaimablePods), of the part that was admitted.
std::int64_t present_pods(const json::object& workload, const json::object& set) {
  const std::string_view name = api::find_text(set, "name");
  const auto count_in = [&](const json::object& object, std::string_view list) {
    std::int64_t out = 0;
    for_each_object(object, list, [&](const json::object& each) {
      if (api::find_text(each, "name") == name) out = api::find_int(each, "count").value_or(0);
    });
    return out;
  };
  return std::min(api::find_int(set, "count").value_or(0),
                  count_in(part(workload, "spec"), "podSets") -
                      count_in(part(workload, "status"), "reclaimablePods"));
}

template <typename Fn>
void for_each_owner(const json::object& object, std::string_view kind, Fn fn) {
  for_each_object(part(object, "metadata"), "ownerReferences", [&](const json::object& owner) {
    if (api::find_text(owner, "kind") == kind)
      fn("default/" + std::string(api::find_text(owner, "name")));
  });
}

/// Whether it has anything that it had less of before.
bool is_more(const std::map<std::string, std::int64_t>& now,
             const std::map<std::string, std::int64_t>& before) {
  for (const auto& [where, amount] : now) {
    const auto had = before.find(where);
    if (had == before.end() || had->second < amount) return true;
  }
  return false;
}

}  // namespace

Model::Queue Model::read_queue(const json::object& object) {
  Queue queue;
  const json::object& spec = part(object, "spec");
  queue.cohort = api::find_text(spec, "cohortName");
  for_each_object(spec, "resourceGroups", [&](const json::object& group) {
    for_each_object(group, "flavors", [&](const json::object& flavor) {
      const std::string name(api::find_text(flavor, "name"));
      for_each_object(flavor, "resources", [&](const json::object& resource) {
        queue.nominal[name] = milli(resource, "nominalQuota");
        queue.limit[name] = api::find(resource, "borrowingLimit")
                                ? queue.nominal[name] + milli(resource, "borrowingLimit")
                                : INT64_MAX;
      });
    });
  });
  for_each_object(part(object, "status"), "flavorsReservation", [&](const json::object& flavor) {
    const std::string name(api::find_text(flavor, "name"));
    for_each_object(flavor, "resources", [&](const json::object& resource) {
      if (const auto total = milli(resource, "total"); total != 0) queue.told[name] = total;
    });
  });
  return queue;
}

Model::Seen Model::read(const LiveStore& store, const api::Scheme& scheme, ObjectTrees& trees,
                        std::vector<std::string>& wrong) {
  Seen out;
  for (const json::object* queue : trees.all(store, scheme, "clusterqueues"))
    out.queues[name_of(*queue)] = read_queue(*queue);
  const std::vector<const json::object*> workloads = trees.all(store, scheme, "workloads");
  std::set<std::string> represented;  // by one of their members, which holds the quota
  for (const json::object* workload : workloads) {
    const json::object& object = *workload;
    const std::string key = "default/" + name_of(object);
    for_each_owner(object, "Workload", [&](const std::string& whom) {
      represented.insert(whom);
      out.owners[key] = whom;
    });
    for_each_owner(object, "Job", [&](const std::string& job) { out.owners[key] = "job " + job; });
  }
  for (const json::object* workload : workloads) {
    const json::object& object = *workload;
    const std::string key = "default/" + name_of(object);
    const bool reserved = has_condition(part(object, "status"), "QuotaReserved"),
               admitted = has_condition(part(object, "status"), "Admitted");
    if (has_condition(part(object, "status"), "Finished")) continue;
    if (admitted && !reserved) wrong.push_back(key + " is admitted and holds no quota");
    if (!reserved) continue;
    const json::object& since = *find_condition(part(object, "status"), "QuotaReserved");
    const json::object& admission = part(part(object, "status"), "admission");
    const std::string queue(api::find_text(admission, "clusterQueue"));
    out.holders.insert(fmt::format("{} since {}", api::find_text(part(object, "metadata"), "uid"),
                                   api::find_text(since, "lastTransitionTime")));
    for_each_object(admission, "podSetAssignments", [&](const json::object& set) {
      const std::string flavor(api::find_text(part(set, "flavors"), "cpu"));
      const std::int64_t count = api::find_int(set, "count").value_or(1);
      if (count == 0) return;  // all of its pods are over
      const std::int64_t each = milli(part(set, "resourceUsage"), "cpu") / count;
      out.held[key][queue + " " + flavor] += each * present_pods(object, set);
    });
    if (represented.contains(key)) out.held.erase(key);
    if (admitted)
      for_each_owner(object, "Job", [&](const std::string& job) { out.admitted[key] = job; });
  }
  // Who replaces another one takes over what that one holds (KEP-77).
  for (const json::object* workload : workloads) {
    const json::object& object = *workload;
    const std::string_view old =
        api::find_text(part(part(object, "metadata"), "annotations"), kReplaces);
    const auto before = out.held.find(std::string(old));
    const auto after = out.held.find("default/" + name_of(object));
    if (old.empty() || before == out.held.end() || after == out.held.end()) continue;
    for (auto& [where, amount] : before->second)
      amount = std::max<std::int64_t>(0, amount - after->second[where]);
  }
  for (const auto& [workload, amounts] : out.held)
    for (const auto& [where, amount] : amounts) out.of_job[out.job(workload)][where] += amount;
  return out;
}

const std::string& Model::Seen::job(const std::string& workload) const {
  const auto owner = owners.find(workload);
  return owner == owners.end() ? workload : job(owner->second);
}

/// A limit may be exceeded only by those who held quota before (it was lowered since): by jobs, as
/// one may take over from another workload of its job, and give back.
void Model::check_quota(const Seen& now, std::vector<std::string>& wrong) const {
  Amounts of_queue, of_cohort, room;
  for (const auto& [workload, amounts] : now.held)
    for (const auto& [where, amount] : amounts) of_queue[where] += amount;
  for (const auto& [name, queue] : now.queues) {
    const std::string cohort = queue.cohort.empty() ? "of " + name : queue.cohort;
    for (const auto& [flavor, nominal] : queue.nominal) {
      of_cohort[cohort + " " + flavor] += of_queue[name + " " + flavor];
      room[cohort + " " + flavor] += nominal;
    }
  }
  for (const auto& [workload, amounts] : now.held) {
    const auto held = before_.of_job.find(now.job(workload));
    if (held != before_.of_job.end() && !is_more(now.of_job.at(held->first), held->second))
      continue;
    for (const auto& [where, amount] : amounts) {
      const std::string name = where.substr(0, where.find(' '));
      const std::string flavor = where.substr(where.find(' ') + 1);
      const auto queue = now.queues.find(name);
      if (queue == now.queues.end()) {
        wrong.push_back(workload + " got quota of " + name + ", which is not there");
        continue;
      }
      const std::string& cohort = queue->second.cohort;
      const std::string of = (cohort.empty() ? "of " + name : cohort) + " " + flavor;
      if (of_cohort[of] > room[of])
        wrong.push_back(fmt::format("{} got {} m of {}: {} m of {} m are used in cohort {}",
                                    workload, amount, where, of_cohort[of], room[of], of));
      if (of_queue[where] > queue->second.limit.at(flavor))
        wrong.push_back(fmt::format("{} got {} m of {}: beyond its limit of {} m", workload, amount,
                                    where, queue->second.limit.at(flavor)));
    }
  }
}

void Model::check_told(const Seen& now, std::vector<std::string>& wrong) {
  Amounts held, told;
  for (const auto& [workload, amounts] : now.held)
    for (const auto& [where, amount] : amounts) held[where] += amount;
  for (const auto& [name, queue] : now.queues)
    for (const auto& [flavor, amount] : queue.told) told[name + " " + flavor] = amount;
  for (const auto& [where, amount] : held)
    if (told[where] != amount)
      wrong.push_back(
          fmt::format("{}: {} m are held, the queue tells of {} m", where, amount, told[where]));
  for (const auto& [where, amount] : told)
    if (!held.contains(where))
      wrong.push_back(fmt::format("{}: nothing is held, the queue tells of {} m", where, amount));
}

void Model::check_in_use(const std::map<std::string, std::int64_t>& in_use,
                         std::vector<std::string>& wrong) const {
  for (const auto& [job, amount] : in_use) {
    std::int64_t held = 0;
    if (const auto of = before_.of_job.find("job " + job); of != before_.of_job.end())
      for (const auto& [where, each] : of->second) held += each;
    if (amount > held)
      wrong.push_back(fmt::format("pods of job {} use {} m, and {} m are held", job, amount, held));
  }
}

void Model::check_jobs(const Seen& now, const LiveStore& store, const api::Scheme& scheme,
                       ObjectTrees& trees, std::vector<std::string>& wrong) {
  std::set<std::string> there, may_run;
  for (const auto& [workload, job] : now.admitted)
    if (!may_run.insert(job).second) wrong.push_back("two workloads of " + job + " are admitted");
  unfinished_.clear();
  for (const json::object* each : trees.all(store, scheme, "jobs")) {
    const json::object& job = *each;
    const std::string key = "default/" + name_of(job);
    there.insert(key);
    if (has_condition(part(job, "status"), "Complete") ||
        has_condition(part(job, "status"), "Failed"))
      continue;
    unfinished_.insert(key);
    const bool held = api::find_bool(part(job, "spec"), "suspend", false);
    if (!held && !may_run.contains(key))
      wrong.push_back("job " + key + " may run, and its workload is not admitted");
  }
  for (const std::string& job : jobs_)
    if (!there.contains(job)) wrong.push_back("job " + job + " was acknowledged and is lost");
}

void Model::look(const LiveStore& store, const api::Scheme& scheme, ObjectTrees& trees, Time time,
                 std::vector<std::string>& wrong) {
  if (store.version() < version_)
    wrong.push_back(fmt::format("version {} comes after {}", store.version(), version_));
  version_ = store.version();
  Seen now = read(store, scheme, trees, wrong);
  check_quota(now, wrong);
  if (now.held != before_.held || now.holders != before_.holders) held_since_ = time;
  std::vector<std::string> untold;
  if (time - held_since_ >= kUntilTold) check_told(now, untold);
  // The first look after a while may see what was told in the middle of its own turn, in which the
  // same was lost and got again.
  untold_since_ = untold.empty() ? kNever : std::min(untold_since_, time);
  if (untold_since_ <= time - kSecond) wrong.insert(wrong.end(), untold.begin(), untold.end());
  check_jobs(now, store, scheme, trees, wrong);
  before_ = std::move(now);
}

}  // namespace sluice::host::test
