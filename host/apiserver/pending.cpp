#include "host/apiserver/pending.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <utility>

#include "host/apiserver/parameters.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {
namespace {

constexpr std::int64_t kPendingLimit = 1'000;
constexpr std::int64_t kMostPending = 100'000;

}  // namespace

void answer_pending(Insight& insight, const Route& route, const Request& request,
                    Insight::Done done) {
  auto offset = number_parameter(request, "offset");
  if (!offset) return done(offset.error());
  auto limit = number_parameter(request, "limit");
  if (!limit) return done(limit.error());
  insight.pending_workloads(route.ns, route.name, offset->value_or(0),
                            std::min(limit->value_or(kPendingLimit), kMostPending),
                            [version = route.api_version(),
                             done = std::move(done)](ApiResult<boost::json::value> result) {
                              if (result) result->as_object()["apiVersion"] = version;
                              done(std::move(result));
                            });
}

}  // namespace sluice::host
