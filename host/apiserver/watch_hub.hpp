// WatchHub: the watches of all clients, and how changes get there without a thread or a wake-up per
// watch.
//
// Per I/O thread and kind there is one Feed. Watches that are up to date are its members: it takes
// each change once, and hands it to those of its namespace. A watch that is behind (it began at an
// older version, its client is slow, or its selector had too many labels to look at) is no member
// and reads the history by itself, at its client's pace, until it is up to date; so it costs the
// others nothing. An event is rendered once per shape and shared.
//
// A Feed and its watches belong to their I/O thread. What a Feed took at once goes to each watch as
// one text, which all watches of one form share. While the thread's streams send and rest (see
// Worker), a Feed takes nothing: requests and writers go on, and more changes travel together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "host/apiserver/exchange.hpp"
#include "host/apiserver/render.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

class Watch;

inline constexpr std::string_view kEventAdded = "ADDED";
inline constexpr std::string_view kEventModified = "MODIFIED";
inline constexpr std::string_view kEventDeleted = "DELETED";

/// Rendered events of late, by object, type and shape. One thread.
class EventTexts {
 public:
  explicit EventTexts(const Renderer& renderer) : renderer_(renderer) {}
  std::shared_ptr<const std::string> get(std::string_view type, const RecordPtr& object,
                                         const Route& route, const Form& form);

 private:
  // The texts of type and version are literals and of the Scheme: their addresses tell them apart.
  using Key = std::tuple<const StoredObject*, const char*, const void*, Form::Shape,
                         Form::RowObject, std::string>;
  struct Entry {
    RecordPtr object;  // keeps the address from being used again
    std::shared_ptr<const std::string> text;
  };
  const Renderer& renderer_;
  std::map<Key, Entry> entries_;
  std::deque<Key> order_;
};

/// Changes that are handed out together, and the texts of all their events in one. One thread.
class EventBatch {
 public:
  EventBatch(EventTexts& texts, std::vector<const Change*> changes)
      : changes_(std::move(changes)), texts_(texts) {}

  /// In order of versions; never empty.
  const std::vector<const Change*>& changes() const { return changes_; }
  /// Whether so many bytes of labels may be looked at for one more watch: about two milliseconds
  /// of it in all, for the others of the thread wait meanwhile.
  bool may_look_at(std::size_t bytes) {
    looked_at_ += bytes;
    return looked_at_ <= kMostLookedAt;
  }
  /// What a watch of that form without a selector is sent. Null: it would be too long.
  std::shared_ptr<const std::string> text(const Route& route, const Form& form);

 private:
  struct Joined {
    const void* version;
    Form form;
    std::shared_ptr<const std::string> text;
  };
  static constexpr std::size_t kMostLookedAt = 128U << 10;
  const std::vector<const Change*> changes_;
  EventTexts& texts_;
  std::vector<Joined> joined_;
  std::size_t looked_at_ = 0;
};

class Lane;

class Feed : public std::enable_shared_from_this<Feed> {
 public:
  Feed(Lane& lane, LiveStore& store, const api::KindInfo& kind);

  /// `watch` took everything that `cursor` gives.
  void join(const std::shared_ptr<Watch>& watch, const LiveStore::Cursor& cursor);
  /// Some member is none any more.
  void left();
  std::uint64_t position() const { return cursor_.position(); }
  /// Takes changes that were published meanwhile.
  void run();

 private:
  using Members = std::vector<std::shared_ptr<Watch>>;
  void wake();
  void hand_out();
  void hand_out(const Members& members, std::span<const Change* const> changes);
  std::size_t most_at_once() const;
  static void drop_leavers(Members& members);
  void tidy();

  Lane& lane_;
  LiveStore& store_;
  const api::KindInfo& kind_;
  LiveStore::Cursor cursor_;
  Members everywhere_;
  std::unordered_map<std::string, Members> by_namespace_;
  std::size_t count_ = 0;
  bool leavers_ = false;
  bool running_ = false;
  bool resting_ = false;
  std::vector<Change> changes_;
  std::atomic<bool> scheduled_{false};
  std::unique_ptr<LiveStore::Subscription> subscription_;
};

/// The feeds and deadlines of one I/O thread.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  Lane(std::shared_ptr<TaskThread> thread, LiveStore& store, const Renderer& renderer)
      : texts(renderer), thread_(std::move(thread)), store_(store) {}

  Feed& feed(const api::KindInfo& kind);
  TaskThread& thread() { return *thread_; }
  /// Runs the task soon, one at a time between other requests.
  void run_in_turn(std::function<void()> task);

  using Deadlines = std::multimap<std::chrono::steady_clock::time_point, Watch*>;
  Deadlines::iterator add_deadline(std::chrono::steady_clock::time_point when, Watch& watch);
  void remove_deadline(Deadlines::iterator place) { deadlines_.erase(place); }

  EventTexts texts;

 private:
  void tick();
  void post_next();

  const std::shared_ptr<TaskThread> thread_;
  LiveStore& store_;
  std::unordered_map<const api::KindInfo*, std::shared_ptr<Feed>> feeds_;
  Deadlines deadlines_;
  bool ticking_ = false;
  std::deque<std::function<void()>> tasks_;  // the first is posted
};

class WatchHub {
 public:
  WatchHub(LiveStore& store, const Renderer& renderer) : store_(store), renderer_(renderer) {}
  std::shared_ptr<Lane> lane(const std::shared_ptr<TaskThread>& thread);

 private:
  LiveStore& store_;
  const Renderer& renderer_;
  std::mutex mutex_;
  std::map<TaskThread*, std::shared_ptr<Lane>> lanes_;  // guarded by mutex_
};

}  // namespace sluice::host
