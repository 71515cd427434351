// An OpenAPI v2 document in protobuf form (`openapi.v2.Document` of gnostic, which is what kubectl
// asks for). Pure function, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace sluice::host {

/// `document` must be of the shape that OpenApi makes; members that the messages cannot hold are
/// left out.
std::string encode_openapi_v2(const boost::json::object& document);

}  // namespace sluice::host
