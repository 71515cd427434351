// The framing of HTTP/2 alone: a session against nghttp2's client in memory, and against frames
// that no client would send. What each limit is, and what happens beyond it.
#include "host/apiserver/h2_session.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/host/apiserver/h2_peer.hpp"

namespace sluice::host {
namespace {

using test::h2_frame;
using test::H2Peer;
using test::kPreface;
using test::kProtocolError;
using test::kRefusedStream;

constexpr std::uint8_t kData = 0, kHeaders = 1, kPriority = 2, kReset = 3, kSettings = 4, kPing = 6,
                       kContinuation = 9;
constexpr std::uint8_t kEndStream = 1, kEndHeaders = 4;
// GET, https, /, authority "a": by the static table of RFC 7541.
constexpr std::string_view kGet =
    "\x82\x87\x84\x41\x01"
    "a";

// Answers every request with `answer`, as far as it is asked for; remembers what it saw.
class Site final : public H2Session::Events {
 public:
  explicit Site(std::string answer = "ok") : text(std::move(answer)) {}

  void head(std::int32_t stream, H2Head head, bool complete) override {
    heads.emplace(stream, std::move(head));
    if (early) session->answer(stream, 401, {}, true, false);
    if (!early && complete) this->complete(stream);
  }
  void body(std::int32_t stream, std::string_view piece) override { bodies[stream] += piece; }
  void complete(std::int32_t stream) override {
    if (!silent && !early) session->answer(stream, 200, {{"X-Name", "a\r\nb"}}, true, false);
  }
  void closed(std::int32_t stream) override { ++closed_streams[stream]; }
  H2Session::Part read(std::int32_t stream, std::span<char> into) override {
    std::size_t& at = sent[stream];
    const std::size_t size = text.copy(into.data(), into.size(), at);
    at += size;
    return {size, at == text.size()};
  }

