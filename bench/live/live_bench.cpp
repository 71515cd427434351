// Plays the loads of Kueue's scheduler performance suite against a host, in real time over REST.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "bench/live/load.hpp"
#include "bench/live/player.hpp"
#include "bench/rest/host_process.hpp"

namespace sluice::bench {
namespace {

struct Options {
  std::string sluice, inputs, work = "build/bench/live", json;
  std::size_t connections = 64;
};

void report(const Load& load, Played played, const HostProcess& host, const ThreadSeconds& before,
            const Options& options) {
  const ThreadSeconds threads = host.threads();
  const double bound = area_bound_seconds(load), cpu = total(threads) - total(before);
  const double usage = played.used_cpu_seconds / (load.quota_cpus * played.span_seconds);
  fmt::print("{} workloads over {} connections\n", load.arrivals.size(), options.connections);
  fmt::print("span {:.2f} s; bound {:.2f} s; usage {:.1f} %; admissions {}; evictions {}\n",
             played.span_seconds, bound, 100 * usage, played.admissions, played.evictions);
  std::string sorts;
  for (std::size_t i = 0; i < load.sorts.size(); ++i) {
    Latencies& l = played.to_admission[i];
    fmt::print("time to admission, {:<7} p50 {:>9.1f} ms, p90 {:>9.1f} ms, longest {:>9.1f} ms\n",
               load.sorts[i], l.percentile(0.5), l.percentile(0.9), l.percentile(1));
    double sum = 0;
    for (const std::uint32_t us : l.micros) sum += us;
    sorts += fmt::format(
        R"({}"{}":{{"meanMs":{:.1f},"p50Ms":{:.1f},"p90Ms":{:.1f}}})", i == 0 ? "" : ",",
        load.sorts[i], sum / 1000 / static_cast<double>(std::max<std::size_t>(1, l.micros.size())),
        l.percentile(0.5), l.percentile(0.9));
  }
  fmt::print(
      "requests: create p50 {:.2f} ms, p99 {:.2f} ms; finish p50 {:.2f} ms, p99 {:.2f} ms; "
      "the latest creation was sent {:.0f} ms after its time\n",
      played.create.percentile(0.5), played.create.percentile(0.99), played.finish.percentile(0.5),
      played.finish.percentile(0.99), played.late_ms);
  fmt::print("host {:.1f} s of processor time, at most {:.0f} MiB; client {:.1f} s\n", cpu,
             host.peak_resident(), played.client_cpu_seconds);
  for (const auto& [name, seconds] : threads)
    if (const auto had = before.find(name);
        seconds - (had == before.end() ? 0 : had->second) > 0.05)
      fmt::print("  {:<16} {:.2f} s\n", name, seconds - (had == before.end() ? 0 : had->second));
  if (options.json.empty()) return;
  std::ofstream(options.json) << fmt::format(
      R"({{"workloads":{},"spanSeconds":{:.3f},"boundSeconds":{:.3f},"usage":{:.4f},)"
      R"("admissions":{},"evictions":{},"toAdmission":{{{}}},"hostCpuSeconds":{:.2f},)"
      R"("clientCpuSeconds":{:.2f},"peakMiB":{:.0f}}})",
      load.arrivals.size(), played.span_seconds, bound, usage, played.admissions, played.evictions,
      sorts, cpu, played.client_cpu_seconds, host.peak_resident());
}

void run(const Options& options) {
  const HostProcess host(options.sluice, options.work);
  const Load load = read_load(options.inputs, host.secure());
  const ThreadSeconds before = host.threads();
  report(load, play(host.secure(), load, options.connections), host, before, options);
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
  sluice::bench::allow_many_files();
  sluice::bench::Options options;
  CLI::App app("Plays manifests and Timelines, as generate.py writes them, against a host.");
  app.add_option("--sluice", options.sluice, "the program that is measured")->required();
  app.add_option("--inputs", options.inputs, "folder that generate.py wrote")->required();
  app.add_option("--work", options.work, "folder of the host; it is emptied");
  app.add_option("--connections", options.connections, "of the client");
  app.add_option("--json", options.json, "file for the figures");
  CLI11_PARSE(app, count, words);
  sluice::bench::run(options);
  return 0;
}
