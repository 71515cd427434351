#include "host/executor/process/runner.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "core/base/backoff.hpp"
#include "host/base/files.hpp"
#include "host/base/steady_clock.hpp"
#include "host/base/wall_clock.hpp"
#include "host/executor/process/control_group.hpp"
#include "host/executor/process/keeper.hpp"
#include "host/executor/process/line_log.hpp"
#include "host/executor/process/own_memory.hpp"
#include "host/executor/process/process_id.hpp"
#include "host/executor/process/run_record.hpp"
#include "host/executor/process/spawn.hpp"

namespace sluice::host {
namespace {

constexpr Duration kLongRun = 600 * kSecond;  // after it a restart waits no longer than the first
constexpr Duration kLongestBackoff = 300 * kSecond;
constexpr Duration kRetryWrite = kSecond;

/// What the runner knows of a container beside its state.
struct Slot {
  std::unique_ptr<LineLog> log;
  Fd out, err;
  pid_t keeper = 0;   // while the container runs
  Time due = 0;       // steady; of the next start while it waits
  int in_a_row = 0;   // ends since the last long run
  bool done = false;  // it will not be started again
};

class Runner {
 public:
  Runner(RunSpec spec, RunPaths paths)
      : spec_(std::move(spec)),
        paths_(std::move(paths)),
        state_(fresh_state(spec_)),
        slots_(spec_.containers.size()) {}

  int run(int signals);

 private:
  void start_what_is_due();
  void start(std::size_t i);
  Result<Spawned, SpawnError> spawn(std::size_t i) const;
  std::filesystem::path group_of(std::size_t i) const;
  void end_group_of(std::size_t i);
  void count_use(std::size_t i, const struct rusage& usage);
  std::unique_ptr<LineLog> open_log(const std::string& container, std::int64_t number) const;
  void ended(std::size_t i, int exit_code, int signal);
  void settle(std::size_t i);
  bool reap();
  void read_output(std::size_t i);
  void stop();
  void kill_all(int signal);
  bool any_running() const;
  bool finished() const;
  void conclude();
  void persist();
  void wait(int signals);
  void take_signals(int signals);
  void end_strays();
  Time next_time() const;

  RunSpec spec_;
  RunPaths paths_;
  RunState state_;
  std::vector<Slot> slots_;
  std::string trouble_;          // why no container can be started
  std::optional<Time> kill_at_;  // steady; set once the pod is to end
  bool killed_ = false;
  bool dirty_ = true;
  Time write_again_ = 0;
};

bool Runner::any_running() const {
  return std::any_of(state_.containers.begin(), state_.containers.end(),
                     [](const auto& c) { return c.now.state == ContainerRun::State::kRunning; });
}

bool Runner::finished() const {
  if (any_running()) return false;
  if (kill_at_) return true;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].done) return false;
    // An init container that is done for good without success ends the pod.
    if (state_.containers[i].init && state_.containers[i].now.exit_code != 0) return true;
  }
  return true;
}

void Runner::start_what_is_due() {
  if (kill_at_) return;
  const Time now = steady_now();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const ContainerState& container = state_.containers[i];
    if (container.now.state == ContainerRun::State::kWaiting && !slots_[i].done &&
        slots_[i].due <= now) {
      start(i);
    }
    // The next one starts when this one has succeeded.
    const bool through = slots_[i].done && container.now.exit_code == 0;
    if (container.init && !through) return;
  }
}

void Runner::start(std::size_t i) {
  ContainerState& container = state_.containers[i];
  Slot& slot = slots_[i];
  const std::int64_t number = container.restarts;
  slot.log = open_log(container.name, number);
  container.now = ContainerRun{};
  container.now.started = wall_clock();
  if (container.first_started == 0) container.first_started = container.now.started;
  dirty_ = true;
  Result<Spawned, SpawnError> spawned = spawn(i);
  if (!spawned) {
    container.now.reason = "StartError";
    container.now.message = spawned.error().text;
    slot.log->write(LineLog::Stream::kErr, "sluice: " + spawned.error().text + "\n", wall_clock());
    ended(i, spawned.error().exit_code, 0);
    return;
  }
  container.now.state = ContainerRun::State::kRunning;
  container.now.pid = spawned->pid;
  slot.keeper = static_cast<pid_t>(spawned->keeper);
  slot.out = std::move(spawned->out);
  slot.err = std::move(spawned->err);
  if (state_.phase == RunPhase::kStarting && !container.init) state_.phase = RunPhase::kRunning;
}

