// H2Session: the framing of one HTTP/2 connection, from the server's side. Bytes of the client go
// in, requests come out as Events; answers go in, bytes for the client come out.
//
// No socket, no thread, no clock: the caller passes the time. What a client can make grow has a
// limit here: streams at a time, the fields of a head, frames that ask for nothing, resets. A
// client that exceeds one gets a GOAWAY, and the session is over. Compression, states of streams
// and flow control are nghttp2's. One thread; nothing here calls feed() or take() from within an
// event.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/apiserver/exchange.hpp"

namespace sluice::host {

struct H2Limits {
  std::uint32_t streams = 250;
  std::size_t header_bytes = 64U << 10;  ///< names and values, and 32 for each field
};

/// The head of a request.
struct H2Head {
  std::string method, target;
  Headers headers;                    ///< in lower case, as they are on the wire
  std::optional<std::size_t> length;  ///< of the body, where the client announced it
  bool too_large = false;             ///< over the limit; the headers are left out
};

/// Codes of RST_STREAM and GOAWAY.
enum class H2Code : std::uint32_t {
  kNone = 0,
  kInternal = 2,
  kRefused = 7,
  kCancel = 8,
  kCalm = 11
};

class H2Session {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Part {
    std::size_t size = 0;
    bool end = false;  ///< of the body; a part that is empty and no end: nothing yet
  };

  class Events {
   public:
    virtual ~Events() = default;
    /// `complete`: no body follows. Each stream ends with closed().
    virtual void head(std::int32_t stream, H2Head head, bool complete) = 0;
    virtual void body(std::int32_t stream, std::string_view piece) = 0;
    virtual void complete(std::int32_t stream) = 0;
    virtual void closed(std::int32_t stream) = 0;
    /// The next part of the answer's body. Called by take() only.
    virtual Part read(std::int32_t stream, std::span<char> into) = 0;
  };

  H2Session(Events& events, const H2Limits& limits, Time now);
  ~H2Session();
  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;

  /// Takes all of `bytes`. False: this is no HTTP/2, and nothing can be said about it.
  bool feed(std::string_view bytes, Time now);
  /// Appends what is to be sent, until there are `enough` bytes or no more. False: no memory.
  bool take(std::string& out, std::size_t enough);
  /// Nothing more will come and nothing will be sent: the connection can be closed.
  bool over() const;

  // ---- answers; nothing happens when the stream is gone
  void go_on(std::int32_t stream);  ///< 100
  /// `body`: it is asked for with read(). `long_lived`: it gives way to others.
  void answer(std::int32_t stream, int status, const Headers& headers, bool body, bool long_lived);
  void resume(std::int32_t stream);  ///< after a part that was empty
  void reset(std::int32_t stream, H2Code code);
  /// No new streams; those that are there go on. `kNone`: in order.
  void go_away(H2Code code);

  /// Why the session was ended; nullopt: it was not, or in order.
  std::optional<std::uint32_t> failure() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host
