#include "host/executor/process/supervisor.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "host/base/log.hpp"
#include "host/base/wall_clock.hpp"
#include "host/executor/process/control_group.hpp"
#include "host/executor/process/linked_folder.hpp"
#include "host/executor/process/place.hpp"

namespace sluice::host {
namespace {

bool watch(const Fd& epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

constexpr std::string_view kRemoved = "removed-";

std::vector<std::string> entries(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// UIDs name folders, and clients may choose them.
bool may_name_folder(std::string_view uid) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  return !uid.empty() && uid.size() <= 128 && uid.front() != '.' &&
         uid.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// The attributes of a runner: a session of its own, its specification as the only descriptor that
/// it inherits, default signals.
class SpawnSettings {
 public:
  SpawnSettings(const std::filesystem::path& output, int specification) {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    sigset_t set;
    ::sigfillset(&set);
    ::posix_spawnattr_setsigdefault(&attributes_, &set);
    ::sigemptyset(&set);
    ::posix_spawnattr_setsigmask(&attributes_, &set);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, specification, kSpecificationFd);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, kSpecificationFd + 1);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

}  // namespace

Supervisor::Supervisor(std::filesystem::path root, std::vector<std::string> runner)
    : root_(std::move(root)), runner_(std::move(runner)) {}

Supervisor::~Supervisor() = default;

Result<std::unique_ptr<Supervisor>> Supervisor::open(const std::filesystem::path& root,
                                                     std::vector<std::string> runner) {
  std::error_code problem;
  const std::filesystem::path absolute = std::filesystem::absolute(root, problem);
  for (const char* part : {"pods", "states"}) {
    std::filesystem::create_directories(absolute / part, problem);
    if (problem) {
      return Error{"cannot create the folder " + (absolute / part).string() + ": " +
                   problem.message()};
    }
  }
  std::filesystem::permissions(absolute, std::filesystem::perms::owner_all, problem);
  std::unique_ptr<Supervisor> made(new Supervisor(absolute, std::move(runner)));
  for (const std::string& name : entries(absolute))
    if (name.starts_with(kRemoved)) made->remove_left(name.substr(kRemoved.size()));
  if (auto settled = made->settle(); !settled) return settled.error();
  if (auto watching = made->watch_folders(); !watching) return watching.error();
  return made;
}

/// Of a copy, the processes belong to the host of the folder that was copied: nothing here may end
/// them, or touch what they write.
Result<void> Supervisor::settle() {
  const Result<bool> copy = is_a_copy(root_);
  if (!copy) return copy.error();
  if (*copy) {
    for (const std::string& uid : known()) {
      const RunPaths paths(root_, uid);
      for (const std::filesystem::path& link : {paths.logs, paths.work})
        if (auto dropped = drop_link(link); !dropped) return dropped;
      if (auto nobody = write_durably(paths.owner, to_text(ProcessId{})); !nobody) return nobody;
      const Result<RunState> state = read_state(uid);
      if (state && state->ended()) continue;
      if (auto lost = mark_lost(uid, "this is a copy of the store of the host that runs the pod");
          !lost)
        return lost.error();
    }
  }
  return note_place(root_);
}

Result<void> Supervisor::watch_folders() {
  events_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  notices_ = Fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const std::filesystem::path states = root_ / "states";
  if (!events_ || !notices_ ||
      ::inotify_add_watch(notices_.get(), states.c_str(), IN_MOVED_TO | IN_ONLYDIR) < 0 ||
      !watch(events_, notices_.get())) {
    return system_error("cannot watch", states);
  }
  return {};
}

Result<bool> Supervisor::start(const RunSpec& spec) {
  if (!may_name_folder(spec.uid)) {
    return Error{"metadata.uid \"" + spec.uid +
                 "\" cannot name a folder: only letters, digits, '-', '_' and '.' are allowed"};
  }
  const RunPaths paths(root_, spec.uid);
  Result<bool> created = create_folder_durably(paths.folder);
  if (!created) return created;
  if (!*created && (running(spec.uid) || claimed(spec.uid))) return false;
  Result<void> written = write_durably(paths.spec, to_text(outline_of(spec)));
  if (written && !log_folder_.empty()) written = link_folder(paths.logs, log_folder_ / spec.uid);
  if (written && spec.user != 0)
    written = link_folder(paths.work, work_folder_ / spec.uid, {spec.user, spec.group_id});
  Result<int> pid = written ? spawn(spec, paths) : Result<int>(written.error());
  if (!pid) {
    // The folder stays: it is what keeps the pod from being started a second time.
    const Result<RunState> lost = mark_lost(spec.uid, pid.error().text);
    if (!lost) return lost.error();
    return pid.error();
  }
  Owner owner;
  owner.process = Fd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(*pid), 0)));
  if (!owner.process) {
    // Nobody would hear of its end, so it does not run on; it leads a session of its own.
    const Error unwatched = system_error("cannot watch the runner of", paths.folder);
    ::kill(-static_cast<pid_t>(*pid), SIGKILL);
    ::waitpid(static_cast<pid_t>(*pid), nullptr, 0);
    const Result<RunState> lost = mark_lost(spec.uid, unwatched.text);
    return lost ? unwatched : lost.error();
  }
  follow(spec.uid, std::move(owner));
  return true;
}

