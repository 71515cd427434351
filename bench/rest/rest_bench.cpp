// rest_bench: how fast a host is over REST, from outside: `sluice serve` in a process of its own,
// its store on disk, this client beside it on the same processors.
//
//   rest_bench --sluice BIN [--work FOLDER] [--seconds S] [--only PART] [--json FILE] [--threads]
//
// Prints one row per phase. README.md beside the folder says what each phase does.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "bench/rest/client.hpp"
#include "bench/rest/host_process.hpp"
#include "bench/rest/objects.hpp"

namespace sluice::bench {
namespace {

struct Options {
  std::string sluice, work = "build/bench/rest", only, json;
  double seconds = 5;
  std::size_t connections = 64, watchers = 2000;
  bool threads = false;
};

struct Row {
  std::string name;
  CallResult calls;
  double host_cpu = 0;
  double watch_cpu = 0;  // of the client
  std::string note;
};

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  void run();

 private:
  using Phase = std::function<CallResult()>;

  bool wanted(const std::string& name) const {
    return options_.only.empty() || name.find(options_.only) != std::string::npos;
  }
  HostProcess start() const { return {options_.sluice, options_.work}; }
  CallOptions calls() const {
    CallOptions out;
    out.connections = options_.connections;
    out.seconds = options_.seconds;
    return out;
  }
  Row& measure(const std::string& name, const HostProcess& host, const Phase& phase);
  void report(Row& row);

  void creates(const std::string& name, Kind kind, bool secure);
  void updates();
  void reads();
  void mixed();
  void watched(const std::string& name, std::size_t namespaces, Kind kind);
  void write_json() const;

