// What a plugin class provides, as the lines that are kept in its library (metadata.h), so that the
// host can tell before any of its code runs. Constants.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "sluice/cpp/provides.hpp"
#include "sluice/ext/check_controller.h"
#include "sluice/ext/controller.h"
#include "sluice/ext/flavor_filter.h"
#include "sluice/ext/flavor_search.h"
#include "sluice/ext/job_mapping.h"
#include "sluice/ext/pod_gate.h"
#include "sluice/ext/post_admit.h"
#include "sluice/ext/preemption_veto.h"
#include "sluice/ext/queue_order.h"
#include "sluice/ext/queue_watch.h"
#include "sluice/ext/schema.h"
#include "sluice/ext/timers.h"
#include "sluice/ext/validator.h"
#include "sluice/ext/workload_traits.h"

namespace sluice::detail {

/// One line for each extension point, then NULs. Too many do not compile.
template <typename T>
constexpr std::array<char, 640> provides_text() {
  std::array<char, 640> out{};
  std::size_t size = 0;
  const auto put = [&](std::string_view text) {
    for (const char c : text) out[size++] = c;
  };
  const auto point = [&](bool there, std::string_view id) {
    if (!there) return;
    put("provides ");
    put(id);
    put("\n");
  };
  point(HasFilter<T>, SLUICE_EXT_FLAVOR_FILTER);
  point(HasSearch<T>, SLUICE_EXT_FLAVOR_SEARCH);
  point(HasVeto<T>, SLUICE_EXT_PREEMPTION_VETO);
  point(HasTraits<T>, SLUICE_EXT_WORKLOAD_TRAITS);
  point(HasOrder<T>, SLUICE_EXT_QUEUE_ORDER);
  point(HasNotify<T>, SLUICE_EXT_POST_ADMIT);
  point(HasQueueChanged<T>, SLUICE_EXT_QUEUE_WATCH);
  point(HasTimer<T>, SLUICE_EXT_TIMERS);
  point(HasSchema<T>, SLUICE_EXT_SCHEMA);
  point(HasValidate<T>, SLUICE_EXT_VALIDATOR);
  point(HasPlan<T>, SLUICE_EXT_JOB_MAPPING);
  point(HasPodGates<T>, SLUICE_EXT_POD_GATE);
  point(HasChecks<T>, SLUICE_EXT_CHECK_CONTROLLER);
  point(HasController<T>, SLUICE_EXT_CONTROLLER);
  return out;
}

}  // namespace sluice::detail
