// Terminal: the terminal of this process while a full-screen view has it: keys come one by one, the
// view has a screen of its own, signals that would end the process are taken in order.
//
//   auto terminal = Terminal::open();
//   while (…) { TerminalEvent event = (*terminal)->wait(kSecond); … (*terminal)->draw(lines); }
//
// Invariant: however the process ends, the terminal is left as it was found: by the destructor,
// also after SIGINT, SIGTERM, SIGHUP and SIGQUIT, and while the process is stopped (control-Z).
// Made before any other thread, so that all of them have these signals blocked. Main thread, but
// for wake().
#pragma once

#include <memory>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/top/screen.hpp"

namespace sluice::host {

struct TerminalEvent {
  std::vector<Key> keys;
  int ended_by = 0;  ///< a signal; or SIGHUP when the terminal is gone
  bool resized = false;
  bool woken = false;
};

class Terminal {
 public:
  /// Whether standard input and output are one that can be drawn on.
  static bool usable();
  /// Whether a person at this file descriptor wants colours: a terminal, and NO_COLOR is not set.
  static bool colours(int fd);

  static Result<std::unique_ptr<Terminal>> open();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  TerminalSize size() const;
  /// Everything anew when the size is another one than last time, else what differs.
  void draw(std::vector<ScreenLine> lines);
  /// Until something happens, or `most` is over.
  TerminalEvent wait(Duration most);
  /// Ends a wait. Any thread.
  void wake();
  /// Gives the terminal back, stops the process, and takes it again when it goes on.
  void suspend();

 private:
  Terminal();
  void enter();
  void leave();
  void take_signals(TerminalEvent& event);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host