  const Options options_;
  std::vector<Row> rows_;
};

Row& Bench::measure(const std::string& name, const HostProcess& host, const Phase& phase) {
  const ThreadSeconds before = host.threads();
  Row row;
  row.name = name;
  row.calls = phase();
  ThreadSeconds used = host.threads();
  for (const auto& [thread, seconds] : before) used[thread] -= seconds;
  row.host_cpu = total(used);
  if (options_.threads)
    for (const auto& [thread, seconds] : used)
      if (seconds > 0.01)
        row.note += fmt::format("{} {:.1f}; ", thread,
                                seconds * 1e6 / static_cast<double>(row.calls.requests));
  rows_.push_back(std::move(row));
  return rows_.back();
}

void Bench::report(Row& row) {
  CallResult& calls = row.calls;
  const double each = 1e6 / static_cast<double>(calls.requests);
  fmt::print("| {:<24} | {:>8.0f} | {:>7.2f} | {:>7.2f} | {:>7.2f} | {:>7.1f} | {:>7.1f} | {} |\n",
             row.name, static_cast<double>(calls.requests) / calls.seconds,
             calls.latencies.percentile(0.5), calls.latencies.percentile(0.99),
             calls.latencies.percentile(1), row.host_cpu * each,
             (calls.client_cpu + row.watch_cpu) * each, row.note);
  std::fflush(stdout);
}

void Bench::creates(const std::string& name, Kind kind, bool secure) {
  if (!wanted(name)) return;
  const HostProcess host = start();
  const Target& target = secure ? host.secure() : host.plain();
  make_queues(target, 1);
  report(measure(name, host, [&] { return call_many(target, calls(), Creator(target, kind, 1)); }));
}

void Bench::updates() {
  if (!wanted("update")) return;
  const HostProcess host = start();
  const Target& target = host.secure();
  make_queues(target, 1);
  Updater updater(target, 4 * options_.connections);
  CallOptions options = calls();
  options.answered = [&](std::string_view body, Clock::time_point) { updater.answered(body); };
  report(measure("update", host, [&] { return call_many(target, options, std::ref(updater)); }));
}

void Bench::reads() {
  if (!wanted("get") && !wanted("list 500")) return;
  constexpr std::size_t kObjects = 5'000;
  const HostProcess host = start();
  make_queues(host.secure(), 1);
  CallOptions options = calls();
  options.seconds = 1e6;
  call_many(host.secure(), options, Creator(host.secure(), Kind::kPending, 1, kObjects));
  std::minstd_rand random;
  for (const bool secure : {true, false}) {
    const Target& target = secure ? host.secure() : host.plain();
    const std::string path = collection(Kind::kPending, 0);
    const std::string suffix = secure ? "" : ", plain";
    if (wanted("get"))
      report(measure("get" + suffix, host, [&] {
        return call_many(target, calls(), [&](std::string& text) {
          const std::string name = name_of(Kind::kPending, random() % kObjects);
          text = head(target, "GET", path + "/" + name, "", 0);
          return true;
        });
      }));
    if (!wanted("list 500")) continue;
    const std::string list = head(target, "GET", path + "?limit=500", "", 0);
    Row& row = measure("list 500" + suffix, host, [&] {
      return call_many(target, calls(), [&](std::string& text) {
        text = list;
        return true;
      });
    });
    row.note += fmt::format("{:.0f} MiB/s",
                            static_cast<double>(row.calls.bytes) / (1 << 20) / row.calls.seconds);
    report(row);
  }
}

/// Of ten requests five create a workload, two update a ConfigMap, two get, one lists 50.
void Bench::mixed() {
  if (!wanted("mixed")) return;
  const HostProcess host = start();
  const Target& target = host.secure();
  make_queues(target, 1);
  Updater updater(target, 4 * options_.connections);
  Creator creator(target, Kind::kPending, 1);
  // What is read was made before: a read that overtakes its creation would find nothing.
  constexpr std::size_t kFirst = 1'000;
  CallOptions filling = calls();
  filling.seconds = 1e6;
  call_many(target, filling,
            [&](std::string& text) { return creator.made() < kFirst && creator(text); });
  std::minstd_rand random;
  std::size_t count = 0;
  CallOptions options = calls();
  options.answered = [&](std::string_view body, Clock::time_point) {
    constexpr std::string_view kMap = R"({"apiVersion":"v1","kind":"ConfigMap",)";
    if (body.starts_with(kMap)) updater.answered(body);
  };
  report(measure("mixed", host, [&] {
    return call_many(target, options, [&](std::string& text) {
      switch (count++ % 10) {
        case 1:
        case 6:
          return updater(text);
        case 3:
        case 8: {
          const std::string name = name_of(Kind::kPending, random() % kFirst);
          text = head(target, "GET", collection(Kind::kPending, 0) + "/" + name, "", 0);
          return true;
        }
        case 5:
          text = head(target, "GET", collection(Kind::kPending, 0) + "?limit=50", "", 0);
          return true;
        default:
          return creator(text);
      }
    });
  }));
}

/// Watchers over all namespaces alike, and two slow ones; writes without them, then with them.
void Bench::watched(const std::string& name, std::size_t namespaces, Kind kind) {
  if (!wanted(name)) return;
  const HostProcess host = start();
  const Target& target = host.secure();
  make_queues(target, namespaces);
  Creator creator(target, kind, namespaces);
  Row& alone = measure(name + ", alone", host,
                       [&] { return call_many(target, calls(), std::ref(creator)); });
  const double before = static_cast<double>(alone.calls.requests) / alone.calls.seconds;
  report(alone);
  const std::size_t made_before = creator.made();
  WatchOptions watch;
  watch.one_never_reads = watch.one_reads_slowly = true;
  const std::string list = call_once(target, "GET", collection(kind, 0) + "?limit=1", "");
  for (std::size_t i = 0; i < options_.watchers; ++i)
    watch.paths.push_back(fmt::format("{}?watch=1&resourceVersion={}",
                                      collection(kind, i % namespaces),
                                      member(list, "resourceVersion")));
  const WatchSet watches(target, watch);
  std::unordered_map<std::string, Clock::time_point> sent;
  CallOptions options = calls();
  options.answered = [&](std::string_view body, Clock::time_point at) {
    sent.emplace(member(body, "name"), at);
  };
  const double watch_before = watches.cpu_seconds();
  Row& row = measure(name, host, [&] { return call_many(target, options, std::ref(creator)); });
  row.watch_cpu = watches.cpu_seconds() - watch_before;
  const std::size_t told_meanwhile = watches.events();
  const auto end = Clock::now();
  // Every stream gets what was written into its namespace.
  const std::size_t made = creator.made() - made_before;
  const std::size_t each = made / namespaces;
  while (watches.fewest() < each && Clock::now() - end < std::chrono::seconds(120))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double after = std::chrono::duration<double>(Clock::now() - end).count();
  Latencies delays;
  for (const auto& [object, at] : watches.arrivals())
    if (const auto it = sent.find(object); it != sent.end())
      delays.micros.push_back(static_cast<std::uint32_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(at - it->second).count()));
  const double now = static_cast<double>(row.calls.requests) / row.calls.seconds;
  row.note += fmt::format(
      "writes slower by {:.2f}×; {} events/s; every stream has all of its {} or more: {}, {:.1f} s "
      "after the last write; in order: {}; ended by the host: {}; from a write to its event p50 "
      "{:.0f} ms, p99 {:.0f} ms; the slow reader has {} events{}; host {:.0f} MiB",
      before / now,
      static_cast<std::size_t>(static_cast<double>(told_meanwhile) / row.calls.seconds), each,
      watches.fewest() >= each, after, watches.in_order(), watches.closed(), delays.percentile(0.5),
      delays.percentile(0.99), watches.events_of_slow(),
      watches.slow_closed() ? " and was cut off" : "", host.resident());
  report(row);
}

