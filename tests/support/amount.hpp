// How much a test plays that draws its cases: as much as it usually does, or what somebody who has
// more time asks for in the environment. From any thread.
//
// Under a sanitizer CTest sets SLUICE_TEST_SHARE, because every case is played in a build without
// one, too, and instrumented code takes ten times as long: there each such test plays that part.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace sluice::trial {

/// The number that the environment holds under a name; nothing when it holds none.
inline std::optional<int> asked_for(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::atoi(value);
}

/// Of places that are all tried, one by one, every how many-th is: SLUICE_TEST_SHARE, or 1.
inline int stride() { return std::max(1, asked_for("SLUICE_TEST_SHARE").value_or(1)); }

/// One of SLUICE_TEST_SHARE parts of `usual`, and at least one.
inline int share_of(int usual) { return std::max(1, usual / stride()); }

/// How many cases to play: what is asked for under `name`, else the share of `usual`.
inline int amount(const char* name, int usual) { return asked_for(name).value_or(share_of(usual)); }

}  // namespace sluice::trial
