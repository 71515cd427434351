#include "host/plugins/process/plugin_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/base/version.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/process/forms.hpp"
#include "host/plugins/process/services.hpp"
#include "host/plugins/text_gate.hpp"

namespace sluice::host {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::chrono::seconds kLongLife{10};  ///< after so long a pause begins small again
// For a process that hung up to be gone: while nobody waits, and while a call does.
constexpr milliseconds kEnding{2000}, kEndingInCall{100};
constexpr milliseconds kPiece{50};  ///< of a wait, before it is looked whether all of this ends
constexpr int kPrinted = 1 << 20;   ///< bytes that it may print while nobody looks
// Messages between calls, and the time for them, before others have a turn.
constexpr int kMostAtOnce = 64;
constexpr milliseconds kMostTime{5};
constexpr std::size_t kLongestLine = 4096;

bool watch_descriptor(int events, int fd, std::uint32_t what = EPOLLIN) {
  epoll_event event{};
  event.events = what;
  event.data.fd = fd;
  return ::epoll_ctl(events, EPOLL_CTL_ADD, fd, &event) == 0;
}

/// Milliseconds from now, for poll; never early.
int milliseconds_until(std::chrono::steady_clock::time_point at) {
  const auto left = std::chrono::ceil<milliseconds>(at - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

}  // namespace

PluginProcess::PluginProcess(std::string name, ChildSpec spec)
    : name_(std::move(name)),
      spec_(std::move(spec)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      nudged_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      next_pause_(nanoseconds(spec_.process.first_pause)) {
  SLUICE_CHECK(events_ >= 0 && nudged_ >= 0, "no descriptor for the process of ", name_);
  watch_descriptor(events_, nudged_);
  thread_ = std::thread([this] { run(); });
}

PluginProcess::~PluginProcess() {
  ending_ = true;  // a start that is under way sees it, and gives the lock back
  {
    const Lock lock(mutex_);
    up_ = false;
  }
  changed_.notify_all();
  nudge();
  thread_.join();
  ::close(nudged_);
  ::close(events_);
}

std::string PluginProcess::seconds(nanoseconds time) {
  return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

/// How the process ended, if it does so within a moment; else how it went silent.
std::string PluginProcess::how_it_went(const std::string& otherwise) const {
  pollfd gone{child_.pidfd, POLLIN, 0};
  siginfo_t info{};
  const milliseconds patience = up_ ? kEndingInCall : kEnding;
  if (::poll(&gone, 1, static_cast<int>(patience.count())) != 1 ||
      ::waitid(P_PIDFD, static_cast<id_t>(child_.pidfd), &info, WEXITED | WNOWAIT | WNOHANG) != 0)
    return otherwise;
  if (info.si_code == CLD_EXITED)
    return fmt::format("its process ended with status {}", info.si_status);
  return fmt::format("its process was ended by signal {} ({})", info.si_status,
                     ::strsignal(info.si_status));
}

void PluginProcess::wake_host() const {
  if (host_ != nullptr) HostSide::of(host_).nudge();
}

void PluginProcess::nudge() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(nudged_, &one, sizeof(one));
}

void PluginProcess::log(int level, const std::string& text) const {
  if (host_ == nullptr) return;
  const HostServices& services = HostSide::of(host_).services();
  if (services.log) services.log(level, name_, text);
}

// ---- its thread

void PluginProcess::run() {
  ::pthread_setname_np(::pthread_self(), "plugin-process");
  Lock lock(mutex_);
  while (!ending_) {
    hurry_ = false;
    if (start(lock)) watch(lock);
    bury(lock);
    last_end_ = why_;
    ++tries_;
    changed_.notify_all();
    if (!ending_) rest(lock);
  }
}

bool PluginProcess::start(Lock& lock) {
  static_cast<void>(lock);
  why_.clear();
  born_ = Clock::now();
  auto child = start_child(spec_);
  if (!child) {
    why_ = child.error().text;
    log(3, why_);
    return false;
  }
  child_ = *child;
  ::fcntl(child_.said, F_SETPIPE_SZ, kPrinted);
  socket_ = std::make_unique<FrameSocket>(child_.socket);
  watch_descriptor(events_, child_.said);
  watch_descriptor(events_, child_.pidfd);
  const auto until = born_ + nanoseconds(spec_.process.start_timeout);
  if (auto greeted = greet(until); !greeted) {
    give_up(greeted.error().text);
    return false;
  }
  if (created_) {
    HostSide::of(host_).forget_timers();
    ProcessAnswer made = ask_create();
    if (made.kind == ProcessAnswer::Kind::kOk && activated_)
      made = ask("plugin.activate", {}, nanoseconds(spec_.process.start_timeout));
    if (made.kind != ProcessAnswer::Kind::kOk) {
      if (why_.empty()) give_up("it does not come back: " + made.text);
      return false;
    }
    ++lives_;
    log(2, fmt::format("its process is there again, number {}", child_.pid));
  }
  up_ = true;
  arm(!simulated_);
  changed_.notify_all();
  if (created_) wake_host();
  return true;
}

/// As the socket's, in pieces: whoever waits with the lock sees in between that all of this ends.
/// Then it is as if nothing came in time.
Result<std::optional<std::string>> PluginProcess::receive(Clock::time_point until) {
  for (;;) {
    const auto piece = std::min(until, Clock::now() + kPiece);
    auto frame = socket_->receive(piece);
    if (!frame || *frame || ending_ || piece == until) return frame;
  }
}

/// The same.
Result<bool> PluginProcess::flush(Clock::time_point until) {
  for (;;) {
    const auto piece = std::min(until, Clock::now() + kPiece);
    auto sent = socket_->flush(piece);
    if (!sent || *sent || ending_ || piece == until) return sent;
  }
}

Result<void> PluginProcess::greet(Clock::time_point until) {
  api::JsonMembers ours;
  ours.number("protocol", kProtocol)
      .number("revision", kRevision)
      .text("host", version())
      .text("plugin", name_);
  api::JsonMembers hello;
  hello.document("hello", ours.take());
  if (auto sent = socket_->send(hello.take(), until); !sent)
    return Error{how_it_went(sent.error().text)};
  auto frame = receive(until);
  if (!frame) return Error{how_it_went(frame.error().text)};
  if (!*frame)
    return Error{"it did not say hello within " +
                 seconds(nanoseconds(spec_.process.start_timeout))};
  auto said = parse_message(**frame);
  if (!said) return Error{"it sent " + said.error().text};
  if (said->type != Message::Type::kHello) return Error{"it did not say hello first"};
  const auto protocol = api::find_int(said->body, "protocol");
  if (!protocol || *protocol != kProtocol)
    return Error{fmt::format("it speaks protocol {}, this host speaks {}",
                             protocol ? std::to_string(*protocol) : "(none named)", kProtocol)};
  if (auto formed = check_hello(said->body); !formed) return formed;
  ProcessHello hello_now{std::string(api::find_text(said->body, "name")),
                         shown_text(api::find_text(said->body, "version"), 64),
                         shown_text(api::find_text(said->body, "description")), ""};
  if (const auto* schema = api::find_object(said->body, "configSchema"))
    hello_now.config_schema = api::to_json(*schema);
  if (hello_now.name != name_)
    return Error{"it names itself \"" + shown_text(hello_now.name) +
                 "\"; it is listed under another name"};
  if (greeted_ && !(hello_now == hello_))
    return Error{"it is another plugin than the one that was loaded; reload the host (SIGHUP)"};
  hello_ = std::move(hello_now);
  greeted_ = true;
  return {};
}

/// Until the process is gone, or it was given up. Whoever calls it has the lock, and takes in what
/// comes; what it prints is taken all the same. What a call left to wait for is watched here.
void PluginProcess::watch(Lock& lock) {
  bool gone = false;
  lock.unlock();
  while (!gone && up_ && !ending_) {
    std::array<epoll_event, 4> ready;
    const int n =
        ::epoll_wait(events_, ready.data(), static_cast<int>(ready.size()), time_to_deadline());
    if (n == 0) look_at_deadline(lock);
    bool speaks = false;
    for (int i = 0; i < n; ++i) {
      const int fd = ready[static_cast<std::size_t>(i)].data.fd;
      std::uint64_t count = 0;
      if (fd == nudged_ && ::read(nudged_, &count, sizeof(count)) < 0) continue;
      if (fd == child_.said) take_lines(false);
      gone |= fd == child_.pidfd;
      speaks |= fd == child_.socket || fd == nudged_;
    }
    if (gone) ::kill(-child_.pid, SIGKILL);  // those that it started may hold its end of the socket
    if (!speaks || gone || !lock.try_lock()) continue;
    if (up_ && !simulated_) take_in();
    lock.unlock();
  }
  lock.lock();
  if (gone && up_ && !simulated_) take_in();
  if (gone && up_) fell_silent("its process ended");
}

/// Questions are not put to it while it is found out how it ended: nobody waits for that.
void PluginProcess::fell_silent(const std::string& otherwise) {
  up_ = false;
  give_up(how_it_went(otherwise));
}

/// What it said between calls, or while nobody else waits for the answer to one.
void PluginProcess::take_in() {
  const auto now = Clock::now();
  if (socket_->has_unsent()) {
    const auto sent = socket_->flush(now);
    if (!sent) return fell_silent(sent.error().text);
    if (*sent) arm(true);
  }
  for (int n = 0; n < kMostAtOnce && up_ && Clock::now() - now < kMostTime; ++n) {
    auto frame = socket_->receive(now);
    if (frame && !*frame) return;
    if (!frame) return fell_silent(frame.error().text);
    auto said = read(**frame);
    if (!said) return give_up("it sent " + said.error().text);
    const bool answers = said->type == Message::Type::kAnswer;
    if (auto formed = check_if_answer(*said); !formed) return give_up(formed.error().text);
    if (wake_with(*said)) {
      if (answers) continue;
      return;  // what comes behind a request is for the one who asked
    }
    const auto taken = take(*said, number_under_way(), now);
    if (!taken) return give_up(taken.error().text);
    if (socket_->has_unsent()) arm(true);
  }
  if (up_) nudge();  // there is more
}

/// Whether it is what the one who asked has to look at; then the host is woken. Behind an answer
/// the socket is watched on: who takes that answer does not come here again.
bool PluginProcess::wake_with(Message& said) {
  bool answers = false;
  {
    const std::lock_guard asked(asked_mutex_);
    const bool has_answered = asked_.came && asked_.came->type == Message::Type::kAnswer;
    answers = said.type == Message::Type::kAnswer && said.number == asked_.number;
    if (asked_.number == 0 || has_answered || !(answers || said.type == Message::Type::kRequest))
      return false;
    asked_.came = std::move(said);
    asked_.came_at = Clock::now();
    waiting_ = false;
  }
  if (!answers) arm(false);
  wake_host();
  return true;
}

/// Of the answer that is waited for: whether it has the members that its hook allows.
Result<void> PluginProcess::check_if_answer(const Message& said) const {
  if (said.type != Message::Type::kAnswer) return {};
  const std::lock_guard asked(asked_mutex_);
  if (said.number != asked_.number) return {};
  return check_answer(asked_.hook, said.body);
}

std::uint64_t PluginProcess::number_under_way() const {
  const std::lock_guard asked(asked_mutex_);
  return asked_.number;
}

int PluginProcess::time_to_deadline() const {
  const std::lock_guard asked(asked_mutex_);
  return waiting_ ? milliseconds_until(asked_.deadline) : -1;
}

/// Who did not answer in time is ended.
void PluginProcess::look_at_deadline(Lock& lock) {
  lock.lock();
  std::string hook;
  {
    const std::lock_guard asked(asked_mutex_);
    if (waiting_ && asked_.deadline <= Clock::now()) hook = asked_.hook;
  }
  if (up_ && !hook.empty()) give_up(too_late(hook));
  lock.unlock();
}

/// Lines for the log; `last`: nothing more comes.
void PluginProcess::take_lines(bool last) {
  std::array<char, 4096> bytes;
  for (int n = 0; n < kMostAtOnce; ++n) {
    const ssize_t got = ::read(child_.said, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 && !last) ::epoll_ctl(events_, EPOLL_CTL_DEL, child_.said, nullptr);
    if (got <= 0) break;
    line_.append(bytes.data(), static_cast<std::size_t>(got));
    for (std::size_t end; (end = line_.find('\n')) != line_.npos || line_.size() > kLongestLine;) {
      end = std::min(end, kLongestLine);
      last_line_ = shown_text(std::string_view(line_).substr(0, end), kLogBytes);
      line_.erase(0, end + (end < line_.size() && line_[end] == '\n' ? 1 : 0));
      if (!last_line_.empty()) log(1, "it prints: " + last_line_);
    }
  }
  if (last && !line_.empty()) last_line_ = shown_text(line_, kLogBytes);
}

void PluginProcess::bury(Lock& lock) {
  up_ = false;
  if (child_.pid < 0) return;
  ::kill(-child_.pid, SIGKILL);
  lock.unlock();
  int status = 0;
  while (::waitpid(child_.pid, &status, 0) < 0 && errno == EINTR) {
  }
  lock.lock();
  take_lines(true);
  if (!ending_ && !last_line_.empty()) why_ += "; the last that it printed: " + last_line_;
  if (!ending_) log(3, "its process is gone: " + why_);
  for (const int fd : {child_.said, child_.pidfd}) ::close(fd);  // which ends the watching
  socket_.reset();
  child_ = {};
  line_.clear();
  last_line_.clear();
}

/// The pause before it is started again: the longer, the oftener it died young.
void PluginProcess::rest(Lock& lock) {
  const nanoseconds first(spec_.process.first_pause);
  const nanoseconds longest(spec_.process.longest_pause);
  if (Clock::now() - born_ >= kLongLife) next_pause_ = first;
  const Clock::duration pause = std::min<Clock::duration>(next_pause_, longest);
  next_pause_ = std::min<Clock::duration>(2 * pause, longest);
  again_at_ = Clock::now() + pause;
  again_at_ns_ = again_at_.time_since_epoch().count();
  if (created_ && !simulated_) log(2, "its process is started again in " + seconds(pause));
  changed_.wait_until(lock, again_at_, [this] { return ending_ || hurry_; });
}

/// It is of no use any more. REQUIRES: the lock.
void PluginProcess::give_up(const std::string& why) {
  if (why_.empty()) why_ = why;
  up_ = false;
  again_at_ns_ = (Clock::now() + nanoseconds(spec_.process.first_pause)).time_since_epoch().count();
  if (child_.pid > 0) ::kill(-child_.pid, SIGKILL);
  {
    const std::lock_guard asked(asked_mutex_);
    const bool answered = asked_.came && asked_.came->type == Message::Type::kAnswer;
    if (asked_.number != 0 && !answered && asked_.lost.empty()) asked_.lost = why;
    waiting_ = false;
  }
  nudge();
  wake_host();
}

/// Whether the thread looks at the socket. REQUIRES: the lock.
void PluginProcess::arm(bool socket) {
  ::epoll_ctl(events_, EPOLL_CTL_DEL, child_.socket, nullptr);
  if (!socket) return;
  watch_descriptor(events_, child_.socket, socket_->has_unsent() ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

Duration PluginProcess::pause() const {
  constexpr Duration kLeast = 5 * kMillisecond, kMost = 200 * kMillisecond;
  if (up_ || simulated_) return 0;
  const Duration left = again_at_ns_ - Clock::now().time_since_epoch().count();
  return std::clamp(left, kLeast, kMost);
}

}  // namespace sluice::host
