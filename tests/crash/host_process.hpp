// HostProcess: a real `sluice serve` that is killed and started again on the same folder.
//
// A child of this process, ended with it whatever happens. One thread; token() and port() stay as
// they are while it runs, and may then be read by any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.hpp"
#include "tests/host/apiserver/client.hpp"

namespace sluice::host::test {

class HostProcess {
 public:
  /// `config` is written into `folder`, where the process runs.
  HostProcess(std::filesystem::path binary, std::filesystem::path folder,
              const std::string& config);
  ~HostProcess();  // kills it
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;

  /// Starts the process and waits for nothing.
  Result<void> spawn();
  /// Waits for the ready line. An error when the process ended without it.
  Result<void> wait_until_ready();
  /// SIGKILL, and waits for its end. Nothing happens when it does not run.
  void kill();

  std::uint16_t port() const { return port_; }
  const std::string& token() const { return token_; }
  pid_t pid() const { return pid_; }
  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& binary() const { return binary_; }
  /// The end of what the process logged.
  std::string log() const;

 private:
  std::filesystem::path binary_, folder_;
  std::string token_;
  std::uint16_t port_ = 0;
  pid_t pid_ = 0;
  int output_ = -1;
};

/// A connection to a host as its administrator.
class AdminClient {
 public:
  explicit AdminClient(const HostProcess& host) : AdminClient(host.port(), host.token()) {}
  AdminClient(std::uint16_t port, const std::string& token);

  Answer get(const std::string& path) { return client_.get(path, headers_); }
  Answer send(const char* method, const std::string& path, const std::string& body,
              const char* type = "application/json");
  /// For streams.
  Client& raw() { return client_; }
  const std::string& headers() const { return headers_; }

 private:
  Client client_;
  std::string headers_;
};

}  // namespace sluice::host::test
