#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <sluice/testing.hpp>

#include "budget.hpp"
#include "http_server.hpp"

using namespace sluice::testing;
using namespace std::chrono_literals;
using http::TestServer;

/// A Prometheus that knows what team-a used, once it is told.
class FakePrometheus {
 public:
  FakePrometheus() : FakePrometheus(std::nullopt) {}
  explicit FakePrometheus(std::optional<double> used)
      : used_(used), server_([this](const auto& request) {
          const std::lock_guard lock(mutex_);
          lines_.push_back(request.line);
          if (!used_) return std::pair(503, std::string("starting"));
          return std::pair(200,
                           R"({"status": "success", "data": {"resultType": "vector", "result": [
        {"metric": {"namespace": "team-a"}, "value": [1767225600, ")" +
                               std::to_string(*used_) + R"("]}]}})");
        }) {}
  void set_used(double used) {
    const std::lock_guard lock(mutex_);
    used_ = used;
  }
  std::string line() const {
    const std::lock_guard lock(mutex_);
    return lines_.empty() ? "" : lines_.front();
  }
  std::string config() const {
    return R"({"intervalSeconds": 1, "query": "x[$week]", "prometheus": ")" + server_.url() + "\"}";
  }

 private:
  mutable std::mutex mutex_;
  std::optional<double> used_;
  std::vector<std::string> lines_;
  TestServer server_;
};

static const sluice::ObjectRef kBudget{"budgets.example.com/v1", "Budget", "team-a", "weekly"};

static void put_budget(FakeHost& host, int weekly) {
  host.objects().put(R"({"apiVersion": "budgets.example.com/v1", "kind": "Budget",
                         "metadata": {"namespace": "team-a", "name": "weekly"},
                         "spec": {"weekly": )" +
                     std::to_string(weekly) + "}}");
}

/// The thread fetched, and asks for a call in which the plugin acts on it.
static bool take_figures(FakeHost& host, TestedPlugin& plugin) {
  const bool came = host.wait_until([&] { return !host.timers().empty(); });
  plugin.advance(0s);
  return came;
}

SLUICE_TEST(holds_releases_and_stops) {
  FakePrometheus prometheus(120);
  FakeHost host;
  put_budget(host, 100);
  TestedPlugin plugin(host, prometheus.config());
  plugin.reconcile(kBudget);
  const FakeWorkload train("team-a", "train");
  plugin.begin_check(train, {.check = "budget"});
  SLUICE_EXPECT(take_figures(host, plugin));
  SLUICE_EXPECT_EQ(host.state_of("team-a/train", "budget"), "Pending");
  SLUICE_EXPECT_EQ(host.reports().back().message,
                   "120 of 100 used this week, waiting for more budget");
  SLUICE_EXPECT_EQ(host.objects().find("Budget", "team-a", "weekly")->string_or("status.state", ""),
                   "Exhausted");

  put_budget(host, 200);  // a person gives more
  plugin.reconcile(kBudget);
  SLUICE_EXPECT_EQ(host.state_of("team-a/train", "budget"), "Ready");

  prometheus.set_used(250);  // it is used up while the workload runs
  SLUICE_EXPECT(host.wait_until([&] {
    plugin.advance(0s);
    return host.state_of("team-a/train", "budget") == "Retry";
  }));
  SLUICE_EXPECT_EQ(host.reports().back().message,
                   "stopped: 250 of 200 used this week, waiting for more budget");
  SLUICE_EXPECT_EQ(host.objects().find("Budget", "team-a", "weekly")->int_or("status.used", 0),
                   250);
}

SLUICE_TEST(a_namespace_without_budget_waits) {
  FakePrometheus prometheus(0);
  FakeHost host;
  TestedPlugin plugin(host, prometheus.config());
  plugin.begin_check(FakeWorkload("team-b", "w"), {.check = "budget"});
  SLUICE_EXPECT_EQ(host.reports().back().message, "namespace team-b has no Budget");
}

SLUICE_TEST(a_restart_knows_what_runs) {
  FakePrometheus prometheus;
  FakeHost host;
  put_budget(host, 100);
  TestedPlugin plugin(host, prometheus.config());
  plugin.reconcile(kBudget);
  FakeWorkload train("team-a", "train");
  train.check_states["budget"] = "Ready";
  plugin.begin_check(train, {.check = "budget", .attempt = 3});
  SLUICE_EXPECT(host.reports().empty());  // not known yet: no workload is stopped for that
  prometheus.set_used(500);
  SLUICE_EXPECT(take_figures(host, plugin));
  SLUICE_EXPECT_EQ(host.state_of("team-a/train", "budget"), "Retry");
  SLUICE_EXPECT_EQ(host.reports().back().attempt, 3u);
}

SLUICE_TEST(after_a_restart_checks_may_begin_before_budgets_are_told) {
  FakePrometheus prometheus(50);
  FakeHost host;
  put_budget(host, 100);
  TestedPlugin plugin(host, prometheus.config());
  FakeWorkload train("team-a", "train");
  train.check_states["budget"] = "Ready";
  plugin.begin_check(train, {.check = "budget"});
  SLUICE_EXPECT(take_figures(host, plugin));
  SLUICE_EXPECT(host.reports().empty());  // it runs on
}

