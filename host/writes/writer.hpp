// Writer: carries out a WriteRequest of a client: which object, what the patch makes of it, whether
// the client may overwrite what is there (resourceVersion), field validation, dry run. What then
// happens to the object is ObjectWriter's business.
//
// Belongs to the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/access/identity.hpp"
#include "host/objects/write.hpp"
#include "host/writes/object_writer.hpp"

namespace sluice::host {

/// What the writer may write beyond what the request's verb allows him (rights that he gives to
/// others); nullopt: nothing against it.
using WriteGuard = std::function<std::optional<ApiError>(
    const Identity& who, const api::KindInfo& kind, const boost::json::object& object)>;

class Writer {
 public:
  explicit Writer(ObjectWriter& objects) : objects_(objects) {}

  void set_guard(WriteGuard guard) { guard_ = std::move(guard); }

  /// The body is used up.
  ApiResult<WriteOutcome> execute(WriteRequest request);

 private:
  ApiResult<WriteOutcome> create(WriteRequest& request, const WriteMode& mode);
  ApiResult<WriteOutcome> update(WriteRequest& request, const WriteMode& mode);
  ApiResult<WriteOutcome> patch(const WriteRequest& request, const WriteMode& mode);
  ApiResult<WriteOutcome> apply(const WriteRequest& request, WriteMode mode);
  ApiResult<WriteOutcome> scale(const WriteRequest& request, const WriteMode& mode);
  ApiResult<boost::json::object> patched(const WriteRequest& request, const Edit& edit) const;

  ObjectWriter& objects_;
  WriteGuard guard_;
};

}  // namespace sluice::host
