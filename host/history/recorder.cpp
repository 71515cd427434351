#include "host/history/recorder.hpp"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "host/base/log.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenPasses(500);  // what comes together is written together
constexpr std::chrono::seconds kAfterFailure(5);
constexpr std::chrono::seconds kBetweenLooks(60);  // for what is too old
constexpr std::size_t kChangesAtOnce = 4'096;
constexpr std::size_t kRunsAtOnce = 4'096;  // of one transaction, when all is read anew
constexpr std::size_t kMostGone = 10'000;
constexpr std::int64_t kForgetAtOnce = 2'000;  // rows; writing goes on in between
constexpr std::size_t kManyNames = 50'000;
constexpr std::string_view kStoreName = "kube-system";  // its UID tells stores apart

std::string quota_name(const StoredObject& object, bool of_cohort) {
  return of_cohort ? std::string(kCohortMark) + object.key : object.key;
}

}  // namespace

HistoryRecorder::HistoryRecorder(std::unique_ptr<HistoryFile> file, LiveStore& store,
                                 const api::Scheme& scheme, std::function<Time()> clock,
                                 HistoryKeep keep, std::string name)
    : file_(std::move(file)),
      store_(store),
      workloads_(api::kueue_kind(scheme, "Workload")),
      pods_(*scheme.find("v1", "Pod")),
      queues_(api::kueue_kind(scheme, "ClusterQueue")),
      cohorts_(api::kueue_kind(scheme, "Cohort")),
      namespaces_(*scheme.find("v1", "Namespace")),
      clock_(std::move(clock)),
      keep_(keep),
      name_(std::move(name)),
      log_(*file_) {}

HistoryRecorder::~HistoryRecorder() { stop(); }

void HistoryRecorder::start() {
  const auto wake = [this] {
    const std::lock_guard lock(mutex_);
    if (std::exchange(woken_, true)) return;
    work_.notify_one();
  };
  for (const api::KindInfo* kind : {&workloads_, &pods_, &queues_, &cohorts_})
    subscriptions_.push_back(store_.subscribe(*kind, wake));
  // From here on nothing is missed, however soon it comes and goes again.
  if (const auto placed = place_cursors(); !placed)
    log(LogLevel::kError, "history", "cannot follow the store", {{"reason", placed.error().text}});
  thread_ = std::thread([this] { loop(); });
}

void HistoryRecorder::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
  subscriptions_.clear();
  done_.notify_all();
}

bool HistoryRecorder::catch_up(std::chrono::milliseconds most) {
  const std::uint64_t wanted = store_.version();
  std::unique_lock lock(mutex_);
  if (read_up_to_ >= wanted) return true;
  hurry_ = true;
  work_.notify_one();
  done_.wait_for(lock, most, [&] { return read_up_to_ >= wanted || stopping_; });
  return read_up_to_ >= wanted;
}

HistoryState HistoryRecorder::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void HistoryRecorder::loop() {
  pthread_setname_np(pthread_self(), "history");
  while (wait_for_work()) look();
  look();  // what threads that stopped before this one wrote last
}

/// False: it is to end.
bool HistoryRecorder::wait_for_work() {
  std::unique_lock lock(mutex_);
  const bool failed = !state_.failure.empty();
  work_.wait_for(lock, failed ? kAfterFailure : kBetweenLooks,
                 [&] { return stopping_ || hurry_ || (woken_ && !failed); });
  if (woken_ && !hurry_ && !stopping_)
    work_.wait_for(lock, kBetweenPasses, [&] { return stopping_ || hurry_; });
  woken_ = hurry_ = false;
  return !stopping_;
}

/// An exception (out of memory) is a failure like any other: what was read is read again.
void HistoryRecorder::look() {
  Result<void> done;
  try {
    done = pass();
    if (done) forget_old();
  } catch (const std::exception& error) {
    done = Error{error.what()};
  }
  std::uint64_t up_to = 0;
  if (done) {
    up_to = std::min({workload_cursor_.position(), pod_cursor_.position(), queue_cursor_.position(),
                      cohort_cursor_.position()});
  } else {
    static_cast<void>(log_.take());
    read_all_ = false;
    static_cast<void>(place_cursors());
  }
  const std::string failure = done ? std::string() : done.error().text;
  bool news = false;
  {
    const std::lock_guard lock(mutex_);
    news = state_.failure != failure;
    state_.failure = failure;
    if (done) read_up_to_ = up_to;
  }
  done_.notify_all();
  if (news && done) log(LogLevel::kInfo, "history", "is written again");
  if (news && !done)
    log(LogLevel::kError, "history", "cannot be written; it is tried again", {{"reason", failure}});
}

