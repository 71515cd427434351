// The answer to a request for a document that describes what is served: of discovery or of OpenAPI.
//
// Pure function; any thread.
#pragma once

#include "host/apiserver/exchange.hpp"
#include "host/rest/discovery.hpp"
#include "host/rest/openapi/open_api.hpp"

namespace sluice::host {

/// 304 where the client has it, 404 where there is none, 406 where the form is not there.
Reply document_reply(const Request& request, const Discovery& discovery, const OpenApi& open_api);

}  // namespace sluice::host
