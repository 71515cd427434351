#include "host/executor/process/own_memory.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sluice::host {
namespace {

constexpr const char* kSharedFiles = "/dev/shm";

}  // namespace

bool leave_shared_memory() {
  if (::unshare(CLONE_NEWIPC | CLONE_NEWNS) != 0) return false;
  // What is mounted on the machine later is seen here too, and not the other way around.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return false;
  if (::access(kSharedFiles, F_OK) != 0) return true;  // then nothing is shared by it
  return ::mount("shm", kSharedFiles, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0;
}

bool is_in_shared_memory(const std::filesystem::path& path) {
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(path, error) / "";
  return !error && real.starts_with(std::string(kSharedFiles) + "/");
}

std::string why_no_own_memory() {
  const pid_t pid = ::fork();
  if (pid < 0) return "no process can be started to try it";
  if (pid == 0) ::_exit(leave_shared_memory() ? 0 : errno & 0x7f);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return std::generic_category().message(WIFEXITED(status) ? WEXITSTATUS(status) : EINTR);
}

}  // namespace sluice::host
