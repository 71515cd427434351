#include "host/top/terminal.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::host {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";

std::string variable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets variables
  const char* value = std::getenv(name);
  return value ? value : "";
}

sigset_t taken_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}) sigaddset(&set, each);
  return set;
}

/// What cannot be written is lost: then the terminal is gone, which its input tells, too.
void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

struct Terminal::State {
  termios before{};
  sigset_t mask{};
  int signals = -1, waker = -1;
  bool colours = false;
  std::string typed;
  TerminalSize drawn_for;
  std::vector<ScreenLine> shown;
};

bool Terminal::usable() {
  const std::string kind = variable("TERM");
  return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0 && !kind.empty() &&
         kind != "dumb";
}

bool Terminal::colours(int fd) { return ::isatty(fd) != 0 && variable("NO_COLOR").empty(); }

Terminal::Terminal() : state_(std::make_unique<State>()) {}

Result<std::unique_ptr<Terminal>> Terminal::open() {
  std::unique_ptr<Terminal> out(new Terminal());
  State& state = *out->state_;
  if (::tcgetattr(STDIN_FILENO, &state.before) != 0)
    return Error{std::string("standard input is no terminal: ") + ::strerrordesc_np(errno)};
  state.colours = colours(STDOUT_FILENO);
  const sigset_t taken = taken_signals();
  ::pthread_sigmask(SIG_BLOCK, &taken, &state.mask);
  state.signals = ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  state.waker = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (state.signals < 0 || state.waker < 0)
    return Error{std::string("no more files can be opened: ") + ::strerrordesc_np(errno)};
  out->enter();
  return out;
}

Terminal::~Terminal() {
  if (state_->signals >= 0 && state_->waker >= 0) leave();
  for (const int fd : {state_->signals, state_->waker})
    if (fd >= 0) ::close(fd);
  ::pthread_sigmask(SIG_SETMASK, &state_->mask, nullptr);
}

void Terminal::enter() {
  termios raw = state_->before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  write_all(kEnter);
  state_->shown.clear();
}

void Terminal::leave() {
  write_all(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &state_->before);
}

void Terminal::suspend() {
  leave();
  ::kill(0, SIGTSTP);  // as the terminal does: to all that run together with it
  enter();
}

TerminalSize Terminal::size() const {
  winsize size{};
  TerminalSize out;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return out;
  if (size.ws_row > 0) out.rows = size.ws_row;
  if (size.ws_col > 0) out.columns = size.ws_col;
  return out;
}

void Terminal::draw(std::vector<ScreenLine> lines) {
  const TerminalSize now = size();
  if (now != state_->drawn_for) {
    write_all("\x1b[2J");
    state_->shown.clear();
    state_->drawn_for = now;
  }
  write_all(redraw(state_->shown, lines, state_->colours));
  state_->shown = std::move(lines);
}

void Terminal::wake() {
  const std::uint64_t one = 1;
  // It fails only when a wake is waiting already.
  [[maybe_unused]] const auto written = ::write(state_->waker, &one, sizeof one);
}

void Terminal::take_signals(TerminalEvent& event) {
  signalfd_siginfo info{};
  while (::read(state_->signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGWINCH)
      event.resized = true;
    else
      event.ended_by = static_cast<int>(info.ssi_signo);
  }
}

TerminalEvent Terminal::wait(Duration most) {
  std::array<pollfd, 3> fds = {
      {{STDIN_FILENO, POLLIN, 0}, {state_->signals, POLLIN, 0}, {state_->waker, POLLIN, 0}}};
  TerminalEvent event;
  if (::poll(fds.data(), fds.size(), static_cast<int>(most / kMillisecond)) <= 0) return event;
  if (fds[1].revents != 0) take_signals(event);
  if (std::uint64_t count = 0; fds[2].revents != 0)
    event.woken = ::read(state_->waker, &count, sizeof count) > 0;
  if (fds[0].revents == 0) return event;
  std::array<char, 256> typed{};
  const ssize_t count = ::read(STDIN_FILENO, typed.data(), typed.size());
  if (count > 0) {
    state_->typed.append(typed.data(), static_cast<std::size_t>(count));
    event.keys = take_keys(state_->typed);
  } else if (count == 0 || errno != EINTR) {
    event.ended_by = SIGHUP;
  }
  return event;
}

}  // namespace sluice::host
