// PacedStream: an answer that is made piece by piece as its client takes it: a long list, a log.
//
// Only a few pieces are made at a time, and none while the client has not taken the ones before, so
// that the other connections of the thread have their turns and an answer needs the memory of its
// backlog (`limits.stream_bytes`) and one piece. It lives as long as something is to come.
//
// start() is called once, on any thread; pieces are made on the connection's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "host/apiserver/call.hpp"

namespace sluice::host {

class PacedStream : public Streaming, public std::enable_shared_from_this<PacedStream> {
 public:
  void start(std::string content_type);
  void end() final;

 protected:
  enum class Progress : std::uint8_t {
    kMore,    ///< there is more now
    kNotYet,  ///< there may be more in a while
    kEnd,     ///< this was the last piece
  };

  explicit PacedStream(CallPtr call) : call_(std::move(call)) {}

  /// Appends the next piece; it may be empty.
  virtual Progress make(std::string& piece) = 0;
  const Call& call() const { return *call_; }

 private:
  void pump();
  bool step();
  void look_again();
  void finish();

  const CallPtr call_;
  std::shared_ptr<Stream> stream_;  // nullptr: it has ended
  std::shared_ptr<TaskThread> thread_;
  bool pumping_ = false;
  bool waits_ = false;  // it looks again later
};

}  // namespace sluice::host
