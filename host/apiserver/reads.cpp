// GET of one object, and lists.
#include <algorithm>
#include <utility>

#include "host/apiserver/call.hpp"
#include "host/apiserver/list_options.hpp"
#include "host/apiserver/paced_stream.hpp"
#include "host/apiserver/scan.hpp"
#include "host/objects/object_key.hpp"
#include "host/store/use.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kListPieceBytes = 128U << 10;

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

ApiResult<Page> read_all(const Call& call, const ListOptions& list, const PageStart& start) {
  auto listing = read_listing(call, start.after, list.limit, start.version);
  if (!listing) return listing.error();
  Page page;
  page.meta.version = listing->version;
  page.meta.remaining = listing->remaining;
  page.objects = std::move(listing->objects);
  if (listing->more && !page.objects.empty()) set_next(page, page.objects.back()->key);
  return page;
}

void read_page(const CallPtr& call, ListOptions list, const PageDone& done) {
  const std::uint64_t now = call->store().version();
  if (list.version && *list.version > now) return done(too_new(*list.version, now));
  PageStart start;
  const bool exact = list.match == ListOptions::Match::kExact ||
                     (list.match == ListOptions::Match::kUnset && list.limit > 0);
  if (list.start)
    start = *list.start;
  else if (list.version && exact)
    start.version = *list.version;
  if (list.selector.empty()) return done(read_all(*call, list, start));
  const std::string key = own_key(call->route, list.selector);
  if (start.version == 0 && !key.empty()) return done(read_one(*call, key, list.selector));
  find_matching(call, std::move(list), std::move(start), done);
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

/// To be made as the client takes it, and no more of it.
bool is_long(const Page& page, const ApiLimits& limits) {
  if (page.objects.size() > limits.chunk_objects) return true;
  std::size_t bytes = 0;
  for (const RecordPtr& record : page.objects) bytes += stored_bytes(*record);
  return bytes > limits.chunk_bytes;
}

void answer_list(const CallPtr& call, ApiResult<Page> page) {
  if (!page) return call->fail(page.error());
  if (is_long(*page, call->at->limits))
    return std::make_shared<ListStream>(call, std::move(*page))->start("application/json");
  std::string out;
  const Renderer& renderer = call->at->renderer;
  renderer.begin_list(call->route, call->form, page->meta, out);
  for (std::size_t i = 0; i < page->objects.size(); ++i)
    renderer.append_item(*page->objects[i], call->route, call->form, i == 0, out);
  renderer.end_list(out);
  call->reply(200, std::move(out));
}

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
  read_page(call, std::move(*list),
            [call](ApiResult<Page> page) { answer_list(call, std::move(page)); });
}

}  // namespace sluice::host
