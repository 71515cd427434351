#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "bench/rest/client.hpp"

namespace sluice::bench {

void fail(const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, text.c_str());
  std::exit(1);
}

double thread_cpu() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

void allow_many_files() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

SSL_CTX* make_tls(const std::string& ca) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  BIO* bio = BIO_new_mem_buf(ca.data(), static_cast<int>(ca.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  if (certificate == nullptr) fail("the kubeconfig has no certificate authority");
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate);
  X509_free(certificate);
  BIO_free(bio);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_read_ahead(context, 1);  // one system call per answer and not two per record
  return context;
}

Socket::Socket(const Target& target, int receive_buffer) {
  fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd_ < 0) fail(std::string("no socket: ") + std::strerror(errno));
  if (receive_buffer > 0)
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(target.port);
  inet_pton(AF_INET, target.host.c_str(), &address.sin_addr);
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail(std::string("cannot connect: ") + std::strerror(errno));
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (target.tls != nullptr) {
    ssl_ = SSL_new(target.tls);
    SSL_set_fd(ssl_, fd_);
    if (SSL_connect(ssl_) != 1) fail("the TLS handshake failed");
  }
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
}

Socket::~Socket() {
  if (ssl_ != nullptr) SSL_free(ssl_);
  if (fd_ >= 0) close(fd_);
}

std::ptrdiff_t Socket::read(char* into, std::size_t size) {
  if (ssl_ == nullptr) {
    const ssize_t got = ::recv(fd_, into, size, 0);
    return got < 0 && errno == EAGAIN ? 0 : got == 0 ? -1 : got;
  }
  ERR_clear_error();
  const int got = SSL_read(ssl_, into, static_cast<int>(size));
  if (got > 0) return got;
  return SSL_get_error(ssl_, got) == SSL_ERROR_WANT_READ ? 0 : -1;
}

std::ptrdiff_t Socket::write(const char* from, std::size_t size) {
  if (ssl_ == nullptr) {
    const ssize_t put = ::send(fd_, from, size, MSG_NOSIGNAL);
    return put < 0 && errno == EAGAIN ? 0 : put;
  }
  ERR_clear_error();
  const int put = SSL_write(ssl_, from, static_cast<int>(size));
  if (put > 0) return put;
  return SSL_get_error(ssl_, put) == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

void Socket::send(std::string_view text) {
  out_.append(text);
  flush();
}

bool Socket::flush() {
  if (out_.empty()) return true;
  const std::ptrdiff_t put = write(out_.data(), out_.size());
  if (put < 0) fail("the host closed a connection on a request");
  out_.erase(0, static_cast<std::size_t>(put));
  return out_.empty();
}

bool Socket::receive(std::string& into, std::size_t most) {
  static thread_local std::vector<char> piece(64U << 10);
  while (most > 0) {
    const std::size_t size = std::min(most, piece.size());
    const std::ptrdiff_t got = read(piece.data(), size);
    if (got < 0) return false;
    if (got == 0) return true;
    into.append(piece.data(), static_cast<std::size_t>(got));
    most -= static_cast<std::size_t>(got);
    // A socket without TLS that gave less than it could is empty now.
    if (ssl_ == nullptr && static_cast<std::size_t>(got) < size) return true;
    if (ssl_ != nullptr && SSL_has_pending(ssl_) == 0) return true;
  }
  return true;
}

std::string head(const Target& target, std::string_view method, std::string_view path,
                 std::string_view content_type, std::size_t body_size) {
  std::string out;
  out.append(method).append(" ").append(path).append(" HTTP/1.1\r\nHost: ").append(target.host);
  out.append("\r\nUser-Agent: rest_bench\r\nAccept: application/json\r\nAuthorization: Bearer ");
  out.append(target.token).append("\r\n");
  if (!content_type.empty()) out.append("Content-Type: ").append(content_type).append("\r\n");
  if (body_size > 0 || method == "POST")
    out.append("Content-Length: ").append(std::to_string(body_size)).append("\r\n");
  return out += "\r\n";
}

}  // namespace sluice::bench
