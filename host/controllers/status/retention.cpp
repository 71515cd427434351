#include "host/controllers/status/retention.hpp"

#include <algorithm>

#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "core/reasons/eviction_reason.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// When the condition became true; nullopt: it is not.
std::optional<Time> true_since(const json::object& status, std::string_view type) {
  if (!has_condition(status, type)) return std::nullopt;
  return api::find_time(*find_condition(status, type), "lastTransitionTime").value_or(0);
}

/// There are many Events, and of each one time is wanted: it is not parsed.
std::optional<Time> last_seen(const StoredObject& event) {
  const auto time = [](std::string_view text, std::string_view key) {
    const auto parsed = parse_time(api::text_at(text, key));
    return parsed ? std::optional<Time>(*parsed) : std::nullopt;
  };
  if (event.body) {
    if (const auto seen = time(*event.body, "lastTimestamp")) return seen;
    if (const auto seen = time(*event.body, "eventTime")) return seen;
  }
  return time(event.metadata.text(), "creationTimestamp");
}

constexpr std::size_t kMostAtOnce = 64;  // the writes of others wait for them
constexpr Duration kRetry = 60 * kSecond;

}  // namespace

WorkloadRetention::WorkloadRetention(const api::Scheme& scheme, RetentionConfig config)
    : scheme_(scheme), workloads_(&api::kueue_kind(scheme, "Workload")), config_(config) {}

std::vector<std::string> WorkloadRetention::watches() const {
  if (!config_.after_finished && !config_.after_deactivated) return {};
  return {"kueue.x-k8s.io/Workload"};
}

void WorkloadRetention::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.stored) keys.push_back({workloads_, change.key});
}

Result<Time> WorkloadRetention::reconcile(const WorkKey& key, ObjectAccess& objects) {
  const auto workload = objects.get(*workloads_, key.name);
  if (!workload || stands_for_another(*workload)) return kNever;
  const json::object& status = part(*workload, "status");
  if (const auto finished = true_since(status, "Finished")) {
    if (!config_.after_finished) return kNever;
    const Time due = later(*finished, *config_.after_finished);
    if (objects.now() < due) return due;
    if (auto done = plain(objects.remove(*workloads_, key.name)); !done) return done.error();
    return kNever;
  }
  if (!config_.after_deactivated || api::find_bool(part(*workload, "spec"), "active", true))
    return kNever;
  // Deactivated by a person: theirs to keep.
  const json::object* evicted = find_condition(status, "Evicted");
  if (!evicted || !cause_of_deactivation(api::find_text(*evicted, "reason"))) return kNever;
  const Time due =
      later(true_since(status, "Evicted").value_or(objects.now()), *config_.after_deactivated);
  if (objects.now() < due) return due;
  if (auto done = remove_with_job(key.name, *workload, objects); !done) return done.error();
  return kNever;
}

/// One that belongs to a workload goes when that one does.
bool WorkloadRetention::stands_for_another(const json::object& workload) const {
  bool found = false;
  for_each_object(part(workload, "metadata"), "ownerReferences", [&](const json::object& owner) {
    found |= api::find_bool(owner, "controller", false) &&
             scheme_.find(api::find_text(owner, "apiVersion"), api::find_text(owner, "kind")) ==
                 workloads_;
  });
  return found;
}

Result<void> WorkloadRetention::remove_with_job(const std::string& key,
                                                const json::object& workload,
                                                ObjectAccess& objects) const {
  const std::string_view ns = namespace_of(key);
  Result<void> outcome;
  for_each_object(part(workload, "metadata"), "ownerReferences", [&](const json::object& owner) {
    const api::KindInfo* kind =
        scheme_.find(api::find_text(owner, "apiVersion"), api::find_text(owner, "kind"));
    if (!kind || !api::find_bool(owner, "controller", false) || !outcome) return;
    outcome = plain(objects.remove(*kind, join_key(ns, api::find_text(owner, "name"))));
  });
  if (!outcome) return outcome;
  return plain(objects.remove(*workloads_, key));
}

EventRetention::EventRetention(const api::Scheme& scheme, std::int64_t most, Duration keep)
    : events_(scheme.find("v1", "Event")), most_(static_cast<std::size_t>(most)), keep_(keep) {}

void EventRetention::add(const std::string& key, Time due) {
  drop(key);
  due_.emplace(key, due);
  by_due_.emplace(due, key);
  const std::string ns(namespace_of(key));
  std::set<Due>& own = of_namespace_[ns];
  sizes_.erase({own.size(), ns});
  own.emplace(due, key);
  sizes_.emplace(own.size(), ns);
}

void EventRetention::drop(const std::string& key) {
  const auto known = due_.find(key);
  if (known == due_.end()) return;
  const Due due{known->second, key};
  due_.erase(known);
  by_due_.erase(due);
  const std::string ns(namespace_of(due.second));
  const auto own = of_namespace_.find(ns);
  sizes_.erase({own->second.size(), ns});
  own->second.erase(due);
  if (own->second.empty())
    of_namespace_.erase(own);
  else
    sizes_.emplace(own->second.size(), ns);
}

void EventRetention::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.deleted()) return drop(change.key);
  add(change.key, last_seen(*change.stored).value_or(0) + keep_);
  if (change.before) return;  // seen again: it is later now
  // The timer is that of the earliest.
  if (by_due_.begin()->second == change.key || due_.size() > most_) keys.push_back({events_, {}});
}

/// A piece at a time; of too many a few more go than have to, so that not each new one costs a
/// turn.
Result<Time> EventRetention::reconcile(const WorkKey&, ObjectAccess& objects) {
  const std::size_t enough = due_.size() > most_ ? most_ - most_ / 128 : most_;
  for (std::size_t n = 0; n < kMostAtOnce && !due_.empty(); ++n) {
    const Due* goes = &*by_due_.begin();
    if (objects.now() < goes->first) {
      if (due_.size() <= enough) break;
      goes = &*of_namespace_.find(sizes_.rbegin()->second)->second.begin();
    }
    const std::string key = goes->second;
    drop(key);
    if (auto done = plain(objects.remove(*events_, key)); !done) {
      add(key, objects.now() + kRetry);
      return done.error();
    }
  }
  if (due_.empty()) return kNever;
  return due_.size() > most_ ? objects.now() : std::max(objects.now(), by_due_.begin()->first);
}

}  // namespace sluice::host
