#include "host/apiserver/api_server.hpp"

#include <fmt/format.h>

#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/utf8.hpp"
#include "host/access/audit.hpp"
#include "host/access/denial.hpp"
#include "host/apiserver/call.hpp"
#include "host/apiserver/health.hpp"
#include "host/apiserver/web_page.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kMostRequests = 8192;  // being carried out, over all users

ApiError no_such_method(const Request& request) {
  ApiError error;
  error.code = 405;
  error.reason = "MethodNotAllowed";
  error.text = fmt::format("the server does not allow the method {} on the requested resource",
                           request.method.substr(0, 32));
  return error;
}

ApiError too_many(std::string_view what) {
  return too_many_requests(fmt::format("too many {}, please try again later", what));
}

ApiError not_ready() { return unavailable("the server is not ready, please try again later", 1); }

Credentials own_credentials(const Request& request) {
  Credentials credentials;
  if (const auto* value = request.header("authorization")) credentials.authorization = *value;
  if (request.certificate) credentials.certificate = &*request.certificate;
  return credentials;
}

ApiResult<Identity> identify(const Authenticator& authenticator, const Request& request) {
  Credentials credentials = own_credentials(request);
  const auto take = [&](std::string_view name, std::string_view& into) {
    if (const auto* value = request.header(name)) into = *value;
  };
  take("impersonate-user", credentials.impersonate_user);
  take("impersonate-uid", credentials.impersonate_uid);
  for (const auto& [name, value] : request.headers) {
    if (name == "impersonate-group") credentials.impersonate_groups.push_back(value);
    if (name.starts_with("impersonate-extra-")) credentials.impersonate_extra = true;
  }
  for (const auto& [name, value] : request.headers)
    if (name.starts_with("impersonate-") && find_bad_utf8(value) != std::string_view::npos)
      return bad_request("a header Impersonate-… is not valid UTF-8");
  return authenticator.identify(credentials);
}

bool is_write(const Route& route) {
  return route.verb != "get" && route.verb != "list" && route.verb != "watch" &&
         route.type != Route::Type::kReview && route.type != Route::Type::kWhatIf;
}

bool reads_secrets(const Route& route) {
  return route.group.empty() && route.resource == "secrets" && !is_write(route);
}

/// Of what leaves a line without being a write that was carried out.
void audit_request(const Request& request, const Route& route, int code, std::string_view reason) {
  AuditRecord record;
  record.user = request.user.user;
  record.impersonator = request.user.impersonator;
  record.verb = route.verb;
  record.group = route.group;
  record.resource = route.resource;
  record.subresource = route.subresource;
  record.ns = route.ns;
  record.name = route.name;
  record.peer = request.peer;
  record.code = code;
  record.reason = reason;
  audit(record);
}

/// Credentials were refused: the request itself is not looked at. Whose are known and who may not
/// be the one he asks to be is named, and whom he asks for.
Reply refuse_stranger(const Authenticator& authenticator, const Request& request,
                      const ApiError& error) {
  AuditRecord record;
  const auto asks_as = error.code == 403 ? authenticator.identify(own_credentials(request))
                                         : ApiResult<Identity>(Identity());
  if (const auto* wanted = request.header("impersonate-user"); wanted && asks_as) {
    record.user = *wanted;
    record.impersonator = asks_as->user;
  }
  record.verb = request.method;
  record.peer = request.peer;
  record.code = error.code;
  record.reason = error.reason;
  audit(record);
  return error_reply(error);
}

void serve_resource(const CallPtr& call) {
  const Route& route = call->route;
  if (reads_secrets(route)) audit_request(call->exchange->request(), route, 200, {});
  if (route.kind_version->deprecated)
    call->warn(fmt::format("This version is deprecated. Use {} instead.", route.kind->hub().name));
  if (route.subresource == "log") return serve_log(call);
  if (route.verb == "get") return serve_get(call);
  if (route.verb == "list") return serve_list(call);
  if (route.verb == "watch") return serve_watch(call);
  if (route.verb == "deletecollection") return serve_delete_many(call);
  serve_write(call);
}

}  // namespace

struct ApiServer::State {
  State(const Authenticator& who, ApiLimits bounds)
      : authenticator(who),
        limits(bounds),
        requests(kMostRequests, bounds.requests_per_user),
        watches(bounds.watches, bounds.watches_per_user) {}

  std::shared_ptr<Attachment> attachment() const {
    const std::lock_guard lock(mutex);
    return attached;
  }
  std::optional<Reply> check(Request& request) const;
  void handle(std::shared_ptr<Exchange> exchange);
  void serve(const CallPtr& call);

  const Authenticator& authenticator;
  std::function<HealthState()> liveness;  // may be empty
  ApiLimits limits;                       // of the thread that attaches
  Quota requests, watches;
  mutable std::mutex mutex;
  std::shared_ptr<Attachment> attached;  // guarded by mutex
  std::future<void> gone;                // of what was attached
};

