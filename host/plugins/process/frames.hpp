// Frames: how a host and a plugin in a process of its own write messages into one stream
// (sdk/protocol/sluice-plugin.md): four bytes, the length of the body, the lowest first; then the
// body, which is JSON in UTF-8.
//
// What comes is bounded before it is kept: a length that is not allowed is an error, and after it
// nothing more is read. FrameReader and FrameSocket belong to one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::host {

inline constexpr std::size_t kFrameBytes = std::size_t{16} << 20;
/// Of a note: nobody asked for it, and whoever asks the plugin something takes it in.
inline constexpr std::size_t kNoteBytes = std::size_t{1} << 20;

/// REQUIRES: a body of 1 to kFrameBytes bytes.
void append_frame(std::string_view body, std::string& out);

class FrameReader {
 public:
  void add(std::string_view bytes);
  /// The body of the next frame; nullopt: more bytes have to come.
  Result<std::optional<std::string>> next();
  /// Bytes of a frame that is not whole.
  std::size_t cut() const { return buffer_.size() - begin_; }

 private:
  std::string buffer_;
  std::size_t begin_ = 0;
};

/// A stream socket that carries frames; closed at the end.
class FrameSocket {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static constexpr Deadline kNoDeadline = Deadline::max();

  explicit FrameSocket(int fd) : fd_(fd) {}
  ~FrameSocket();
  FrameSocket(const FrameSocket&) = delete;
  FrameSocket& operator=(const FrameSocket&) = delete;

  int fd() const { return fd_; }
  /// Error: the other side is gone, or took nothing in time; the frame may be cut then.
  Result<void> send(std::string_view body, Deadline until);
  /// As send(), but what the other side did not take in time is kept for flush(). Whether it took
  /// all. REQUIRES: nothing is kept.
  Result<bool> begin_send(std::string_view body, Deadline until);
  Result<bool> flush(Deadline until);
  /// Whether something is kept for flush().
  bool has_unsent() const { return sent_ < out_.size(); }
  /// nullopt: nothing whole came in time. Error: the other side is gone, or what it says is no
  /// frame.
  Result<std::optional<std::string>> receive(Deadline until);
  /// Whether bytes were received that nobody took: the descriptor says nothing of those.
  bool has_more() const { return reader_.cut() > 0; }

 private:
  Result<bool> wait(short events, Deadline until) const;

  int fd_;
  FrameReader reader_;
  std::string out_;  // reused
  std::size_t sent_ = 0;
};

}  // namespace sluice::host
