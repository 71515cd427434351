// WorkloadTable: the records of workloads, by WorkloadId.
//
// Ids are given in the order in which workloads come and never twice, as they decide ties. Of a
// workload that was removed nothing stays once its last decisions were handed out: its record reads
// as one that does not exist then, and with the oldest the table itself becomes shorter. So a host
// that runs for years has records for what it has, and eight bytes for each that came after the
// oldest of those.
//
// Invariant: records do not move while they exist. Written by the engine's thread between the
// parallel parts of a cycle, read by all threads in them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/base/check.hpp"
#include "core/model/workload_record.hpp"

namespace sluice {

class WorkloadTable {
 public:
  /// A fresh record, with the next id.
  WorkloadId add() {
    records_.push_back(std::make_unique<WorkloadRecord>());
    return end_id() - 1;
  }

  /// Of a workload that is gone: a record that does not exist, which nobody writes.
  const WorkloadRecord& operator[](WorkloadId id) const {
    const WorkloadRecord* record = find(id);
    return record ? *record : none_;
  }
  WorkloadRecord& operator[](WorkloadId id) {
    WorkloadRecord* record = find(id);
    return record ? *record : none_;
  }

  /// The records of all that exist have ids from first_id() to before end_id().
  WorkloadId first_id() const { return first_; }
  WorkloadId end_id() const { return first_ + static_cast<WorkloadId>(records_.size()); }

  /// Nothing is left of it but its key, for decisions that were not handed out yet.
  void remove(WorkloadId id) {
    WorkloadRecord& record = (*this)[id];
    std::string key = std::move(record.key);
    record = WorkloadRecord();
    record.key = std::move(key);
    removed_.push_back(id);
  }

  /// Decisions were handed out, and are about to be again: what was removed before the last ones
  /// goes. O(1) per removed workload, amortised.
  void hand_out() {
    SLUICE_CHECK(!none_.exists() && none_.conditions.empty() && !none_.holding,
                 "a workload that is gone was written: ", none_.key);
    for (const WorkloadId id : handed_out_) records_[id - first_].reset();
    std::swap(handed_out_, removed_);
    removed_.clear();
    std::size_t gone = leading_;
    while (gone < records_.size() && !records_[gone]) ++gone;
    leading_ = gone;
    if (gone < kLeastTrimmed || gone < records_.size() / 2) return;
    records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(gone));
    if (records_.capacity() > 4 * records_.size() + kLeastTrimmed) records_.shrink_to_fit();
    first_ += static_cast<WorkloadId>(gone);
    leading_ = 0;
  }

 private:
  static constexpr std::size_t kLeastTrimmed = 1024;

  WorkloadRecord* find(WorkloadId id) const {
    const std::size_t place = id - first_;  // of an earlier one: beyond the end
    return id >= first_ && place < records_.size() ? records_[place].get() : nullptr;
  }

  std::vector<std::unique_ptr<WorkloadRecord>> records_;  // from first_ on
  WorkloadId first_ = 0;
  std::size_t leading_ = 0;  // so many of them are gone
  std::vector<WorkloadId> removed_, handed_out_;
  WorkloadRecord none_;
};

}  // namespace sluice