  std::string text;
  bool silent = false;  // never answers
  bool early = false;   // answers the head
  H2Session* session = nullptr;
  std::map<std::int32_t, H2Head> heads;
  std::map<std::int32_t, std::string> bodies;
  std::map<std::int32_t, std::size_t> sent;
  std::map<std::int32_t, int> closed_streams;
};

struct Server {
  explicit Server(H2Limits limits = {}, std::string answer = "ok")
      : site(std::move(answer)), session(site, limits, H2Session::Time()) {
    site.session = &session;
  }
  /// Takes it, and returns what it sends.
  std::string feed(std::string_view bytes) {
    went_on = session.feed(bytes, H2Session::Time() + std::chrono::seconds(seconds));
    std::string out;
    if (went_on) session.take(out, 1U << 30);
    return out;
  }
  /// Both send until neither has anything left.
  void talk(H2Peer& peer) {
    for (std::string out = peer.output(); !out.empty(); out = peer.output()) peer.input(feed(out));
  }
  Site site;
  H2Session session;
  int seconds = 0;
  bool went_on = true;
};

TEST(H2Session, CarriesRequestsAndAnswers) {
  Server server({}, std::string(100'000, 'x'));
  H2Peer peer;
  const auto get = peer.request("GET", "/a?b=c", {{"accept", "text/plain"}});
  const auto post = peer.request("POST", "/d", {{"content-length", "300000"}},
                                 std::string(300'000, 'y'));  // more than a window
  server.talk(peer);
  for (const auto stream : {get, post}) {
    EXPECT_TRUE(peer.answer(stream).complete());
    EXPECT_EQ(peer.answer(stream).status, 200);
    EXPECT_EQ(peer.answer(stream).body.size(), 100'000U);
    EXPECT_EQ(peer.answer(stream).headers.count("x-name"), 0U);  // no value for a header
    EXPECT_EQ(server.site.closed_streams.at(stream), 1);
  }
  EXPECT_EQ(server.site.heads.at(get).target, "/a?b=c");
  EXPECT_EQ(server.site.heads.at(get).headers,
            (Headers{{"host", "localhost"}, {"accept", "text/plain"}}));
  EXPECT_EQ(server.site.heads.at(post).length, 300'000U);
  EXPECT_EQ(server.site.bodies.at(post).size(), 300'000U);
  EXPECT_EQ(server.session.failure(), std::nullopt);
}

TEST(H2Session, RefusesWhatIsNoRequest) {
  const struct {
    std::string_view what;
    H2Peer peer;
    std::string path;
    test::H2Headers headers;
    std::string body;
  } cases[] = {
      {"of HTTP/1.1 alone", {}, "/", {{"connection", "close"}}, ""},
      {"of HTTP/1.1 alone", {}, "/", {{"transfer-encoding", "chunked"}}, ""},
      {"another length", {}, "/", {{"content-length", "3"}}, "four"},
      {"two lengths", {}, "/", {{"content-length", "4"}, {"content-length", "4"}}, "four"},
      {"no number", {}, "/", {{"content-length", "-4"}}, "four"},
      {"no path", {}, "", {}, ""},
  };
  for (const auto& one : cases) {
    Server server;
    H2Peer peer;
    const auto stream = peer.request("POST", one.path, one.headers, one.body);
    server.talk(peer);
    EXPECT_EQ(peer.answer(stream).status, 0) << one.what;
    EXPECT_EQ(peer.answer(stream).code, kProtocolError) << one.what;
    const auto next = peer.request("GET", "/");  // the others notice nothing
    server.talk(peer);
    EXPECT_EQ(peer.answer(next).status, 200) << one.what;
  }
}

TEST(H2Session, EndsWhatIsNoHttp2) {
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), std::string(100, '\0'),
        std::string(kPreface) + h2_frame(kPing, 0, 0, "12345678")}) {  // no SETTINGS first
    Server server;
    const std::string out = server.feed(text);
    EXPECT_TRUE(!server.went_on || server.session.failure() == kProtocolError) << text;
  }
}

TEST(H2Session, LimitsTheStreamsAtATime) {
  Server server;
  server.site.silent = true;
  H2Peer peer;
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 300; ++i) streams.push_back(peer.request("GET", "/"));
  server.talk(peer);
  EXPECT_EQ(peer.setting(3), 250U);
  EXPECT_EQ(server.site.heads.size(), 250U);
  std::size_t refused = 0;
  for (const auto stream : streams) refused += peer.answer(stream).code == kRefusedStream ? 1 : 0;
  EXPECT_EQ(refused, 50U);
  EXPECT_EQ(server.session.failure(), std::nullopt);  // they came before the settings
}

TEST(H2Session, LimitsTheFieldsOfAHead) {
  Server server({250, 4096});
  H2Peer peer;
  const auto fits = peer.request("GET", "/", {{"x", std::string(3000, 'x')}});
  const auto large = peer.request("GET", "/", {{"x", std::string(4096, 'x')}});
  // 33 bytes and more for each, however small: 124 of them are too many.
  const auto many = peer.request("GET", "/", test::H2Headers(124, {"x", ""}));
  server.talk(peer);
  EXPECT_EQ(peer.setting(6), 4096U);
  EXPECT_FALSE(server.site.heads.at(fits).too_large);
  for (const auto stream : {large, many}) {
    EXPECT_TRUE(server.site.heads.at(stream).too_large);
    EXPECT_TRUE(server.site.heads.at(stream).headers.empty());
  }
}

TEST(H2Session, EndsWithABombOfHeaders) {
  // A field of 4,000 bytes goes into the table, and is named 12,000 times: 48 MB of 16 KiB.
  std::string block(kGet);
  block += std::string("\x40\x01x\x7f\xa1\x1e", 6) + std::string(4000, 'x');
  const std::string start = std::string(kPreface) + h2_frame(kSettings, 0, 0);
  const std::string bomb(12'000, '\xbe');
  const std::string head = h2_frame(kHeaders, kEndHeaders, 1, kGet);
  for (const std::string& sent :
       {start + h2_frame(kHeaders, kEndHeaders | kEndStream, 1, block + bomb),
        start + head +
            h2_frame(kHeaders, kEndHeaders | kEndStream, 1, block.substr(kGet.size()) + bomb)}) {
    Server server;
    server.feed(sent);
    EXPECT_FALSE(server.went_on);
    EXPECT_EQ(server.session.failure(), test::kCalm);
  }
  // Some 60 KB more than fit are refused by an answer.
  Server server;
  server.feed(start +
              h2_frame(kHeaders, kEndHeaders | kEndStream, 1, block + std::string(30, '\xbe')));
  ASSERT_EQ(server.site.heads.size(), 1U);
  EXPECT_TRUE(server.site.heads.at(1).too_large);
  EXPECT_TRUE(server.site.heads.at(1).headers.empty());
}

TEST(H2Session, EndsFloods) {
  const auto many = [](const std::string& frame) {
    std::string out;
    for (int i = 0; i < 5'000; ++i) out += frame;
    return out;
  };
  const std::string open = h2_frame(kHeaders, kEndHeaders, 1, kGet);
  const struct {
    std::string_view what;
    std::string sent;
    bool told;  // with GOAWAY; the others end at once
  } cases[] = {
      {"pings", many(h2_frame(kPing, 0, 0, "12345678")), false},
      {"acknowledged pings", many(h2_frame(kPing, 1, 0, "12345678")), true},
      {"settings", many(h2_frame(kSettings, 0, 0)), false},
      {"priorities", many(h2_frame(kPriority, 0, 3, std::string("\0\0\0\0\x01", 5))), true},
      {"empty data", open + many(h2_frame(kData, 0, 1)), true},
      {"padding alone", open + many(h2_frame(kData, 8, 1, std::string("\x02\0\0", 3))), true},
      {"small windows", open + many(h2_frame(8, 0, 0, std::string("\0\0\0\x01", 4))), true},
      {"continuations", h2_frame(kHeaders, 0, 1, kGet) + many(h2_frame(kContinuation, 0, 1)),
       false},
      {"frames of no known kind", many(h2_frame(0x42, 0, 0, std::string(1'024, 'x'))), true},
      {"nothing but continuations", h2_frame(kContinuation, kEndHeaders, 1, kGet), true},
  };
  for (const auto& one : cases) {
    Server server;
    server.site.silent = true;
    const std::string out =
        server.feed(std::string(kPreface) + h2_frame(kSettings, 0, 0) + one.sent);
    EXPECT_EQ(server.went_on, one.told) << one.what;
    EXPECT_TRUE(server.session.failure()) << one.what;
    EXPECT_LE(server.site.heads.size(), 1U) << one.what;
    if (one.told) {
      EXPECT_TRUE(server.session.over()) << one.what;
    }
  }
}

TEST(H2Session, LetsAClientBeBusyForLong) {
  Server server;
  H2Peer peer;
  // Free frames come back with time, and are paid for by requests: 100,000 pings in all.
  for (int i = 0; i < 1'000; ++i) {
    server.seconds += 1;
    for (int k = 0; k < 50; ++k) peer.ping();
    server.talk(peer);
    for (int k = 0; k < 13; ++k) peer.request("GET", "/");
    for (int k = 0; k < 50; ++k) peer.ping();
    server.talk(peer);
    ASSERT_EQ(server.session.failure(), std::nullopt) << i;
  }
}

TEST(H2Session, EndsARapidReset) {
  Server server;
  server.site.silent = true;
  std::string sent = std::string(kPreface) + h2_frame(kSettings, 0, 0);
  for (std::uint32_t stream = 1; stream < 20'000; stream += 2)
    sent += h2_frame(kHeaders, kEndHeaders | kEndStream, stream, kGet) +
            h2_frame(kReset, 0, stream, std::string("\0\0\0\x08", 4));
  server.feed(sent);
  EXPECT_TRUE(server.session.failure());
  EXPECT_LE(server.site.heads.size(), 1'001U);  // of 10,000
  EXPECT_TRUE(server.session.over());
}

TEST(H2Session, SendsWhatTheClientHasRoomFor) {
  Server server({}, std::string(50'000, 'x'));
  H2Peer peer({.window = 1000, .opens_windows = false});
  const auto slow = peer.request("GET", "/slow");
  server.talk(peer);
  EXPECT_EQ(peer.answer(slow).status, 200);
  EXPECT_EQ(peer.answer(slow).body.size(), 1000U);
  EXPECT_EQ(server.site.sent.at(slow), 1000U);  // the rest was not even asked for
  const auto next = peer.request("GET", "/next");
  server.talk(peer);
  peer.open_window(next, 100'000);
  server.talk(peer);
  EXPECT_TRUE(peer.answer(next).complete());  // the one does not stop the other
  peer.open_window(slow, 100'000);
  server.talk(peer);
  EXPECT_TRUE(peer.answer(slow).complete());
}

TEST(H2Session, NeedNotReadWhatItRefused) {
  Server server;
  server.site.early = true;
  H2Peer peer;
  const auto stream =
      peer.request("POST", "/", {{"content-length", "9000000"}}, std::string(9'000'000, 'x'));
  server.talk(peer);
  EXPECT_EQ(peer.answer(stream).status, 401);
  EXPECT_EQ(peer.answer(stream).body, "ok");
  EXPECT_TRUE(peer.answer(stream).complete());  // NO_ERROR
  EXPECT_LT(server.site.bodies[stream].size(), 1U << 20);
}

TEST(H2Session, GoesAwayInOrder) {
  Server server;
  server.site.silent = true;
  H2Peer peer;
  const auto running = peer.request("GET", "/");
  server.talk(peer);
  server.session.go_away(H2Code::kNone);
  peer.input(server.feed({}));
  EXPECT_EQ(peer.goaway(), 0U);
  EXPECT_FALSE(server.session.over());
  server.session.answer(running, 200, {}, true, false);
  peer.input(server.feed({}));
  EXPECT_TRUE(peer.answer(running).complete());
  EXPECT_TRUE(server.session.over());
  EXPECT_EQ(server.session.failure(), std::nullopt);
}

}  // namespace
}  // namespace sluice::host
