// What one client may have of the transport while others want it: bodies, requests in hand, time,
// connections.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "tests/host/apiserver/client.hpp"
#include "tests/host/apiserver/listener_fixture.hpp"

namespace sluice::host::test {
namespace {

// A8: bytes that frame a body count: without an end of line, as many extensions, as trailers.
TEST(Listener, A8ChunkExtensionsAndTrailersAreCounted) {
  ListenerLimits limits;
  limits.header_bytes = 4096;
  const auto server = open(echo, limits);
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string extensions, trailers = "0\r\n";
  for (int i = 0; i < 100; ++i) extensions += "1;" + std::string(200, 'a') + "\r\nx\r\n";
  for (int i = 0; i < 100; ++i)
    trailers += "T" + std::to_string(i) + ": " + std::string(100, 'a') + "\r\n";
  for (const std::string& body : {"1;" + std::string(20'000, 'a'), extensions, trailers}) {
    Client client(server->port());
    client.send(head);
    client.send(body);
    const Answer answer = client.read();
    EXPECT_TRUE(answer.status == 413 || answer.status == 431) << answer.status << answer.body;
    EXPECT_NE(answer.body.find("limit of 4096 bytes"), std::string::npos) << answer.body;
  }
  // Chunks of one byte each are a body like others: 3,000 bytes, framed by 15,000.
  std::string small;
  for (int i = 0; i < 3'000; ++i) small += "1\r\nx\r\n";
  Client client(server->port());
  client.send(head + small + "0\r\nTrailer: yes\r\n\r\n");
  EXPECT_EQ(client.read().status, 200);
}

// One user with slow, large bodies leaves room for the others.
TEST(Listener, AUserHoldsHisShareOfBodiesOnly) {
  ListenerLimits limits;
  limits.body_bytes = 1000;
  limits.bodies_bytes = 4000;
  limits.bodies_per_user_bytes = 1500;
  const auto server = open(echo, limits, [](Request& request) -> std::optional<Reply> {
    if (const auto* who = request.header("authorization")) request.user.user = *who;
    return std::nullopt;
  });
  const std::string large =
      "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: mallory\r\nContent-Length: 1000\r\n";
  Client first(server->port());
  first.send(large + "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(first.read().status, 100);
  Client second(server->port());
  second.send(large + "\r\n");
  EXPECT_EQ(second.read().status, 503);
  EXPECT_EQ(Client(server->port())
                .request("POST", "/", std::string(1000, 'x'), "Authorization: alice\r\n")
                .status,
            200);
  // A body without a length is counted as it comes: 1,000 more of this user's are too many.
  Client third(server->port());
  third.send(
      "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: mallory\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3e8\r\n");
  EXPECT_EQ(third.read().status, 503);
  first.send(std::string(1000, 'x'));
  EXPECT_EQ(first.read().status, 200);
  EXPECT_EQ(Client(server->port())
                .request("POST", "/", std::string(1000, 'x'), "Authorization: mallory\r\n")
                .status,
            200);
}

/// Keeps what it is asked until the test answers it.
class Held {
 public:
  void take(const std::shared_ptr<Exchange>& exchange) {
    const std::lock_guard lock(mutex_);
    ++taken_;
    if (at_once_) return answer(*exchange);
    held_.push_back(exchange);
    more_.notify_all();
  }
  /// Whether so many were taken in all, within some seconds.
  bool has_taken(std::size_t count) {
    std::unique_lock lock(mutex_);
    return more_.wait_for(lock, std::chrono::seconds(20), [&] { return taken_ >= count; });
  }
  std::size_t taken() {
    const std::lock_guard lock(mutex_);
    return taken_;
  }
  void answer_all() {
    std::vector<std::shared_ptr<Exchange>> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(held_);
    }
    for (const auto& each : all) answer(*each);
  }
  /// And whatever comes from here on, at once.
  void answer_all_to_come() {
    {
      const std::lock_guard lock(mutex_);
      at_once_ = true;
    }
    answer_all();
  }

 private:
  static void answer(Exchange& exchange) {
    exchange.reply({200, "text/plain", shared_text("done"), {}});
  }

  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<std::shared_ptr<Exchange>> held_;
  std::size_t taken_ = 0;
  bool at_once_ = false;
};

// 100 requests of one user are taken as they come: nobody knows whose they are before. Of the next
// 100 there are 32 in hand of the one I/O thread, beside which another user has his turn; the
// others are read when those have their answers.
TEST(Listener, AUserHasHisShareOfRequestsInHand) {
  Held held;
  ListenerOptions options;
  options.threads = 1;
  const auto server = open_with(
      std::move(options), [&](const auto& exchange) { held.take(exchange); },
      [](Request& request) -> std::optional<Reply> {
        request.user.user = *request.header("authorization");
        return std::nullopt;
      });
  const auto request = [](const std::string& user) {
    return "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: " + user + "\r\n\r\n";
  };
  std::vector<Client> flood;
  for (int i = 0; i < 100; ++i) {
    flood.emplace_back(server->port());
    flood.back().send(request("mallory"));
  }
  ASSERT_TRUE(held.has_taken(100));
  for (Client& each : flood) each.send(request("mallory"));
  held.answer_all();
  for (Client& each : flood) EXPECT_EQ(each.read().status, 200);
  ASSERT_TRUE(held.has_taken(132));
  Client alice(server->port());
  alice.send(request("alice"));
  ASSERT_TRUE(held.has_taken(133));
  EXPECT_EQ(held.taken(), 133U);
  held.answer_all_to_come();
  EXPECT_EQ(alice.read().status, 200);
  for (Client& each : flood) EXPECT_EQ(each.read().status, 200);
}

TEST(Listener, LimitsTheBodiesOfAllTogether) {
  ListenerLimits limits;
  limits.body_bytes = 1000;
  limits.bodies_bytes = 1500;
  const auto server = open(echo, limits);
  Client first(server->port());
  first.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_EQ(first.read().status, 100);
  Client second(server->port());
  const Answer refused = second.request("POST", "/", std::string(900, 'x'));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  first.send(std::string(1000, 'x'));
  EXPECT_EQ(first.read().status, 200);
  EXPECT_EQ(Client(server->port()).request("POST", "/", std::string(900, 'x')).status, 200);
}

TEST(Listener, EndsSlowRequests) {
  ListenerLimits limits;
  limits.header_ms = 20;
  limits.body_ms = 20;
  limits.idle_ms = 20;
  const auto server = open(echo, limits);
  EXPECT_TRUE(Client(server->port()).closed());  // says nothing
  Client head(server->port());
  head.send("GET / HTTP/1.1\r\nHo");
  EXPECT_EQ(head.read().status, 408);
  EXPECT_TRUE(head.closed());
  Client body(server->port());
  body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(body.read().status, 408);
  EXPECT_EQ(server->counters().timed_out, 3U);
  Client idle(server->port());
  EXPECT_EQ(idle.get("/").status, 200);
  EXPECT_TRUE(idle.closed());
  EXPECT_EQ(server->counters().timed_out, 3U);
}

// One thread: with more, those that another one has not looked at yet are open beside the four.
TEST(Listener, MakesRoomForWhoeverComesNext) {
  ListenerOptions options;
  options.threads = 1;
  options.limits.connections = 4;
  const auto server = open_with(std::move(options), echo);
  std::vector<std::unique_ptr<Client>> flood;
  for (int i = 0; i < 50; ++i) {
    flood.push_back(std::make_unique<Client>(server->port()));
    flood.back()->send("GET / HT");
  }
  EXPECT_EQ(Client(server->port()).get("/").status, 200);
  EXPECT_LE(server->counters().open_connections, 4U);
}

TEST(Listener, TellsWhoFindsNoRoom) {
  std::mutex mutex;
  std::vector<std::shared_ptr<Exchange>> held;
  std::condition_variable came;
  ListenerLimits limits;
  limits.connections = 2;
  const auto server = open(
      [&](std::shared_ptr<Exchange> exchange) {
        const std::lock_guard lock(mutex);
        held.push_back(std::move(exchange));
        came.notify_all();
      },
      limits);
  Client first(server->port());
  Client second(server->port());
  first.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  second.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  {
    std::unique_lock lock(mutex);
    came.wait(lock, [&] { return held.size() == 2; });
  }
  const Answer refused = Client(server->port()).get("/3");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  EXPECT_EQ(server->counters().turned_away, 1U);
  held[0]->reply({200, "text/plain", shared_text("one"), {}});
  held[1].reset();
  EXPECT_NE(first.read().status, second.read().status);  // 200, and 500 for the dropped one
}

}  // namespace
}  // namespace sluice::host::test
