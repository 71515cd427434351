#include "host/aggregation/aggregated_api.hpp"

#include <algorithm>
#include <utility>

#include "api/json/json.hpp"
#include "host/access/denial.hpp"
#include "host/apiserver/call.hpp"
#include "host/apiserver/documents.hpp"
#include "host/apiserver/pending.hpp"

namespace sluice::host {
namespace {

std::vector<ApiResource> aggregated_resources() {
  std::vector<ApiResource> out;
  for (const std::string& version : aggregated_versions())
    for (ApiResource& each : pending_resources(version)) out.push_back(std::move(each));
  return out;
}

ApiError not_allowed() {
  ApiError out;
  out.code = 405;
  out.reason = "MethodNotAllowed";
  out.text = "only GET is allowed here";
  return out;
}

bool is_served(const Route& route) {
  const std::vector<std::string>& versions = aggregated_versions();
  return route.type == Route::Type::kPending &&
         std::find(versions.begin(), versions.end(), route.version) != versions.end();
}

Reply json_reply(const boost::json::value& value) {
  Reply out;
  out.body = std::make_shared<const std::string>(api::to_json(value) + "\n");
  return out;
}

}  // namespace

const std::vector<std::string>& aggregated_versions() {
  static const std::vector<std::string> versions = {"v1beta2", "v1beta1"};
  return versions;
}

AggregatedApi::AggregatedApi(const api::Scheme& scheme, AccessReviews& reviews,
                             std::function<bool()> decides)
    : reviews_(reviews),
      decides_(std::move(decides)),
      routes_(scheme),
      discovery_(aggregated_resources()),
      open_api_(scheme, aggregated_resources()) {}

void AggregatedApi::trust(FrontProxy proxy) {
  auto made = std::make_shared<const FrontProxy>(std::move(proxy));
  const std::lock_guard lock(mutex_);
  proxy_ = std::move(made);
}

void AggregatedApi::attach(Insight& insight) {
  const std::lock_guard lock(mutex_);
  insight_ = &insight;
}

bool AggregatedApi::serves(const std::string& path) {
  return path == "/apis" || path.starts_with("/apis/") || path.starts_with("/openapi/");
}

ApiResult<ProxiedUser> AggregatedApi::user_of(const Request& request) const {
  std::shared_ptr<const FrontProxy> proxy;
  {
    const std::lock_guard lock(mutex_);
    proxy = proxy_;
  }
  if (!proxy) return unavailable("the controller does not know the API servers yet", 1);
  return proxied_user(*proxy, request);
}

std::optional<Reply> AggregatedApi::check(const Request& request) const {
  if (const auto user = user_of(request); !user) return error_reply(user.error());
  const Route route = routes_.find(request);
  if (route.type != Route::Type::kDocument && !is_served(route))
    return error_reply(no_such_resource());
  if (request.method != "GET" && request.method != "HEAD") return error_reply(not_allowed());
  return std::nullopt;
}

void AggregatedApi::handle(const std::shared_ptr<Exchange>& exchange) {
  const Request& request = exchange->request();
  const Route route = routes_.find(request);
  if (route.type == Route::Type::kDocument)
    return exchange->reply(document_reply(request, discovery_, open_api_));
  const auto user = user_of(request);
  if (!user) return exchange->reply(error_reply(user.error()));
  const AccessRequest wish = access_of(route, request);
  reviews_.ask(user->who.user, access_review(*user, wish, route.version),
               [this, exchange, route, who = user->who](const ApiResult<AccessAnswer>& may) {
                 if (!may) return exchange->reply(error_reply(may.error()));
                 if (!may->allowed)
                   return exchange->reply(error_reply(
                       access_denied(who, access_of(route, exchange->request()), may->reason)));
                 answer(exchange, route);
               });
}

void AggregatedApi::answer(const std::shared_ptr<Exchange>& exchange, const Route& route) {
  Insight* insight = nullptr;
  {
    const std::lock_guard lock(mutex_);
    insight = insight_;
  }
  if (!insight || !decides_())
    return exchange->reply(error_reply(
        unavailable("another replica decides; where it is was not told everywhere yet", 1)));
  answer_pending(*insight, route, exchange->request(),
                 [exchange](const ApiResult<boost::json::value>& result) {
                   exchange->reply(result ? json_reply(*result) : error_reply(result.error()));
                 });
}

}  // namespace sluice::host
