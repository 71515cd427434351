// KeyRenewal: the keys that a host serves with, over its life. Certificates of its own are renewed
// while it runs, long before they end; files that another program renews (server.tls) are read
// again.
//
// It looks every hour, on a thread of its own. Clients notice nothing: a renewed certificate is of
// the same authority, and connections that are open go on. May be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/access/startup.hpp"
#include "host/base/lookout.hpp"
#include "host/config/config.hpp"

namespace sluice::host {

class KeyRenewal {
 public:
  /// Puts keys in force for new connections; on an error the earlier ones stay.
  using Apply = std::function<Result<void>(const ServerKeys&)>;

  /// `folder`: of the store; empty: keys live in memory only.
  explicit KeyRenewal(std::string folder) : folder_(std::move(folder)) {}
  ~KeyRenewal() { stop(); }
  KeyRenewal(const KeyRenewal&) = delete;
  KeyRenewal& operator=(const KeyRenewal&) = delete;

  /// prepare_keys(), with own keys as they are where they are good.
  Result<ServerKeys> prepare(const ServerConfig& server, std::int64_t now) const;
  /// These are in force, for this configuration.
  void set(const ServerConfig& server, ServerKeys keys);
  ServerKeys keys() const;
  /// Whether there were other keys to put in force, and they are. What goes wrong is logged, and
  /// tried again at the next look.
  bool look(std::int64_t now, const Apply& apply);

  /// Looks every `period` from now on; `seconds` is the time since 1970.
  void start(std::function<std::int64_t()> seconds, Apply apply, Duration period = 3600 * kSecond);
  void stop() { lookout_.reset(); }

 private:
  const std::string folder_;
  mutable std::mutex mutex_;  // guards the next two
  ServerConfig server_;
  ServerKeys keys_;
  std::optional<Lookout> lookout_;  // of start() and stop()
};

}  // namespace sluice::host