std::optional<Reply> ApiServer::State::check(Request& request) const {
  if (is_open_path(request.path) || is_page_request(request)) return std::nullopt;
  auto user = identify(authenticator, request);
  if (!user) return refuse_stranger(authenticator, request, user.error());
  if (user->user.empty()) return refuse_stranger(authenticator, request, unauthorized());
  const auto at = attachment();
  // Without a user it is answered 503, once its body was read: so its connection stays.
  if (!at) return std::nullopt;
  request.user = std::move(*user);
  const Route route = at->routes.find(request);
  if (route.type == Route::Type::kUnknown) return error_reply(no_such_resource());
  if (route.verb.empty()) return error_reply(no_such_method(request));
  if (route.type == Route::Type::kWhatIf) return std::nullopt;
  const AccessRequest access = access_of(route, request);
  const AccessAnswer answer = at->backend.authorizer->may(request.user, access);
  if (answer.allowed) return std::nullopt;
  if (is_write(route) || reads_secrets(route)) audit_request(request, route, 403, "Forbidden");
  return error_reply(access_denied(request.user, access, answer.reason));
}

void ApiServer::State::handle(std::shared_ptr<Exchange> exchange) {
  const Request& request = exchange->request();
  if (is_page_request(request)) return exchange->reply(page_reply(request));
  auto at = attachment();
  if (is_open_path(request.path)) {
    HealthState health = liveness ? liveness() : HealthState();
    health.failure = at ? at->backend.store->failure() : "not attached";
    const auto asker = identify(authenticator, request);
    health.known = asker && !asker->user.empty();
    return exchange->reply(open_reply(request, health));
  }
  // The rights of a request that came before the backend did were not checked.
  if (!at || request.user.user.empty()) return exchange->reply(error_reply(not_ready()));
  auto call = std::make_shared<Call>();
  call->exchange = std::move(exchange);
  call->at = std::move(at);
  call->route = call->at->routes.find(request);
  auto form = negotiate(request);
  // Documents have forms of their own.
  if (!form && call->route.type != Route::Type::kDocument) return call->fail(form.error());
  if (form) call->form = std::move(*form);
  const bool watch = call->route.verb == "watch";
  call->place = (watch ? watches : requests).take(request.user.user);
  if (!call->place) return call->fail(too_many(watch ? "watches" : "requests at a time"));
  serve(call);
}

void ApiServer::State::serve(const CallPtr& call) {
  switch (call->route.type) {
    case Route::Type::kResource:
      return serve_resource(call);
    case Route::Type::kReview:
      return serve_review(call);
    case Route::Type::kPending:
      return serve_pending(call);
    case Route::Type::kExplain:
      return serve_explain(call);
    case Route::Type::kUsage:
      return serve_usage(call);
    case Route::Type::kHistory:
      return serve_history(call);
    case Route::Type::kWhatIf:
      return serve_what_if(call);
    case Route::Type::kDocument:
      return serve_document(call);
    case Route::Type::kUnknown:
    case Route::Type::kHealth:
    case Route::Type::kVersion:
      break;
  }
  call->fail(no_such_resource());  // the backend changed since the head was checked
}

ApiServer::ApiServer(const Authenticator& authenticator, ApiLimits limits)
    : state_(std::make_unique<State>(authenticator, limits)) {}

ApiServer::~ApiServer() { detach(); }

void ApiServer::set_liveness(std::function<HealthState()> liveness) {
  state_->liveness = std::move(liveness);
}

Handler ApiServer::handler() {
  return [state = state_.get()](std::shared_ptr<Exchange> exchange) {
    state->handle(std::move(exchange));
  };
}

HeadCheck ApiServer::head_check() {
  return [state = state_.get()](Request& request) { return state->check(request); };
}

void ApiServer::set_limits(const ApiLimits& limits) {
  SLUICE_CHECK(state_->attachment() == nullptr, "a backend is attached");
  state_->limits = limits;
  state_->requests.set(kMostRequests, limits.requests_per_user);
  state_->watches.set(limits.watches, limits.watches_per_user);
}

void ApiServer::attach(ApiBackend backend) {
  auto gone = std::make_shared<std::promise<void>>();
  state_->gone = gone->get_future();
  std::shared_ptr<Attachment> made(new Attachment(std::move(backend), state_->limits),
                                   [gone](Attachment* attachment) {
                                     delete attachment;
                                     gone->set_value();
                                   });
  const std::lock_guard lock(state_->mutex);
  SLUICE_CHECK(state_->attached == nullptr, "a backend is attached already");
  state_->attached = std::move(made);
}

void ApiServer::detach() {
  std::shared_ptr<Attachment> old;
  {
    const std::lock_guard lock(state_->mutex);
    old = std::move(state_->attached);
  }
  if (!old) return;
  old->close();
  old.reset();
  state_->gone.wait();
}

ApiCounters ApiServer::counters() const {
  return {state_->requests.taken(), state_->watches.taken()};
}

}  // namespace sluice::host
