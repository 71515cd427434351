// What a Pod says of itself, for whoever counts what runs: who has processes, which nobody else's
// may take the place of. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>

namespace sluice::host {

/// By its status, well or not.
bool has_ended(const boost::json::object& status);
/// Whether a process may still run for it: it has a node, and has not ended.
bool runs_somewhere(const boost::json::object& pod);

}  // namespace sluice::host
