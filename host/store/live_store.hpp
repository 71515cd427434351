// LiveStore: the versioned objects of a running host: what clients read and watch, and the way in
// which changes become durable.
//
// Two views, one history. The *working* view (the ObjectStore interface) belongs to the thread that
// owns the Kernel: it sees every change at once. The *published* view is what all other threads
// read: it moves on when a transaction is durable, and never goes back. Each change gets the next
// version (metadata.resourceVersion): one counter for all kinds, strictly increasing, across
// restarts too.
//
// commit() closes the open transaction and hands it to a Journal on the writer thread, which writes
// all transactions that are waiting with one sync (group commit). Then the changes are published,
// watchers are woken, and the callbacks run, in the order of the commits. If the journal fails,
// nothing more is ever acknowledged: the store is *failed*, the published view stays readable and
// everything that waits, or comes later, gets the error.
//
// Invariant: published is a prefix of working; nothing is published that is not durable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/objects/store.hpp"
#include "host/store/change.hpp"
#include "host/store/journal.hpp"
#include "host/store/use.hpp"

namespace sluice::host {

class CommitQueue;
class LoadObserver;
class Published;
struct Watcher;

class LiveStore final : public ObjectStore {
 public:
  /// Loads what the journal holds; nullptr: memory only. The scheme must be complete and outlive
  /// the store. Where the journal cannot be read the store is failed from the start: see failure().
  /// Objects of kinds that the scheme does not know stay in the journal and are not seen.
  /// `observer` sees the records while they are read; it may be nullptr.
  LiveStore(const api::Scheme& scheme, std::unique_ptr<Journal> journal, HistoryLimits limits = {},
            LoadObserver* observer = nullptr);
  ~LiveStore() override;  // as close()
  /// Writes what was committed, ends the writer thread and lets go of the journal. Nothing may be
  /// called afterwards.
  void close();

  // ---- working view: the kernel's thread only
  const StoredObject* find(const api::KindInfo& kind, std::string_view key) const override;
  /// Gives it the next version. Keeps what is `hidden` in its earlier form unless given another.
  void put(StoredObject object) override;
  bool erase(const api::KindInfo& kind, std::string_view key) override;
  std::vector<const StoredObject*> list_in(const api::KindInfo& kind,
                                           std::string_view ns) const override;
  std::size_t count(const api::KindInfo& kind) const override;
  /// The version of the last change.
  std::uint64_t working_version() const;
  /// What the working view holds; use() of everything from any thread.
  StoreUse use() const;
  StoreUse use(std::string_view ns) const;
  /// Closes the transaction of all changes since the last commit. `done` runs on the writer thread
  /// once they (and all before) are durable and published, or with the reason why they are not. An
  /// empty transaction is done when all before it are. `done` may be null.
  void commit(std::function<void(const Result<void>&)> done);

  // ---- published view: any thread
  RecordPtr get(const api::KindInfo& kind, std::string_view key) const;
  /// Objects of a kind, in one namespace unless `ns` is empty, after key `after` (empty: from the
  /// first), at most `limit` (0: all). `at` 0: now; else as of that version, an error (410) when it
  /// is no longer in the history, or when it is newer than version(). O(objects listed + log n +
  /// changes since `at`). Pages that are read with the first one's version are one consistent cut.
  Result<Listing> read(const api::KindInfo& kind, std::string_view ns, std::string_view after = {},
                       std::size_t limit = 0, std::uint64_t at = 0) const;
  /// Of the last change that is published; at least 1.
  std::uint64_t version() const;
  /// With which it began anew, from a copy of a store: what was seen of versions before that may
  /// never have been in this one; 0: it never did.
  std::uint64_t begun() const;
  /// Published objects of a kind.
  std::size_t published_count(const api::KindInfo& kind) const;
  /// Changes that were committed and are not published yet.
  std::size_t backlog() const;
  /// Empty unless the store failed.
  std::string failure() const;
  /// See Journal::no_room().
  std::string no_room() const;

  /// A watcher's place in the history of one kind.
  class Cursor {
   public:
    Cursor() = default;
    /// Appends up to `most` changes that are published and not yet taken. False: the place is no
    /// longer in the history (410 Expired).
    bool take(std::vector<Change>& out, std::size_t most);
    /// All changes up to here were taken. A cursor that is taken from until nothing comes is at
    /// the store's version, also when its kind rests.
    std::uint64_t position() const { return position_; }

   private:
    friend class LiveStore;
    const Published* published_ = nullptr;
    const api::KindInfo* kind_ = nullptr;
    std::uint64_t position_ = 0;
  };
  /// Changes after `version`. An error when that is older than the history or newer than now.
  Result<Cursor> watch(const api::KindInfo& kind, std::uint64_t version) const;

  /// Calls `wake` on the writer thread after changes of `kind` were published, once for all that
  /// one sync made durable, until the subscription is destroyed (which waits for a running call,
  /// unless it is the call that destroys it). It must be cheap: post to an executor, set an event.
  class Subscription {
   public:
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

   private:
    friend class LiveStore;
    Subscription(CommitQueue& queue, std::shared_ptr<Watcher> watcher);
    CommitQueue& queue_;
    std::shared_ptr<Watcher> watcher_;
  };
  std::unique_ptr<Subscription> subscribe(const api::KindInfo& kind, std::function<void()> wake);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host
