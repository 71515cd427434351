#include <atomic>
#include <sluice/testing.hpp>

#include "http_server.hpp"

using namespace sluice::testing;
using http::TestServer;

static std::string config_for(const TestServer& server) {
  return R"({"askAgainSeconds": 1, "url": ")" + server.url() + R"(/check"})";
}

SLUICE_TEST(the_service_decides) {
  const TestServer server([](const TestServer::Request& request) -> std::pair<int, std::string> {
    const auto body = sluice::Json::parse(request.body);
    const std::string name = body.string_or("workload.metadata.name", "");
    if (request.line != "POST /check HTTP/1.0") return {404, ""};
    if (name == "good")
      return {200, R"({"state": "Ready", "message": "go", "podSetUpdates": [
                       {"name": "main", "labels": {"a": "b"}}]})"};
    if (name == "later") return {200, R"({"state": "Retry", "requeueAfterSeconds": 60})"};
    return {200, R"({"state": "Rejected", "message": "never"})"};
  });
  FakeHost host;
  TestedPlugin plugin(host, config_for(server));
  for (const char* name : {"good", "later", "bad"})
    plugin.begin_check(FakeWorkload("team-a", name), {.check = "ask", .attempt = 4});
  SLUICE_EXPECT(host.wait_until([&] { return host.reports().size() == 3; }));
  SLUICE_EXPECT_EQ(host.state_of("team-a/good", "ask"), "Ready");
  SLUICE_EXPECT_EQ(host.state_of("team-a/later", "ask"), "Retry");
  SLUICE_EXPECT_EQ(host.state_of("team-a/bad", "ask"), "Rejected");
  for (const RecordedReport& report : host.reports()) {
    SLUICE_EXPECT_EQ(report.attempt, 4u);
    if (report.state == "Ready")
      SLUICE_EXPECT_EQ(report.pod_set_updates, R"([{"name":"main","labels":{"a":"b"}}])");
    if (report.state == "Retry") SLUICE_EXPECT_EQ(report.requeue_after_seconds.value_or(0), 60);
  }
}

SLUICE_TEST(pending_and_failures_are_asked_again) {
  std::atomic<int> asked = 0;
  const TestServer server([&](const TestServer::Request&) -> std::pair<int, std::string> {
    if (++asked == 1) return {503, ""};
    return {200, R"({"state": "Ready"})"};
  });
  FakeHost host;
  TestedPlugin plugin(host, config_for(server));
  plugin.begin_check(FakeWorkload("team-a", "w"), {.check = "ask"});
  SLUICE_EXPECT(host.wait_until([&] { return host.state_of("team-a/w", "ask") == "Ready"; }));
  SLUICE_EXPECT_EQ(host.reports().at(0).state, "Pending");
  SLUICE_EXPECT_EQ(host.reports().at(0).message,
                   "asked again later: the service answers with status 503");
  SLUICE_EXPECT_EQ(host.metric("requests", {"failed"}), 1);
}

SLUICE_TEST(what_is_cancelled_is_not_reported) {
  std::atomic<bool> here = false, go = false;
  const TestServer server([&](const TestServer::Request&) -> std::pair<int, std::string> {
    here = true;
    while (!go) std::this_thread::yield();
    return {200, R"({"state": "Ready"})"};
  });
  FakeHost host;
  TestedPlugin plugin(host, config_for(server));
  const FakeWorkload first("team-a", "first"), second("team-a", "second");
  plugin.begin_check(first, {.check = "ask"});
  SLUICE_EXPECT(host.wait_until([&] { return here.load(); }));
  plugin.cancel_check(first, {.check = "ask"});
  plugin.begin_check(second, {.check = "ask"});
  go = true;
  SLUICE_EXPECT(host.wait_until([&] { return !host.reports().empty(); }));
  SLUICE_EXPECT_EQ(host.reports().at(0).workload, "team-a/second");
}

SLUICE_TEST(turning_it_off_gives_up_what_is_under_way) {
  std::atomic<bool> here = false, ended = false;
  const TestServer server([&](const TestServer::Request&) -> std::pair<int, std::string> {
    here = true;
    while (!ended) std::this_thread::yield();
    return {200, "{}"};
  });
  FakeHost host;
  {
    TestedPlugin plugin(host, config_for(server));
    plugin.begin_check(FakeWorkload("team-a", "w"));
    SLUICE_EXPECT(host.wait_until([&] { return here.load(); }));
  }  // does not wait for the service
  ended = true;
  SLUICE_EXPECT(host.reports().empty());
}

SLUICE_TEST(nothing_is_asked_in_a_simulation) {
  FakeHost host;
  host.simulate(true);
  TestedPlugin plugin(host);
  plugin.begin_check(FakeWorkload("team-a", "w"));
  SLUICE_EXPECT(host.reports().empty());
}

SLUICE_TEST(an_odd_url_is_refused) {
  FakeHost host;
  SLUICE_EXPECT_EQ(refusal(host, R"({"url": "ftp://x"})"),
                   "url must start with http://, found ftp://x");
}

SLUICE_TEST_MAIN()
