// TroubleLog: what goes wrong each time that something is tried, in the log once, until something
// else does or all is well. One thread.
#pragma once

#include <string>
#include <utility>

#include "host/base/log.hpp"

namespace sluice::host {

class TroubleLog {
 public:
  /// `part`: of the host, as log() has it.
  explicit TroubleLog(std::string part) : part_(std::move(part)) {}

  /// How the last try went; empty: well.
  void tell(const std::string& trouble) {
    if (trouble == trouble_) return;
    trouble_ = trouble;
    if (!trouble.empty()) log(LogLevel::kWarning, part_, trouble);
  }

 private:
  const std::string part_;
  std::string trouble_;  // told last
};

}  // namespace sluice::host
