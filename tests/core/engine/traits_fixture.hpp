// Tests of what plugins say of workloads: hooks that answer from tables, and one small queue.
// One thread: the test's.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <utility>

#include "tests/core/support/fake_hooks.hpp"
#include "tests/core/support/scenario.hpp"

namespace sluice::testing {

struct Traits : ::testing::Test {
  FakeTraits traits;
  hooks::HostHooks hooks;
  Traits() { hooks.workload_traits = &traits; }
  /// One queue q of 4 cores.
  std::unique_ptr<Scenario> one_queue(Queue queue = Queue("q")) {
    auto s = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
    s->flavor("f").queue(queue.quota("cpu", {{"f", 4}}));
    return s;
  }
};

}  // namespace sluice::testing
