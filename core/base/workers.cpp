#include "core/base/workers.hpp"

#include "core/base/sanitizers.hpp"

#if SLUICE_TSAN
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>
#else
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace sluice {

#if SLUICE_TSAN

// ThreadSanitizer cannot see into Debian's TBB and would report its own synchronisation as races.
// Plain threads keep what it is here for: races between the pieces.
struct Workers::State {
  std::size_t threads;
};

Workers::Workers(int threads)
    : state_(std::make_unique<State>(
          State{threads > 0 ? static_cast<std::size_t>(threads)
                            : std::max<std::size_t>(2, std::thread::hardware_concurrency())})) {}

void Workers::run(std::size_t n, const std::function<void(std::size_t)>& piece) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < n; i = next++) piece(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < std::min(state_->threads, n); ++t) others.emplace_back(work);
  work();
}

#else

struct Workers::State {
  explicit State(int threads)
      : limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}

  // Without it TBB starts no more threads than there are cores, and says so on stderr.
  tbb::global_control limit;
  tbb::task_arena arena;
};

Workers::Workers(int threads)
    : state_(std::make_unique<State>(threads > 0 ? threads : tbb::info::default_concurrency())) {}

void Workers::run(std::size_t n, const std::function<void(std::size_t)>& piece) {
  if (n <= 1) {
    for (std::size_t i = 0; i < n; ++i) piece(i);
    return;
  }
  state_->arena.execute([&] { tbb::parallel_for(std::size_t{0}, n, piece); });
}

#endif

Workers::~Workers() = default;

}  // namespace sluice