WorkloadFacts HistoryRecorder::facts_of(const StoredObject& workload) const {
  WorkloadFacts out = workload_facts(workload);
  if (out.owner_kind != workloads_.kind) return out;
  // One that stands aside has the status of that which represents it, and the job, the creator and
  // the pods are its own: so it is what counts. When it is gone, its parts go.
  const RecordPtr whole = store_.get(workloads_, join_key(out.ns, out.owner));
  out.part = whole ? whole->metadata.stands_aside() : !workload.metadata.claims().empty();
  return out;
}

/// A store that follows a cluster drops what it assumed of an object and takes it anew, in one
/// step: an object that is there again was never gone.
void HistoryRecorder::take_changes(const std::vector<Change>& changes) {
  std::unordered_map<std::string_view, const Change*> last;
  for (const Change& change : changes) last[change.object->metadata.uid()] = &change;
  std::unordered_set<std::string_view> anew;
  for (const Change& change : changes) {
    const std::string_view uid = change.object->metadata.uid();
    if (change.type == ChangeType::kDeleted && last[uid]->type != ChangeType::kDeleted)
      anew.insert(uid);
    else
      take_change(change, anew.erase(uid) > 0);
  }
}

void HistoryRecorder::take_change(const Change& change, bool anew) {
  const Millis now = to_millis(change.published);
  const StoredObject& object = *change.object;
  if (change.type == ChangeType::kDeleted) {
    log_.removed(facts_of(object), now);
    if (gone_.insert_or_assign(object.key, std::string(object.metadata.uid())).second)
      gone_order_.push_back(object.key);
    if (gone_order_.size() > kMostGone) {
      gone_.erase(gone_order_.front());
      gone_order_.pop_front();
    }
    return;
  }
  if (change.before && change.before->status == object.status) return;
  if (anew || tells_anything(object) || (change.before && tells_anything(*change.before)))
    log_.changed(facts_of(object), now);
}

void HistoryRecorder::take_pod(const StoredObject& pod) {
  const auto use = pod_use(pod);
  if (!use) return;
  const std::string key = join_key(use->ns, use->workload);
  if (const RecordPtr workload = store_.get(workloads_, key))
    return log_.used(workload->metadata.uid(), *use);
  if (const auto gone = gone_.find(key); gone != gone_.end()) log_.used(gone->second, *use);
}

/// Most changes of a queue are of its status. One that is there again was never gone, as above.
void HistoryRecorder::take_quotas(const std::vector<Change>& changes, bool of_cohorts) {
  std::unordered_map<std::string_view, const Change*> last;
  for (const Change& change : changes) last[change.object->key] = &change;
  for (const Change& change : changes) {
    const StoredObject& queue = *change.object;
    const Millis at = to_millis(change.published);
    if (change.type == ChangeType::kDeleted) {
      if (last[queue.key] == &change) quotas_.gone(quota_name(queue, of_cohorts), at);
      continue;
    }
    if (change.before && same_but_status(*change.before, queue)) continue;
    quotas_.has(quota_name(queue, of_cohorts), quotas_of(queue, of_cohorts), at);
  }
}

Result<void> HistoryRecorder::pass() {
  if (!read_all_)
    if (auto read = read_all(); !read) {
      // What there was when the cursors were placed is no longer to be had.
      if (auto placed = place_cursors(); !placed) return placed;
      if (auto again = read_all(); !again) return again;
    }
  // Pods first: what is read of workloads afterwards is newer, so a pod's run is known before what
  // the pod used is counted to it.
  std::vector<Change> pods, workloads, queues, cohorts;
  const auto take = [](LiveStore::Cursor& cursor, std::vector<Change>& into) {
    std::size_t before = 0;
    do {
      before = into.size();
      if (!cursor.take(into, kChangesAtOnce)) return false;
    } while (into.size() != before);
    return true;
  };
  if (!take(pod_cursor_, pods) || !take(workload_cursor_, workloads) ||
      !take(queue_cursor_, queues) || !take(cohort_cursor_, cohorts)) {
    {
      const std::lock_guard lock(mutex_);
      ++state_.made_up;
    }
    read_all_ = false;
    if (auto placed = place_cursors(); !placed) return placed;
    return read_all();
  }
  take_changes(workloads);
  take_quotas(queues, false);
  take_quotas(cohorts, true);
  for (const Change& change : pods)
    if (change.type == ChangeType::kModified && !pod_use(*change.before)) take_pod(*change.object);
  return write(workload_cursor_.position(), pod_cursor_.position());
}

