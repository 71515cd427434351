// JobWarnings: what keeps jobs from being queued in a simulation, as a host tells it in Events.
// Each sentence is told once for a job; of very many the rest is counted.
//
// Belongs to the simulation's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "host/writes/object_writer.hpp"

namespace sluice::host {

class JobWarnings final : public EventSink {
 public:
  using Tell = std::function<void(const std::string& line)>;

  explicit JobWarnings(Tell tell) : tell_(std::move(tell)) {}

  void emit(const EventNote& event) override;
  /// Tells how many were left out, if any. At the end.
  void finish();

 private:
  static constexpr std::size_t kMost = 100;

  Tell tell_;
  std::set<std::pair<std::string, std::string>> told_;  // `KIND NAMESPACE/NAME`, sentence
  std::size_t left_out_ = 0;
};

}  // namespace sluice::host
