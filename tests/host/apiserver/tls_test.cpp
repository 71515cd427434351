// TLS of the transport, with a client of OpenSSL's.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <ctime>
#include <optional>

#include "host/apiserver/listener.hpp"
#include "tests/host/apiserver/client.hpp"
#include "tests/host/apiserver/h2_peer.hpp"

namespace sluice::host {
namespace {

using test::Certificate;
using test::Client;
using test::ClientTls;
using test::H2Client;
using test::make_certificate;

void say_who(const std::shared_ptr<Exchange>& exchange) {
  std::string out = "nobody";
  if (const auto& certificate = exchange->request().certificate) {
    out = certificate->common_name;
    for (const auto& organization : certificate->organizations) out += "+" + organization;
  }
  exchange->reply({200, "text/plain", std::make_shared<const std::string>(out), {}});
}

class Tls : public testing::Test {
 protected:
  void SetUp() override {
    ahead_ = 0;
    auto opened = Listener::open(options(), say_who);
    ASSERT_TRUE(opened.ok()) << opened.error().text;
    server_ = std::move(*opened);
  }
  ListenerOptions options() const {
    ListenerOptions out;
    out.address = "127.0.0.1:0";
    out.tls = TlsOptions{own_.pem, own_.key_pem, clients_.pem};
    out.seconds = [] { return std::time(nullptr) + ahead_.load(); };
    return out;
  }
  std::string ask(const ClientTls& tls) const {
    Client client(server_->port(), tls);
    return client.connected() ? client.get("/").body : "no connection";
  }

  Certificate ca_ = make_certificate("ca");
  Certificate own_ = make_certificate("server", {}, &ca_);
  Certificate clients_ = make_certificate("clients");
  std::unique_ptr<Listener> server_;
  static inline std::atomic<std::int64_t> ahead_{0};  // the listener's clock
};

/// One connection of HTTP/1.1 or HTTP/2, on which request follows request.
class OpenConnection {
 public:
  OpenConnection(std::uint16_t port, const ClientTls& tls) {
    if (tls.alpn == "h2")
      http2_.emplace(port, tls);
    else
      http1_.emplace(port, tls);
  }
  std::string ask() {
    if (http1_) return http1_->get("/").body;
    const auto stream = http2_->peer().request("GET", "/");
    EXPECT_TRUE(http2_->until([&] { return http2_->peer().answer(stream).ended; }));
    return http2_->peer().answer(stream).body;
  }

