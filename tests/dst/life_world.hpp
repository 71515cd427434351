// LifeWorld: a disk, and the host that lives on it at a time.
//
// Invariant: there is one at any time, and what it wrote is there for the next one. One thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>

#include "tests/dst/life.hpp"

namespace sluice::host::test {

struct LifeWorld {
  explicit LifeWorld(Configuration with) : config(std::move(with)) {
    clock.set(now);
    restart();
  }
  /// The host's process is another one, on the same disk.
  void restart() {
    life.reset();
    life = std::make_unique<Life>(config, rules_of(config, clock), disk, ids, clock, nullptr);
  }
  /// As Life::write(); it is taken.
  void write(WriteVerb verb, std::string_view path, std::string_view body) {
    const auto done = life->write(verb, path, body);
    ASSERT_TRUE(done.ok()) << done.error().text;
  }

  const Time now = *parse_time("2026-01-01T00:00:00Z");
  Configuration config;
  VirtualClock clock;
  CountingIds ids;
  std::shared_ptr<MemoryDisk> disk = std::make_shared<MemoryDisk>();
  std::unique_ptr<Life> life;
};

}  // namespace sluice::host::test
