#include "host/simulate/endless.hpp"

#include <algorithm>

namespace sluice::host {

void Endless::progressed(Duration at) {
  last_progress_ = at;
  instants_ = 0;
  fresh_ = false;
  first_.reset();
  going_round_ = 0;
  ++epoch_;
}

void Endless::instant_passed(Duration at) {
  ++instants_;
  at_one_time_ = at == last_instant_ ? at_one_time_ + 1 : 0;
  last_instant_ = at;
}

void Endless::evicted(WorkloadId id, const std::string& reason) {
  if (counts_.size() <= id) counts_.resize(std::max<std::size_t>(id + 1, counts_.size() * 2));
  Count& count = counts_[id];
  if (count.epoch != epoch_) count = {epoch_, 0};
  if (++count.evictions % rounds_ != 0) return;
  fresh_ = true;
  if (count.evictions != rounds_) return;
  ++going_round_;
  if (first_) return;
  first_ = id;
  reason_ = reason;
}

void Endless::cleared() {
  fresh_ = false;
  instants_ = 0;
}

}  // namespace sluice::host
