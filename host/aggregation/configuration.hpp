// What makes the visibility API of a controller known to a cluster: the APIServices by which its
// API servers pass requests on, the Service by which they find the replica that decides, and what
// that needs of rights.
//
// Pure functions; any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

namespace sluice::host {

inline constexpr const char* kVisibilityGroup = "visibility.kueue.x-k8s.io";
inline constexpr const char* kVisibilityService = "sluice-visibility";
inline constexpr const char* kVisibilityPortName = "https";

/// Names of the APIServices, one for each version.
std::vector<std::string> visibility_api_services();

/// A Service without selector (the replica that decides writes its EndpointSlice), and the
/// APIServices, which get the authority of the webhook's Secret `secret` in the namespace.
std::vector<boost::json::object> visibility_objects(const std::string& ns,
                                                    const std::string& secret);

/// Lets the ServiceAccount learn how API servers pass requests on.
boost::json::object visibility_binding(const std::string& controller, const std::string& ns);

/// What a controller needs more: anywhere, and in its namespace.
boost::json::array rules_to_ask_access();
boost::json::array rules_to_be_found();

}  // namespace sluice::host
