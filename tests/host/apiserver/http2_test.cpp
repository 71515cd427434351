// HTTP/2 over loopback and TLS: the same requests as in HTTP/1.1, many at a time; what slow and
// hostile clients get, streams, stopping.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "host/apiserver/listener.hpp"
#include "tests/host/apiserver/h2_peer.hpp"

namespace sluice::host {
namespace {

using test::Certificate;
using test::ClientTls;
using test::H2Answer;
using test::H2Client;
using test::kCalm;
using test::kCancel;
using test::kRefusedStream;
using test::make_certificate;

std::shared_ptr<const std::string> said(std::string value) {
  return std::make_shared<const std::string>(std::move(value));
}

const Certificate& authority() {
  static const Certificate ca = make_certificate("ca");
  return ca;
}

std::unique_ptr<Listener> open_secure(Handler handler, ListenerLimits limits = {},
                                      HeadCheck check = {}, unsigned threads = 2) {
  static const Certificate own = make_certificate("server", {}, &authority());
  ListenerOptions options;
  options.address = "127.0.0.1:0";
  options.tls = TlsOptions{own.pem, own.key_pem, authority().pem};
  options.limits = limits;
  options.threads = threads;
  auto out = Listener::open(std::move(options), std::move(handler), std::move(check));
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text);
  return std::move(*out);
}

// Says what it saw.
void tell_all(const std::shared_ptr<Exchange>& exchange) {
  const Request& request = exchange->request();
  std::string out = request.method + " " + request.path;
  for (const auto& [name, value] : request.query) out += " " + name + "=" + value;
  if (request.certificate) out += " cn=" + request.certificate->common_name;
  if (const auto* host = request.header("host")) out += " host=" + *host;
  exchange->reply({200, "text/plain", said(out + " body=" + request.body), {{"X-More", "1"}}});
}

// Keeps exchanges, and answers when told.
class Later {
 public:
  Handler handler() {
    return [this](std::shared_ptr<Exchange> exchange) {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(exchange));
      came_.notify_all();
    };
  }
  std::vector<std::shared_ptr<Exchange>> wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, std::chrono::seconds(180), [&] { return waiting_.size() >= count; });
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::shared_ptr<Exchange>> waiting_;
};

TEST(Http2, AnswersAsHttp1Does) {
  const auto server = open_secure(tell_all);
  const Certificate alice = make_certificate("alice", {}, &authority());
  H2Client client(server->port(), {.server_ca = &authority(), .own = &alice, .alpn = "h2"});
  const H2Answer get = client.ask("GET", "/a//b/?x=1+2&y=%26&z");
  EXPECT_EQ(get.status, 200);
  EXPECT_EQ(get.body, "GET /a/b x=1 2 y=& z= cn=alice host=localhost body=");
  EXPECT_EQ(get.headers.at("x-more"), "1");
  EXPECT_EQ(get.headers.at("cache-control"), "no-cache, private");
  EXPECT_EQ(get.headers.at("content-length"), std::to_string(get.body.size()));
  EXPECT_EQ(get.headers.at("date").substr(26), "GMT");
  EXPECT_EQ(client.ask("POST", "/", {}, "hello").body, "POST / cn=alice host=localhost body=hello");
  const H2Answer head = client.ask("HEAD", "/x");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_NE(head.headers.at("content-length"), "0");
  EXPECT_EQ(client.ask("BREW", "/").body, "BREW / cn=alice host=localhost body=");
  EXPECT_EQ(server->counters().accepted, 1U);
  EXPECT_EQ(server->counters().requests, 4U);
  EXPECT_EQ(server->counters().http2_connections, 1U);
}

