// Running one test in a process of its own, so that a crash or a hang is a result, not an accident.
//
// REQUIRES: the calling process has one thread (the child goes on after fork()).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/plugins/validate/asked.hpp"

namespace sluice::host {

struct TestVerdict {
  enum class Status : std::uint8_t { kSuccess, kFailed, kCrashed, kSkipped };
  Status status = Status::kSuccess;
  std::string detail;  ///< why not success
  AskedCall call{};    ///< into the plugin, in which it happened
};

/// `success`, `failed`, `crashed` or `skipped`.
std::string_view status_name(TestVerdict::Status status);

/// Runs test() in a child. A signal, an exit without a verdict or the end of the time is kCrashed.
TestVerdict run_in_child(const std::function<TestVerdict()>& test,
                         std::chrono::milliseconds timeout);

}  // namespace sluice::host
