// run_host(): `sluice serve`: the process around a HostInstance: addresses and connections, keys,
// signals, the ready line.
//
// Blocks until SIGTERM or SIGINT asked for the end, which is orderly: no new connections, watches
// end, requests that run are answered, everything acknowledged is durable. SIGHUP reads the
// configuration again and puts a new HostInstance in place of the old one; connections live on. For
// the main thread, once.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "host/base/log.hpp"

namespace sluice::host {

struct ServeOptions {
  std::string config_file;  ///< empty: the defaults
  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
};

/// The exit status; an error when it could not start, or had to stop.
Result<int> run_host(const ServeOptions& options);

}  // namespace sluice::host
