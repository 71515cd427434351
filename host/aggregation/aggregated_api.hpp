// AggregatedApi: what API servers of a cluster pass on to a controller: who waits in a queue, in
// the group visibility.kueue.x-k8s.io, and the documents that describe it.
//
//   AggregatedApi api(scheme, reviews, [] { return lease.holds(); });
//   api.trust(proxy);        // before that nobody is believed: 503
//   api.attach(insight);     // this replica decides, so it knows the order
//
// Each request: is it passed on by an API server (else 401), may its user ask (the cluster is
// asked: else 403), does this replica decide (else 503: where API servers look for the one that
// does is not told anew yet). Documents are for every user. Public members may be called from any
// thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/aggregation/access_reviews.hpp"
#include "host/aggregation/front_proxy.hpp"
#include "host/apiserver/backend.hpp"
#include "host/apiserver/exchange.hpp"
#include "host/apiserver/route.hpp"
#include "host/rest/discovery.hpp"
#include "host/rest/openapi/open_api.hpp"

namespace sluice::host {

/// Versions of the group that are served, the preferred one first.
const std::vector<std::string>& aggregated_versions();

class AggregatedApi {
 public:
  /// All must outlive it. `decides`: whether this replica does now.
  AggregatedApi(const api::Scheme& scheme, AccessReviews& reviews, std::function<bool()> decides);

  void trust(FrontProxy proxy);
  /// `insight` must go on to answer until no request comes any more.
  void attach(Insight& insight);

  /// Whether a path is for this.
  static bool serves(const std::string& path);
  /// Refuses by the head of the request alone what can be refused so.
  std::optional<Reply> check(const Request& request) const;
  /// REQUIRES: check() let it through.
  void handle(const std::shared_ptr<Exchange>& exchange);

 private:
  ApiResult<ProxiedUser> user_of(const Request& request) const;
  void answer(const std::shared_ptr<Exchange>& exchange, const Route& route);

  AccessReviews& reviews_;
  const std::function<bool()> decides_;
  const RouteTable routes_;
  const Discovery discovery_;
  const OpenApi open_api_;
  mutable std::mutex mutex_;
  std::shared_ptr<const FrontProxy> proxy_;  // guarded by mutex_; null: not known yet
  Insight* insight_ = nullptr;               // guarded by mutex_; null: another replica decides
};

}  // namespace sluice::host
