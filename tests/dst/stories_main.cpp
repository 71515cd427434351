// stories: plays life stories of a host, drawn from seeds, and looks for what must not be.
//
//   stories [--seeds N] [--from SEED] [--steps N] [--jobs N]   exit status 1 when a story went
//   wrong stories --replay SEED                                      one story, made as short as it
//   goes wrong
//
// Each batch of seeds is a process of its own: a broken invariant ends one, and its seed is told.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "tests/dst/story.hpp"

namespace sluice::host::test {
namespace {

struct Options {
  std::uint64_t seeds = 1000, from = 1, replay = 0;
  std::size_t steps = 60;
  unsigned jobs = 2;
};

struct Sum {
  std::uint64_t seeds = 0, wrong = 0, decisions = 0, crashes = 0, pods = 0, jobs = 0;
};

/// Whether the story of this script goes wrong, in a process of its own: it may end in a CHECK.
bool goes_wrong(const Script& script) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    _exit(play(script).wrong.empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

/// Takes away what is not needed to go wrong: halves, quarters, … single steps.
Script shortened(Script script) {
  for (std::size_t piece = script.steps.size() / 2; piece > 0; piece /= 2) {
    for (std::size_t at = 0; at + piece <= script.steps.size();) {
      Script without = script;
      const auto begin = without.steps.begin() + static_cast<std::ptrdiff_t>(at);
      without.steps.erase(begin, begin + static_cast<std::ptrdiff_t>(piece));
      if (goes_wrong(without))
        script = std::move(without);
      else
        at += piece;
    }
  }
  return script;
}

int replay(const Options& options) {
  Script script = script_of(options.replay, options.steps);
  if (!goes_wrong(script)) {
    const Told told = play(script);
    fmt::print("seed {}: all is well; {} jobs, {} pods, {} crashes, {} decisions, digest {:016x}\n",
               options.replay, told.jobs, told.pods, told.crashes, told.decisions, told.digest);
    return 0;
  }
  script = shortened(std::move(script));
  fmt::print("seed {} goes wrong in {} steps:\n", options.replay, script.steps.size());
  for (const Step& step : script.steps) fmt::print("  {}\n", to_text(step));
  std::fflush(nullptr);
  const Told told = play(script);
  fmt::print("{}\n", told.where);
  for (const std::string& each : told.wrong) fmt::print("  {}\n", each);
  fmt::print("{}", told.objects);
  return 1;
}

/// Every `stride`-th seed from `first`; tells of each on `out`, before and after.
void play_share(const Options& options, std::uint64_t first, unsigned stride, int out) {
  for (std::uint64_t seed = first; seed < options.from + options.seeds; seed += stride) {
    dprintf(out, "b %llu\n", static_cast<unsigned long long>(seed));
    const Told told = play(script_of(seed, options.steps));
    for (const std::string& each : told.wrong)
      fmt::print("seed {}, {}: {}\n", seed, told.where, each);
    std::fflush(stdout);
    dprintf(out, "e %d %llu %llu %llu %llu\n", told.wrong.empty() ? 0 : 1,
            static_cast<unsigned long long>(told.decisions),
            static_cast<unsigned long long>(told.crashes),
            static_cast<unsigned long long>(told.pods), static_cast<unsigned long long>(told.jobs));
  }
}

/// One worker's seeds, in as many processes as it takes.
Sum run_share(const Options& options, unsigned number) {
  Sum sum;
  for (std::uint64_t next = options.from + number; next < options.from + options.seeds;) {
    int ends[2];
    if (pipe(ends) != 0) return sum;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      play_share(options, next, options.jobs, ends[1]);
      _exit(0);
    }
    close(ends[1]);
    FILE* in = fdopen(ends[0], "r");
    char line[200];
    std::uint64_t begun = 0;
    bool open = false;
    while (std::fgets(line, sizeof line, in) != nullptr) {
      unsigned long long values[5] = {};
      if (line[0] == 'b') {
        open = std::sscanf(line, "b %llu", values) == 1;
        begun = values[0];
        continue;
      }
      std::sscanf(line, "e %llu %llu %llu %llu %llu", values, values + 1, values + 2, values + 3,
                  values + 4);
      open = false;
      ++sum.seeds;
      sum.wrong += values[0];
      sum.decisions += values[1];
      sum.crashes += values[2];
      sum.pods += values[3];
      sum.jobs += values[4];
    }
    std::fclose(in);
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) break;
    fmt::print("seed {}: its process was ended ({})\n", begun, status);
    sum.seeds += open ? 1 : 0;
    ++sum.wrong;
    next = begun + options.jobs;
  }
  return sum;
}

/// The workers are processes, since stories share nothing.
Sum run_all(const Options& options) {
  std::vector<int> pipes;
  for (unsigned i = 0; i < options.jobs; ++i) {
    int ends[2];
    if (pipe(ends) != 0) break;
    std::fflush(nullptr);
    if (fork() == 0) {
      close(ends[0]);
      const Sum sum = run_share(options, i);
      std::fflush(nullptr);
      _exit(write(ends[1], &sum, sizeof sum) == sizeof sum ? 0 : 1);
    }
    close(ends[1]);
    pipes.push_back(ends[0]);
  }
  Sum all;
  for (const int end : pipes) {
    Sum sum;
    if (read(end, &sum, sizeof sum) == sizeof sum) {
      all.seeds += sum.seeds;
      all.wrong += sum.wrong;
      all.decisions += sum.decisions;
      all.crashes += sum.crashes;
      all.pods += sum.pods;
      all.jobs += sum.jobs;
    }
    close(end);
  }
  while (wait(nullptr) > 0) {
  }
  return all;
}

}  // namespace
}  // namespace sluice::host::test

int main(int argc, char** argv) {
  using namespace sluice::host::test;
  Options options;
  CLI::App app("plays life stories of a host and looks for what must not be");
  app.add_option("--seeds", options.seeds, "how many stories")->check(CLI::Range(1, 100'000'000));
  app.add_option("--from", options.from, "the first seed");
  app.add_option("--steps", options.steps, "of each story")->check(CLI::Range(1, 100'000));
  app.add_option("--jobs", options.jobs, "processes")->check(CLI::Range(1, 256));
  app.add_option("--replay", options.replay, "plays this seed alone, and makes its story short");
  CLI11_PARSE(app, argc, argv);
  if (options.replay != 0) return replay(options);
  const auto start = std::chrono::steady_clock::now();
  const Sum sum = run_all(options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print(
      "{} stories of {} steps, {} went wrong: {} jobs, {} pods, {} crashes, {} decisions in "
      "{:.1f} s\n",
      sum.seeds, options.steps, sum.wrong, sum.jobs, sum.pods, sum.crashes, sum.decisions,
      took.count());
  return sum.wrong == 0 && sum.seeds == options.seeds ? 0 : 1;
}
