// SLUICE_CHECK: broken invariants stop the process, in release builds too.
//
// An invariant is something that our own code promises, never something that input can break; bad
// input is a Result (result.hpp). The message carries the numbers that show the breach.
// May be used from any thread.
#pragma once

#include <sstream>
#include <string>

namespace sluice {

/// Prints `file:line: check failed: EXPRESSION MESSAGE` on stderr and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* expression,
                               const std::string& message);

namespace detail {
template <typename... Parts>
std::string check_message(const Parts&... parts) {
  std::ostringstream out;
  static_cast<void>((out << ... << parts));
  return out.str();
}
}  // namespace detail

}  // namespace sluice

/// SLUICE_CHECK(a == b, "a=", a, " b=", b): the parts after the condition are streamed into the
/// text.
#define SLUICE_CHECK(condition, ...)                                        \
  do {                                                                      \
    if (!(condition)) [[unlikely]]                                          \
      ::sluice::check_failed(__FILE__, __LINE__, #condition,                \
                             ::sluice::detail::check_message(__VA_ARGS__)); \
  } while (false)
