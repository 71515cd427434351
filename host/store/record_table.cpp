#include "host/store/record_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice::host {
namespace {

constexpr std::size_t kLongestRun = 256;

struct ByKey {
  bool operator()(const RecordPtr& a, std::string_view key) const { return a->key < key; }
};

}  // namespace

RecordTable::Place& RecordTable::Place::operator++() {
  if (++index_ == (*runs_)[run_].size()) {
    index_ = 0;
    ++run_;
  }
  return *this;
}

// The run in which the key is or would be: the last one that begins at or before it.
std::size_t RecordTable::run_of(std::string_view key) const {
  const auto after = std::partition_point(runs_.begin(), runs_.end(),
                                          [&](const Run& run) { return run.front()->key <= key; });
  return after == runs_.begin() ? 0 : static_cast<std::size_t>(after - runs_.begin() - 1);
}

RecordTable::Place RecordTable::lower_bound(std::string_view key) const {
  Place out;
  out.runs_ = &runs_;
  if (runs_.empty()) return out;
  out.run_ = run_of(key);
  const Run& run = runs_[out.run_];
  const auto it = std::lower_bound(run.begin(), run.end(), key, ByKey());
  out.index_ = static_cast<std::size_t>(it - run.begin());
  if (it == run.end()) {
    out.index_ = 0;
    ++out.run_;
  }
  return out;
}

RecordPtr RecordTable::find(std::string_view key) const {
  const Place place = lower_bound(key);
  return !place.at_end() && (*place)->key == key ? *place : nullptr;
}

void RecordTable::set(RecordPtr record) {
  if (runs_.empty()) runs_.emplace_back();
  const std::size_t number = runs_.size() == 1 ? 0 : run_of(record->key);
  Run& run = runs_[number];
  const auto it = std::lower_bound(run.begin(), run.end(), record->key, ByKey());
  if (it != run.end() && (*it)->key == record->key) {
    *it = std::move(record);
    return;
  }
  // Objects often come in the order of their keys: a full last run is left full then.
  const bool appended = it == run.end() && number + 1 == runs_.size();
  ++size_;
  if (run.size() < kLongestRun) {
    run.insert(it, std::move(record));
  } else if (appended) {
    runs_.emplace_back().push_back(std::move(record));
  } else {
    const auto half = static_cast<Run::difference_type>(kLongestRun / 2);
    const auto at = it - run.begin();
    Run upper(std::make_move_iterator(run.begin() + half), std::make_move_iterator(run.end()));
    run.resize(kLongestRun / 2);
    if (at <= half)
      run.insert(run.begin() + at, std::move(record));
    else
      upper.insert(upper.begin() + (at - half), std::move(record));
    runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(number) + 1, std::move(upper));
  }
}

// Runs have some room left, so that the next changes split none.
void RecordTable::fill(std::vector<RecordPtr> records) {
  constexpr std::size_t kFilled = kLongestRun * 3 / 4;
  runs_.clear();
  size_ = records.size();
  for (std::size_t at = 0; at < records.size(); at += kFilled) {
    const auto begin = records.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = records.begin() + static_cast<std::ptrdiff_t>(std::min(at + kFilled, size_));
    runs_.emplace_back().reserve(kLongestRun);
    runs_.back().assign(std::make_move_iterator(begin), std::make_move_iterator(end));
  }
}

bool RecordTable::erase(std::string_view key) {
  const Place place = lower_bound(key);
  if (place.at_end() || (*place)->key != key) return false;
  Run& run = runs_[place.run_];
  run.erase(run.begin() + static_cast<std::ptrdiff_t>(place.index_));
  if (run.empty()) runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(place.run_));
  --size_;
  return true;
}

std::size_t RecordTable::rank(std::string_view key) const {
  const Place place = lower_bound(key);
  std::size_t out = place.index_;
  for (std::size_t i = 0; i < place.run_; ++i) out += runs_[i].size();
  return out;
}

}  // namespace sluice::host