TEST(Http2, RefusesAsHttp1Does) {
  ListenerLimits limits;
  limits.body_bytes = 100;
  limits.header_bytes = 4096;
  limits.target_bytes = 200;
  const auto server = open_secure(tell_all, limits, [](Request& request) -> std::optional<Reply> {
    if (request.header("authorization") != nullptr) return std::nullopt;
    return Reply{401, "text/plain", said("who?"), {}};
  });
  const struct {
    std::string path;
    test::H2Headers headers;
    std::string body;
    int status;
  } cases[] = {
      {"/%zz", {}, "", 400},
      {"/a/../b", {}, "", 400},
      {"/a%2fb", {}, "", 400},
      {"/" + std::string(300, 'x'), {}, "", 414},
      {"/", {{"x", std::string(5000, 'x')}}, "", 431},
      {"/", {{"content-length", "101"}}, std::string(101, 'x'), 413},
      {"/", {}, std::string(101, 'x'), 413},
      {"/", {{"expect", "a miracle"}}, "x", 417},
      {"/", {{"host", "elsewhere"}}, "", 400},  // its :authority is localhost
      {"/", {{"host", "localhost"}}, "", 200},
      {"/", {{"authorization", "another"}}, "", 400},
      {"/", {{"expect", "100-continue"}}, "x", 200},
      {"/", {}, std::string(100, 'x'), 200},
  };
  H2Client client(server->port());  // all on one connection: no mistake spreads
  EXPECT_EQ(client.ask("POST", "/", {}, std::string(1'000'000, 'x')).status, 401);
  for (const auto& one : cases) {
    auto headers = one.headers;
    headers.emplace_back("authorization", "me");
    const H2Answer answer = client.ask("POST", one.path, headers, one.body);
    EXPECT_EQ(answer.status, one.status) << one.path.substr(0, 60) << answer.body;
    EXPECT_EQ(answer.code, 0U) << one.path.substr(0, 60);
  }
  EXPECT_EQ(server->counters().accepted, 1U);
}

TEST(Http2, CarriesManyRequestsAtATime) {
  Later later;
  const auto server = open_secure(later.handler());
  H2Client client(server->port());
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 250; ++i)
    streams.push_back(client.peer().request("GET", "/" + std::to_string(i)));
  client.flush();
  auto waiting = later.wait(250);
  ASSERT_EQ(waiting.size(), 250U);
  EXPECT_EQ(server->counters().http2_streams, 250U);
  std::reverse(waiting.begin(), waiting.end());  // any order will do
  for (const auto& exchange : waiting)
    exchange->reply({200, "text/plain", said(exchange->request().path), {}});
  for (std::size_t i = 0; i < streams.size(); ++i)
    EXPECT_EQ(client.wait(streams[i]).body, "/" + std::to_string(i));
  EXPECT_EQ(server->counters().accepted, 1U);
}

TEST(Http2, LimitsTheBodiesOfAllTogether) {
  ListenerLimits limits;
  limits.body_bytes = 1000;
  limits.bodies_bytes = 1500;
  Later later;
  const auto server = open_secure(later.handler(), limits);
  H2Client client(server->port());
  const auto first = client.peer().request("POST", "/", {}, std::string(900, 'x'));
  client.flush();
  auto waiting = later.wait(1);
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(client.ask("POST", "/", {}, std::string(900, 'x')).status, 503);
  client.peer().reset(first);  // its body is there as long as the request is carried out
  EXPECT_EQ(client.ask("POST", "/", {}, std::string(900, 'x')).status, 503);
  waiting.front()->reply({200, "text/plain", said("done"), {}});
  waiting.clear();
  const auto last = client.peer().request("POST", "/", {}, std::string(900, 'x'));
  client.flush();
  waiting = later.wait(1);
  ASSERT_EQ(waiting.size(), 1U);
  waiting.front()->reply({200, "text/plain", said("done"), {}});
  EXPECT_EQ(client.wait(last).status, 200);
}

