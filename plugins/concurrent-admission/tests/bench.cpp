// How long cycles take when many parents wait, each in 16 options.
//
//   concurrent_admission_bench [PARENTS] [SHAPES]
//
// 8,000 parents of SHAPES different sizes (default: as many as parents, the worst case) wait for 16
// full flavors; then capacity comes back piece by piece.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "world.hpp"

namespace {

using sluice::Duration;

void report(const char* what, std::vector<Duration> cycles) {
  if (cycles.empty()) return;
  std::sort(cycles.begin(), cycles.end());
  const auto ms = [&](double part) {
    const auto at = static_cast<std::size_t>(part * static_cast<double>(cycles.size() - 1));
    return static_cast<double>(cycles[at]) / 1e6;
  };
  std::printf("%-28s %7zu cycles, p50 %.3f ms, p99 %.3f ms, max %.3f ms\n", what, cycles.size(),
              ms(0.5), ms(0.99), ms(1));
}

}  // namespace

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const int parents = argc > 1 ? std::atoi(argv[1]) : 8000;
  const int shapes = argc > 2 ? std::atoi(argv[2]) : parents;
  sluice::host::RaceWorld world;
  std::vector<std::string> flavors;
  std::vector<std::pair<std::string, int>> quotas;
  for (int i = 0; i < 16; ++i) {
    flavors.push_back("f" + std::to_string(i));
    quotas.emplace_back(flavors.back(), 4 * parents);
  }
  world.flavors(flavors);
  world.queue("q", quotas, R"("concurrentAdmission":{"onSuccess":"RemoveLower"})");
  world.queue("other", quotas, "");
  for (const std::string& flavor : flavors)
    world.workload("holder-" + flavor, "q", 4 * parents, 0,
                   R"(,"admissionConstraints":{"allowedResourceFlavors":[")" + flavor + "\"]}");
  world.rest();
  const auto begin = Clock::now();
  for (int i = 0; i < parents; ++i) world.workload("p" + std::to_string(i), "q", 1 + i % shapes);
  world.cycles.clear();
  world.rest();
  const std::chrono::duration<double> took = Clock::now() - begin;
  std::printf("%d parents, %d options pending, made in %.1f s\n", parents, 16 * parents,
              took.count());
  report("all are looked at", std::exchange(world.cycles, {}));
  for (int i = 15; i >= 8; --i) {
    world.finish("holder-f" + std::to_string(i));
    world.rest();
  }
  report("eight flavors free one by one", std::exchange(world.cycles, {}));
  return 0;
}
