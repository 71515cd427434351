// LineBudget: how many lines of the log each plugin may cause. What is beyond it is counted and
// left out: a plugin that says one thing in a loop neither fills the disk nor hides what others
// say.
//
// Any thread. Time is passed in; it does not go back.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace sluice::host {

class LineBudget {
 public:
  static constexpr std::uint32_t kLines = 200;  ///< in a window, of each source
  static constexpr std::int64_t kWindowMs = 10'000;

  struct Answer {
    bool write = true;
    bool last = false;           ///< of this window: say that the others are left out
    std::uint64_t left_out = 0;  ///< in the windows before
  };
  /// A line of this source, a part of the host at one level: chatter does not cost a part its
  /// errors.
  Answer take(std::string_view source, std::int64_t now_ms);

 private:
  struct Window {
    std::int64_t began_ms = 0;
    std::uint32_t lines = 0;
    std::uint64_t left_out = 0;
  };

  std::mutex mutex_;
  std::map<std::string, Window, std::less<>> windows_;  // guarded by mutex_
};

}  // namespace sluice::host
