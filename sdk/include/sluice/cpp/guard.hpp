// The guard on every function that the host calls: no exception crosses the line.
//
// Stateless; any thread.
#pragma once

#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

#include "sluice/cpp/context.hpp"
#include "sluice/cpp/text.hpp"

namespace sluice::detail {

inline void report(const sluice_host_t* host, std::string_view text) noexcept {
  if (host != nullptr && SLUICE_HAS(host, report_fault) && host->report_fault != nullptr)
    host->report_fault(host, to_abi(text));
}

/// Runs a hook; fn returns nothing (SLUICE_OK) or a code.
template <typename Fn>
std::int32_t guarded(const sluice_host_t* host, Fn&& fn) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(fn())>) {
      fn();
      return SLUICE_OK;
    } else {
      return fn();
    }
  } catch (const std::exception& e) {
    report(host, e.what());
  } catch (...) {
    report(host, "it threw something that is no std::exception");
  }
  return SLUICE_FAILED;
}

/// The same for create and activate, where Refused (or any other exception) has a sentence for the
/// author of the configuration.
template <typename Fn>
std::int32_t guarded_start(const sluice_sink_t* error, Fn&& fn) noexcept {
  try {
    fn();
    return SLUICE_OK;
  } catch (const Refused& e) {
    Sink(error).write(e.what());
    return SLUICE_REFUSED;
  } catch (const std::exception& e) {
    Sink(error).write(e.what());
  } catch (...) {
    Sink(error).write("it threw something that is no std::exception");
  }
  return SLUICE_FAILED;
}

}  // namespace sluice::detail
