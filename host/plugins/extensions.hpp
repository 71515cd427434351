// Extensions: the tables of the extension points that one plugin provides, and the list of all
// points, from hooks.def.
//
// Plain values; the tables belong to the plugin and live as long as its library.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "host/plugins/hook.hpp"
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

namespace sluice::host {

/// All extension points, in the order of hooks.def.
std::span<const PointInfo> extension_points();

/// What a plugin provides; null: it does not.
struct Extensions {
#define SLUICE_POINT(member, table, id, name, closed, open) const table* member = nullptr;
#include "host/plugins/hooks.def"

  /// Asks the instance for its tables. The id of the first point that lacks a function which it
  /// must have; empty: all is there.
  std::string_view find(const sluice_plugin_t& root, sluice_instance_t* self);
  std::vector<std::string_view> ids() const;
  /// Names of the functions that are there, optional ones included.
  std::vector<std::string_view> functions() const;
};

}  // namespace sluice::host
