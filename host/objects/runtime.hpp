// How long a job runs, as its annotation says where nothing is started: in simulations and for what
// if. It is judged wherever it is written, so that a dump of a host can be simulated.
//
// Pure functions; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/walk.hpp"
#include "sluice/cpp/marks.hpp"

namespace sluice::host {

/// Reports an annotation of `object`, which stands at `place` (empty, or ending with a dot), that
/// is no duration.
void check_runtime(const boost::json::object& object, const std::string& place,
                   std::vector<api::Problem>& problems);

}  // namespace sluice::host
