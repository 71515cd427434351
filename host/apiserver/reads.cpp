// GET of one object, and lists.
#include <algorithm>
#include <utility>

#include "host/apiserver/call.hpp"
#include "host/apiserver/list_options.hpp"
#include "host/apiserver/paced_stream.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kListPieceBytes = 128U << 10;
constexpr std::size_t kScanObjects = 2'000;  // read at a time while looking for matches

struct Page {
  ListMeta meta;
  std::vector<RecordPtr> objects;
};

std::string own_key(const Route& route, const Selector& selector) {
  const std::string* name = selector.fields.exact_name();
  if (name == nullptr) return {};
  if (!route.kind->namespaced) return *name;
  const std::string* ns = selector.fields.exact_namespace();
  if (route.ns.empty() && ns == nullptr) return {};
  return join_key(route.ns.empty() ? *ns : route.ns, *name);
}

/// The one object that can match.
Page read_one(const Call& call, const std::string& key, const Selector& selector) {
  Page page;
  page.meta.version = call.store().version();  // before the object: it may be newer, never older
  auto object = call.store().get(*call.route.kind, key);
  if (!object || !selector.matches(*object)) return page;
  page.meta.version = std::max(page.meta.version, object->version);
  page.objects.push_back(std::move(object));
  return page;
}

ApiResult<Listing> read(const Call& call, std::string_view after, std::size_t limit,
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

ApiResult<Page> read_all(const Call& call, const ListOptions& list, const PageStart& start) {
  auto listing = read(call, start.after, list.limit, start.version);
  if (!listing) return listing.error();
  Page page;
  page.meta.version = listing->version;
  page.meta.remaining = listing->remaining;
  page.objects = std::move(listing->objects);
  if (listing->more && !page.objects.empty()) set_next(page, page.objects.back()->key);
  return page;
}

/// A page ends with its last match; what was looked at in vain is not looked at again.
ApiResult<Page> read_matching(const Call& call, const ListOptions& list, PageStart start) {
  Page page;
  while (true) {
    auto listing = read(call, start.after, list.limit > 0 ? kScanObjects : 0, start.version);
    if (!listing) return listing.error();
    page.meta.version = start.version = listing->version;
    for (std::size_t i = 0; i < listing->objects.size(); ++i) {
      auto& object = listing->objects[i];
      start.after = object->key;
      if (!list.selector.matches(*object)) continue;
      page.objects.push_back(std::move(object));
      if (list.limit == 0 || page.objects.size() < list.limit) continue;
      if (listing->more || i + 1 < listing->objects.size()) set_next(page, start.after);
      return page;
    }
    if (!listing->more) return page;
  }
}

ApiResult<Page> read_page(const Call& call, const ListOptions& list) {
  const std::uint64_t now = call.store().version();
  if (list.version && *list.version > now) return too_new(*list.version, now);
  PageStart start;
  const bool exact = list.match == ListOptions::Match::kExact ||
                     (list.match == ListOptions::Match::kUnset && list.limit > 0);
  if (list.start)
    start = *list.start;
  else if (list.version && exact)
    start.version = *list.version;
  if (list.selector.empty()) return read_all(call, list, start);
  const std::string key = own_key(call.route, list.selector);
  if (start.version == 0 && !key.empty()) return read_one(call, key, list.selector);
  return read_matching(call, list, std::move(start));
}

/// A long list; each piece gives back the objects that it took.
class ListStream final : public PacedStream {
 public:
  ListStream(CallPtr call, Page page) : PacedStream(std::move(call)), page_(std::move(page)) {}

 private:
  Progress make(std::string& piece) override {
    const Renderer& renderer = call().at->renderer;
    if (next_ == 0) renderer.begin_list(call().route, call().form, page_.meta, piece);
    while (next_ < page_.objects.size() && piece.size() < kListPieceBytes) {
      renderer.append_item(*page_.objects[next_], call().route, call().form, next_ == 0, piece);
      page_.objects[next_++].reset();
    }
    if (next_ < page_.objects.size()) return Progress::kMore;
    renderer.end_list(piece);
    return Progress::kEnd;
  }

  Page page_;
  std::size_t next_ = 0;
};

}  // namespace

void serve_get(const CallPtr& call) {
  const Route& route = call->route;
  const auto object = call->store().get(*route.kind, route.key());
  if (!object) return call->fail(not_found(*route.kind, route.name));
  if (route.subresource == "scale") return call->reply(200, scale_text(*object));
  std::string out;
  call->at->renderer.append(*object, route, call->form, out);
  call->reply(200, std::move(out));
}

void serve_list(const CallPtr& call) {
  auto list = read_list_options(call->request(), call->route);
  if (!list) return call->fail(list.error());
  auto page = read_page(*call, *list);
  if (!page) return call->fail(page.error());
  if (page->objects.size() > call->at->limits.chunk_objects)
    return std::make_shared<ListStream>(call, std::move(*page))->start("application/json");
  std::string out;
  const Renderer& renderer = call->at->renderer;
  renderer.begin_list(call->route, call->form, page->meta, out);
  for (std::size_t i = 0; i < page->objects.size(); ++i)
    renderer.append_item(*page->objects[i], call->route, call->form, i == 0, out);
  renderer.end_list(out);
  call->reply(200, std::move(out));
}

}  // namespace sluice::host
