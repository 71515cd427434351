#include "host/apiserver/scan.hpp"

#include <memory>
#include <string>
#include <utility>

#include "host/objects/api_error.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kScanObjects = 2'000;  // read at a time while looking for matches
// Of metadata: about a millisecond, and about ten.
constexpr std::size_t kBytesAtOnce = 1U << 20, kBytesAside = 8U << 20;

class Scan final : public std::enable_shared_from_this<Scan> {
 public:
  Scan(CallPtr call, ListOptions list, PageStart start, PageDone done)
      : call_(std::move(call)),
        list_(std::move(list)),
        start_(std::move(start)),
        done_(std::move(done)) {
    listing_.more = true;
  }

  void begin() {
    if (!go_on(kBytesAtOnce)) go_on_aside();
  }

 private:
  void go_on_aside() {
    Writes* const aside = call_->at->backend.writes;
    const bool taken = aside->run_aside(call_->request().user.user, [self = shared_from_this()] {
      if (!self->go_on(kBytesAside)) self->go_on_aside();
    });
    if (!taken) done_(too_many_requests("too many long lists are waiting; try again later"));
  }

  /// Whether it has ended; else it has looked at so many bytes.
  bool go_on(std::size_t bytes) {
    for (std::size_t looked_at = 0; looked_at < bytes;) {
      if (next_ == listing_.objects.size()) {
        if (!listing_.more) return end();
        if (!read_more()) return true;
        continue;
      }
      RecordPtr object = std::move(listing_.objects[next_++]);
      looked_at += object->metadata.text().size();
      start_.after = object->key;
      if (!list_.selector.matches(*object)) continue;
      page_.objects.push_back(std::move(object));
      if (list_.limit == 0 || page_.objects.size() < list_.limit) continue;
      if (listing_.more || next_ < listing_.objects.size()) set_next(page_, start_.after);
      return end();
    }
    return false;
  }

  bool read_more() {
    auto listing =
        read_listing(*call_, start_.after, list_.limit > 0 ? kScanObjects : 0, start_.version);
    if (!listing) {
      done_(listing.error());
      return false;
    }
    page_.meta.version = start_.version = listing->version;
    listing_ = std::move(*listing);
    next_ = 0;
    return true;
  }

  bool end() {
    done_(std::move(page_));
    return true;
  }

  const CallPtr call_;
  const ListOptions list_;
  PageStart start_;
  const PageDone done_;
  Page page_;
  Listing listing_;       // what was read last; nothing yet
  std::size_t next_ = 0;  // in listing_
};

}  // namespace

ApiResult<Listing> read_listing(const Call& call, std::string_view after, std::size_t limit,
                                std::uint64_t at) {
  auto listing = call.store().read(*call.route.kind, call.route.ns, after, limit, at);
  if (listing) return std::move(*listing);
  if (at > call.store().version()) return too_new(at, call.store().version());
  return expired(
      "The provided continue parameter or version is too old to display a consistent list result. "
      "Start a new list without it.");
}

void set_next(Page& page, std::string_view key) {
  page.meta.next = page_token({page.meta.version, std::string(key)});
}

void find_matching(CallPtr call, ListOptions list, PageStart start, PageDone done) {
  std::make_shared<Scan>(std::move(call), std::move(list), std::move(start), std::move(done))
      ->begin();
}

}  // namespace sluice::host
