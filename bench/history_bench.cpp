// The history on a real disk: what a workload that ended costs, how large a million runs are, and
// how long questions about them take.
//
//   history_bench FOLDER [RUNS]      FOLDER is made, and removed in the end
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "api/json/json.hpp"
#include "host/history/history_file.hpp"
#include "host/history/history_reader.hpp"
#include "host/history/run_log.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kBatch = 2'000;  // workloads of one pass
constexpr Millis kBegin = 1'767'225'600'000;
constexpr Millis kDay = 86'400'000;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().text);
  std::exit(1);
}

/// The n-th of `all`, spread over 90 days, 100 namespaces, 1,000 users and 3 flavors.
WorkloadFacts facts_of(std::size_t n, std::size_t all) {
  WorkloadFacts out;
  out.uid = fmt::format("0199a1c2-0000-7000-8000-{:012x}", n);
  out.ns = fmt::format("team-{}", n % 100);
  out.name = fmt::format("job-train-{}-1a2b3", n);
  out.owner_kind = "Job";
  out.owner = fmt::format("train-{}", n);
  out.queue = "main";
  out.user = fmt::format("user-{}", n % 1'000);
  out.priority_class = n % 3 == 0 ? "high" : "low";
  out.created = kBegin + static_cast<Millis>(n) * (90 * kDay) / static_cast<Millis>(all);
  out.status.admission.emplace();
  out.status.admission->cluster_queue = fmt::format("queue-{}", n % 50);
  api::PodSetAssignment set{"main", 4, {}, {{"cpu", 4'000}, {"memory", 16LL << 30}}};
  for (const char* resource : {"cpu", "memory"})
    set.flavors.set(resource, fmt::format("flavor-{}", n % 3));
  out.status.admission->pod_sets = {set};
  return out;
}

void add_condition(WorkloadFacts& facts, const char* type, Millis at, const char* reason = "") {
  facts.status.conditions.push_back({type, "True", reason, "", from_millis(at), 0});
}

/// Each comes, is admitted, and ends: three changes, in the passes of a host that is busy.
double fill(HistoryFile& file, std::size_t runs) {
  RunLog log(file);
  double spent = 0;
  const auto write = [&] {
    const auto written = file.write(log.take(), {"store", 1, 1, kBegin});
    if (!written) std::exit(1);
  };
  for (std::size_t first = 0; first < runs; first += kBatch) {
    std::vector<WorkloadFacts> batch;
    for (std::size_t n = first; n < std::min(first + kBatch, runs); ++n)
      batch.push_back(facts_of(n, runs));
    const auto began = Clock::now();
    for (WorkloadFacts& each : batch) {
      add_condition(each, "QuotaReserved", each.created + 60'000);
      add_condition(each, "Admitted", each.created + 60'000);
      log.changed(each, each.created + 60'000);
    }
    write();
    for (WorkloadFacts& each : batch) {
      add_condition(each, "Finished", each.created + 3'660'000, "Succeeded");
      log.changed(each, each.created + 3'660'000);
      log.used(each.uid, {each.ns, each.name, each.created + 61'000, 12'345'678'000, 1LL << 30});
    }
    write();
    spent += seconds_since(began);
  }
  return spent;
}

void ask(HistoryReader& reader, const char* about, const HistoryQuery& query) {
  for (const char* which : {"first", "again"}) {
    const auto began = Clock::now();
    const auto answer = reader.answer(query, kBegin + 91 * kDay);
    const double took = seconds_since(began);
    const std::string text = answer ? api::to_json(*answer) : answer.error().text;
    fmt::print("{:<44} {:>6}  {:7.0f} ms  {:>9} bytes\n", about, which, 1e3 * took, text.size());
  }
}

int run(const std::string& folder, std::size_t runs) {
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/history.db";
  {
    const auto file = must(HistoryFile::open(path));
    const double spent = fill(*file, runs);
    fmt::print("{} runs, three changes each: {:.1f} us and {:.0f} bytes of a run, {:.0f} MiB\n",
               runs, 1e6 * spent / static_cast<double>(runs),
               static_cast<double>(must(file->bytes())) / static_cast<double>(runs),
               static_cast<double>(must(file->bytes())) / (1 << 20));
  }
  const auto reader =
      must(HistoryReader::open(path, {.time = std::chrono::minutes(10), .groups = 1'000'000}));
  HistoryQuery query;
  ask(*reader, "the newest 500 runs", query);
  query.sums = true;
  ask(*reader, "one sum of all", query);
  query.by = {GroupBy::kUser};
  ask(*reader, "by user", query);
  query.by = {GroupBy::kClusterQueue, GroupBy::kFlavor, GroupBy::kDay};
  ask(*reader, "by cluster queue, flavor, day", query);
  query.ns = "team-7";
  ask(*reader, "the same of one namespace", query);
  query.ns.clear();
  query.from = kBegin + 83 * kDay;
  ask(*reader, "the same of the last 7 days", query);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace sluice::host

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: history_bench FOLDER [RUNS]\n");
    return 2;
  }
  return sluice::host::run(argv[1], argc > 2 ? std::stoul(argv[2]) : 1'000'000);
}
