#include "host/store/commit_queue.hpp"

#include <pthread.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "host/base/log.hpp"

namespace sluice::host {
namespace {

JournalRow row_of(std::string_view kind, const StoredObject& object) {
  return {kind,         object.key,    object.version, false, object.metadata.text(),
          *object.body, object.status, object.hidden};
}

JournalRow row_of(std::string_view kind, const Change& change) {
  if (change.type != ChangeType::kDeleted) return row_of(kind, *change.object);
  return {kind, change.object->key, change.version(), true, {}, {}, {}, {}};
}

/// What several transactions do together: of several changes of one object only the last one has
/// to be kept, in the place of what was there before the first.
class Rows {
 public:
  void add(std::string_view kind, const Change& change) {
    const auto [place, fresh] =
        places_[change.object->kind].try_emplace(change.object->key, rows_.size());
    JournalRow row = row_of(kind, change);
    if (!fresh) {
      row.replaces = rows_[place->second].replaces;
      rows_[place->second] = row;
      return;
    }
    if (change.before) row.replaces = row_checksum(row_of(kind, *change.before));
    rows_.push_back(row);
  }
  const std::vector<JournalRow>& all() const { return rows_; }

 private:
  std::vector<JournalRow> rows_;
  std::unordered_map<const api::KindInfo*, std::unordered_map<std::string_view, std::size_t>>
      places_;
};

}  // namespace

CommitQueue::CommitQueue(Journal* journal, Published& published,
                         const std::unordered_map<const api::KindInfo*, std::string>& names)
    : journal_(journal), published_(published), names_(names), thread_([this] { run(); }) {}

CommitQueue::~CommitQueue() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  waiting_.notify_one();
  thread_.join();
}

void CommitQueue::push(Commit commit) {
  backlog_.fetch_add(commit.changes.size(), std::memory_order_relaxed);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(commit));
  }
  waiting_.notify_one();
}

void CommitQueue::fail(std::string reason) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.empty()) return;
    failure_ = reason;
  }
  log(LogLevel::kError, "store", "nothing is written any more", {{"reason", std::move(reason)}});
}

std::string CommitQueue::failure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void CommitQueue::run() {
  pthread_setname_np(pthread_self(), "store");
  for (;;) {
    std::vector<Commit> batch;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      waiting_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      batch.swap(queue_);
    }
    process(batch);
  }
}

void CommitQueue::process(std::vector<Commit>& batch) {
  Result<void> result;
  if (const std::string failed = failure(); !failed.empty())
    result = Error{failed};
  else
    result = write(batch);

  if (result.ok()) {
    for (const Commit& commit : batch)
      if (!commit.changes.empty()) published_.apply(commit.changes, commit.version);
  } else {
    fail(result.error().text);
  }
  for (const Commit& commit : batch)
    backlog_.fetch_sub(commit.changes.size(), std::memory_order_relaxed);
  if (result.ok()) wake_watchers(batch);
  for (Commit& commit : batch)
    if (commit.done) commit.done(result);
}

Result<void> CommitQueue::write(const std::vector<Commit>& batch) {
  if (journal_ == nullptr) return {};
  Rows rows;
  std::string_view fields;
  std::uint64_t version = 0;
  for (const Commit& commit : batch) {
    version = std::max(version, commit.version);
    if (!commit.fields.empty()) fields = commit.fields;
    for (const Change& change : commit.changes) rows.add(names_.at(change.object->kind), change);
  }
  if (rows.all().empty() && fields.empty()) return {};
  return journal_->write(rows.all(), version, fields);
}

void CommitQueue::wake_watchers(const std::vector<Commit>& batch) {
  std::unordered_set<const api::KindInfo*> kinds;
  for (const Commit& commit : batch)
    for (const Change& change : commit.changes) kinds.insert(change.object->kind);
  for (const api::KindInfo* kind : kinds) {
    std::vector<std::shared_ptr<Watcher>> watchers;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (const auto it = watchers_.find(kind); it != watchers_.end()) watchers = it->second;
    }
    for (const auto& watcher : watchers) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (watcher->gone) continue;
        watcher->running = true;
      }
      watcher->wake();
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        watcher->running = false;
        if (watcher->gone) idle_.notify_all();
      }
    }
  }
}

std::shared_ptr<Watcher> CommitQueue::add_watcher(const api::KindInfo& kind,
                                                  std::function<void()> wake) {
  auto watcher = std::make_shared<Watcher>();
  watcher->kind = &kind;
  watcher->wake = std::move(wake);
  const std::lock_guard<std::mutex> lock(mutex_);
  watchers_[&kind].push_back(watcher);
  return watcher;
}

void CommitQueue::remove_watcher(const std::shared_ptr<Watcher>& watcher) {
  std::unique_lock<std::mutex> lock(mutex_);
  watcher->gone = true;
  auto& all = watchers_[watcher->kind];
  // Order does not matter: the last one takes the place.
  const auto it = std::find(all.begin(), all.end(), watcher);
  *it = std::move(all.back());
  all.pop_back();
  if (std::this_thread::get_id() == thread_.get_id()) return;
  idle_.wait(lock, [&] { return !watcher->running; });
}

}  // namespace sluice::host