Result<void> HistoryRecorder::write(std::uint64_t workloads, std::uint64_t pods) {
  const std::vector<Run> runs = log_.take();
  const std::vector<QuotaStretch> quotas = quotas_.take();
  const Millis now = this->now();
  // When nothing happens the moment is noted now and then: until then all open runs are seen.
  if (runs.empty() && quotas.empty() &&
      now - file_->place().seen < kBetweenLooks / std::chrono::milliseconds(1))
    return {};
  if (auto written = file_->write(runs, {file_->place().store, workloads, pods, now}, quotas);
      !written)
    return written;
  const std::lock_guard lock(mutex_);
  state_.written += runs.size();
  return {};
}

Result<void> HistoryRecorder::place_cursors() {
  const std::uint64_t version = store_.version();
  const std::pair<const api::KindInfo*, LiveStore::Cursor*> cursors[] = {
      {&workloads_, &workload_cursor_},
      {&pods_, &pod_cursor_},
      {&queues_, &queue_cursor_},
      {&cohorts_, &cohort_cursor_}};
  for (const auto& [kind, cursor] : cursors) {
    auto placed = store_.watch(*kind, version);
    if (!placed) return placed.error();
    *cursor = *placed;
  }
  return {};
}

/// What quotas are other than as they stand in the file. When they became so is known of a queue
/// that was made since, and was not changed; else it is now.
Result<void> HistoryRecorder::read_quotas(std::uint64_t version, Millis seen) {
  auto open = file_->open_quotas();
  if (!open) return open.error();
  std::map<std::string, RecordPtr> there;
  for (const api::KindInfo* kind : {&queues_, &cohorts_}) {
    const auto found = store_.read(*kind, "", {}, 0, version);
    if (!found) return found.error();
    for (const RecordPtr& each : found->objects)
      there.emplace(quota_name(*each, kind == &cohorts_), each);
  }
  quotas_ = QuotaLog(std::move(*open));
  for (const std::string& name : quotas_.queues())
    if (!there.contains(name)) quotas_.gone(name, seen);
  const std::vector<std::string> known = quotas_.queues();  // in order
  for (const auto& [name, object] : there) {
    const bool fresh = !std::binary_search(known.begin(), known.end(), name);
    const Millis since = fresh ? unchanged_since(*object) : 0;
    quotas_.has(name, quotas_of(*object, is_of_cohort(name)), since != 0 ? since : now());
  }
  return {};
}

/// What is other than when the file was written last: in this store by their versions, in another
/// one everything. As of the version at which the cursors are.
Result<void> HistoryRecorder::read_all() {
  const RecordPtr name = store_.get(namespaces_, kStoreName);
  const std::string store = !name_.empty() ? name_
                            : name         ? std::string(name->metadata.uid())
                                           : std::string();
  const std::uint64_t version = workload_cursor_.position();
  HistoryPlace from = file_->place();
  const bool another = from.workloads < store_.begun() || from.pods < store_.begun();
  if (from.store != store || another || from.workloads > version || from.pods > version)
    from = {store, 0, 0, from.seen};
  const Millis now = this->now();
  auto open = file_->open_runs();
  if (!open) return open.error();
  for (const auto& [uid, key] : *open) {
    const RecordPtr there = store_.get(workloads_, key);
    if (!there || there->metadata.uid() != uid) log_.lost_sight(uid, from.seen);
  }
  const auto workloads = store_.read(workloads_, "", {}, 0, version);
  if (!workloads) return workloads.error();
  std::size_t n = 0;
  for (const RecordPtr& record : workloads->objects) {
    if (record->version <= from.workloads || !tells_anything(*record)) continue;
    log_.changed(facts_of(*record), now);
    if (++n % kRunsAtOnce != 0) continue;
    // The same again is the same, so the place can follow at the end.
    if (auto written = file_->write(log_.take(), file_->place()); !written) return written;
  }
  const auto pods = store_.read(pods_, "", {}, 0, version);
  if (!pods) return pods.error();
  for (const RecordPtr& record : pods->objects)
    if (record->version > from.pods) take_pod(*record);
  if (auto read = read_quotas(version, from.seen); !read) return read;
  auto written = file_->write(log_.take(), {store, version, version, now}, quotas_.take());
  read_all_ = written.ok();
  return written;
}

void HistoryRecorder::forget_old() {
  const auto time = steady_clock::now();
  if (time < forget_at_) return;
  const auto more = file_->forget(now() - keep_.time / kMillisecond, keep_.bytes, kForgetAtOnce);
  forget_at_ = more && *more ? time : time + kBetweenLooks;
  if (more && *more) {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  if (const auto done = more ? file_->forget_names(kManyNames) : Result<void>(more.error()); !done)
    log(LogLevel::kError, "history", "what is too old cannot be forgotten",
        {{"reason", done.error().text}});
  if (const auto bytes = file_->bytes()) {
    const std::lock_guard lock(mutex_);
    state_.bytes = *bytes;
  }
}

}  // namespace sluice::host
