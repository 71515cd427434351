#include "host/store/commit_queue.hpp"

#include <pthread.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "host/base/log.hpp"

namespace sluice::host {
namespace {

JournalRow row_of(std::string_view kind, const Change& change) {
  const StoredObject& object = *change.object;
  if (change.type == ChangeType::kDeleted)
    return {kind, object.key, object.version, true, {}, {}, {}, {}};
  return {kind,         object.key,    object.version, false, object.metadata,
          *object.body, object.status, object.hidden};
}

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

void CommitQueue::push(Transaction transaction) {
  backlog_.fetch_add(transaction.changes.size(), std::memory_order_relaxed);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(transaction));
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
    std::vector<Transaction> batch;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      waiting_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      batch.swap(queue_);
    }
    process(batch);
  }
}

void CommitQueue::process(std::vector<Transaction>& batch) {
  Result<void> result;
  if (const std::string failed = failure(); !failed.empty())
    result = Error{failed};
  else
    result = write(batch);

  if (result.ok()) {
    for (const Transaction& transaction : batch)
      if (!transaction.changes.empty()) published_.apply(transaction.changes, transaction.version);
  } else {
    fail(result.error().text);
  }
  for (const Transaction& transaction : batch)
    backlog_.fetch_sub(transaction.changes.size(), std::memory_order_relaxed);
  if (result.ok()) wake_watchers(batch);
  for (Transaction& transaction : batch)
    if (transaction.done) transaction.done(result);
}

Result<void> CommitQueue::write(const std::vector<Transaction>& batch) {
  if (journal_ == nullptr) return {};
  // Of several changes of one object only the last one has to be kept.
  std::vector<JournalRow> rows;
  std::unordered_map<const api::KindInfo*, std::unordered_set<std::string_view>> seen;
  std::string_view fields;
  std::uint64_t version = 0;
  for (auto transaction = batch.rbegin(); transaction != batch.rend(); ++transaction) {
    version = std::max(version, transaction->version);
    if (fields.empty()) fields = transaction->fields;
    const auto& changes = transaction->changes;
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
      const StoredObject& object = *change->object;
      if (!seen[object.kind].insert(object.key).second) continue;
      rows.push_back(row_of(names_.at(object.kind), *change));
    }
  }
  if (rows.empty() && fields.empty()) return {};
  std::reverse(rows.begin(), rows.end());
  return journal_->write(rows, version, fields);
}

void CommitQueue::wake_watchers(const std::vector<Transaction>& batch) {
  std::unordered_set<const api::KindInfo*> kinds;
  for (const Transaction& transaction : batch)
    for (const Change& change : transaction.changes) kinds.insert(change.object->kind);
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
