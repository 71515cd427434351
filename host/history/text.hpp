// What `sluice history` prints: the document of an answer as a table for people, or as CSV (RFC
// 4180, with a line of names) for other programs. Pure functions; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace sluice::host {

/// Of a RunSummary, a RunList or a QuotaHistory.
std::string history_table(const boost::json::object& answer);
std::string history_csv(const boost::json::object& answer);

}  // namespace sluice::host
