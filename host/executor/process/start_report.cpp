#include "host/executor/process/start_report.hpp"

#include <unistd.h>

#include <cerrno>

namespace sluice::host {
namespace {

/// Messages have one size, and are smaller than what a pipe writes at once (PIPE_BUF).
struct Message {
  enum Kind : int { kFirst, kFailure } kind = kFirst;
  pid_t first = 0;
  StartFailure failure;
};

bool tell(int pipe, const Message& message) {
  return ::write(pipe, &message, sizeof message) == static_cast<ssize_t>(sizeof message);
}

bool read_one(int pipe, Message& message) {
  ssize_t n = 0;
  do {
    n = ::read(pipe, &message, sizeof message);
  } while (n < 0 && errno == EINTR);
  return n == static_cast<ssize_t>(sizeof message);
}

}  // namespace

bool tell_first(int pipe, pid_t first) { return tell(pipe, {Message::kFirst, first, {}}); }

bool tell_failure(int pipe, const StartFailure& failure) {
  return tell(pipe, {Message::kFailure, 0, failure});
}

StartReport read_start_report(int pipe) {
  StartReport report;
  for (Message message; read_one(pipe, message);) {
    if (message.kind == Message::kFirst)
      report.first = message.first;
    else
      report.failure = message.failure;
  }
  return report;
}

}  // namespace sluice::host