Result<int> Supervisor::spawn(const RunSpec& spec, const RunPaths& paths) const {
  const Result<Fd> told = in_memory(to_text(spec));
  if (!told) return told.error();
  const SpawnSettings settings(paths.folder / "runner.log", told->get());
  std::vector<std::string> words = runner_;
  words.push_back(root_.string());
  words.push_back(spec.uid);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int problem = ::posix_spawn(&pid, argv.front(), &settings.actions_, &settings.attributes_,
                                    argv.data(), environ);
  if (problem != 0) {
    return Error{"cannot start " + words.front() + ": " + std::generic_category().message(problem)};
  }
  return static_cast<int>(pid);
}

void Supervisor::follow(const std::string& uid, Owner owner) {
  watch(events_, owner.process.get());
  by_fd_[owner.process.get()] = uid;
  owners_[uid] = std::move(owner);
}

void Supervisor::put_groups(const std::filesystem::path& folder) {
  group_folder_ = folder;
  if (folder.empty()) return;
  const std::vector<std::string> pods = known();
  std::error_code ignored;
  for (const std::string& uid : entries(folder))
    if (std::filesystem::is_directory(folder / uid, ignored) &&
        !std::binary_search(pods.begin(), pods.end(), uid))
      end_group_of(uid);
}

void Supervisor::end_group_of(const std::string& uid) const {
  if (!group_folder_.empty()) end_group(group_folder_ / uid);
}

std::vector<std::string> Supervisor::known() const { return entries(root_ / "pods"); }

bool Supervisor::claimed(const std::string& uid) const {
  return read_file(RunPaths(root_, uid).owner).has_value();
}

std::optional<Fd> Supervisor::running_owner(const std::string& uid) const {
  const auto text = read_file(RunPaths(root_, uid).owner);
  if (!text) return std::nullopt;
  const Result<ProcessId> process = parse_process_id(*text);
  return process ? watch_process(*process) : std::nullopt;
}

Result<RunState> Supervisor::adopt(const std::string& uid) {
  const RunPaths paths(root_, uid);
  // The state is read last: an owner that is gone has written its last state.
  if (running(uid)) return read_state(uid);
  const Result<bool> mine = create_durably(paths.owner, to_text(ProcessId{}));
  if (!mine) return mine.error();
  if (*mine) return mark_lost(uid, "the host ended before the pod was started");
  const auto text = read_file(paths.owner);
  if (!text) return system_error("cannot read", paths.owner);
  const Result<ProcessId> process = parse_process_id(*text);
  std::optional<Fd> alive = process ? watch_process(*process) : std::nullopt;
  if (alive) {
    Owner owner;
    owner.process = std::move(*alive);
    follow(uid, std::move(owner));
    return read_state(uid);
  }
  // It may be a child of this process that ended while no supervisor looked.
  if (process && process->pid > 0) ::waitpid(static_cast<pid_t>(process->pid), nullptr, WNOHANG);
  Result<RunState> state = read_state(uid);
  if (!state || state->ended()) return state;
  return mark_lost(uid, "the pod's runner ended without a record of how the containers ended");
}

Result<RunState> Supervisor::read_state(const std::string& uid) const {
  const RunPaths paths(root_, uid);
  if (const auto text = read_file(paths.state)) {
    Result<RunState> state = parse_run_state(*text);
    if (!state) return state.error().context(paths.state.string());
    return state;
  }
  const auto text = read_file(paths.spec);
  if (!text) return RunState{};
  Result<RunSpec> spec = parse_run_spec(*text);
  if (!spec) return spec.error().context(paths.spec.string());
  return fresh_state(*spec);
}

