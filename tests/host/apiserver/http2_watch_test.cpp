// Watches over HTTP/2: many of them are streams of one connection, each at its client's pace.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "tests/host/apiserver/api_fixture.hpp"
#include "tests/host/apiserver/h2_peer.hpp"

namespace sluice::host {
namespace {

using test::H2Client;
using test::kMaps;

class Http2Watches : public test::ApiFixture {
 protected:
  Http2Watches() {
    const auto own = test::make_certificate("server");
    ListenerOptions options;
    options.address = "127.0.0.1:0";
    options.tls = TlsOptions{own.pem, own.key_pem, ""};
    auto opened = Listener::open(std::move(options), api_.handler(), api_.head_check());
    EXPECT_TRUE(opened.ok());
    secure_ = std::move(*opened);
  }
  ~Http2Watches() override { secure_->stop(0); }

  static std::int32_t watch(H2Client& client, const std::string& more = "") {
    return client.peer().request("GET", kMaps + "?watch=true" + more, kWho);
  }
  // `ADDED a`, one for each line.
  static std::vector<std::string> events(const std::string& body) {
    std::vector<std::string> out;
    for (std::size_t at = 0, end = 0; (end = body.find('\n', at)) != std::string::npos;
         at = end + 1) {
      const auto event = boost::json::parse(body.substr(at, end - at));
      out.push_back(std::string(event.at("type").as_string()) + " " +
                    std::string(event.at("object").at("metadata").at("name").as_string()));
    }
    return out;
  }

  inline static const test::H2Headers kWho{{"authorization", "Bearer admin"}};
  std::unique_ptr<Listener> secure_;
};

TEST_F(Http2Watches, ManyGoOverOneConnectionBesideReadsAndWrites) {
  H2Client client(secure_->port());
  std::vector<std::int32_t> watches;
  for (int i = 0; i < 200; ++i) watches.push_back(watch(client));
  const std::string map = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}})";
  test::H2Headers headers = kWho;
  headers.emplace_back("content-type", "application/json");
  const auto& created = client.ask("POST", kMaps, headers, map);
  EXPECT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(client.ask("GET", kMaps, kWho).status, 200);
  EXPECT_EQ(client.ask("DELETE", kMaps + "/one", kWho).status, 200);
  const std::vector<std::string> expected{"ADDED one", "DELETED one"};
  for (const auto stream : watches) {
    client.until([&] { return events(client.peer().answer(stream).body).size() >= 2; });
    EXPECT_EQ(events(client.peer().answer(stream).body), expected);
  }
  EXPECT_EQ(secure_->counters().accepted, 1U);
  EXPECT_EQ(api_.counters().watches, 200U);
}

TEST_F(Http2Watches, EndWithTheirStreams) {
  H2Client client(secure_->port());
  const auto gone = watch(client);
  const auto stays = watch(client);
  client.until([&] { return client.peer().answer(stays).status == 200; });
  client.peer().reset(gone);
  // Its place is free when the next request is answered: both are of one thread.
  EXPECT_EQ(client.ask("GET", kMaps, kWho).status, 200);
  writes_.put("configmaps", "open/a");
  client.until([&] { return !client.peer().answer(stays).body.empty(); });
  EXPECT_EQ(api_.counters().watches, 1U);
  const auto timed = watch(client, "&timeoutSeconds=1");
  EXPECT_TRUE(client.wait(timed).complete());
}

TEST_F(Http2Watches, OneThatIsSlowMissesNothing) {
  H2Client client(secure_->port(), {.alpn = "h2"}, {.window = 1000, .opens_windows = false});
  const auto slow = watch(client);
  const auto fast = watch(client);
  ASSERT_TRUE(client.until([&] { return client.peer().answer(fast).status == 200; }));
  client.peer().open_window(fast, 1 << 30);
  // 1.5 MB: more than a watch may have waiting, so that the slow one rests and reads the history.
  const std::string filler = R"({"data":{"x":")" + std::string(5'000, 'x') + R"("}})";
  for (int i = 0; i < 300; ++i)
    writes_.put("configmaps", "open/n" + std::to_string(i), "{}", filler);
  const auto names_of = [&](std::int32_t stream) {
    return events(client.peer().answer(stream).body).size();
  };
  ASSERT_TRUE(client.until([&] { return names_of(fast) == 300; }));
  EXPECT_EQ(client.peer().answer(slow).body.size(), 1000U);
  client.peer().open_window(slow, 1 << 30);
  ASSERT_TRUE(client.until([&] { return names_of(slow) == 300; }));
  EXPECT_TRUE(client.peer().answer(slow).body == client.peer().answer(fast).body);
}

}  // namespace
}  // namespace sluice::host
