// What concurrent admission costs.
//
//   concurrent_admission_bench [PARENTS] [SHAPES]        cycles while many parents wait, 16 options
//   concurrent_admission_bench lives [PARENTS] [SHAPES]  whole lives of parents with 4 options
//
// SHAPES is the number of different sizes (default: as many as parents, the worst case). The first
// lets 8,000 parents wait for 16 full flavors; then capacity comes back piece by piece. The second
// lets parents come, wait, run (a tenth of them at a time) and end, and tells the processor time
// and the memory of one.
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "world.hpp"

namespace {

using sluice::Duration;
using sluice::host::RaceWorld;

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

/// Of this process so far, in milliseconds.
double processor_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

double allocated_kib() { return static_cast<double>(mallinfo2().uordblks) / 1024; }

std::vector<std::string> queue_of(RaceWorld& world, int flavors, int cpus) {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, int>> quotas;
  for (int i = 0; i < flavors; ++i) {
    names.push_back("f" + std::to_string(i));
    quotas.emplace_back(names.back(), cpus);
  }
  world.flavors(names);
  world.queue("q", quotas, R"("concurrentAdmission":{"onSuccess":"RemoveLower"})");
  return names;
}

void cycles(int parents, int shapes) {
  using Clock = std::chrono::steady_clock;
  RaceWorld world;
  const std::vector<std::string> flavors = queue_of(world, 16, 4 * parents);
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
}

void lives(int parents, int shapes) {
  RaceWorld world;
  queue_of(world, 4, std::max(1, parents / 40) * (shapes + 1) / 2);
  world.rest();
  const double begin = processor_ms();
  const double empty = allocated_kib();
  const auto tell = [&](const char* what, double since) {
    std::printf("%-28s %8.3f ms of processor time per parent\n", what,
                (processor_ms() - since) / parents);
  };
  for (int i = 0; i < parents; ++i) {
    world.workload("p" + std::to_string(i), "q", 1 + i % shapes);
    world.rest();
  }
  tell("come, and run or wait", begin);
  std::printf("%-28s %8.1f KiB per parent\n", "memory", (allocated_kib() - empty) / parents);
  const double waiting = processor_ms();
  int ended = 0;
  for (bool any = true; any;) {
    any = false;
    for (const sluice::WorkloadId id : world.engine().workloads()) {
      const std::string name = world.engine().key(id).substr(3);
      if (name.find("-option-") != std::string::npos || world.state(name) != "admitted") continue;
      world.finish(name);
      ++ended;
      any = true;
    }
    world.rest();
  }
  tell("run and end", waiting);
  tell("whole life", begin);
  if (ended != parents) std::printf("only %d of %d ended\n", ended, parents);
}

}  // namespace

int main(int argc, char** argv) {
  const bool whole = argc > 1 && std::strcmp(argv[1], "lives") == 0;
  const int first = whole ? 2 : 1;
  const int parents = argc > first ? std::atoi(argv[first]) : whole ? 1000 : 8000;
  const int shapes = argc > first + 1 ? std::atoi(argv[first + 1]) : parents;
  if (whole)
    lives(parents, std::min(shapes, parents));
  else
    cycles(parents, shapes);
  return 0;
}
