// What a writing request says beside its object: dry run, field validation, field manager, options
// of a deletion. Pure functions; any thread.
#pragma once

#include <string>

#include "host/apiserver/exchange.hpp"
#include "host/objects/write.hpp"
#include "host/rest/decode.hpp"

namespace sluice::host {

/// Fills in dry_run, force, field_manager, field_validation and user. 400 and 422 for what cannot
/// be.
ApiResult<void> read_write_options(const Request& request, WriteRequest& out);

/// From the query and from the body (DeleteOptions as JSON, YAML or protobuf, or nothing), which
/// may also ask for a dry run. 400 for what cannot be read.
ApiResult<void> read_delete_options(const Request& request, const DecodeLimits& limits,
                                    WriteRequest& out);

}  // namespace sluice::host
