// Workers: runs independent pieces of work on several threads and waits for all of them.
//
// The order in which pieces run is not defined, so a piece writes only what belongs to it; what
// the pieces found is merged by the caller afterwards. Everything the caller wrote before run() is
// visible to the pieces, and everything they wrote is visible after it. One thread at a time may
// call run(); a piece does not call it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace sluice {

class Workers {
 public:
  /// threads: how many run at once, the caller included; 0 means all cores.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Calls piece(i) once for each i below n. Pieces must not throw.
  void run(std::size_t n, const std::function<void(std::size_t)>& piece);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
