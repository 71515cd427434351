#include "host/apiserver/pending.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <charconv>
#include <utility>

#include "host/objects/api_error.hpp"

namespace sluice::host {
namespace {

constexpr std::int64_t kPendingLimit = 1'000;
constexpr std::int64_t kMostPending = 100'000;

ApiResult<std::int64_t> number(const Request& request, std::string_view name, std::int64_t absent) {
  const auto* text = request.parameter(name);
  if (!text || text->empty()) return absent;
  std::int64_t value = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (bad != std::errc() || end != text->data() + text->size() || value < 0)
    return bad_request(std::string(name) + ": Invalid value: \"" + *text +
                       "\": must be an integer that is not negative");
  return value;
}

}  // namespace

void answer_pending(Insight& insight, const Route& route, const Request& request,
                    Insight::Done done) {
  auto offset = number(request, "offset", 0);
  if (!offset) return done(offset.error());
  auto limit = number(request, "limit", kPendingLimit);
  if (!limit) return done(limit.error());
  insight.pending_workloads(route.ns, route.name, *offset, std::min(*limit, kMostPending),
                            [version = route.api_version(),
                             done = std::move(done)](ApiResult<boost::json::value> result) {
                              if (result) result->as_object()["apiVersion"] = version;
                              done(std::move(result));
                            });
}

}  // namespace sluice::host
