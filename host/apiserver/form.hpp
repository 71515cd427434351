// Form: in which shape a client wants objects: whole, as table rows, or their metadata only.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/apiserver/exchange.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

struct Form {
  enum class Shape : std::uint8_t { kObject, kTable, kPartial };
  enum class RowObject : std::uint8_t { kNone, kMetadata, kObject };
  Shape shape = Shape::kObject;
  std::string meta_version = "v1";  ///< of meta.k8s.io: v1 or v1beta1
  RowObject row_object = RowObject::kMetadata;
};

/// By the Accept header (the first entry that can be served) and `includeObject`. 406 when only
/// other media types are accepted: answers are JSON.
ApiResult<Form> negotiate(const Request& request);

}  // namespace sluice::host