 private:
  std::optional<Client> http1_;
  std::optional<H2Client> http2_;
};

TEST_F(Tls, KnowsClientsByTheirCertificates) {
  const Certificate alice = make_certificate("alice", {"team-a", "team-b"}, &clients_);
  const Certificate stranger_ca = make_certificate("clients");
  const Certificate mallory = make_certificate("mallory", {"system:masters"}, &stranger_ca);
  const Certificate self = make_certificate("self", {"system:masters"});
  EXPECT_EQ(ask({.server_ca = &ca_}), "nobody");
  EXPECT_EQ(ask({.server_ca = &ca_, .own = &alice}), "alice+team-a+team-b");
  EXPECT_EQ(ask({.server_ca = &ca_, .own = &mallory}), "nobody");
  EXPECT_EQ(ask({.server_ca = &ca_, .own = &self}), "nobody");
  EXPECT_EQ(ask({.server_ca = &ca_, .own = &own_}), "nobody");  // issued by another CA
  EXPECT_EQ(ask({.server_ca = &stranger_ca}), "no connection");
}

TEST_F(Tls, SpeaksModernVersionsOnly) {
  EXPECT_EQ(ask({.most_version = TLS1_1_VERSION}), "no connection");
  EXPECT_EQ(ask({.most_version = TLS1_2_VERSION}), "nobody");
  EXPECT_EQ(Client(server_->port(), {.alpn = "http/1.1"}).protocol(), "http/1.1");
  EXPECT_EQ(Client(server_->port(), {.alpn = "h2"}).protocol(), "h2");
  EXPECT_EQ(Client(server_->port(), {.alpn = "spdy/3"}).protocol(), "");
  EXPECT_EQ(ask({.alpn = "spdy/3"}), "nobody");
  EXPECT_EQ(ask({.alpn = "h2"}), "");  // HTTP/1.1 where HTTP/2 was agreed on
}

TEST_F(Tls, TellsPlainClientsWhereTheyAre) {
  Client plain(server_->port());
  EXPECT_EQ(plain.get("/").status, 400);
  EXPECT_TRUE(plain.read_to_end().find("HTTPS") != std::string::npos);
}

TEST_F(Tls, MovesLargeBodies) {
  const std::string large(3U << 20, 'x');
  Client client(server_->port(), {.server_ca = &ca_});
  EXPECT_EQ(client.request("POST", "/", large).body, "nobody");
  EXPECT_EQ(client.request("POST", "/", large + "x").status, 413);
}

TEST_F(Tls, ReplacesItsCertificate) {
  const Certificate new_ca = make_certificate("new-ca");
  const Certificate renewed = make_certificate("server", {}, &new_ca);
  Client old(server_->port(), {.server_ca = &ca_});
  EXPECT_EQ(old.get("/").body, "nobody");
  ASSERT_TRUE(server_->reload_tls({renewed.pem, renewed.key_pem, ""}).ok());
  EXPECT_EQ(ask({.server_ca = &ca_}), "no connection");
  EXPECT_EQ(ask({.server_ca = &new_ca}), "nobody");
  EXPECT_EQ(old.get("/").body, "nobody");  // goes on with what it has
  EXPECT_FALSE(server_->reload_tls({own_.pem, renewed.key_pem, ""}).ok());
  EXPECT_EQ(ask({.server_ca = &new_ca}), "nobody");
}

// A certificate lasts an hour here; the clock of the listener is the test's.
TEST_F(Tls, ACertificateThatEndsNamesNobodyOnAConnectionThatIsOpen) {
  const Certificate alice = make_certificate("alice", {}, &clients_);
  for (const std::string alpn : {"http/1.1", "h2"}) {
    ahead_ = 0;
    OpenConnection open(server_->port(), {.server_ca = &ca_, .own = &alice, .alpn = alpn});
    EXPECT_EQ(open.ask(), "alice") << alpn;
    ahead_ = 3'590;
    EXPECT_EQ(open.ask(), "alice") << alpn;
    ahead_ = 3'610;
    EXPECT_EQ(open.ask(), "nobody") << alpn;
  }
}

TEST_F(Tls, AnotherClientCaJudgesConnectionsThatAreOpen) {
  const Certificate alice = make_certificate("alice", {}, &clients_);
  const Certificate others = make_certificate("others");
  for (const std::string alpn : {"http/1.1", "h2"}) {
    OpenConnection open(server_->port(), {.server_ca = &ca_, .own = &alice, .alpn = alpn});
    const auto ask_after = [&](const std::string& client_ca) {
      EXPECT_TRUE(server_->reload_tls({own_.pem, own_.key_pem, client_ca}).ok());
      return open.ask();
    };
    EXPECT_EQ(open.ask(), "alice") << alpn;
    EXPECT_EQ(ask_after(others.pem + clients_.pem), "alice") << alpn << ": it is one of two";
    EXPECT_EQ(ask_after(others.pem), "nobody") << alpn;
    EXPECT_EQ(ask_after(""), "nobody") << alpn;
    EXPECT_EQ(ask_after(clients_.pem), "alice") << alpn;
  }
}

TEST(TlsOptionsTest, AreJudged) {
  const Certificate own = make_certificate("server");
  const Certificate other = make_certificate("other");
  const struct {
    TlsOptions options;
    std::string word;
  } cases[] = {
      {{"", own.key_pem, ""}, "server certificate"},
      {{"nonsense", own.key_pem, ""}, "server certificate"},
      {{own.pem, "", ""}, "server key"},
      {{own.pem, other.key_pem, ""}, "does not belong"},
      {{own.pem, own.key_pem, "nonsense"}, "client CA"},
      {{own.pem, own.key_pem, other.pem + own.pem.substr(0, 100)}, "the client CA: line "},
      {{own.pem + other.pem.substr(0, 100), own.key_pem, ""}, "the server certificate: line "},
  };
  for (const auto& one : cases) {
    const auto made = TlsContext::create(one.options);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().text.find(one.word), std::string::npos) << made.error().text;
  }
}

}  // namespace
}  // namespace sluice::host
