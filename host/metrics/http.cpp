#include "host/metrics/http.hpp"

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

namespace sluice::host {
namespace {

using Clock = std::chrono::steady_clock;

class MeteredExchange final : public Exchange {
 public:
  MeteredExchange(std::shared_ptr<Exchange> inner, HostMetrics& metrics)
      : inner_(std::move(inner)), metrics_(metrics), start_(Clock::now()) {}

  const Request& request() const override { return inner_->request(); }
  void reply(Reply reply) override {
    answered(reply.status);
    inner_->reply(std::move(reply));
  }
  std::shared_ptr<Stream> stream(int status, std::string content_type, Headers headers) override {
    answered(status);
    return inner_->stream(status, std::move(content_type), std::move(headers));
  }
  void after(std::int64_t delay_ms, std::function<void()> task) override {
    inner_->after(delay_ms, std::move(task));
  }

 private:
  void answered(int status) {
    const auto [verb, resource] = verb_and_resource(inner_->request());
    const std::chrono::duration<double> took = Clock::now() - start_;
    metrics_.count("sluice_api_requests_total", "Requests that were answered",
                   {{"verb", verb}, {"resource", resource}, {"code", std::to_string(status)}});
    metrics_.observe("sluice_api_request_duration_seconds", "From the request to its answer",
                     {{"verb", verb}, {"resource", resource}}, took.count(), Buckets::kDefault);
  }

  std::shared_ptr<Exchange> inner_;
  HostMetrics& metrics_;
  Clock::time_point start_;
};

/// Paths can be made up by anybody; only a few words become labels.
bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 40 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string_view::npos;
}

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) out.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return out;
}

std::string verb_of(const Request& request, bool named) {
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "PATCH") return "patch";
  if (request.method == "DELETE") return named ? "delete" : "deletecollection";
  if (request.method != "GET" && request.method != "HEAD") return "other";
  const std::string* watch = request.parameter("watch");
  if (watch && *watch != "false" && *watch != "0") return "watch";
  return named ? "get" : "list";
}

}  // namespace

std::pair<std::string, std::string> verb_and_resource(const Request& request) {
  const std::vector<std::string_view> parts = parts_of(request.path);
  // api/VERSION/… or apis/GROUP/VERSION/…, then namespaces/NS/ where it is namespaced.
  std::size_t at = 0;
  if (!parts.empty() && parts[0] == "api") at = 2;
  if (!parts.empty() && parts[0] == "apis") at = 3;
  if (at == 0 || parts.size() <= at) return {request.method == "GET" ? "get" : "other", ""};
  if (parts[at] == "namespaces" && parts.size() > at + 2) at += 2;
  if (!is_word(parts[at])) return {"other", ""};
  std::string resource(parts[at]);
  if (parts.size() > at + 2 && is_word(parts[at + 2])) {
    resource += "/" + std::string(parts[at + 2]);
  }
  return {verb_of(request, parts.size() > at + 1), resource};
}

Handler metered(Handler inner, HostMetrics& metrics) {
  return [inner = std::move(inner), &metrics](std::shared_ptr<Exchange> exchange) {
    inner(std::make_shared<MeteredExchange>(std::move(exchange), metrics));
  };
}

Handler metrics_handler(const HostMetrics& metrics, TakeReadings take) {
  return [&metrics, take = std::move(take)](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path != "/metrics") {
      exchange->reply(
          {404, "text/plain", std::make_shared<const std::string>("look at /metrics\n"), {}});
      return;
    }
    take([exchange, &metrics](const std::vector<Reading>& readings) {
      exchange->reply({200,
                       "text/plain; version=0.0.4; charset=utf-8",
                       std::make_shared<const std::string>(metrics.text(readings)),
                       {}});
    });
  };
}

}  // namespace sluice::host
