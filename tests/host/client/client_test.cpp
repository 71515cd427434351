// The client against the real listener over loopback, with and without TLS.
#include "host/client/client.hpp"

#include <gtest/gtest.h>

#include "host/apiserver/listener.hpp"
#include "tests/host/apiserver/certificates.hpp"

namespace sluice::host {
namespace {

std::shared_ptr<const std::string> text(std::string value) {
  return std::make_shared<const std::string>(std::move(value));
}

void serve(const std::shared_ptr<Exchange>& exchange) {
  const Request& request = exchange->request();
  if (request.path == "/gone") {
    return exchange->reply({404, "application/json", text(R"({"message":"x is not found"})"), {}});
  }
  if (request.path == "/stream") {
    const auto stream = exchange->stream(200, "text/plain", {});
    for (const char* piece : {"one\n", "two\n", "three\n"}) stream->write(text(piece));
    return;
  }
  if (request.path == "/refused") {
    return exchange->reply({403, "application/json", text(R"({"message":"not you"})"), {}});
  }
  exchange->reply({200,
                   "application/json",
                   text(R"({"method":")" + request.method + R"(","body":)" +
                        (request.body.empty() ? "null" : request.body) + "}"),
                   {}});
}

struct Server {
  explicit Server(bool secure, const test::Certificate& certificate = {}) {
    ListenerOptions options;
    options.address = "127.0.0.1:0";
    if (secure) {
      TlsOptions tls;
      tls.certificate = certificate.pem;
      tls.key = certificate.key_pem;
      options.tls = tls;
    }
    auto opened = Listener::open(std::move(options), serve);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().text);
    listener = std::move(*opened);
    config.server = std::string(secure ? "https://" : "http://") + listener->address();
  }
  Client client() const {
    auto made = Client::make(config);
    EXPECT_TRUE(made) << (made ? "" : made.error().text);
    return std::move(*made);
  }

  std::unique_ptr<Listener> listener;
  Kubeconfig config;
};

void check_calls(const Client& client) {
  const auto got = client.call("GET", "/x");
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->at("method").as_string(), "GET");
  const auto posted = client.call("POST", "/x", R"({"a":1})");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->at("body").at("a").as_int64(), 1);
  const auto gone = client.call("GET", "/gone");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().text, "x is not found");
  bool missing = false;
  EXPECT_TRUE(client.call("GET", "/gone", {}, &missing));
  EXPECT_TRUE(missing);
  std::string all;
  EXPECT_TRUE(client.stream("/stream", [&](std::string_view piece) {
    all += piece;
    return true;
  }));
  EXPECT_EQ(all, "one\ntwo\nthree\n");
  const auto refused = client.stream("/refused", [](std::string_view) { return true; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "not you");
}

TEST(Client, TalksPlainHttp) { check_calls(Server(false).client()); }

TEST(Client, TalksHttpsToWhomItTrusts) {
  const test::Certificate ca = test::make_certificate("127.0.0.1");
  Server server(true, ca);
  server.config.verify = false;
  check_calls(server.client());
  server.config.verify = true;
  server.config.ca = test::make_certificate("somebody").pem;
  const auto refused = server.client().call("GET", "/x");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("no TLS with 127.0.0.1:"), std::string::npos);
}

TEST(Client, C13_NobodyThere) {
  Kubeconfig config;
  {
    const Server server(false);
    config = server.config;
  }
  const auto answer = Client::make(config)->request("GET", "/");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().text.find("cannot connect to 127.0.0.1:"), std::string::npos);
  // Nothing of the library that was used.
  EXPECT_EQ(answer.error().text.find("boost"), std::string::npos) << answer.error().text;
}

TEST(Client, AddressesThatAreNone) {
  for (const char* server : {"", "ftp://a", "https//x"}) {
    Kubeconfig config;
    config.server = server;
    EXPECT_FALSE(Client::make(config)) << server;
  }
}

TEST(Client, Encoding) { EXPECT_EQ(percent_encoded("a b/c=ü"), "a%20b%2Fc%3D%C3%BC"); }

}  // namespace
}  // namespace sluice::host
