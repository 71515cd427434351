#include "host/plugins/clock.hpp"

#include <ctime>

namespace sluice::host {

namespace {

std::int64_t read(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

}  // namespace

Time SystemPluginClock::now() const { return read(CLOCK_REALTIME); }

Duration SystemPluginClock::steady() const { return read(CLOCK_MONOTONIC); }

}  // namespace sluice::host
