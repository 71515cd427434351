#include "host/plugins/process/frames.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include "core/base/check.hpp"

namespace sluice::host {

namespace {

constexpr std::size_t kHead = 4;

}  // namespace

void append_frame(std::string_view body, std::string& out) {
  SLUICE_CHECK(!body.empty() && body.size() <= kFrameBytes, "a frame of bytes: ", body.size());
  for (std::size_t i = 0; i < kHead; ++i)
    out += static_cast<char>(static_cast<unsigned char>(body.size() >> (8 * i)));
  out += body;
}

void FrameReader::add(std::string_view bytes) {
  if (begin_ > 0 && begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  }
  buffer_ += bytes;
}

Result<std::optional<std::string>> FrameReader::next() {
  if (cut() < kHead) return std::optional<std::string>();
  std::size_t size = 0;
  for (std::size_t i = 0; i < kHead; ++i)
    size |= std::size_t{static_cast<unsigned char>(buffer_[begin_ + i])} << (8 * i);
  if (size == 0) return Error{"a frame without a body"};
  if (size > kFrameBytes)
    return Error{fmt::format("a frame of {} bytes; at most {} are allowed", size, kFrameBytes)};
  if (cut() < kHead + size) return std::optional<std::string>();
  std::optional<std::string> body = buffer_.substr(begin_ + kHead, size);
  begin_ += kHead + size;
  if (begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return body;
}

FrameSocket::~FrameSocket() {
  if (fd_ >= 0) ::close(fd_);
}

/// Whether it is ready before the deadline.
Result<bool> FrameSocket::wait(short events, Deadline until) const {
  using std::chrono::milliseconds;
  for (;;) {
    int left = -1;
    if (until != kNoDeadline) {
      const auto now = std::chrono::steady_clock::now();
      const auto ms = until <= now ? 0 : std::chrono::ceil<milliseconds>(until - now).count();
      left = static_cast<int>(std::min<std::int64_t>(ms, INT_MAX));
    }
    pollfd one{fd_, events, 0};
    const int n = ::poll(&one, 1, left);
    if (n > 0) return true;
    if (n == 0 && until != kNoDeadline) return false;
    if (n < 0 && errno != EINTR) return Error{std::string("poll: ") + std::strerror(errno)};
  }
}

Result<void> FrameSocket::send(std::string_view body, Deadline until) {
  const auto sent = begin_send(body, until);
  if (!sent) return sent.error();
  if (!*sent) return Error{"it does not read what it is sent"};
  return {};
}

Result<bool> FrameSocket::begin_send(std::string_view body, Deadline until) {
  out_.clear();
  sent_ = 0;
  append_frame(body, out_);
  return flush(until);
}

Result<bool> FrameSocket::flush(Deadline until) {
  while (has_unsent()) {
    const std::string_view left = std::string_view(out_).substr(sent_);
    const ssize_t n = ::send(fd_, left.data(), left.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      sent_ += static_cast<std::size_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Error{"the connection has ended"};
    const auto ready = wait(POLLOUT, until);
    if (!ready) return ready.error();
    if (!*ready) return false;
  }
  return true;
}

Result<std::optional<std::string>> FrameSocket::receive(Deadline until) {
  std::array<char, 64 << 10> bytes;
  for (;;) {
    auto whole = reader_.next();
    if (!whole || whole->has_value()) return whole;
    const ssize_t n = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n > 0) {
      reader_.add({bytes.data(), static_cast<std::size_t>(n)});
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
      if (reader_.cut() == 0) return Error{"the connection has ended"};
      return Error{
          fmt::format("the connection has ended inside a frame, {} bytes into it", reader_.cut())};
    }
    const auto ready = wait(POLLIN, until);
    if (!ready) return ready.error();
    if (!*ready) return std::optional<std::string>();
  }
}

}  // namespace sluice::host
