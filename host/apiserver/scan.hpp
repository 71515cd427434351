// Scan: looks through the objects of a list for those that its selector matches.
//
// What that costs is what their labels are long, which is up to whoever made them. So little of it
// is looked at on the I/O thread, which others wait for, and the rest beside it, a piece at a time,
// in turns with those of other users.
#pragma once

#include <functional>
#include <vector>

#include "host/apiserver/call.hpp"
#include "host/apiserver/list_options.hpp"

namespace sluice::host {

struct Page {
  ListMeta meta;
  std::vector<RecordPtr> objects;
};

/// Called once, at once or later, on any thread.
using PageDone = std::function<void(ApiResult<Page> page)>;

/// Objects of the call's kind and namespace from `start` on that the selector of `list` matches; as
/// many as its limit says. A page ends with its last match: what was looked at in vain is not
/// looked at again for the next one. 429 when too many such scans wait.
void find_matching(CallPtr call, ListOptions list, PageStart start, PageDone done);

/// As many objects as `limit` says (0: all) after the key, as of the version `at` (0: the present
/// one). 410 or 504 where that cannot be read.
ApiResult<Listing> read_listing(const Call& call, std::string_view after, std::size_t limit,
                                std::uint64_t at);

/// The next page begins after the key.
void set_next(Page& page, std::string_view key);

}  // namespace sluice::host
