// Published: the view of the objects that clients read, and the recent past of it.
//
// All kinds share one history, which is bounded; what falls out of it can no longer be watched or
// read as of then, kind by kind: a kind that rests keeps its past. Invariant: the tables are the
// state at version(), and for a kind every change after its floor is in the history, in order.
//
// The writer thread applies; any thread reads. No call runs foreign code or waits for I/O.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "host/base/fair_shared_mutex.hpp"
#include "host/store/change.hpp"
#include "host/store/record_table.hpp"

namespace sluice::host {

class Published {
 public:
  Published(const std::vector<const api::KindInfo*>& kinds, HistoryLimits limits);

  // ---- before the first reader comes
  /// All records of a kind, in order of their keys.
  void load(const api::KindInfo& kind, std::vector<RecordPtr> records);
  /// `floor`: from which version on nothing of the kind was missed; `version` where it is unknown.
  void start(std::uint64_t version, const api::KindInfo& kind, std::uint64_t floor);

  // ---- the writer thread
  /// The changes of one transaction; `version` is that of the last one.
  void apply(std::span<const Change> changes, std::uint64_t version);

  // ---- any thread; see LiveStore
  std::uint64_t version() const;
  RecordPtr get(const api::KindInfo& kind, std::string_view key) const;
  Result<Listing> read(const api::KindInfo& kind, std::string_view ns, std::string_view after,
                       std::size_t limit, std::uint64_t at) const;
  Result<void> check_watch(const api::KindInfo& kind, std::uint64_t version) const;
  bool take(const api::KindInfo& kind, std::uint64_t& position, std::vector<Change>& out,
            std::size_t most) const;
  std::size_t count(const api::KindInfo& kind) const;
  /// Those of a kind in a namespace, or all where it is empty, in order of their keys. Valid while
  /// nothing is applied. O(log n + m) of m that are listed.
  std::vector<const StoredObject*> list(const api::KindInfo& kind, std::string_view ns) const;
  /// Changes in the history.
  std::size_t history_size() const;

 private:
  struct Kind {
    RecordTable table;
    std::deque<Change> history;
    std::uint64_t floor = 0;
  };
  struct Past {
    Kind* kind;
    std::size_t bytes;
  };
  struct Range {
    std::string from, to;  // keys in [from, to); `to` empty: no end
    bool holds(std::string_view key) const { return key >= from && (to.empty() || key < to); }
  };
  // What was otherwise at an earlier version, by key.
  struct Then {
    RecordPtr object;  // null: there was none
    bool exists_now;
  };
  using Overlay = std::map<std::string_view, Then>;

  const Kind* kind_of(const api::KindInfo& kind) const;
  bool must_forget(Time now) const;
  Result<Listing> page(const api::KindInfo& info, const Range& range, std::size_t limit,
                       std::uint64_t at) const;
  static Overlay overlay(const Kind& kind, const Range& range, std::uint64_t at);
  static void merge(const Kind& kind, const Range& range, const Overlay& then, std::size_t limit,
                    Listing& out);

  const HistoryLimits limits_;
  mutable FairSharedMutex mutex_;
  // The set of kinds is fixed; what they hold is guarded by the mutex, as is the rest.
  std::unordered_map<const api::KindInfo*, std::unique_ptr<Kind>> kinds_;
  std::deque<Past> past_;  // of all kinds, in order of versions
  std::size_t past_bytes_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace sluice::host
