// Writer: carries out a WriteRequest of a client: which object, what the patch makes of it, whether
// the client may overwrite what is there (resourceVersion), field validation, dry run. The
// ObjectWriter does the rest.
//
// It does so in two steps: a Draft, which any thread may make beforehand, and what is left to do on
// the kernel's thread, to which all but draft() belongs. A request that comes without a draft, or
// with one that does not hold any more, is drafted on the way.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/access/identity.hpp"
#include "host/objects/write.hpp"
#include "host/writes/object_writer.hpp"

namespace sluice::host {

/// What the writer may not write though the request's verb allows it (rights given to others, a
/// priority above that of its class); nullopt: nothing against it. Of both forms the hub's;
/// `before` is nullptr for a new object.
using WriteGuard = std::function<std::optional<ApiError>(
    const Identity& who, const api::KindInfo& kind, const boost::json::object* before,
    const boost::json::object& after)>;

class Writer {
 public:
  explicit Writer(ObjectWriter& objects) : objects_(objects), drafter_(objects.drafter()) {}

  void set_guard(WriteGuard guard) { guard_ = std::move(guard); }

  /// The request's draft, made against `view`. The body is left as it is. Any thread, when `view`
  /// is for any thread. REQUIRES: it is no deletion.
  std::shared_ptr<Draft> draft(const WriteRequest& request, const DraftView& view) const;
  /// Whether the request brings a draft that holds.
  bool holds(const WriteRequest& request) const;

  /// The body is used up, unless the outcome is `later`: the same request is then carried out again
  /// when the plugins have answered.
  ApiResult<WriteOutcome> attempt(WriteRequest& request);
  ApiResult<WriteOutcome> execute(WriteRequest request) { return attempt(request); }

 private:
  /// `used_up`: the request's body, which may be taken; nullptr: it is left as it is.
  void fill(Draft& draft, const WriteRequest& request, boost::json::value* used_up) const;
  std::optional<ApiError> create(Draft& draft, const WriteRequest& request,
                                 boost::json::value* used_up) const;
  std::optional<ApiError> update(Draft& draft, const WriteRequest& request,
                                 boost::json::value* used_up) const;
  std::optional<ApiError> patch(Draft& draft, const WriteRequest& request) const;
  std::optional<ApiError> apply(Draft& draft, const WriteRequest& request) const;
  ApiResult<boost::json::object> scale_of(const WriteRequest& request, const Edit& edit) const;
  std::optional<ApiError> scale(Draft& draft, const WriteRequest& request) const;
  ApiResult<boost::json::object> patched(const WriteRequest& request, const Edit& edit) const;

  ObjectWriter& objects_;
  const Drafter& drafter_;
  WriteGuard guard_;
};

}  // namespace sluice::host
