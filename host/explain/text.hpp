// explanation_text(): the document of docs/explain.md as text for a terminal.
// A pure function; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace sluice::host {

/// Ends with a line break. What the document does not hold is left out.
std::string explanation_text(const boost::json::object& document);

}  // namespace sluice::host
