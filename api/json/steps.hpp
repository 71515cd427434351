// Steps: how often the loops of a write went round on this thread: values visited, entries moved,
// keys compared.
//
// No request may cost more than its size. That is tested by counting, not by a clock, so each loop
// over what a client sent counts here; and work that one request could repeat again and again is
// bounded by this count. The number only grows; a caller looks at differences. Per thread.
#pragma once

#include <cstdint>

namespace sluice::api {

class Steps {
 public:
  static void count(std::uint64_t steps = 1) { taken_ += steps; }
  static std::uint64_t taken() { return taken_; }

 private:
  static inline constinit thread_local std::uint64_t taken_ = 0;
};

/// How often a text was parsed and a workload's status was put into JSON, likewise.
class Conversions {
 public:
  static void parsed() { ++parses_; }
  static void encoded() { ++encodings_; }
  static std::uint64_t parses() { return parses_; }
  static std::uint64_t encodings() { return encodings_; }

 private:
  static inline constinit thread_local std::uint64_t parses_ = 0, encodings_ = 0;
};

}  // namespace sluice::api
