// what_if_text(): a WhatIf with its status (docs/what-if.md) as text for a terminal.
// A pure function; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace sluice::host {

/// Ends with a line break. What the document does not hold is left out.
std::string what_if_text(const boost::json::object& document);

}  // namespace sluice::host
