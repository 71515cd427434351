// What stands between a listener and the metrics.
#include "host/metrics/http.hpp"

#include <gmock/gmock.h>

#include "tests/host/metrics/exposition.hpp"

namespace sluice::host::test {
namespace {

using ::testing::Pair;

Request request(const std::string& method, const std::string& path, bool watch = false) {
  Request out;
  out.method = method;
  out.path = path;
  if (watch) out.query.emplace_back("watch", "true");
  return out;
}

TEST(VerbAndResource, OfAPath) {
  struct Case {
    Request request;
    const char* verb;
    const char* resource;
  };
  const std::vector<Case> cases = {
      {request("GET", "/api/v1/pods"), "list", "pods"},
      {request("GET", "/api/v1/namespaces/a/pods", true), "watch", "pods"},
      {request("GET", "/api/v1/namespaces/a/pods/p/log"), "get", "pods/log"},
      {request("GET", "/api/v1/namespaces/a"), "get", "namespaces"},
      {request("POST", "/apis/batch/v1/namespaces/a/jobs"), "create", "jobs"},
      {request("PUT", "/apis/batch/v1/namespaces/a/jobs/j/status"), "update", "jobs/status"},
      {request("PATCH", "/apis/batch/v1/namespaces/a/jobs/j"), "patch", "jobs"},
      {request("DELETE", "/apis/batch/v1/namespaces/a/jobs/j"), "delete", "jobs"},
      {request("DELETE", "/apis/batch/v1/namespaces/a/jobs"), "deletecollection", "jobs"},
      {request("GET", "/apis/batch/v1"), "get", ""},
      {request("GET", "/"), "get", ""},
      {request("GET", "/api/v1/Made%20Up"), "other", ""},
      {request("BREW", "/api/v1/pods"), "other", "pods"},
  };
  for (const Case& each : cases)
    EXPECT_THAT(verb_and_resource(each.request), Pair(each.verb, each.resource))
        << each.request.method << " " << each.request.path;
}

/// Keeps the answer.
class FakeExchange final : public Exchange {
 public:
  explicit FakeExchange(Request of) : request_(std::move(of)) {}
  const Request& request() const override { return request_; }
  void reply(Reply reply) override { answer = std::move(reply); }
  std::shared_ptr<Stream> stream(int status, std::string, Headers) override {
    answer.status = status;
    return nullptr;
  }
  void after(std::int64_t, std::function<void()> task) override { task(); }
  std::string text() const { return answer.body ? *answer.body : ""; }
  Reply answer{0, "", nullptr, {}};

 private:
  Request request_;
};

TEST(MeteredApi, CountsAnswersAndRefusals) {
  HostMetrics metrics;
  const MeteredApi api = metered(
      [](const std::shared_ptr<Exchange>& exchange) {
        if (exchange->request().method == "GET")
          exchange->stream(200, "text/plain", {});
        else
          exchange->reply({201, "text/plain", nullptr, {}});
      },
      [](Request& asked) -> std::optional<Reply> {
        if (asked.path == "/api/v1/made-up-by-somebody")
          return Reply{403, "text/plain", nullptr, {}};
        return std::nullopt;
      },
      metrics);
  for (int i = 0; i < 3; ++i)
    api.handler(std::make_shared<FakeExchange>(request("POST", "/api/v1/namespaces/a/pods")));
  api.handler(std::make_shared<FakeExchange>(request("GET", "/api/v1/pods", true)));
  Request bad = request("GET", "/api/v1/made-up-by-somebody");
  EXPECT_TRUE(api.check(bad).has_value());
  const Exposition seen(metrics.text({}));
  EXPECT_EQ(seen.value(R"(sluice_api_requests_total{code="201",resource="pods",verb="create"})"),
            3);
  EXPECT_EQ(seen.value(R"(sluice_api_requests_total{code="200",resource="pods",verb="watch"})"), 1);
  EXPECT_EQ(
      seen.value(R"(sluice_api_request_duration_seconds_count{resource="pods",verb="create"})"), 3);
  EXPECT_EQ(seen.value(R"(sluice_api_refused_total{code="403"})"), 1);
  for (const auto& [sample, value] : seen.values)
    EXPECT_EQ(sample.find("made"), std::string::npos) << sample;
}

TEST(MetricsHandler, AnswersMetricsAndNothingElse) {
  HostMetrics metrics;
  metrics.count("c", "h", {});
  const Handler handler = metrics_handler(
      metrics,
      [](const auto& done) {
        done({{"g", "h", false, {{{}, 7}}}});
      },
      nothing_here());
  const auto ask = [&](const std::string& method, const std::string& path) {
    auto exchange = std::make_shared<FakeExchange>(request(method, path));
    handler(exchange);
    return exchange;
  };
  const auto page = ask("GET", "/metrics");
  EXPECT_EQ(page->answer.status, 200);
  EXPECT_EQ(page->answer.content_type, "text/plain; version=0.0.4; charset=utf-8");
  const Exposition seen(page->text());
  EXPECT_EQ(seen.value("c"), 1);
  EXPECT_EQ(seen.value("g"), 7);
  EXPECT_EQ(ask("POST", "/metrics")->answer.status, 405);
  EXPECT_EQ(ask("GET", "/other")->answer.status, 404);
}

}  // namespace
}  // namespace sluice::host::test
