// EventFilter: of which decisions a plugin wants to be told: a set of events about workloads that
// it claims, and one about all others.
//
// Plain value; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/hooks/hooks.hpp"

namespace sluice::host {

class EventFilter {
 public:
  /// Nothing passes.
  EventFilter() = default;
  static EventFilter everything();
  /// `lines`: as events() of post-admit/1 writes them; none: everything passes. The error names the
  /// line and what is allowed.
  static Result<EventFilter> parse(const std::vector<std::string>& lines);

  bool passes(hooks::Event event, bool claimed) const {
    return ((claimed ? claimed_ : others_) >> static_cast<unsigned>(event) & 1U) != 0;
  }
  /// Also what passes the other one.
  void join(const EventFilter& other) {
    claimed_ |= other.claimed_;
    others_ |= other.others_;
  }

 private:
  std::uint32_t claimed_ = 0, others_ = 0;  // a bit for each event; all of others_ are in claimed_
};

}  // namespace sluice::host
