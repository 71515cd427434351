// CallBoard: which call into a plugin is under way on which thread, for those who have to name it
// when it does not come back: the watchdog on another thread, the handler of a fatal signal on the
// same one.
//
// A thread that calls into a plugin puts a frame of its own stack up, and takes it down when the
// call is back; calls nest (a plugin's write is judged by another plugin). Who looks from another
// thread pins the slot for that long, and a call that ends waits for it: a frame is never read
// after its end. Putting up and taking down costs a few nanoseconds and no lock.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "host/plugins/hook.hpp"

namespace sluice::host {

/// The object that a call is about, where there is one.
struct CallAbout {
  std::string_view ns, name;

  /// `namespace/name`, or `name` of what is in none; empty: there is no object.
  std::string text() const;
};

/// A call as others see it.
struct BoardCall {
  std::string plugin;
  std::string_view hook;
  std::string about;  ///< `namespace/name`, or empty
  Duration took = 0;

  /// `plugin X, flavor-filter.filter of team-a/w`
  std::string sentence() const;
};

class CallBoard {
 public:
  struct Frame {
    std::string_view plugin;
    Hook hook{};
    CallAbout about;
    Duration since = 0;  ///< by the board's clock
    const Frame* outer = nullptr;
  };

  /// While it lives, its thread is inside the plugin. `plugin` and `about` must outlive it.
  class Scope {
   public:
    Scope(std::string_view plugin, Hook hook, CallAbout about = {});
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Frame frame_;
  };

  /// The innermost calls that have been under way for longer than this. Any thread.
  static std::vector<BoardCall> calls(Duration longer_than);

  /// The innermost call of this thread; nullptr: none. Fit for a signal handler.
  static const Frame* mine();

  /// Whether this thread has called a plugin: then it is the host's own, whatever its stack holds.
  /// Fit for a signal handler.
  static bool calls_plugins();

  /// For tests: another clock than the machine's; nullptr: that again.
  static void set_clock(Duration (*now)());
};

}  // namespace sluice::host
