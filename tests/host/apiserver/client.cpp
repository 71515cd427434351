#include "tests/host/apiserver/client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace sluice::host::test {

struct Client::State {
  int socket = -1;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{nullptr, SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl{nullptr, SSL_free};
  bool connected = false;
  std::string in;
};

Client::Client(std::uint16_t port) : state_(std::make_unique<State>()) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  state_->socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  timeval patience{20, 0};
  setsockopt(state_->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(state_->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  // Else the first request waits until the last words of the handshake are confirmed: 40 ms.
  const int at_once = 1;
  setsockopt(state_->socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  state_->connected =
      ::connect(state_->socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

namespace {

/// One for all that want nothing special: making one costs as much as a handshake.
SSL_CTX* context_for(const ClientTls& tls) {
  static SSL_CTX* const plain = SSL_CTX_new(TLS_client_method());
  if (tls.server_ca != nullptr || tls.own != nullptr || tls.most_version != 0)
    return SSL_CTX_new(TLS_client_method());
  SSL_CTX_up_ref(plain);
  return plain;
}

}  // namespace

Client::Client(std::uint16_t port, const ClientTls& tls) : Client(port) {
  if (!state_->connected) return;
  state_->context.reset(context_for(tls));
  SSL_CTX* context = state_->context.get();
  if (tls.most_version != 0) {
    SSL_CTX_set_min_proto_version(context, 0);
    SSL_CTX_set_max_proto_version(context, tls.most_version);
  }
  if (tls.server_ca != nullptr) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), tls.server_ca->certificate.get());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  if (tls.own != nullptr) {
    SSL_CTX_use_certificate(context, tls.own->certificate.get());
    SSL_CTX_use_PrivateKey(context, tls.own->key.get());
  }
  state_->ssl.reset(SSL_new(context));
  if (!tls.alpn.empty()) {
    const std::string list = static_cast<char>(tls.alpn.size()) + tls.alpn;
    SSL_set_alpn_protos(state_->ssl.get(), reinterpret_cast<const unsigned char*>(list.data()),
                        static_cast<unsigned>(list.size()));
  }
  SSL_set_fd(state_->ssl.get(), state_->socket);
  state_->connected = SSL_connect(state_->ssl.get()) == 1;
}

Client::Client(Client&&) noexcept = default;

Client::~Client() {
  if (state_ && state_->socket >= 0) ::close(state_->socket);
}

bool Client::connected() const { return state_->connected; }

std::string Client::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(state_->ssl.get(), &name, &size);
  return name == nullptr ? "" : std::string(reinterpret_cast<const char*>(name), size);
}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto size = state_->ssl
                          ? static_cast<ssize_t>(SSL_write(state_->ssl.get(), bytes.data(),
                                                           static_cast<int>(bytes.size())))
                          : ::send(state_->socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

bool Client::fill() {
  std::array<char, 16384> piece;
  const auto size = state_->ssl ? static_cast<ssize_t>(SSL_read(state_->ssl.get(), piece.data(),
                                                                static_cast<int>(piece.size())))
                                : ::recv(state_->socket, piece.data(), piece.size(), 0);
  if (size <= 0) return false;
  state_->in.append(piece.data(), static_cast<std::size_t>(size));
  return true;
}

std::string Client::line() {
  std::size_t end = 0;
  while ((end = state_->in.find("\r\n")) == std::string::npos)
    if (!fill()) return {};
  std::string out = state_->in.substr(0, end);
  state_->in.erase(0, end + 2);
  return out;
}

Answer Client::read_head() {
  Answer out;
  const std::string first = line();
  if (first.size() < 12) return out;
  out.status = std::atoi(first.c_str() + 9);
  for (std::string header = line(); !header.empty(); header = line()) {
    const std::size_t colon = header.find(": ");
    std::string name = header.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(std::tolower(c)); });
    out.headers[name] = colon == std::string::npos ? "" : header.substr(colon + 2);
  }
  return out;
}

Answer Client::read(bool head_only) {
  Answer out = read_head();
  if (out.status == 0 || head_only || out.status == 100) return out;
  if (out.headers["transfer-encoding"] == "chunked") {
    for (std::string chunk = read_chunk(); !chunk.empty(); chunk = read_chunk()) out.body += chunk;
    return out;
  }
  const auto size = static_cast<std::size_t>(std::atoll(out.headers["content-length"].c_str()));
  while (state_->in.size() < size)
    if (!fill()) break;
  out.body = state_->in.substr(0, size);
  state_->in.erase(0, size);
  return out;
}

std::string Client::read_chunk() {
  const std::string first = line();
  const std::size_t size = std::strtoull(first.c_str(), nullptr, 16);
  while (state_->in.size() < size + 2)
    if (!fill()) return {};
  std::string out = state_->in.substr(0, size);
  state_->in.erase(0, size + 2);
  return out;
}

std::string Client::read_to_end() {
  while (fill()) {
  }
  return std::exchange(state_->in, {});
}

std::string Client::read_some() {
  if (state_->in.empty()) fill();
  return std::exchange(state_->in, {});
}

bool Client::closed() { return state_->in.empty() && !fill(); }

Answer Client::get(std::string_view path, std::string_view headers) {
  send("GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) +
       "\r\n");
  return read();
}

Answer Client::request(std::string_view method, std::string_view path, std::string_view body,
                       std::string_view headers) {
  send(std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" +
       std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
       std::string(body));
  return read(method == "HEAD");
}

void Client::shrink_receive_buffer() {
  const int size = 4096;
  setsockopt(state_->socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

}  // namespace sluice::host::test
