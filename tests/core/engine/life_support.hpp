// What tests of the lives of workloads share: a queue of one flavor, and what the condition
// Requeued says. Plain functions.
#pragma once

#include <cstdint>
#include <string>

#include "tests/core/support/scenario.hpp"

namespace sluice::testing {

inline Queue plain(std::int64_t cpu) { return Queue("q").quota("cpu", {{"f", cpu}}); }

/// The condition Requeued as `status reason`.
inline std::string requeued(Scenario& s, const std::string& name) {
  const auto status = s.engine.status(*s.engine.find("ns/" + name));
  const auto* c = status.condition("Requeued");
  return c ? c->status + " " + c->reason : "(absent)";
}

}  // namespace sluice::testing