/// Each run has a group of its own, by which it is counted.
std::filesystem::path Runner::group_of(std::size_t i) const {
  return std::filesystem::path(spec_.group) / spec_.containers[i].name;
}

Result<Spawned, SpawnError> Runner::spawn(std::size_t i) const {
  const ContainerSpec& container = spec_.containers[i];
  if (!trouble_.empty()) return SpawnError{126, trouble_};
  const SpawnRights rights{spec_.user, spec_.group_id, spec_.all_calls};
  if (spec_.group.empty()) return spawn_container(container, paths_.work, rights);
  const Result<Fd> own = make_group(group_of(i), container.limits);
  const Result<Fd> keepers = make_group(std::filesystem::path(spec_.group) / kKeepersGroup, {});
  if (!own || !keepers) return SpawnError{126, (own ? keepers : own).error().text};
  return spawn_container(container, paths_.work, rights, {own->get(), keepers->get()});
}

/// What is left of the run is killed, whichever process its parent is.
void Runner::end_group_of(std::size_t i) {
  if (spec_.group.empty()) return;
  ContainerRun& now = state_.containers[i].now;
  now.use = use_of_group(group_of(i));
  if (now.use.out_of_memory) now.reason = "OOMKilled";
  end_group(group_of(i));
}

/// What its group has not counted, the kernel has counted of its processes.
void Runner::count_use(std::size_t i, const struct rusage& usage) {
  ContainerState& container = state_.containers[i];
  GroupUse& use = container.now.use;
  const auto micros = [](const timeval& time) { return time.tv_sec * 1'000'000 + time.tv_usec; };
  if (use.cpu_us == 0) use.cpu_us = micros(usage.ru_utime) + micros(usage.ru_stime);
  if (use.memory_peak_bytes == 0) use.memory_peak_bytes = usage.ru_maxrss * 1'024;
  container.used.cpu_us += use.cpu_us;
  container.used.memory_peak_bytes =
      std::max(container.used.memory_peak_bytes, use.memory_peak_bytes);
}

/// The log of this start and of the one before stay, each with its part of the pod's budget.
std::unique_ptr<LineLog> Runner::open_log(const std::string& container, std::int64_t number) const {
  if (number >= 2) {
    std::error_code ignored;
    const std::filesystem::path old = paths_.log(container, number - 2);
    std::filesystem::remove(old, ignored);
    std::filesystem::remove(LineLog::earlier(old), ignored);
  }
  const auto parts = static_cast<std::int64_t>(2 * spec_.containers.size());
  return std::make_unique<LineLog>(
      paths_.log(container, number),
      LogLimits{spec_.log_bytes / parts, spec_.log_keep_free, paths_.logs_full});
}

void Runner::ended(std::size_t i, int exit_code, int signal) {
  ContainerRun& now = state_.containers[i].now;
  now.state = ContainerRun::State::kTerminated;
  now.exit_code = exit_code;
  now.signal = signal;
  now.finished = wall_clock();
  now.pid = 0;
  if (now.reason.empty()) now.reason = exit_code == 0 ? "Completed" : "Error";
  dirty_ = true;
  settle(i);
}