Result<RunState> Supervisor::mark_lost(const std::string& uid, const std::string& why) {
  end_group_of(uid);  // a killed runner may have left processes
  const RunPaths paths(root_, uid);
  Result<RunState> read = read_state(uid);
  RunState state = read ? *read : RunState{};
  state.phase = RunPhase::kFailed;
  state.reason = "ProcessLost";
  state.message = why;
  for (ContainerState& container : state.containers) {
    if (container.now.state != ContainerRun::State::kRunning) continue;
    container.now.state = ContainerRun::State::kTerminated;
    container.now.reason = "ContainerStatusUnknown";
    container.now.message = "how it ended is not known";
    container.now.exit_code = 137;
    container.now.finished = wall_clock();
    container.now.pid = 0;
  }
  unwritten_[uid] = state;
  // A runner that comes too late finds the owner's record and leaves.
  const Result<bool> claimed = create_durably(paths.owner, to_text(ProcessId{}));
  if (!claimed) return claimed.error();
  const Result<void> written = write_durably(paths.state, to_text(state));
  if (!written) return written.error();
  unwritten_.erase(uid);
  return state;
}

Result<void> Supervisor::stop(const std::string& uid, std::int64_t grace_seconds) {
  const auto owner = owners_.find(uid);
  if (owner == owners_.end()) return {};
  const RunPaths paths(root_, uid);
  // On a full disk it is asked all the same: with the grace of its own.
  Result<void> written = write_durably(paths.stop, std::to_string(grace_seconds));
  // A runner that was started a moment ago may not block signals yet; once it has written its
  // record it does, and before that it will find the file.
  if (!read_file(paths.owner)) return written;
  if (::syscall(SYS_pidfd_send_signal, owner->second.process.get(), SIGTERM, nullptr, 0) != 0 &&
      errno != ESRCH) {
    return system_error("cannot signal the runner of", paths.folder);
  }
  return {};
}

void Supervisor::forget(const std::string& uid) {
  end_group_of(uid);
  const RunPaths paths(root_, uid);
  std::error_code ignored;
  std::filesystem::remove(paths.state, ignored);
  unwritten_.erase(uid);
  // The folder is what tells that the pod was started: it goes away at once, by a rename.
  std::filesystem::rename(paths.folder, root_ / (std::string(kRemoved) + uid), ignored);
  remove_left(uid);
}

void Supervisor::remove_left(const std::string& uid) {
  const RunPaths paths(root_, uid);
  remover_.remove({root_ / (std::string(kRemoved) + uid),
                   uid,
                   {paths.logs.filename().string(), paths.work.filename().string()}});
}

std::vector<RunReport> Supervisor::poll() {
  std::vector<std::string> uids;
  read_notices(uids);
  reap(uids);
  std::sort(uids.begin(), uids.end());
  uids.erase(std::unique(uids.begin(), uids.end()), uids.end());
  std::vector<RunReport> reports;
  for (std::string& uid : uids) {
    const auto unwritten = unwritten_.find(uid);
    Result<RunState> state = unwritten == unwritten_.end() ? read_state(uid) : unwritten->second;
    if (state) reports.push_back({std::move(uid), std::move(*state)});
  }
  return reports;
}

void Supervisor::read_notices(std::vector<std::string>& uids) {
  alignas(inotify_event) std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::read(notices_.get(), buffer.data(), buffer.size());
    if (n <= 0) return;
    for (const char* at = buffer.data(); at < buffer.data() + n;) {
      inotify_event event{};
      std::memcpy(&event, at, sizeof event);
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        for (const auto& [uid, owner] : owners_) uids.push_back(uid);
      } else if (event.len > 0) {
        uids.emplace_back(at + sizeof event);
      }
      at += sizeof event + event.len;
    }
  }
}

void Supervisor::runner_ended(const std::string& uid) {
  // It may have come second to a runner that an earlier host had started. The state is read last,
  // as in adopt().
  if (std::optional<Fd> other = running_owner(uid)) {
    Owner owner;
    owner.process = std::move(*other);
    const int process = owner.process.get();
    follow(uid, std::move(owner));
    if (read_file(RunPaths(root_, uid).stop))
      ::syscall(SYS_pidfd_send_signal, process, SIGTERM, nullptr, 0);
    return;
  }
  const Result<RunState> state = read_state(uid);
  if (state && state->ended()) return;
  const Result<RunState> lost =
      mark_lost(uid, "the pod's runner ended without a record of how the containers ended");
  if (!lost)
    log(LogLevel::kError, "executor", "its end cannot be written down: " + lost.error().text,
        {{"pod", uid}});
}

void Supervisor::reap(std::vector<std::string>& uids) {
  std::array<epoll_event, 128> ready;
  const int count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count; ++i) {
    const auto found = by_fd_.find(ready[static_cast<std::size_t>(i)].data.fd);
    if (found == by_fd_.end()) continue;
    const std::string uid = found->second;
    Owner owner = std::move(owners_[uid]);
    by_fd_.erase(found);
    owners_.erase(uid);
    // Also what an earlier supervisor of this process started; ECHILD when it was another process.
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(owner.process.get()), &info, WEXITED | WNOHANG);
    runner_ended(uid);
    uids.push_back(uid);
  }
}

}  // namespace sluice::host
