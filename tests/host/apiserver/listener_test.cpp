// The transport over loopback: what hostile and slow clients get, streams, stopping.
#include "host/apiserver/listener.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/host/apiserver/client.hpp"
#include "tests/host/apiserver/listener_fixture.hpp"

namespace sluice::host::test {
namespace {

TEST(Listener, AnswersRequestAfterRequest) {
  const auto server = open();
  Client client(server->port());
  EXPECT_EQ(client.get("/a//b/?x=1+2&y=%26&z").body, "GET /a/b x=1 2 y=& z= user= body=");
  EXPECT_EQ(client.request("POST", "/", "hello").body, "POST / user= body=hello");
  const Answer head = client.request("HEAD", "/x", "");
  EXPECT_EQ(head.status, 200);
  EXPECT_NE(head.headers.at("content-length"), "0");
  EXPECT_EQ(client.request("BREW", "/", "").body, "BREW / user= body=");
  EXPECT_EQ(server->counters().accepted, 1U);
  EXPECT_EQ(server->counters().requests, 4U);
}

TEST(Listener, TakesPipelinedAndChunkedRequests) {
  const auto server = open();
  Client client(server->port());
  client.send(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nGET /3 HTTP/1.1\r\nHost: "
      "a\r\n\r\n");
  EXPECT_EQ(client.read().body, "GET /1 user= body=");
  EXPECT_EQ(client.read().body, "POST /2 user= body=abcde");
  EXPECT_EQ(client.read().body, "GET /3 user= body=");
}

TEST(Listener, ContinuesWhenAsked) {
  const auto server = open();
  Client client(server->port());
  client.send("PUT /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.read().status, 100);
  client.send("ok");
  EXPECT_EQ(client.read().body, "PUT /x user= body=ok");
}

TEST(Listener, RefusesWhatIsNoRequest) {
  ListenerLimits limits;
  limits.body_bytes = 100;
  limits.header_bytes = 4096;
  limits.target_bytes = 200;
  const auto server = open(echo, limits);
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\n";
  const struct {
    std::string sent;
    int status;
  } cases[] = {
      {"nonsense\r\n\r\n", 400},
      {"GET http://x/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /a/../b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /a%2fb HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /" + std::string(300, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"GET / HTTP/1.1\r\nX: " + std::string(5000, 'x') + "\r\n\r\n", 431},
      {head + "Content-Length: 101\r\n\r\n", 413},
      {head + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {head + "Content-Length: -1\r\n\r\n", 400},
      {head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nab", 400},
      {head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {head + "Transfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'x') + "\r\n0\r\n\r\n",
       413},
      {head + "Transfer-Encoding: chunked\r\n\r\n1;a=\"\n\"\r\nx\r\n0\r\n\r\n", 400},
      // A20: no Host, two of them, a header that goes on in the next line.
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {head + "X: a\r\n b\r\nContent-Length: 0\r\n\r\n", 400},
      {head + "X: a\r\n\tContent-Length: 5\r\n\r\n", 400},
      {head + "Expect: a miracle\r\nContent-Length: 1\r\n\r\nx", 417},
  };
  for (const auto& one : cases) {
    Client client(server->port());
    client.send(one.sent);
    const Answer answer = client.read();
    EXPECT_EQ(answer.status, one.status) << one.sent.substr(0, 60) << answer.body;
    EXPECT_NE(answer.body.find("\"kind\":\"Status\""), std::string::npos) << answer.body;
  }
  EXPECT_EQ(Client(server->port()).get("/").status, 200);
}

/// Whoever says who he is may go on.
std::optional<Reply> who(Request& request) {
  const std::string* name = request.header("authorization");
  if (name == nullptr) return Reply{401, "text/plain", shared_text("who?"), {}};
  request.user.user = *name;
  return std::nullopt;
}

TEST(Listener, AsksTheHeadCheckBeforeTheBody) {
  const auto server = open(echo, {}, who);
  Client client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(client.read().status, 401);
  EXPECT_TRUE(client.closed());
  Client known(server->port());
  EXPECT_EQ(known.get("/", "Authorization: me\r\n").body, "GET / user=me body=");
  EXPECT_EQ(known.get("/").status, 401);
  EXPECT_EQ(known.get("/", "Authorization: me\r\n").status, 200);  // the connection goes on
}

// 16 KiB and less: the client's next request needs no other connection.
TEST(Listener, AShortBodyOfARefusedRequestIsReadInVain) {
  const auto server = open(echo, {}, who);
  Client client(server->port());
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ";
  client.send(head + "5\r\n\r\nhello");
  EXPECT_EQ(client.read().status, 401);
  client.send(head + "16384\r\n\r\n" + std::string(16000, 'x'));
  client.send(std::string(384, 'y'));
  EXPECT_EQ(client.read().status, 401);
  EXPECT_EQ(client.get("/", "Authorization: me\r\n").body, "GET / user=me body=");
  client.send(head + "16385\r\n\r\n");
  EXPECT_EQ(client.read().status, 401);
  EXPECT_TRUE(client.closed());
}

// A client that asks first whether it may send is told so; one that does not send is told in time.
TEST(Listener, ABodyThatIsNotSentKeepsNoRefusalBack) {
  const auto server = open(echo, {.body_ms = 50}, who);
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n";
  for (const std::string more : {"Expect: 100-continue\r\n", ""}) {
    Client client(server->port());
    client.send(head + more + "\r\n");
    EXPECT_EQ(client.read().status, 401) << more;
    EXPECT_TRUE(client.closed()) << more;
  }
}

TEST(Listener, StreamsUntilTheWriterEnds) {
  std::shared_ptr<Stream> stream;
  std::mutex mutex;
  std::condition_variable came;
  const auto server = open([&](const std::shared_ptr<Exchange>& exchange) {
    auto made = exchange->stream(200, "text/plain", {});
    const std::lock_guard lock(mutex);
    stream = std::move(made);
    came.notify_all();
  });
  Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read_head().headers.at("transfer-encoding"), "chunked");
  {
    std::unique_lock lock(mutex);
    came.wait(lock, [&] { return stream != nullptr; });
  }
  EXPECT_TRUE(stream->write(shared_text("one")));
  EXPECT_EQ(client.read_chunk(), "one");
  EXPECT_TRUE(stream->write(shared_text("two")));
  EXPECT_EQ(client.read_chunk(), "two");
  EXPECT_EQ(server->counters().open_streams, 1U);
  stream.reset();
  EXPECT_EQ(client.read_chunk(), "");
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read_head().status, 200);  // the connection is used again
}

// Waits until `condition` holds; what it waits for is an event of another thread.
void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

TEST(Listener, NoticesAClientThatLeavesItsStream) {
  std::atomic<bool> woken{false};
  std::mutex mutex;
  std::shared_ptr<Stream> stream;
  const auto server = open([&](const std::shared_ptr<Exchange>& exchange) {
    const std::lock_guard lock(mutex);
    stream = exchange->stream(200, "text/plain", {});
    stream->on_ready([&] { woken = true; });
  });
  {
    Client client(server->port());
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(client.read_head().status, 200);
  }
  wait_until([&] {
    const std::lock_guard lock(mutex);
    return stream && !stream->open() && woken;
  });
  EXPECT_FALSE(stream->write(shared_text("late")));
}

TEST(Listener, GivesUpAClientThatDoesNotRead) {
  std::mutex mutex;
  std::vector<std::shared_ptr<Stream>> streams;
  ListenerLimits limits;
  limits.backlog_bytes = 1U << 20;
  const auto server = open(
      [&](const std::shared_ptr<Exchange>& exchange) {
        auto made = exchange->stream(200, "text/plain", {});
        const std::lock_guard lock(mutex);
        streams.push_back(std::move(made));
      },
      limits);
  Client slow(server->port());
  slow.shrink_receive_buffer();
  slow.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(slow.read_head().status, 200);
  Client quick(server->port());
  quick.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(quick.read_head().status, 200);
  wait_until([&] {
    const std::lock_guard lock(mutex);
    return streams.size() == 2;
  });
  const auto chunk = shared_text(std::string(100'000, 'x'));
  int written = 0;
  // The kernel takes some megabytes on the slow one's behalf; then its backlog fills.
  while (streams[0]->write(chunk) && written < 10'000) {
    ++written;
    EXPECT_LE(streams[0]->backlog(), limits.backlog_bytes);
    ASSERT_TRUE(streams[1]->write(chunk));
    EXPECT_EQ(quick.read_chunk().size(), chunk->size());
  }
  EXPECT_LT(written, 10'000);
  wait_until([&] { return server->counters().given_up == 1; });
  EXPECT_TRUE(streams[1]->open());
}

TEST(Listener, AnswersLargeBodiesPieceByPiece) {
  const auto large = shared_text(std::string(20U << 20, 'y'));
  const auto server = open([&](const std::shared_ptr<Exchange>& exchange) {
    exchange->reply({200, "text/plain", large, {}});
  });
  Client client(server->port());
  EXPECT_EQ(client.get("/").body, *large);
  EXPECT_EQ(client.get("/").body.size(), large->size());
}

TEST(Listener, RunsTasksLater) {
  const auto server = open([](const std::shared_ptr<Exchange>& exchange) {
    exchange->after(1, [exchange] {
      exchange->reply({200, "text/plain", shared_text("later"), {}});
    });
  });
  EXPECT_EQ(Client(server->port()).get("/").body, "later");
}

TEST(Listener, StopsInOrder) {
  std::mutex mutex;
  std::condition_variable came;
  std::shared_ptr<Stream> stream;
  std::shared_ptr<Exchange> running;
  const auto server = open([&](const std::shared_ptr<Exchange>& exchange) {
    const std::lock_guard lock(mutex);
    if (exchange->request().path == "/stream") {
      stream = exchange->stream(200, "text/plain", {});
      stream->write(shared_text("last"));
    } else {
      running = exchange;
    }
    came.notify_all();
  });
  Client watcher(server->port());
  watcher.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  Client writer(server->port());
  writer.send("POST /write HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  Client idle(server->port());
  {
    std::unique_lock lock(mutex);
    came.wait(lock, [&] { return stream && running; });
  }
  std::thread stopper([&] { server->stop(20'000); });
  EXPECT_EQ(watcher.read().body, "last");  // with the end of a complete answer
  EXPECT_TRUE(idle.closed());
  running->reply({201, "text/plain", shared_text("done"), {}});
  const Answer answer = writer.read();
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(watcher.closed());
  EXPECT_TRUE(writer.closed());
  {
    const Client late(std::move(watcher));
    const Client later(std::move(writer));
    const Client last(std::move(idle));
  }
  stopper.join();
  EXPECT_FALSE(Client(server->port()).connected());
  EXPECT_FALSE(stream->open());
  running->reply({200, "text/plain", shared_text("again"), {}});  // no client gets it
}

TEST(Listener, ServesOnlyReadingWhereAsked) {
  const auto server = open(echo, {}, {}, true);
  Client client(server->port());
  EXPECT_EQ(client.get("/metrics").status, 200);
  const Answer answer = client.request("POST", "/metrics", "");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.headers.at("allow"), "GET, HEAD");
}

TEST(Listener, JudgesAddresses) {
  for (const std::string bad :
       {"", "here", "127.0.0.1", "127.0.0.1:70000", "127.0.0.1:x", "::1:80", "300.0.0.1:1"}) {
    ListenerOptions options;
    options.address = bad;
    const auto result = Listener::open(std::move(options), echo);
    ASSERT_FALSE(result.ok()) << bad;
    EXPECT_NE(result.error().text.find("HOST:PORT"), std::string::npos) << result.error().text;
  }
  ListenerOptions options;
  options.address = "0.0.0.0:0";
  EXPECT_FALSE(Listener::open(options, echo).ok());
  options.plain_anywhere = true;
  EXPECT_TRUE(Listener::open(options, echo).ok());
  EXPECT_TRUE(*is_loopback("[::1]:80"));
  EXPECT_TRUE(*is_loopback("localhost:80"));
  EXPECT_FALSE(*is_loopback("0.0.0.0:80"));
  const auto first = open();
  options.address = first->address();
  EXPECT_FALSE(Listener::open(options, echo).ok());  // taken
}

}  // namespace
}  // namespace sluice::host::test
