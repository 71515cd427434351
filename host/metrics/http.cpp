#include "host/metrics/http.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sluice::host {
namespace {

using Clock = std::chrono::steady_clock;

/// Clients can make up paths; only a few words become labels.
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

namespace {

/// The series of each verb, resource and code that was seen.
class RequestMetrics {
 public:
  explicit RequestMetrics(HostMetrics& metrics) : metrics_(metrics) {}

  void answered(const Request& request, int status, Clock::time_point start) {
    const auto [verb, resource] = verb_and_resource(request);
    const Series& series = series_of(verb, resource, std::to_string(status));
    series.count(1);
    series.observe(std::chrono::duration<double>(Clock::now() - start).count());
  }

  /// A client that is refused may have made up the path, so it is no label.
  void refused(int status) {
    metrics_.count("sluice_api_refused_total",
                   "Requests that were refused before their body was read",
                   {{"code", std::to_string(status)}});
  }

 private:
  struct Series {
    std::function<void(double)> count, observe;
  };

  const Series& series_of(const std::string& verb, const std::string& resource,
                          const std::string& code) {
    const std::lock_guard lock(mutex_);
    Series& series = series_[verb + " " + resource + " " + code];
    if (!series.count) {
      series.count = metrics_.counter("sluice_api_requests_total", "Requests that were answered",
                                      {{"verb", verb}, {"resource", resource}, {"code", code}});
      series.observe = metrics_.histogram(
          "sluice_api_request_duration_seconds", "From the request to its answer",
          {{"verb", verb}, {"resource", resource}}, Buckets::kDefault);
    }
    return series;
  }

  HostMetrics& metrics_;
  std::mutex mutex_;
  std::unordered_map<std::string, Series> series_;  // guarded by mutex_; nodes stay where they are
};

class MeteredExchange final : public Exchange {
 public:
  MeteredExchange(std::shared_ptr<Exchange> inner, std::shared_ptr<RequestMetrics> metrics)
      : inner_(std::move(inner)), metrics_(std::move(metrics)), start_(Clock::now()) {}

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
  void answered(int status) { metrics_->answered(inner_->request(), status, start_); }

  std::shared_ptr<Exchange> inner_;
  std::shared_ptr<RequestMetrics> metrics_;
  Clock::time_point start_;
};

}  // namespace

MeteredApi metered(Handler handler, HeadCheck check, HostMetrics& metrics) {
  auto shared = std::make_shared<RequestMetrics>(metrics);
  MeteredApi out;
  out.handler = [inner = std::move(handler), shared](std::shared_ptr<Exchange> exchange) {
    inner(std::make_shared<MeteredExchange>(std::move(exchange), shared));
  };
  out.check = [inner = std::move(check), shared](Request& request) -> std::optional<Reply> {
    auto refusal = inner(request);
    if (refusal) shared->refused(refusal->status);
    return refusal;
  };
  return out;
}

Handler metrics_handler(const HostMetrics& metrics, TakeReadings take, Handler others) {
  return [&metrics, take = std::move(take),
          others = std::move(others)](const std::shared_ptr<Exchange>& exchange) {
    const Request& request = exchange->request();
    if (request.path != "/metrics") return others(exchange);
    if (request.method != "GET" && request.method != "HEAD") {
      return exchange->reply(plain_reply(405, "only GET and HEAD are allowed here\n"));
    }
    take([exchange, &metrics](std::vector<Reading> readings) {
      // The kernel's thread has better things to do than to write text.
      exchange->after(0, [exchange, &metrics, readings = std::move(readings)] {
        Reply reply = plain_reply(200, metrics.text(readings));
        reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
        exchange->reply(std::move(reply));
      });
    });
  };
}

Handler nothing_here() {
  return [](const std::shared_ptr<Exchange>& exchange) {
    exchange->reply(plain_reply(404, "look at /metrics, /healthz, /livez or /readyz\n"));
  };
}

}  // namespace sluice::host
