#include "host/webhook/server.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "host/apiserver/health.hpp"
#include "host/apiserver/listener.hpp"
#include "host/apiserver/question_thread.hpp"
#include "host/apiserver/request_head.hpp"
#include "host/base/log.hpp"
#include "host/webhook/conversion.hpp"
#include "host/webhook/review.hpp"
#include "host/webhook/reviewer.hpp"

namespace sluice::host {
namespace {

// An API server waits ten seconds at most, so more than this need not wait here.
constexpr std::size_t kWaitingReviews = 512;
constexpr std::size_t kWaitingConversions = 32;
constexpr std::int64_t kRequestsEndMs = 5'000;
constexpr const char* kAsker = "api-server";  // only API servers ask

ListenerLimits limits() {
  ListenerLimits out;
  out.body_bytes = kMostConversionBytes;
  out.bodies_bytes = 3 * kMostConversionBytes;
  out.bodies_per_user_bytes = out.bodies_bytes;
  return out;
}

Reply json_reply(std::string text) {
  Reply out;
  out.body = std::make_shared<const std::string>(std::move(text));
  return out;
}

bool is_review(std::string_view path) { return path == "/mutate" || path == "/validate"; }

std::optional<Reply> refuse_head(Request& request) {
  if (is_open_path(request.path)) return std::nullopt;
  if (!is_review(request.path) && request.path != "/convert")
    return transport_error(404, "NotFound",
                           "found path " + request.path.substr(0, 64) +
                               "; allowed: /mutate, /validate, /convert, /readyz, /livez");
  if (request.method == "POST") return std::nullopt;
  return transport_error(405, "MethodNotAllowed", "only POST is allowed here");
}

}  // namespace

struct WebhookServer::State {
  State(const Configuration& config, std::unique_ptr<Rules> own, const LiveStore& store,
        const PluginClock& clock, std::string where)
      : rules(std::move(own)),
        reviewer(config, *rules, store, clock),
        wanted(std::move(where)),
        reviews("reviews", kWaitingReviews, kWaitingReviews, 0),
        conversions("conversions", kWaitingConversions, kWaitingConversions, 0) {
    reviews.start();
    conversions.start();
  }

  std::unique_ptr<Rules> rules;
  Reviewer reviewer;  // the thread of the reviews
  const std::string wanted;
  QuestionThread reviews, conversions;
  std::atomic<bool> is_ready = false;
  mutable std::mutex mutex;
  std::unique_ptr<Listener> listener;  // guarded by mutex
  TlsOptions tls;                      // guarded by mutex; without a key: there is none yet
  AlsoServed also;                     // set before it listens

  bool is_also_served(const std::string& path) const { return also.served && also.served(path); }

  std::optional<Reply> check(Request& request) const {
    return is_also_served(request.path) ? also.check(request) : refuse_head(request);
  }

  void handle(const std::shared_ptr<Exchange>& exchange) {
    const std::string& path = exchange->request().path;
    if (is_open_path(path)) {
      HealthState health;
      if (!is_ready) health.failure = "the cluster is not known yet";
      return exchange->reply(open_reply(exchange->request(), health));
    }
    if (is_also_served(path)) return also.handler(exchange);
    if (path == "/convert")
      return conversions.ask(kAsker, [this, exchange](const ApiError* refused) {
        if (refused) return exchange->reply(error_reply(*refused));
        auto answer = answer_conversion(rules->scheme, exchange->request().body);
        exchange->reply(answer ? json_reply(std::move(*answer)) : error_reply(answer.error()));
      });
    if (!is_ready)
      return exchange->reply(
          error_reply(unavailable("the controller does not know the cluster yet", 1)));
    reviews.ask(kAsker, [this, exchange](const ApiError* refused) {
      if (refused) return exchange->reply(error_reply(*refused));
      exchange->reply(review(exchange->request()));
    });
  }

  Reply review(const Request& asked) {
    auto request = parse_admission_review(asked.body);
    if (!request) return error_reply(request.error());
    const bool mutating = asked.path == "/mutate";
    const Verdict verdict =
        reviewer.review(*request, mutating ? ReviewStep::kMutating : ReviewStep::kValidating);
    if (verdict.refused)
      log(LogLevel::kInfo, "webhook", "refused: " + verdict.refused->text,
          {{"user", request->user}, {"kind", request->kind}, {"namespace", request->ns}});
    return json_reply(admission_answer(request->uid, verdict));
  }
};

WebhookServer::WebhookServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
WebhookServer::~WebhookServer() { stop(); }

Result<std::unique_ptr<WebhookServer>> WebhookServer::make(const Configuration& config,
                                                           const Rules& rules,
                                                           const LiveStore& store,
                                                           const PluginClock& clock,
                                                           std::string address) {
  // What plugins log they log once, as those of the controller.
  auto own = Rules::beside(rules, clock, [](int, std::string_view, std::string_view) {}, {});
  if (!own) return own.error();
  return std::unique_ptr<WebhookServer>(new WebhookServer(
      std::make_unique<State>(config, std::move(*own), store, clock, std::move(address))));
}

Result<void> WebhookServer::use(const WebhookKeys& keys) {
  const std::lock_guard lock(state_->mutex);
  const TlsOptions tls{keys.server.certificate, keys.server.key, state_->tls.client_ca};
  if (state_->listener) {
    auto reloaded = state_->listener->reload_tls(tls);
    if (reloaded) state_->tls = tls;
    return reloaded;
  }
  ListenerOptions options;
  options.name = "webhook";
  options.address = state_->wanted;
  options.tls = tls;
  options.limits = limits();
  auto listener = Listener::open(
      std::move(options),
      [state = state_.get()](const std::shared_ptr<Exchange>& exchange) {
        state->handle(exchange);
      },
      [state = state_.get()](Request& request) { return state->check(request); });
  if (!listener) return listener.error().context("--webhook-address");
  state_->listener = std::move(*listener);
  state_->tls = tls;
  return {};
}

void WebhookServer::serve_also(AlsoServed also) { state_->also = std::move(also); }

Result<void> WebhookServer::know_clients(const std::string& client_ca) {
  const std::lock_guard lock(state_->mutex);
  TlsOptions tls = state_->tls;
  tls.client_ca = client_ca;
  if (state_->listener)
    if (auto reloaded = state_->listener->reload_tls(tls); !reloaded) return reloaded;
  state_->tls = std::move(tls);
  return {};
}

void WebhookServer::set_self(const std::string& user) {
  state_->reviews.ask("self", [state = state_.get(), user](const ApiError* refused) {
    if (!refused) state->reviewer.set_self(user);
  });
}

void WebhookServer::ready() { state_->is_ready = true; }

void WebhookServer::stop() {
  std::unique_ptr<Listener> listener;
  {
    const std::lock_guard lock(state_->mutex);
    listener = std::move(state_->listener);
  }
  if (listener) listener->stop(kRequestsEndMs);
  state_->reviews.stop();
  state_->conversions.stop();
}

std::string WebhookServer::address() const {
  const std::lock_guard lock(state_->mutex);
  return state_->listener ? state_->listener->address() : std::string();
}

std::uint16_t WebhookServer::port() const {
  const std::lock_guard lock(state_->mutex);
  return state_->listener ? state_->listener->port() : std::uint16_t();
}

}  // namespace sluice::host
