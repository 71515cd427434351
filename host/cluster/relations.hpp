// Relations: what programs demand of whole objects (api/schema/rules_*.cpp), said again as CEL
// rules where these can say it exactly and an API server lets them cost it.
//
// A rule that changes there has to change here, too: tests/kubernetes asks both about the same
// objects. A table, any thread.
#pragma once

#include <boost/json/array.hpp>

#include "api/schema/kind_info.hpp"

namespace sluice::host {

/// The rules for the root of the kind's hub form; empty for most kinds.
boost::json::array relations_of(const api::KindInfo& kind);

}  // namespace sluice::host
