#include "host/executor/process/spawn.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <vector>

#include "host/executor/process/keeper.hpp"

namespace sluice::host {
namespace {

/// What the child tells through its pipe when it cannot become the program.
struct ChildFailure {
  int stage = 0;
  int error = 0;
};

enum Stage : int { kStageSetup, kStageGroup, kStageFolder, kStageProgram };

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

[[noreturn]] void give_up(int pipe, int stage) {
  const ChildFailure failure{stage, errno};
  const ssize_t written = ::write(pipe, &failure, sizeof failure);
  ::_exit(written == static_cast<ssize_t>(sizeof failure) ? 127 : 126);
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

[[noreturn]] void become(const std::vector<char*>& argv, std::vector<char*>& env,
                         const std::string& folder, bool no_new_privileges, const Pipe& out,
                         const Pipe& err, const Pipe& failed, pid_t keeper, int group) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(126);  // it died before the line above
  if (!enter(group)) give_up(failed.write.get(), kStageGroup);
  default_signals();
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(out.write.get(), STDOUT_FILENO) < 0 ||
      ::dup2(err.write.get(), STDERR_FILENO) < 0) {
    give_up(failed.write.get(), kStageSetup);
  }
  ::umask(022);
  if (no_new_privileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    give_up(failed.write.get(), kStageSetup);
  if (::chdir(folder.c_str()) != 0) give_up(failed.write.get(), kStageFolder);
  environ = env.data();  // execvp looks for the program in this PATH
  ::execvp(argv.front(), argv.data());
  give_up(failed.write.get(), kStageProgram);
}

/// Tells the number of the container's first process, and is its keeper from then on.
[[noreturn]] void keep(pid_t first, const Pipe& failed) {
  const int pipe = failed.write.get();
  if (::write(pipe, &first, sizeof first) != static_cast<ssize_t>(sizeof first)) ::_exit(126);
  // What the runner has open (its signals, the output of other containers) is not the keeper's.
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  keep_container(first);
}

/// Reads so many bytes, or what comes before the end.
ssize_t read_told(const Fd& from, void* to, std::size_t size) {
  ssize_t n = 0;
  do {
    n = ::read(from.get(), to, size);
  } while (n < 0 && errno == EINTR);
  return n;
}

SpawnError describe(const ChildFailure& failure, const ContainerSpec& spec,
                    const std::string& folder) {
  const std::string reason = std::generic_category().message(failure.error);
  if (failure.stage == kStageFolder) {
    return {126, "cannot enter the working directory " + folder + ": " + reason};
  }
  if (failure.stage == kStageProgram) {
    return {failure.error == ENOENT ? 127 : 126,
            "cannot run " + spec.argv.front() + " in " + folder + ": " + reason};
  }
  return {126, std::string(failure.stage == kStageGroup ? "cannot enter the control group: "
                                                        : "cannot set up the process: ") +
                   reason};
}

SpawnError now(std::string_view what) {
  return {126, std::string(what) + ": " + std::generic_category().message(errno)};
}

}  // namespace

Result<Spawned, SpawnError> spawn_container(const ContainerSpec& spec,
                                            const std::filesystem::path& default_folder,
                                            const SpawnGroups& groups) {
  const std::string folder = spec.working_dir.empty() ? default_folder.string() : spec.working_dir;
  Pipe out, err, failed;
  if (!make(out, O_NONBLOCK) || !make(err, O_NONBLOCK) || !make(failed, 0)) {
    return now("cannot make a pipe");
  }
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
      become(argv, env, folder, spec.no_new_privileges, out, err, failed, self, groups.container);
    if (first < 0) ::_exit(126);
    keep(first, failed);
  }
  failed.write.reset();
  pid_t first = 0;
  ChildFailure failure{kStageSetup, EAGAIN};
  const bool told = read_told(failed.read, &first, sizeof first) == sizeof first;
  // The pipe ends with the exec.
  if (told && read_told(failed.read, &failure, sizeof failure) != sizeof failure)
    return Spawned{first, keeper, std::move(out.read), std::move(err.read)};
  ::waitpid(keeper, nullptr, 0);
  return describe(failure, spec, folder);
}

}  // namespace sluice::host
