// IdSource: identities of new objects.
//
// The live host draws UIDs of version 7 (RFC 9562): they grow with the time of creation, so that
// two workloads of the same second keep the order in which they came; any thread. The simulation
// counts, on the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <string_view>

#include "api/schema/kind_info.hpp"
#include "core/base/time.hpp"

namespace sluice::host {

class IdSource {
 public:
  virtual ~IdSource() = default;
  virtual std::string uid(Time now) = 0;
  /// The UID of this new object, which has none.
  virtual std::string uid_for(const api::KindInfo& kind, const boost::json::object& object,
                              Time now) {
    static_cast<void>(kind);
    static_cast<void>(object);
    return uid(now);
  }
  /// Five characters that are easy to tell apart, for metadata.generateName.
  virtual std::string suffix() = 0;
};

class LiveIds final : public IdSource {
 public:
  LiveIds() : random_(std::random_device()()) {}
  std::string uid(Time now) override;
  std::string suffix() override;
  /// From now on UIDs are greater than this one, which another LiveIds drew.
  void go_past(std::string_view uid);

 private:
  std::mutex mutex_;
  std::mt19937_64 random_;  // guarded by mutex_, as the rest
  std::uint64_t last_ = 0;  // milliseconds × 4096 + counter: never the same, never smaller
};

/// Same order, same names.
class CountingIds final : public IdSource {
 public:
  std::string uid(Time now) override;
  std::string suffix() override;

 private:
  std::uint64_t uids_ = 0;
  std::uint64_t suffixes_ = 0;
};

}  // namespace sluice::host
