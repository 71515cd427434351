// UsageMeter: what pods that run use now: processors by what they used since the last reading (or
// since they started), memory as it is.
//
// It measures when it is asked, once a second at most: without requests a host measures nothing.
// Any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/time.hpp"
#include "host/executor/process/process_tree.hpp"

namespace sluice::host {

struct ContainerUsage {
  std::string name;
  std::int64_t cpu_nano = 0;  ///< billionths of a processor, on the average over the window
  std::int64_t memory_bytes = 0;
};

struct PodUsage {
  Time at = 0;
  Duration window = 0;
  std::vector<ContainerUsage> containers;  ///< that run
};

class UsageMeter {
 public:
  /// `groups`: the folder of the pods' control groups; empty: they have none.
  explicit UsageMeter(std::filesystem::path groups) : groups_(std::move(groups)) {}

  /// `pod`: the object. nullopt: no process of it runs.
  std::optional<PodUsage> of(const boost::json::object& pod, Time now);

 private:
  struct Reading {
    Time at = 0;
    std::int64_t cpu_us = 0;
    std::int64_t memory_bytes = 0;
  };
  struct Container {
    Reading before, last;
    std::int64_t pid = 0;
  };
  std::optional<Reading> read(const std::string& uid, const std::string& name, std::int64_t pid,
                              Time now);
  void forget_ended(Time now);

  const std::filesystem::path groups_;
  std::mutex mutex_;
  ProcessTree tree_;  // guarded by mutex_, as the rest
  Time looked_ = 0;
  std::map<std::pair<std::string, std::string>, Container> known_;  // by UID and container
};

}  // namespace sluice::host