void Bench::run() {
  fmt::print("| {:<24} | {:>8} | {:>7} | {:>7} | {:>7} | {:>7} | {:>7} | {} |\n", "phase", "per s",
             "p50 ms", "p99 ms", "max ms", "host µs", "client", "note");
  fmt::print("|{}|\n", fmt::join(std::vector<std::string>(8, "---"), "|"));
  creates("create ConfigMap", Kind::kConfigMap, true);
  creates("create Workload, waits", Kind::kPending, true);
  creates("create Workload, admitted", Kind::kAdmitted, true);
  creates("create Job", Kind::kJob, true);
  creates("create ConfigMap, plain", Kind::kConfigMap, false);
  creates("create Workload, plain", Kind::kPending, false);
  updates();
  reads();
  mixed();
  watched("2000 in 200 namespaces", 200, Kind::kPending);
  watched("2000 on one namespace", 1, Kind::kConfigMap);
  write_json();
}

void Bench::write_json() const {
  if (options_.json.empty()) return;
  std::ofstream out(options_.json);
  out << "[\n";
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    Latencies latencies = row.calls.latencies;
    const auto requests = static_cast<double>(row.calls.requests);
    out << fmt::format(
        R"({{"phase":"{}","requests":{},"seconds":{:.3f},"perSecond":{:.1f},"p50Ms":{:.3f},)"
        R"("p99Ms":{:.3f},"maxMs":{:.3f},"hostMicros":{:.2f},"clientMicros":{:.2f}}}{})",
        row.name, row.calls.requests, row.calls.seconds, requests / row.calls.seconds,
        latencies.percentile(0.5), latencies.percentile(0.99), latencies.percentile(1),
        row.host_cpu * 1e6 / requests, (row.calls.client_cpu + row.watch_cpu) * 1e6 / requests,
        i + 1 == rows_.size() ? "\n" : ",\n");
  }
  out << "]\n";
}

Options read(int count, char** words) {
  Options out;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--threads") {
      out.threads = true;
      continue;
    }
    if (i + 1 == count)
      fail(
          "usage: rest_bench --sluice BIN [--work FOLDER] [--seconds S] "
          "[--connections N] [--watchers N] [--only PART] [--json FILE] "
          "[--threads]");
    const std::string value = words[++i];
    if (word == "--sluice")
      out.sluice = value;
    else if (word == "--work")
      out.work = value;
    else if (word == "--only")
      out.only = value;
    else if (word == "--json")
      out.json = value;
    else if (word == "--seconds")
      out.seconds = std::stod(value);
    else if (word == "--connections")
      out.connections = std::stoul(value);
    else if (word == "--watchers")
      out.watchers = std::stoul(value);
    else
      fail("unknown option " + word);
  }
  if (out.sluice.empty()) fail("--sluice names the program that is measured");
  return out;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
  sluice::bench::allow_many_files();
  sluice::bench::Bench(sluice::bench::read(count, words)).run();
  return 0;
}