/// Decides whether a container that ended is started again, and when.
void Runner::settle(std::size_t i) {
  ContainerState& container = state_.containers[i];
  Slot& slot = slots_[i];
  const bool failed = container.now.exit_code != 0;
  const bool always = spec_.restart == RestartPolicy::kAlways && !container.init;
  const bool again = always || (failed && spec_.restart != RestartPolicy::kNever);
  if (kill_at_ || !again) {
    slot.done = true;
    return;
  }
  if (container.now.finished - container.now.started > kLongRun) slot.in_a_row = 0;
  Duration pause = 0;  // the first restart comes at once
  if (slot.in_a_row > 0)
    pause = backoff(spec_.first_backoff_ms * kMillisecond, slot.in_a_row - 1, kLongestBackoff);
  ++slot.in_a_row;
  slot.due = steady_now() + pause;
  container.last = container.now;
  container.now = ContainerRun{};
  container.now.reason = "CrashLoopBackOff";
  container.now.message = "it is started again after a pause that grows";
  ++container.restarts;
}

bool Runner::reap() {
  bool any = false;
  int status = 0;
  struct rusage usage {};  // of the keeper and of all that it waited for
  for (pid_t pid = 0; (pid = ::wait4(-1, &status, WNOHANG, &usage)) > 0;) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].keeper != pid) continue;
      slots_[i].keeper = 0;
      end_group_of(i);
      count_use(i, usage);
      end_strays();  // as in a container, nothing of it outlives its first process
      read_output(i);
      const Time now = wall_clock();
      slots_[i].log->finish(LineLog::Stream::kOut, now);
      slots_[i].log->finish(LineLog::Stream::kErr, now);
      slots_[i].out.reset();
      slots_[i].err.reset();
      const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      ended(i, signal != 0 ? 128 + signal : WEXITSTATUS(status), signal);
      any = true;
    }
  }
  return any;
}

void Runner::read_output(std::size_t i) {
  std::array<char, 65536> buffer;
  Slot& slot = slots_[i];
  const auto drain = [&](Fd& fd, LineLog::Stream stream) {
    // Bounded, so that one container that never stops writing does not starve the others.
    for (int round = 0; fd && round < 64; ++round) {
      const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return;
      if (n == 0) return fd.reset();
      slot.log->write(stream, {buffer.data(), static_cast<std::size_t>(n)}, wall_clock());
    }
  };
  drain(slot.out, LineLog::Stream::kOut);
  drain(slot.err, LineLog::Stream::kErr);
}

void Runner::kill_all(int signal) {
  for (const Slot& slot : slots_)
    if (slot.keeper != 0) ::kill(slot.keeper, signal);
}

void Runner::stop() {
  std::int64_t grace = spec_.grace_seconds;
  if (const auto text = read_file(paths_.stop)) {
    std::from_chars(text->data(), text->data() + text->size(), grace);
  }
  grace = std::clamp<std::int64_t>(grace, 0, 86400LL * 365);
  const Time kill_at = steady_now() + grace * kSecond;
  if (!kill_at_) kill_all(SIGTERM);
  kill_at_ = kill_at_ ? std::min(*kill_at_, kill_at) : kill_at;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    ContainerState& container = state_.containers[i];
    slots_[i].done = true;
    // One that waited for its next start ended as it last did.
    if (container.now.state == ContainerRun::State::kWaiting && container.last) {
      container.now = *container.last;
      container.last.reset();
      --container.restarts;
      dirty_ = true;
    }
  }
}

/// The processes of a keeper that was killed become children of this process, a subreaper as well.
void Runner::end_strays() {
  end_children([this](pid_t pid) {
    return std::any_of(slots_.begin(), slots_.end(),
                       [&](const Slot& slot) { return slot.keeper == pid; });
  });
}

void Runner::conclude() {
  bool failed = false;
  for (const ContainerState& container : state_.containers) {
    failed = failed || container.now.state != ContainerRun::State::kTerminated ||
             container.now.exit_code != 0;
  }
  state_.phase = failed ? RunPhase::kFailed : RunPhase::kSucceeded;
  dirty_ = true;
}

