#include "host/apiserver/wire.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <utility>

namespace sluice::host {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kKeptBytes = 8U << 10;  // of the output's capacity, while there is nothing
constexpr std::string_view kNoTls =
    "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    "The client sent an HTTP request to an HTTPS server.\n";

bool would_block(const boost::system::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again ||
         error == asio::error::interrupted;
}

}  // namespace

Wire::Wire(asio::ip::tcp::socket socket, std::shared_ptr<const TlsContext> tls)
    : socket_(std::move(socket)) {
  boost::system::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  if (tls) tls_ = std::make_unique<TlsSession>(std::move(tls));
}

Wire::Input Wire::receive(std::string& plain, std::span<char> scratch) {
  boost::system::error_code error;
  const std::size_t size = socket_.read_some(asio::buffer(scratch.data(), scratch.size()), error);
  if (would_block(error)) return Input::kNothing;
  if (error == asio::error::eof) return Input::kEnded;
  if (error) return Input::kBroken;
  const std::string_view raw(scratch.data(), size);
  if (!tls_) {
    plain += raw;
    return Input::kSome;
  }
  const auto step = tls_->feed(raw, plain, out_);
  if (step == TlsSession::Step::kIsHttp) out_ = kNoTls;
  if (!flush()) return Input::kBroken;
  if (step == TlsSession::Step::kGoesOn) return Input::kSome;
  return step == TlsSession::Step::kEnded ? Input::kEnded : Input::kBroken;
}

bool Wire::send(std::string_view plain) {
  if (!tls_) {
    out_ += plain;
  } else if (!tls_->seal(plain, out_)) {
    return false;
  }
  return flush();
}

bool Wire::flush() {
  while (sent_ < out_.size()) {
    boost::system::error_code error;
    const std::size_t size =
        socket_.write_some(asio::buffer(out_.data() + sent_, out_.size() - sent_), error);
    if (would_block(error)) return true;
    if (error) return false;
    sent_ += size;
    taken_ += size;
  }
  sent_ = 0;
  if (out_.capacity() > kKeptBytes)
    out_ = std::string();
  else
    out_.clear();
  return true;
}

void Wire::finish() {
  if (tls_) tls_->finish(out_);
  if (!flush() || unsent() > 0) return;
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

void Wire::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

std::optional<CertificateSubject> Wire::client(const std::shared_ptr<const TlsContext>& present,
                                               std::int64_t now) {
  return tls_ ? tls_->client(present, now) : std::nullopt;
}

}  // namespace sluice::host
