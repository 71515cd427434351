// SpaceGuard: what users and plugins may add to a store: so many objects and bytes in a namespace
// and in all, and nothing while the disk has little room. What makes an object smaller, and every
// deletion, is let through, so that a full store can be left through the API. What the host itself
// writes is not asked for: it follows from what was let in.
//
// An alarm is a line of the log when use comes to four fifths of a limit, and once more when it was
// below and comes back; and the metrics sluice_store_*. Belongs to the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "host/config/config.hpp"
#include "host/objects/api_error.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

class SpaceGuard {
 public:
  /// The store must outlive it.
  SpaceGuard(const LiveStore& store, const StoreLimits& limits) : store_(store), limits_(limits) {}

  /// Why the object, as it would be stored, is not taken: 403 for the namespace's limits, 507 for
  /// those of the store and its disk.
  std::optional<ApiError> refuses(const api::KindInfo& kind, const boost::json::object& object);

 private:
  std::optional<ApiError> beyond(const api::KindInfo& kind, std::string_view ns, bool is_new);
  void alarm(const std::string& what, std::size_t used, std::int64_t limit);

  const LiveStore& store_;
  const StoreLimits limits_;
  std::unordered_set<std::string> told_;
};

}  // namespace sluice::host