void Runner::persist() {
  if (!dirty_ || steady_now() < write_again_) return;
  const Result<void> written = write_durably(paths_.state, to_text(state_));
  if (written) {
    dirty_ = false;
    return;
  }
  std::fprintf(stderr, "sluice pod-runner: %s; trying again\n", written.error().text.c_str());
  write_again_ = steady_now() + kRetryWrite;
}

Time Runner::next_time() const {
  Time next = kNever;
  if (dirty_) next = write_again_;
  if (kill_at_ && !killed_ && any_running()) next = std::min(next, *kill_at_);
  for (std::size_t i = 0; !kill_at_ && i < slots_.size(); ++i) {
    const ContainerState& container = state_.containers[i];
    if (container.now.state == ContainerRun::State::kWaiting && container.restarts > 0) {
      next = std::min(next, slots_[i].due);
    }
  }
  return next;
}

void Runner::take_signals(int signals) {
  signalfd_siginfo info{};
  while (::read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGTERM) stop();
  }
}

void Runner::wait(int signals) {
  std::vector<pollfd> polled{{signals, POLLIN, 0}};
  std::vector<std::size_t> owners{0};
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    for (const Fd* fd : {&slots_[i].out, &slots_[i].err}) {
      if (!*fd) continue;
      polled.push_back({fd->get(), POLLIN, 0});
      owners.push_back(i);
    }
  }
  int timeout = -1;
  if (const Time next = next_time(); next != kNever) {
    const Duration left = std::max<Duration>(0, next - steady_now());
    timeout = static_cast<int>(std::min<Duration>(left / kMillisecond + 1, 3'600'000));
  }
  ::poll(polled.data(), polled.size(), timeout);
  for (std::size_t p = 1; p < polled.size(); ++p) {
    if (polled[p].revents != 0) read_output(owners[p]);
  }
  take_signals(signals);
}

int Runner::run(int signals) {
  if (spec_.own_memory && !leave_shared_memory())
    trouble_ =
        "cannot give the pod shared memory of its own: " + std::generic_category().message(errno);
  if (read_file(paths_.stop)) stop();  // asked for before this process was there
  start_what_is_due();
  while (!finished()) {
    persist();
    wait(signals);
    if (kill_at_ && !killed_ && steady_now() >= *kill_at_) {
      kill_all(SIGKILL);
      killed_ = true;
    }
    reap();
    start_what_is_due();
  }
  end_strays();
  if (!spec_.group.empty()) end_group(spec_.group);
  conclude();
  for (persist(); dirty_; persist()) {
    std::error_code ignored;
    if (!std::filesystem::exists(paths_.state.parent_path(), ignored) && !ignored)
      return 1;  // the host's folder was removed: no host will read a state
    ::poll(nullptr, 0, 200);
  }
  return 0;
}

int block_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2}) {
    ::sigaddset(&set, number);
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int refuse(const std::string& text) {
  std::fprintf(stderr, "sluice pod-runner: %s\n", text.c_str());
  return 1;
}

}  // namespace

int run_pod_runner(const std::filesystem::path& root, const std::string& uid) {
  const int signals = block_signals();
  if (signals < 0) return refuse("cannot watch signals");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::signal(SIGXFSZ, SIG_IGN);  // a log that may not grow loses lines
  RunPaths paths(root, uid);
  const auto text = read_file("/proc/self/fd/" + std::to_string(kSpecificationFd));
  if (!text) return refuse("nobody told what to run");
  ::close(kSpecificationFd);
  Result<RunSpec> spec = parse_run_spec(*text);
  if (!spec) return refuse(spec.error().text);
  const Result<bool> mine = create_durably(paths.owner, to_text(this_process()));
  if (!mine) return refuse(mine.error().text);
  if (!*mine) return refuse("pod " + uid + " has an owner already");
  std::error_code ignored;
  std::filesystem::create_directories(paths.work, ignored);
  // Where it really is, so that its parents may be entered.
  if (const auto work = std::filesystem::canonical(paths.work, ignored); !ignored)
    paths.work = work;
  return Runner(std::move(*spec), std::move(paths)).run(signals);
}

}  // namespace sluice::host
