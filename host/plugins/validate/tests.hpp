// The tests of `sluice plugin validate`: what every plugin must withstand.
//
// Each is a function that returns, throws TestFailed or TestSkipped, or crashes; it runs in a
// process of its own (child.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "host/plugins/validate/subject.hpp"

namespace sluice::host {

/// What has to work before a test can say anything.
enum class TestNeeds : std::uint8_t {
  kFile,
  kCode,    ///< the library is loaded before the test runs
  kRunning  ///< and an instance can be created and activated
};

/// Those on which others depend, see TestNeeds.
inline constexpr std::string_view kLoadTest = "load", kStartTest = "create-activate";

struct ValidateTest {
  std::string_view name;
  std::string_view description;
  TestNeeds needs;
  void (*run)(const Subject& subject);
  bool of_processes = true;  ///< whether a plugin in a process of its own has a part in it
};

std::span<const ValidateTest> validate_tests();

}  // namespace sluice::host
