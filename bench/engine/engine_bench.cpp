// What the engine alone costs, and how that grows with each thing that it may depend on.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iterator>

#include "bench/engine/world.hpp"

namespace sluice::bench {
namespace {

bool quick = false;

double at(std::vector<double> times, double part) {
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  return times[std::min(times.size() - 1,
                        static_cast<std::size_t>(static_cast<double>(times.size()) * part))];
}

void head(const char* title, const char* columns) { fmt::print("\n{}\n{}\n", title, columns); }

// ---- One step that does a lot

/// The least and the median of some runs; `run` answers with its seconds.
void row(const std::string& what, int runs, const std::function<double()>& run) {
  std::vector<double> times;
  for (int i = 0; i < (quick ? std::min(runs, 3) : runs); ++i) times.push_back(run());
  fmt::print("{:<58} {:>10.3f} {:>10.3f}\n", what, at(times, 0) * 1e3, at(times, 0.5) * 1e3);
}

/// A head in each queue of one cohort; everything fits.
double cycle_of_heads(int queues, bool fair) {
  World world({.queues = queues, .fair_sharing = fair});
  world.next_instant();
  for (int i = 0; i < queues; ++i) world.add(fmt::format("w-{}", i), i, 1 + i % 6, i % 3);
  std::vector<double> steps;
  world.settle(&steps);
  return steps.front();
}

/// One workload that needs half of what so many lower ones hold: all are candidates.
double preemption(int candidates) {
  World world({.queues = 1, .levels = 0, .nominal = candidates, .preemption = true});
  for (int i = 0; i < candidates; ++i) world.add(fmt::format("low-{}", i), 0, 1, 0);
  world.settle();
  world.next_instant();
  world.add("high", 0, candidates / 2, 10);
  std::vector<double> steps;
  world.settle(&steps);
  return steps.front();
}

/// Workloads that wait for their check are told Ready and admitted after the second look: all in
/// one instant, or each in one of its own. Time for a thousand answers.
double answers_of_checks(int count, bool at_once) {
  constexpr int kQueues = 100;
  World world({.queues = kQueues, .nominal = count, .check = "check"});
  for (int i = 0; i < count; ++i) world.add(fmt::format("w{}", i), i % kQueues, 1, 0);
  world.settle();
  api::AdmissionCheckState ready;
  ready.name = "check";
  ready.state = "Ready";
  const double start = processor_time();
  for (int i = 0; i < count; ++i) {
    if (!world.engine().report(fmt::format("ns/w{}", i), ready)) std::abort();
    if (!at_once) world.settle();
  }
  if (at_once) world.settle();
  return (processor_time() - start) / count * 1000;
}

void steps() {
  head("One step",
       "what                                                         least ms  median ms");
  for (const bool fair : {false, true})
    for (const int queues : {100, 1000, 10'000})
      row(fmt::format("cycle, a head in each of {} queues{}", queues, fair ? ", fair" : ""),
          queues > 1000 ? 5 : 20, [&] { return cycle_of_heads(queues, fair); });
  for (const int candidates : {100, 1000, 10'000})
    row(fmt::format("preemption of {} among {}, evictions included", candidates / 2, candidates), 5,
        [&] { return preemption(candidates); });
  for (const bool at_once : {true, false})
    row(fmt::format("1,000 answers of checks, {}", at_once ? "one instant" : "each its own"), 5,
        [&] { return answers_of_checks(10'000, at_once); });
}

// ---- Everything that waits fits

struct Drain {
  int queues, each;
  bool fair = false;
};

/// Seconds for one decision, from the first cycle until all are admitted.
double drained(const Drain& of) {
  World world({.queues = of.queues, .nominal = of.each, .fair_sharing = of.fair});
  const int count = of.queues * of.each;
  for (int n = 0; n < of.each; ++n)
    for (int i = 0; i < of.queues; ++i) world.add(fmt::format("w-{}-{}", i, n), i, 1, 0);
  const double start = processor_time();
  world.settle();
  const double took = processor_time() - start;
  if (static_cast<int>(world.take_admitted().size()) != count) std::abort();
  return took / count;
}

void drains() {
  head("Everything that waits fits: each workload is one decision (bench/kueue plays the same)",
       "queues × workloads            median µs each");
  for (const Drain& of : {Drain{100, 100}, Drain{1000, 10}, Drain{100, 100, true}}) {
    std::vector<double> times;
    for (int i = 0; i < (quick ? 3 : 7); ++i) times.push_back(drained(of));
    fmt::print("{:>6} {:>6} {:<14} {:>14.3f}\n", of.queues, of.each, of.fair ? "fair" : "plain",
               at(times, 0.5) * 1e6);
  }
}

// ---- A workload ends, and none can use what it leaves

double released(const Form& form) {
  constexpr std::int64_t kTooMuch = 8;
  World world(form);
  const int queues = form.queues;
  std::deque<WorkloadId> running;
  for (int i = 0; i < queues; ++i)
    for (int n = 0; n < form.nominal * form.flavors; ++n)
      world.add(fmt::format("runs-{}-{}", i, n), i, 1, 9);
  world.settle();
  for (const WorkloadId id : world.take_admitted()) running.push_back(id);
  for (int i = 0; i < queues; ++i) world.add(fmt::format("waits-{}", i), i, kTooMuch, i % 3);
  world.settle();
  std::vector<double> times;
  for (int i = 0; i < 41; ++i) {
    world.next_instant();
    const WorkloadId ends = running.front();
    running.pop_front();
    const std::string key = world.engine().key(ends);
    const double start = processor_time();
    if (!world.engine().finish(key, "Done", "")) std::abort();
    world.settle();
    times.push_back(processor_time() - start);
    // What it left is taken again, so that those that wait never can.
    world.next_instant();
    world.add(fmt::format("next-{}", i), i % queues, 1, 9);
    world.settle();
    for (const WorkloadId id : world.take_admitted()) running.push_back(id);
  }
  return at(times, 0.5);
}

void releases() {
  head("A workload ends; the head of no queue of its cohort can use what it leaves (median)",
       "form                          µs with 10, 100, 1,000, 10,000 queues      growth 10 → all");
  const std::pair<const char*, Form> forms[] = {
      {"flat", {}},
      {"flat, preemption", {.preemption = true}},
      {"flat, 4 flavors", {.flavors = 4}},
      {"flat, fair sharing", {.fair_sharing = true}},
      {"3 levels", {.levels = 3}},
      {"6 levels", {.levels = 6}},
  };
  for (const auto& [name, form] : forms) {
    std::string line = fmt::format("{:<28}", name);
    double first = 0, last = 0;
    for (const int queues : {10, 100, 1000, 10'000}) {
      if (quick && queues > 1000) continue;
      Form with = form;
      with.queues = queues;
      last = released(with);
      if (queues == 10) first = last;
      line += fmt::format(" {:>10.1f}", last * 1e6);
    }
    fmt::print("{} {:>12.1f} ×\n", line, last / first);
  }
}

// ---- Steady load

struct Load {
  Form form;
  int pending = 10'000;
};

/// Full queues; in each instant some end and as many come.
struct Measured {
  std::vector<double> steps;
  double seconds = 0;
  std::size_t decisions = 0;
};

Measured play(const Load& load) {
  World world(load.form);
  int made = 0;
  std::uint64_t random = 1;
  const auto come = [&] {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const auto draw = static_cast<int>(random >> 33U);
    world.add(fmt::format("w{}", made++), draw % load.form.queues, 1 + draw / 7 % 4, draw / 31 % 3);
  };
  std::deque<WorkloadId> running;
  const auto note_admitted = [&] {
    for (const WorkloadId id : world.take_admitted()) running.push_back(id);
  };
  const int room = static_cast<int>(load.form.nominal) * load.form.flavors * load.form.queues;
  for (int i = 0; i < room / 2 + load.pending; ++i) come();
  world.settle();
  note_admitted();
  Measured out;
  const std::size_t before = world.decisions();
  for (int instant = 0; instant < (quick ? 20 : 100); ++instant) {
    world.next_instant();
    const double start = processor_time();
    for (int i = 0; i < 10; ++i) {
      while (!running.empty() && world.engine().state(running.front()) != WorkloadState::kAdmitted)
        running.pop_front();
      if (running.empty()) break;
      static_cast<void>(world.engine().finish(world.engine().key(running.front()), "Done", ""));
      running.pop_front();
    }
    for (int i = 0; i < 10; ++i) come();
    world.settle(&out.steps);
    out.seconds += processor_time() - start;
    note_admitted();
  }
  out.decisions = world.decisions() - before;
  return out;
}

void loads() {
  head("Steady load: 10 end and 10 come in each instant; one thing differs from the first row",
       "                                  cycles  p50 ms  p99 ms  max ms  decisions/s  µs/decision"
       "   × first");
  const Load base{{.queues = 1000}, 10'000};
  double first = 0;
  const auto one = [&](const std::string& what, const Load& load) {
    const Measured m = play(load);
    const double each = m.seconds / static_cast<double>(std::max<std::size_t>(1, m.decisions));
    if (first == 0) first = each;
    fmt::print("{:<32} {:>7} {:>7.3f} {:>7.3f} {:>7.3f} {:>12.0f} {:>12.2f} {:>9.2f}\n", what,
               m.steps.size(), at(m.steps, 0.5) * 1e3, at(m.steps, 0.99) * 1e3,
               at(m.steps, 1) * 1e3, 1 / each, each * 1e6, each / first);
  };
  const auto with = [&](auto&& change) {
    Load load = base;
    change(load);
    return load;
  };
  one("1,000 queues, 10,000 wait, flat", base);
  for (const int n : {10, 100, 10'000})
    if (!quick || n < 10'000)
      one(fmt::format("{} queues", n), with([&](Load& l) { l.form.queues = n; }));
  for (const int n : {1, 100, 1000, 100'000})
    if (!quick || n < 100'000)
      one(fmt::format("{} wait", n), with([&](Load& l) { l.pending = n; }));
  for (const int n : {0, 3, 6})
    one(fmt::format("{} levels of cohorts", n), with([&](Load& l) { l.form.levels = n; }));
  for (const int n : {4, 16})
    one(fmt::format("{} flavors", n), with([&](Load& l) { l.form.flavors = n; }));
  // A workload that comes may evict others: with fewer queues, or filling them would be all that is
  // seen.
  const Load few{{.queues = 100}, 1000};
  one("100 queues, 1,000 wait", few);
  for (const bool fair : {false, true})
    for (const bool preemption : {false, true}) {
      if (!fair && !preemption) continue;
      Load load = few;
      load.form.fair_sharing = fair;
      load.form.preemption = preemption;
      one(fmt::format("the same{}{}", fair ? ", fair sharing" : "",
                      preemption ? ", preemption" : ""),
          load);
    }
}

// ---- Memory

void memory() {
  head("Memory of the engine for each workload, its object not counted (goal: 2,048 bytes)",
       "state                                              workloads      bytes each");
  const auto in_use = [] { return mallinfo2().uordblks; };
  for (const bool admitted : {false, true})
    for (const int shapes : {1, 1000}) {
      if (admitted && shapes > 1) continue;
      const int count = quick ? 10'000 : 100'000;
      World world({.queues = 100, .nominal = admitted ? count : 1});
      std::vector<std::shared_ptr<api::Workload>> objects;
      for (int i = 0; i < count; ++i)
        objects.push_back(world.make(fmt::format("w{}", i), i % 100, 2 + i % shapes, 0));
      const std::size_t before = in_use();
      for (const auto& object : objects) world.engine().apply(object);
      world.settle();
      world.take_admitted();
      fmt::print("{:<46} {:>13} {:>15}\n",
                 admitted ? "admitted" : fmt::format("pending, {} shape(s)", shapes), count,
                 (in_use() - before) / static_cast<std::size_t>(count));
    }
}

int run(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  std::string only;
  CLI::App app{"What the engine alone costs (processor time), and how that grows"};
  app.add_flag("--quick", quick, "fewer runs, no worlds of 10,000 queues");
  app.add_option("--part", only, "steps, drains, releases, loads or memory")
      ->check(CLI::IsMember({"steps", "drains", "releases", "loads", "memory"}));
  CLI11_PARSE(app, argc, argv);
  const std::pair<const char*, void (*)()> parts[] = {{"steps", steps},
                                                      {"drains", drains},
                                                      {"releases", releases},
                                                      {"loads", loads},
                                                      {"memory", memory}};
  for (const auto& [name, part] : parts)
    if (only.empty() || only == name) part();
  return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) { return sluice::bench::run(argc, argv); }
