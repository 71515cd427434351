#include "tests/crash/host_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "host/client/kubeconfig.hpp"

namespace sluice::host::test {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

HostProcess::HostProcess(std::filesystem::path binary, std::filesystem::path folder,
                         const std::string& config)
    : binary_(std::move(binary)), folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "sluice.yaml") << config;
}

HostProcess::~HostProcess() { kill(); }

Result<void> HostProcess::spawn() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error{"no pipe"};
  const std::string log = (folder_ / "log").string();
  const std::string config = (folder_ / "sluice.yaml").string();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int err = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    if (::chdir(folder_.c_str()) == 0)
      ::execl(binary_.c_str(), "sluice", "serve", "--config", config.c_str(), nullptr);
    std::_Exit(127);
  }
  ::close(ends[1]);
  output_ = ends[0];
  return pid_ > 0 ? Result<void>() : Error{"cannot fork"};
}

Result<void> HostProcess::wait_until_ready() {
  std::string line;
  for (char c = 0; c != '\n';) {
    if (::read(output_, &c, 1) != 1) return Error{"the host did not start:\n" + log()};
    line += c;
  }
  // ready https://ADDRESS:PORT kubeconfig PATH
  std::istringstream words(line);
  std::string ready, address, name, path;
  words >> ready >> address >> name >> path;
  if (ready != "ready") return Error{"no ready line: " + line};
  port_ = static_cast<std::uint16_t>(std::atoi(address.c_str() + address.rfind(':') + 1));
  const auto config = load_kubeconfig((folder_ / path).string());
  if (!config) return config.error();
  token_ = config->token;
  return {};
}

void HostProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
  ::close(std::exchange(output_, -1));
}

std::string HostProcess::log() const {
  std::string text = text_of(folder_ / "log");
  constexpr std::size_t kMost = 3000;
  return text.size() > kMost ? text.substr(text.size() - kMost) : text;
}

AdminClient::AdminClient(std::uint16_t port, const std::string& token)
    : client_(port, ClientTls{}), headers_("Authorization: Bearer " + token + "\r\n") {}

Answer AdminClient::send(const char* method, const std::string& path, const std::string& body,
                         const char* type) {
  return client_.request(method, path, body,
                         headers_ + "Content-Type: " + std::string(type) + "\r\n");
}

}  // namespace sluice::host::test
