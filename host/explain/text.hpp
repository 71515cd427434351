// explanation_text(): the document of docs/explain.md as text for a terminal, and parts of it.
// Pure functions; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace sluice::host {

/// Ends with a line break. What the document does not hold is left out.
std::string explanation_text(const boost::json::object& document);

// Parts of a document, each as one line; empty: there is nothing of it.
std::string queue_text(const boost::json::object& queue);
/// Where it runs, by its `admission`: `pod set main: 2 pods, 2 cpu of flavor spot`.
std::string admission_text(const boost::json::object& document);
std::string checks_text(const boost::json::object& document);
/// Texts of a list, each a line below the title; empty: there are none.
std::string bullets_text(const boost::json::object& document, std::string_view key,
                         std::string_view title);

}  // namespace sluice::host
