// EventStream: the events of one watch, cut out of a chunked HTTP/1.1 answer as its bytes come.
//
// Invariant: what next() hands out is one whole event, in the order of the stream. Belongs to one
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::bench {

class EventStream {
 public:
  /// Takes bytes as they came. An answer other than 200 ends the program.
  void feed(std::string_view bytes);
  /// The next whole event, without its line end; empty: there is none yet. Valid until feed().
  std::string_view next();

 private:
  bool skip_head();
  void take_chunks();

  std::string raw_;     // not looked at yet
  std::string events_;  // without the lines of chunks
  std::size_t begin_ = 0;
  bool in_body_ = false;
};

}  // namespace sluice::bench
