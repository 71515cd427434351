#include "host/executor/process/spawn.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <system_error>
#include <vector>

#include "host/base/files.hpp"
#include "host/executor/process/keeper.hpp"
#include "host/executor/process/start_report.hpp"
#include "host/executor/process/system_calls.hpp"

namespace sluice::host {
namespace {

struct Pipe {
  Fd read, write;
};

bool make(Pipe& pipe, int flags) {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) return false;
  pipe.read = Fd(fds[0]);
  pipe.write = Fd(fds[1]);
  return flags == 0 || ::fcntl(pipe.read.get(), F_SETFL, flags) == 0;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void give_up(int pipe, StartStage stage) {
  ::_exit(tell_failure(pipe, {stage, errno}) ? 127 : 126);
}

void default_signals() {
  for (int number = 1; number < NSIG; ++number) {
    if (number != SIGKILL && number != SIGSTOP) ::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// The calling process goes into the control group.
bool enter(int group) { return group < 0 || ::write(group, "0", 1) == 1; }

/// Where memory is short the kernel ends a job, however small its processes, and not the host or
/// what watches over pods. A machine that does not let this be said has nobody to say it to.
void offer_to_end_first() {
  const Fd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  [[maybe_unused]] const auto said = file ? ::write(file.get(), "1000", 4) : 0;
}

/// A quarter of the processes and threads that the machine can have: so many one user's jobs get
/// together, or one that does nothing but fork would leave nobody any.
bool limit_processes() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) != 0) return false;
  for (const char* file : {"/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"}) {
    const auto text = read_file(file);
    rlim_t most = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), most).ec != std::errc())
      continue;
    limit.rlim_max = std::min(limit.rlim_max, most / 4);
  }
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  return ::setrlimit(RLIMIT_NPROC, &limit) == 0;
}

/// For good: no saved user, no group besides. In this process there is one thread.
bool become_user(const SpawnRights& rights) {
  const auto user = static_cast<uid_t>(rights.user);
  const auto group = static_cast<gid_t>(rights.group);
  return rights.user == 0 ||
         (limit_processes() && ::setgroups(0, nullptr) == 0 &&
          ::setresgid(group, group, group) == 0 && ::setresuid(user, user, user) == 0);
}

/// Gives up rights that the container is not to have.
bool take_rights(const SpawnRights& rights, bool no_new_privileges) {
  const bool fewer = no_new_privileges || rights.user != 0 || !rights.all_calls;
  if (fewer && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return rights.all_calls || refuse_system_calls();
}

/// What a container's first process is to be.
struct Wanted {
  const ContainerSpec& spec;
  const std::string& folder;
  const char* own_folder;  // of the pod
  const SpawnRights& rights;
  int group;  // of SpawnGroups
};

/// A user of the pod's own may not enter folders that are somebody's alone, as the one in which the
/// job was submitted may be: it begins in its own then, and says so.
bool enter_folder(const Wanted& wanted) {
  if (::chdir(wanted.folder.c_str()) == 0) return true;
  if (errno != EACCES || wanted.rights.user == 0 || ::chdir(wanted.own_folder) != 0) return false;
  for (const char* text : {"sluice: this user may not enter the working directory ",
                           wanted.folder.c_str(), ": it begins in ", wanted.own_folder, "\n"})
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return false;
  return true;
}

[[noreturn]] void become(const Wanted& wanted, const std::vector<char*>& argv,
                         std::vector<char*>& env, const Pipe& out, const Pipe& err,
                         const Pipe& failed, pid_t keeper) {
  ::setsid();
  if (!enter(wanted.group)) give_up(failed.write.get(), StartStage::kGroup);
  offer_to_end_first();  // before it is somebody who may take less
  if (!become_user(wanted.rights)) give_up(failed.write.get(), StartStage::kUser);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);       // which another user would forget
  if (::getppid() != keeper) ::_exit(126);  // it died before the line above
  default_signals();
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(out.write.get(), STDOUT_FILENO) < 0 ||
      ::dup2(err.write.get(), STDERR_FILENO) < 0) {
    give_up(failed.write.get(), StartStage::kSetup);
  }
  ::umask(022);
  if (!take_rights(wanted.rights, wanted.spec.no_new_privileges))
    give_up(failed.write.get(), StartStage::kSetup);
  if (!enter_folder(wanted)) give_up(failed.write.get(), StartStage::kFolder);
  environ = env.data();  // execvp looks for the program in this PATH
  ::execvp(argv.front(), argv.data());
  give_up(failed.write.get(), StartStage::kProgram);
}

/// Tells the number of the container's first process, and is its keeper from then on.
[[noreturn]] void keep(pid_t first, const Pipe& failed) {
  const int pipe = failed.write.get();
  if (!tell_first(pipe, first)) ::_exit(126);
  // What the runner has open (its signals, the output of other containers) is not the keeper's.
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  keep_container(first);
}

SpawnError describe(const StartFailure& failure, const ContainerSpec& spec,
                    const std::string& folder) {
  const std::string reason = std::generic_category().message(failure.error);
  if (failure.stage == StartStage::kFolder) {
    return {126, "cannot enter the working directory " + folder + ": " + reason};
  }
  if (failure.stage == StartStage::kProgram) {
    return {failure.error == ENOENT ? 127 : 126,
            "cannot run " + spec.argv.front() + " in " + folder + ": " + reason};
  }
  const char* const what = failure.stage == StartStage::kGroup ? "cannot enter the control group: "
                           : failure.stage == StartStage::kUser
                               ? "cannot become the user of the pod: "
                               : "cannot set up the process: ";
  return {126, what + reason};
}

SpawnError now(std::string_view what) {
  return {126, std::string(what) + ": " + std::generic_category().message(errno)};
}

}  // namespace

Result<Spawned, SpawnError> spawn_container(const ContainerSpec& spec,
                                            const std::filesystem::path& default_folder,
                                            const SpawnRights& rights, const SpawnGroups& groups) {
  const std::string folder = spec.working_dir.empty() ? default_folder.string() : spec.working_dir;
  Pipe out, err, failed;
  if (!make(out, O_NONBLOCK) || !make(err, O_NONBLOCK) || !make(failed, 0)) {
    return now("cannot make a pipe");
  }
  // Programs open /dev/stdout and /dev/stderr by name.
  for (const Pipe* pipe : {&out, &err})
    if (rights.user != 0 && ::fchown(pipe->write.get(), static_cast<uid_t>(rights.user),
                                     static_cast<gid_t>(rights.group)) != 0)
      return now("cannot give the output to the user of the pod");
  const std::vector<char*> argv = pointers(spec.argv);
  std::vector<char*> env = pointers(spec.env);
  const pid_t runner = ::getpid();
  const pid_t keeper = ::fork();
  if (keeper < 0) return now("cannot start a process");
  if (keeper == 0) {
    if (!enter(groups.keeper) || !become_keeper(runner)) ::_exit(126);
    const pid_t self = ::getpid();
    const pid_t first = ::fork();
    if (first == 0)
      become({spec, folder, default_folder.c_str(), rights, groups.container}, argv, env, out, err,
             failed, self);
    if (first < 0) ::_exit(126);
    keep(first, failed);
  }
  failed.write.reset();
  const StartReport report = read_start_report(failed.read.get());
  if (report.first && !report.failure)
    return Spawned{*report.first, keeper, std::move(out.read), std::move(err.read)};
  ::waitpid(keeper, nullptr, 0);
  return describe(report.failure.value_or(StartFailure{StartStage::kSetup, EAGAIN}), spec, folder);
}

}  // namespace sluice::host