TEST(Http2, GivesNoMoreWorkToAClientThatResets) {
  ListenerLimits limits;
  limits.streams = 10;
  Later later;
  const auto server = open_secure(later.handler(), limits);
  H2Client client(server->port());
  // Each is reset and still carried out; at twice the limit of streams there are enough of them.
  for (int i = 0; i < 20; ++i) {
    const auto stream = client.peer().request("GET", "/");
    client.flush();
    client.peer().reset(stream);
    client.flush();
  }
  auto waiting = later.wait(20);
  EXPECT_EQ(waiting.size(), 20U);
  EXPECT_EQ(client.ask("GET", "/").code, kRefusedStream);
  waiting.clear();
  const auto next = client.peer().request("GET", "/");
  client.flush();
  waiting = later.wait(1);
  ASSERT_EQ(waiting.size(), 1U);
  waiting.front()->reply({200, "text/plain", said("done"), {}});
  EXPECT_EQ(client.wait(next).status, 200);
}

TEST(Http2, StreamsBesideRequests) {
  std::shared_ptr<Stream> stream;
  std::atomic<bool> ready{false};
  const auto server = open_secure([&](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path != "/events") return tell_all(exchange);
    stream = exchange->stream(200, "text/plain", {{"X-More", "1"}});
    ready = true;
  });
  H2Client client(server->port());
  const auto events = client.peer().request("GET", "/events");
  EXPECT_EQ(client.ask("GET", "/").status, 200);
  ASSERT_TRUE(ready);
  const H2Answer& seen = client.peer().answer(events);
  stream->write(said("one "));
  client.until([&] { return seen.body == "one "; });
  EXPECT_EQ(seen.headers.at("x-more"), "1");
  EXPECT_EQ(server->counters().open_streams, 1U);
  EXPECT_EQ(client.ask("GET", "/").status, 200);
  for (int i = 0; i < 100; ++i) stream->write(said(std::string(10'000, 'x')));
  stream.reset();
  EXPECT_EQ(client.wait(events).body.size(), 1'000'004U);
  EXPECT_TRUE(seen.complete());
  EXPECT_EQ(server->counters().open_streams, 0U);
}

TEST(Http2, AStalledStreamStallsNeitherTheOthersNorMemory) {
  ListenerLimits limits;
  limits.backlog_bytes = 100'000;
  std::map<std::string, std::shared_ptr<Stream>> streams;
  std::mutex mutex;
  const auto server = open_secure(
      [&](const std::shared_ptr<Exchange>& exchange) {
        if (exchange->request().path == "/") return tell_all(exchange);
        const std::lock_guard lock(mutex);
        streams[exchange->request().path] = exchange->stream(200, "text/plain", {});
      },
      limits);
  H2Client client(server->port(), {.alpn = "h2"}, {.window = 1000, .opens_windows = false});
  const auto slow = client.peer().request("GET", "/slow");
  const auto fast = client.peer().request("GET", "/fast");
  EXPECT_EQ(client.ask("GET", "/").status, 200);
  const std::lock_guard lock(mutex);
  ASSERT_EQ(streams.size(), 2U);
  client.peer().open_window(fast, 1 << 30);
  client.flush();
  std::size_t taken = 0;
  for (int i = 0; i < 50; ++i) {
    taken += streams["/slow"]->write(said(std::string(10'000, 'x'))) ? 1U : 0U;
    ASSERT_TRUE(streams["/fast"]->write(said(std::string(10'000, 'y'))));
    client.until([&] {
      return client.peer().answer(fast).body.size() == 10'000U * static_cast<std::size_t>(i + 1);
    });
  }
  // 1,000 bytes went out; ten more pieces had room.
  EXPECT_LE(taken, 11U);
  EXPECT_FALSE(streams["/slow"]->open());
  EXPECT_EQ(client.wait(slow).code, kCalm);
  EXPECT_EQ(server->counters().given_up, 1U);
  EXPECT_EQ(client.peer().answer(slow).body.size(), 1000U);
  streams.clear();
  EXPECT_TRUE(client.wait(fast).complete());
}

TEST(Http2, LimitsTheAnswersThatNobodyTakes) {
  ListenerLimits limits;
  limits.answers_bytes = 100'000;
  const auto server = open_secure(
      [](const std::shared_ptr<Exchange>& exchange) {
        exchange->reply({200, "text/plain", said(std::string(30'000, 'x')), {}});
      },
      limits);
  H2Client client(server->port(), {.alpn = "h2"}, {.window = 0, .opens_windows = false});
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(client.peer().request("GET", "/"));
  client.flush();
  const auto refused = client.peer().request("GET", "/");
  client.until([&] { return client.peer().answer(refused).status != 0; });
  EXPECT_EQ(client.peer().answer(refused).status, 429);
  EXPECT_EQ(client.peer().answer(refused).headers.at("retry-after"), "1");
  for (const auto stream : streams) {
    EXPECT_EQ(client.peer().answer(stream).status, 200);
    client.peer().open_window(stream, 100'000);
  }
  for (const auto stream : streams) EXPECT_EQ(client.wait(stream).body.size(), 30'000U);
  const auto again = client.peer().request("GET", "/");
  client.flush();
  client.peer().open_window(again, 100'000);
  EXPECT_EQ(client.wait(again).status, 200);
}

// Of one user, whichever connection he asks on: 3 × 30,000 bytes wait, and 30,000 more would be
// above 100,000. What is small he gets.
TEST(Http2, LimitsTheAnswersThatAUserDoesNotTake) {
  ListenerLimits limits;
  limits.answers_per_user_bytes = 100'000;
  const auto server = open_secure(
      [](const std::shared_ptr<Exchange>& exchange) {
        const bool small = exchange->request().path == "/small";
        exchange->reply({200, "text/plain", said(std::string(small ? 30 : 30'000, 'x')), {}});
      },
      limits);
  H2Client slow(server->port(), {.alpn = "h2"}, {.window = 0, .opens_windows = false});
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(slow.peer().request("GET", "/"));
  slow.flush();
  for (const auto stream : streams)
    slow.until([&] { return slow.peer().answer(stream).status == 200; });
  H2Client other(server->port(), {.alpn = "h2"}, {});
  const auto get = [&](const char* path) {
    const auto stream = other.peer().request("GET", path);
    other.flush();
    return other.wait(stream).status;
  };
  EXPECT_EQ(get("/"), 429);
  EXPECT_EQ(get("/small"), 200);
  for (const auto stream : streams) slow.peer().open_window(stream, 100'000);
  for (const auto stream : streams) EXPECT_EQ(slow.wait(stream).body.size(), 30'000U);
  EXPECT_EQ(get("/"), 200);
}

TEST(Http2, EndsSlowClients) {
  ListenerLimits limits;
  limits.header_ms = limits.body_ms = limits.stall_ms = limits.idle_ms = 20;
  const auto server = open_secure(
      [](const std::shared_ptr<Exchange>& exchange) {
        exchange->reply({200, "text/plain", said(std::string(100'000, 'x')), {}});
      },
      limits);
  H2Client silent(server->port());
  EXPECT_FALSE(silent.until([] { return false; }));  // it is closed
  EXPECT_EQ(server->counters().timed_out, 1U);
  // A request whose body does not come, and an answer that is not taken.
  H2Client slow(server->port(), {.alpn = "h2"}, {.window = 1000, .opens_windows = false});
  const auto stalled = slow.peer().request("GET", "/");
  EXPECT_EQ(slow.wait(stalled).code, kCancel);
  EXPECT_EQ(slow.peer().answer(stalled).body.size(), 1000U);
  EXPECT_EQ(server->counters().timed_out, 2U);
  H2Client idle(server->port());
  EXPECT_EQ(idle.ask("GET", "/").body.size(), 100'000U);
  EXPECT_FALSE(idle.until([] { return false; }));
  EXPECT_EQ(idle.peer().goaway(), 0U);  // in order
  EXPECT_EQ(server->counters().timed_out, 2U);
}

TEST(Http2, EndsSlowBodies) {
  ListenerLimits limits;
  limits.body_ms = 20;
  const auto server = open_secure(tell_all, limits);
  H2Client client(server->port());
  const auto slow = client.peer().request("POST", "/", {{"content-length", "10"}}, "");
  // By hand, because the library would send the end at once.
  client.wire().send(std::string(test::kPreface) + test::h2_frame(4, 0, 0) +
                     test::h2_frame(1, 4, 1,
                                    "\x83\x87\x84\x41\x01"
                                    "a"));
  static_cast<void>(slow);
  std::string seen;
  while (server->counters().timed_out == 0) {
    const std::string bytes = client.wire().read_some();
    if (bytes.empty()) break;
    seen += bytes;
  }
  EXPECT_EQ(server->counters().timed_out, 1U);
}

TEST(Http2, EndsFloodsAndCountsThem) {
  const auto server = open_secure(tell_all);
  H2Client client(server->port());
  client.flush();
  for (int i = 0; i < 5'000; ++i)
    if (!client.wire().send(test::h2_frame(6, 1, 0, "12345678"))) break;
  client.until([] { return false; });
  EXPECT_EQ(client.peer().goaway(), kCalm);
  H2Client other(server->port());
  EXPECT_EQ(other.ask("GET", "/").status, 200);
  EXPECT_EQ(server->counters().misbehaved, 1U);
}

TEST(Http2, TellsWhoeverIsTooMany) {
  ListenerLimits limits;
  limits.connections = 1;
  Later later;
  const auto server = open_secure(later.handler(), limits, {}, 1);
  H2Client first(server->port());
  const auto running = first.peer().request("GET", "/");
  first.flush();
  auto waiting = later.wait(1);
  H2Client second(server->port());
  const H2Answer refused = second.ask("GET", "/");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  EXPECT_FALSE(second.until([] { return false; }));
  EXPECT_EQ(second.peer().goaway(), 0U);
  waiting.front()->reply({200, "text/plain", said("done"), {}});
  waiting.clear();
  EXPECT_EQ(first.wait(running).status, 200);
  // Now it waits, and makes room; told so, so that it loses no request.
  H2Client third(server->port());
  const auto asked = third.peer().request("GET", "/");
  third.flush();
  EXPECT_FALSE(first.until([] { return false; }));
  EXPECT_EQ(first.peer().goaway(), 0U);
  waiting = later.wait(1);
  ASSERT_EQ(waiting.size(), 1U);
  waiting.front()->reply({200, "text/plain", said("done"), {}});
  waiting.clear();
  EXPECT_EQ(third.wait(asked).status, 200);
}

TEST(Http2, StopsInOrder) {
  Later later;
  const auto server = open_secure(later.handler());
  auto owner = std::make_unique<H2Client>(server->port());
  H2Client& client = *owner;
  const auto running = client.peer().request("GET", "/");
  const auto events = client.peer().request("GET", "/");
  client.flush();
  auto waiting = later.wait(2);
  ASSERT_EQ(waiting.size(), 2U);
  auto stream = waiting[1]->stream(200, "text/plain", {});
  stream->write(said("last"));
  std::thread stopping([&] { server->stop(20'000); });
  client.until([&] { return client.peer().goaway().has_value(); });
  EXPECT_EQ(client.peer().goaway(), 0U);
  EXPECT_EQ(client.wait(events).body, "last");
  EXPECT_TRUE(client.peer().answer(events).complete());
  waiting[0]->reply({200, "text/plain", said("done"), {}});
  EXPECT_EQ(client.wait(running).body, "done");
  EXPECT_FALSE(client.until([] { return false; }));
  // A client that has all it wanted closes; the server would wait a little longer for it.
  owner.reset();
  stopping.join();
  EXPECT_EQ(server->counters().http2_connections, 0U);
  EXPECT_EQ(server->counters().http2_streams, 0U);
}

TEST(Http2, ClosesWhatDoesNotEnd) {
  Later later;
  auto server = open_secure(later.handler());
  H2Client client(server->port());
  const auto running = client.peer().request("GET", "/");
  client.flush();
  auto waiting = later.wait(1);
  server->stop(0);
  EXPECT_FALSE(client.until([&] { return client.peer().answer(running).status != 0; }));
  waiting.front()->reply({200, "text/plain", said("too late"), {}});
  auto stream = waiting.front()->stream(200, "text/plain", {});
  EXPECT_FALSE(stream->open());
}

}  // namespace
}  // namespace sluice::host
