// JSON values as YAML in block style, the way kubectl prints them.
// Pure functions; may be called from any thread.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace sluice::host {

/// Appends `value` as one YAML document without separator; every line ends in a newline.
void append_yaml(const boost::json::value& value, std::string& out);

}  // namespace sluice::host
