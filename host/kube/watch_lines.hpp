// WatchLines: the lines of a stream that comes in pieces.
//
// Invariant: never holds more than one unfinished line of at most the limit. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace sluice::host {

class WatchLines {
 public:
  explicit WatchLines(std::size_t longest) : longest_(longest) {}

  /// Hands on each line that is complete with this piece, without its end; empty ones are left out.
  /// False, and nothing may follow: `take` said false, or a line is longer than the limit
  /// (too_long()).
  bool add(std::string_view piece, const std::function<bool(std::string_view)>& take);
  bool too_long() const { return too_long_; }

 private:
  std::size_t longest_;
  std::string rest_;
  bool too_long_ = false;
};

}  // namespace sluice::host