SLUICE_TEST(what_is_cancelled_is_forgotten) {
  FakePrometheus prometheus(1);
  FakeHost host;
  put_budget(host, 100);
  TestedPlugin plugin(host, prometheus.config());
  plugin.reconcile(kBudget);
  plugin.begin_check(FakeWorkload("team-a", "train"));
  const std::size_t before = host.reports().size();
  plugin.cancel_check(FakeWorkload("team-a", "train"));
  SLUICE_EXPECT(take_figures(host, plugin));
  SLUICE_EXPECT_EQ(host.reports().size(), before);
}

SLUICE_TEST(nobody_is_stopped_because_prometheus_is_away) {
  FakeHost host;
  put_budget(host, 100);
  TestedPlugin plugin(host, R"({"prometheus": "http://127.0.0.1:1"})");
  plugin.reconcile(kBudget);
  FakeWorkload train("team-a", "train");
  train.check_states["check"] = "Ready";
  plugin.begin_check(train);
  SLUICE_EXPECT(host.wait_until([&] { return !host.log().empty(); }));
  SLUICE_EXPECT(host.log().front().text.find("what was used is not known") == 0);
  SLUICE_EXPECT(host.reports().empty());
}

SLUICE_TEST(the_week_begins_on_monday) {
  constexpr std::int64_t kThursday = FakeHost::kStart;  // 2026-01-01
  SLUICE_EXPECT_EQ(budget::seconds_of_week(kThursday), 3 * 86400);
  SLUICE_EXPECT_EQ(budget::query_for("a[$week] + b[$week]", kThursday), "a[259200s] + b[259200s]");
  FakePrometheus prometheus(0);
  FakeHost host;
  TestedPlugin plugin(host, prometheus.config());
  SLUICE_EXPECT(host.wait_until([&] { return !prometheus.line().empty(); }));
  SLUICE_EXPECT_EQ(prometheus.line(), "GET /api/v1/query?query=x%5B259200s%5D HTTP/1.0");
}

SLUICE_TEST(core_hours_come_from_the_history_of_a_host) {
  std::mutex mutex;
  std::string head;
  TestServer host_api([&](const auto& request) {
    const std::lock_guard lock(mutex);
    head = request.head;
    return std::pair(200, std::string(R"({"kind": "RunSummary", "groups": [
        {"group": {"namespace": "team-a"}, "heldHours": {"cpu": 120.5, "nvidia.com/gpu": 7}},
        {"group": {"namespace": "team-b"}, "heldHours": {}}]})"));
  });
  std::string token_file = "/tmp/sluice-budget-XXXXXX";
  const int file = ::mkstemp(token_file.data());
  SLUICE_EXPECT_EQ(::write(file, "secret\n", 7), 7);
  ::close(file);
  FakeHost host;
  put_budget(host, 100);
  {
    TestedPlugin plugin(host, R"({"intervalSeconds": 1, "history": ")" + host_api.url() +
                                  R"(", "tokenFile": ")" + token_file + "\"}");
    plugin.reconcile(kBudget);
    plugin.begin_check(FakeWorkload("team-a", "train"), {.check = "budget"});
    SLUICE_EXPECT(take_figures(host, plugin));
    SLUICE_EXPECT_EQ(host.reports().back().message,
                     "120 of 100 used this week, waiting for more budget");
  }
  ::unlink(token_file.c_str());
  const std::lock_guard lock(mutex);
  // FakeHost begins on Thursday 2026-01-01.
  SLUICE_EXPECT(
      head.starts_with("GET /apis/sluice.dev/v1alpha1/runs?groupBy=namespace&"
                       "from=2025-12-29T00%3A00%3A00Z HTTP/1.0"));
  SLUICE_EXPECT(head.find("Authorization: Bearer secret") != head.npos);
}

SLUICE_TEST(hours_of_any_resource_are_counted) {
  const std::string answer = R"({"groups": [
      {"group": {"namespace": "a"}, "heldHours": {"cpu": 1.5, "nvidia.com/gpu": 7}}]})";
  SLUICE_EXPECT(budget::hours_of(answer, "nvidia.com/gpu").at("a") == 7.0);
  SLUICE_EXPECT(budget::hours_of(answer, "cpu").at("a") == 1.5);
  SLUICE_EXPECT(budget::hours_of(answer, "memory").empty());
  std::string said;
  try {
    budget::hours_of(R"({"kind": "Status", "message": "runs is forbidden"})", "cpu");
  } catch (const std::exception& e) {
    said = e.what();
  }
  SLUICE_EXPECT_EQ(said, "the host says: runs is forbidden");
}

SLUICE_TEST(answers_that_are_no_vector_are_told_apart) {
  const auto text = [](const char* body) -> std::string {
    try {
      budget::consumption_of(body, "namespace");
      return "";
    } catch (const std::exception& e) {
      return e.what();
    }
  };
  SLUICE_EXPECT_EQ(text(R"({"status": "error", "error": "parse error"})"),
                   "Prometheus says: parse error");
  SLUICE_EXPECT_EQ(text(R"({"status": "success", "data": {"resultType": "matrix", "result": []}})"),
                   "the query gives no vector");
  SLUICE_EXPECT(!text("<html>").empty());
}

SLUICE_TEST_MAIN()
