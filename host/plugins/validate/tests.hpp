// The tests of `sluice plugin validate`: what every plugin must withstand.
//
// Each is a function that returns, throws TestFailed or TestSkipped, or crashes; it runs in a
// process of its own (child.hpp).
#pragma once

#include <span>
#include <string_view>

#include "host/plugins/validate/subject.hpp"

namespace sluice::host {

struct ValidateTest {
  std::string_view name;
  std::string_view description;
  bool loads;  ///< the library is loaded before the test runs
  void (*run)(const Subject& subject);
  bool of_processes = true;  ///< whether a plugin in a process of its own has a part in it
};

std::span<const ValidateTest> validate_tests();

}  // namespace sluice::host
