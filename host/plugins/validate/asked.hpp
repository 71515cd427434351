// Asked: which function of the plugin under test is being called, and with what, for a verdict that
// has to name it although the process that called died.
//
// The notes lie in memory that the process of the test shares with the one that waits for it. A
// thread has one note at a time. What a test found wrong while a note stood belongs to that call.
// Functions that took a process down, or hung, are remembered: later tests do not call them again,
// so that one cause is told once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {

/// A call into the plugin.
struct AskedCall {
  std::string hook;        ///< `flavor-filter.filter`
  std::string input;       ///< what it was asked about
  std::uint64_t step = 0;  ///< the how manieth call of the test; 0: there was none
};

/// While it lives its thread is inside this function of the plugin. It stays on the note when the
/// scope is left by an exception; what is called while that passes through does not replace it.
class Asking {
 public:
  enum class Again : std::uint8_t { kNo, kYes };
  /// kNo: throws TestSkipped where that function took an earlier test down.
  Asking(std::string_view hook, std::string_view input, Again again = Again::kNo);
  ~Asking();
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  int exceptions_;
  bool stands_ = false;
};

/// Well-formed text as it is; any other bytes in quotes, as ASCII.
std::string shown_bytes(std::string_view bytes);

/// In the parent, before fork(): there are no notes.
void clear_notes();
/// In the child: a signal that ends the process notes which thread it was.
void note_deaths();
/// In the parent, once the child is gone: the call that it died in or that its verdict is about.
AskedCall last_call();

/// This function took `test` down: it is not called again.
void give_up(const AskedCall& call, std::string_view test);
/// Everything may be called again.
void give_up_nothing();

}  // namespace sluice::host
