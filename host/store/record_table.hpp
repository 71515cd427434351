// RecordTable: the objects of one kind in order of their keys, with ranks.
//
// Sorted runs of bounded length, so that a change moves few pointers, a listing reads memory in
// order, and how many objects lie in a range is known without visiting them. Invariant: no run is
// empty, keys rise strictly within and across runs. Used under its owner's lock.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "host/store/change.hpp"

namespace sluice::host {

class RecordTable {
 public:
  /// A place in the table; any change of the table ends its life.
  class Place {
   public:
    /// REQUIRES: not the end.
    const RecordPtr& operator*() const { return (*runs_)[run_][index_]; }
    Place& operator++();
    bool at_end() const { return run_ == runs_->size(); }

   private:
    friend class RecordTable;
    const std::vector<std::vector<RecordPtr>>* runs_ = nullptr;
    std::size_t run_ = 0, index_ = 0;
  };

  /// nullptr when there is none. O(log n).
  RecordPtr find(std::string_view key) const;
  /// Adds the record or replaces the one of the same key. O(log n + length of a run).
  void set(RecordPtr record);
  /// Replaces everything. REQUIRES: keys rise strictly. O(records).
  void fill(std::vector<RecordPtr> records);
  /// Whether there was one.
  bool erase(std::string_view key);

  std::size_t size() const { return size_; }
  /// The first object whose key is not less than `key`. O(log n).
  Place lower_bound(std::string_view key) const;
  /// How many keys are less than `key`. O(log n + number of runs).
  std::size_t rank(std::string_view key) const;

 private:
  using Run = std::vector<RecordPtr>;
  std::size_t run_of(std::string_view key) const;

  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

}  // namespace sluice::host
