#include "bench/rest/host_process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/client/kubeconfig.hpp"

namespace sluice::bench {
namespace {

namespace fs = std::filesystem;

// Free a moment ago, which has to do: the plain listener says its port nowhere.
std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0) fail("no free port");
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

pid_t spawn(const std::string& sluice, const fs::path& folder, int& out) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) fail("no pipe");
  const std::string config = folder / "sluice.yaml", log = folder / "host.log";
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(pipe_ends[1], STDOUT_FILENO);
    const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDERR_FILENO);
    close(pipe_ends[0]);
    execl(sluice.c_str(), "sluice", "serve", "--config", config.c_str(), nullptr);
    _exit(127);
  }
  close(pipe_ends[1]);
  out = pipe_ends[0];
  return pid;
}

}  // namespace

HostProcess::HostProcess(const std::string& sluice, const std::string& folder,
                         const HostExtras& extras)
    : folder_(folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::uint16_t port = free_port();
  const std::string tokens = fs::path(folder) / "tokens";
  std::ofstream(tokens) << extras.tokens;
  std::ofstream(fs::path(folder) / "sluice.yaml")
      << "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n"
      << "server: {address: \"127.0.0.1:0\", insecureHttp: \"127.0.0.1:" << port
      << "\", tokenFile: \"" << tokens << "\"" << (extras.server.empty() ? "" : ", ")
      << extras.server << "}\n"
      << "metrics: {address: \"127.0.0.1:0\"}\n"
      << "executor: {type: none}\n"
      << "store: {path: \"" << (fs::path(folder) / "data").string() << "\"}\n";
  int out = -1;
  pid_ = spawn(sluice, folder, out);
  FILE* lines = fdopen(out, "r");
  char line[1024] = "";
  const bool said = fgets(line, sizeof line, lines) != nullptr;
  fclose(lines);
  const std::string text = line;
  const std::size_t at = text.find(" kubeconfig ");
  if (!said || at == std::string::npos) fail("the host did not start; see " + folder + "/host.log");
  auto config = host::load_kubeconfig(text.substr(at + 12, text.size() - at - 13));
  if (!config) fail(config.error().text);
  const std::size_t colon = config->server.rfind(':');
  secure_ = {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(config->server.substr(colon + 1))),
             config->token, make_tls(config->ca)};
  plain_ = secure_;
  plain_.port = port;
  plain_.tls = nullptr;
}

HostProcess::~HostProcess() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  fs::remove_all(fs::path(folder_) / "data", ignored);
}

ThreadSeconds HostProcess::threads() const {
  ThreadSeconds out;
  const double tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", pid_))) {
    std::ifstream file(task.path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t begin = text.find('('), end = text.rfind(')');
    if (begin == std::string::npos || end == std::string::npos) continue;
    std::istringstream fields(text.substr(end + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    out[text.substr(begin + 1, end - begin - 1)] += (user + system) / tick;
  }
  return out;
}

double HostProcess::resident() const {
  std::ifstream file(fmt::format("/proc/{}/statm", pid_));
  double size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double HostProcess::peak_resident() const {
  std::ifstream file(fmt::format("/proc/{}/status", pid_));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

double total(const ThreadSeconds& seconds) {
  double out = 0;
  for (const auto& entry : seconds) out += entry.second;
  return out;
}

}  // namespace sluice::bench
