// What a host costs that only has much to remember: memory for many pending workloads, the time of
// a restart, and processor time at rest.
//
//   serve_bench --sluice build/release/bin/sluice --folder build/bench/serve
//
// Everything is measured from outside, on a real host with its store on disk.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "host/objects/parts.hpp"
#include "tests/crash/host_process.hpp"
#include "tests/crash/objects.hpp"

namespace sluice::host::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kConfig = R"(
apiVersion: config.sluice.dev/v1alpha1
kind: Configuration
server: {address: "127.0.0.1:0", limits: {watchers: 5000, connections: 5000}}
metrics: {address: "127.0.0.1:0"}
store: {path: data}
plugins: {load: []}
executor: {type: none}
)";

constexpr const char* kFlavor = R"({"apiVersion": "kueue.x-k8s.io/v1beta2",
  "kind": "ResourceFlavor", "metadata": {"name": "main"}})";
constexpr const char* kClusterQueue = R"({"apiVersion": "kueue.x-k8s.io/v1beta2",
  "kind": "ClusterQueue", "metadata": {"name": "main"}, "spec": {"namespaceSelector": {},
    "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "main",
      "resources": [{"name": "cpu", "nominalQuota": "0"}]}]}]}})";
constexpr const char* kLocalQueue = R"({"apiVersion": "kueue.x-k8s.io/v1beta2",
  "kind": "LocalQueue", "metadata": {"name": "main"}, "spec": {"clusterQueue": "main"}})";

constexpr const char* kPodTemplate = R"({{"spec": {{"restartPolicy": "Never", "containers": [{{
  "name": "main", "image": "registry.example.com/train:1",
  "command": ["python", "train.py", "--part", "{}"],
  "resources": {{"requests": {{"cpu": "1"}}}}}}]}}}})";

std::string workload(int i) {
  return fmt::format(
      R"({{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
          "metadata": {{"name": "w-{0}", "labels": {{"team": "a"}}}}, "spec": {{"queueName": "main",
          "podSets": [{{"name": "main", "count": 3, "template": {1}}}]}}}})",
      i, fmt::format(fmt::runtime(kPodTemplate), i));
}

std::string job(int i) {
  return fmt::format(
      R"({{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "j-{0}",
          "labels": {{"kueue.x-k8s.io/queue-name": "main"}}}}, "spec": {{"suspend": true,
          "parallelism": 3, "completions": 3, "template": {1}}}}})",
      i, fmt::format(fmt::runtime(kPodTemplate), i));
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// `VmRSS` and the like, in MiB.
double memory(pid_t pid, const std::string& what) {
  const std::string text = content_of(fmt::format("/proc/{}/status", pid));
  const std::size_t at = text.find(what + ":");
  return at == std::string::npos ? 0 : std::atof(text.c_str() + at + what.size() + 1) / 1024;
}

/// User and system time of a process or thread, in seconds.
double processor(const std::filesystem::path& stat) {
  const std::string text = content_of(stat);
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream fields(text.substr(end + 2));
  std::string field;
  double ticks = 0;
  for (int i = 3; fields >> field && i <= 15; ++i)
    if (i >= 14) ticks += std::atof(field.c_str());
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double processor(pid_t pid) { return processor(fmt::format("/proc/{}/stat", pid)); }

std::string by_thread(pid_t pid) {
  std::map<std::string, double> seconds;
  std::error_code ignored;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), ignored)) {
    std::string name = content_of(task.path() / "comm");
    while (!name.empty() && name.back() == '\n') name.pop_back();
    seconds[name] += processor(task.path() / "stat");
  }
  std::string out;
  for (const auto& [name, spent] : seconds)
    if (spent > 0) out += fmt::format(" {} {:.2f}", name, spent);
  return out;
}

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

void fail(const std::string& text) {
  fmt::print(stderr, "error: {}\n", text);
  std::exit(1);
}

void must(const Result<void>& result) {
  if (!result) fail(result.error().text);
}

void create(const HostProcess& host, const char* path, int begin, int end,
            std::string (*make)(int)) {
  constexpr int kThreads = 16;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      AdminClient client(host);
      for (int i = begin + t; i < end; i += kThreads) {
        const Answer answer = client.send("POST", path, make(i));
        if (answer.status != 201) fail(fmt::format("{} {}", answer.status, answer.body));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Waits until the host does nothing any more.
void settle(const HostProcess& host) {
  for (int quiet = 0; quiet < 4;) {
    const double before = processor(host.pid());
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    quiet = processor(host.pid()) - before < 0.02 ? quiet + 1 : 0;
  }
}

void make_queues(const HostProcess& host) {
  AdminClient client(host);
  for (const auto& [path, body] :
       {std::pair{collection(Kind::kFlavor), kFlavor},
        std::pair{"/apis/kueue.x-k8s.io/v1beta2/clusterqueues", kClusterQueue},
        std::pair{collection(Kind::kLocalQueue), kLocalQueue}})
    if (const Answer answer = client.send("POST", path, body); answer.status != 201)
      fail(answer.body);
}

void print_memory(const HostProcess& host, const char* what) {
  fmt::print("{}: {:.0f} MiB in use, {:.0f} MiB at most\n", what, memory(host.pid(), "VmRSS"),
             memory(host.pid(), "VmHWM"));
}

/// As the host itself told it last.
std::string objects_loaded(const std::filesystem::path& log) {
  const std::string text = content_of(log);
  constexpr std::string_view kField = " objects=";
  const std::size_t at = text.rfind(kField);
  if (at == std::string::npos) return "?";
  const std::size_t begin = at + kField.size();
  return text.substr(begin, text.find(' ', begin) - begin);
}

void restart(HostProcess& host, const std::filesystem::path& log, int runs) {
  for (int run = 0; run < runs; ++run) {
    host.kill();
    const auto began = Clock::now();
    must(host.spawn());
    must(host.wait_until_ready());
    const double ready = since(began), spent = processor(host.pid());
    AdminClient client(host);
    const Answer list = client.get(std::string(collection(Kind::kWorkload)) + "?limit=500");
    if (list.status != 200) fail(list.body);
    fmt::print(
        "restart: {} objects, ready after {:.2f} s, first list after {:.2f} s, {:.2f} s of "
        "processor "
        "time ({} ), {:.0f} MiB\n",
        objects_loaded(log), ready, since(began), spent, by_thread(host.pid()),
        memory(host.pid(), "VmHWM"));
    std::fflush(stdout);
  }
}

void idle(const HostProcess& host, int watches, int seconds) {
  std::vector<AdminClient> clients;
  for (int i = 0; i < watches; ++i) {
    clients.emplace_back(host);
    clients.back().raw().send(
        fmt::format("GET {}?watch=1&allowWatchBookmarks=true&resourceVersion=0 HTTP/1.1\r\n"
                    "Host: localhost\r\n{}\r\n",
                    "/api/v1/namespaces/default/configmaps", clients.back().headers()));
    if (clients.back().raw().read_head().status != 200) fail("a watch was refused");
  }
  settle(host);
  const double before = processor(host.pid());
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const double spent = processor(host.pid()) - before;
  fmt::print("at rest with {} watches: {:.2f} s of processor time in {} s: {:.2f} %\n", watches,
             spent, seconds, 100 * spent / seconds);
  print_memory(host, "at rest");
}

/// How long a question takes, what it takes of memory, and how long writers wait meanwhile.
void ask(const HostProcess& host, int questions) {
  const std::string body = fmt::format(
      R"({{"apiVersion": "sluice.dev/v1alpha1", "kind": "WhatIf", "spec": {{"namespace": "default",
          "estimate": false, "objects": [{}]}}}})",
      [] {
        std::string object = workload(-1);
        return object.insert(1, R"("apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", )");
      }());
  AdminClient asking(host), writing(host);
  const auto write = [&](int i) {
    const auto began = Clock::now();
    const std::string map = fmt::format(R"({{"metadata": {{"name": "m-{}"}}}})", i);
    if (const Answer answer = writing.send("POST", "/api/v1/namespaces/default/configmaps", map);
        answer.status != 201)
      fail(answer.body);
    return 1000 * since(began);
  };
  int written = 0;
  double alone = 0, beside = 0;
  for (int i = 0; i < 2'000; ++i) alone = std::max(alone, write(written++));
  const double before = memory(host.pid(), "VmRSS");
  double most = 0;
  for (int i = 0; i < questions; ++i) {
    std::atomic<bool> done = false;
    double took = 0;
    std::thread thread([&] {
      const auto began = Clock::now();
      const Answer answer = asking.send("POST", "/apis/sluice.dev/v1alpha1/whatifs", body);
      took = since(began);
      if (answer.status != 201) fail(answer.body);
      done = true;
    });
    double longest = 0, peak = 0;
    while (!done) {
      longest = std::max(longest, write(written++));
      peak = std::max(peak, memory(host.pid(), "VmRSS"));
    }
    thread.join();
    most = std::max(most, peak - before);
    beside = std::max(beside, longest);
    fmt::print(
        "a question: {:.2f} s, {:.0f} MiB more meanwhile, longest write beside it {:.1f} ms\n",
        took, peak - before, longest);
  }
  fmt::print("{} questions: {:.0f} MiB more at most; longest write {:.1f} ms (alone {:.1f} ms)\n",
             questions, most, beside, alone);
}

int run(const std::string& sluice, const std::filesystem::path& folder, int workloads, int jobs,
        int runs, int watches) {
  std::filesystem::remove_all(folder);
  HostProcess host(std::filesystem::absolute(sluice), std::filesystem::absolute(folder), kConfig);
  must(host.spawn());
  must(host.wait_until_ready());
  make_queues(host);
  print_memory(host, "empty");
  auto began = Clock::now();
  const int few = std::min(workloads, 10'000);
  create(host, collection(Kind::kWorkload), 0, few, workload);
  settle(host);
  if (watches > 0) idle(host, watches, 20);
  began = Clock::now();
  create(host, collection(Kind::kWorkload), few, workloads, workload);
  fmt::print("{} more workloads in {:.1f} s\n", workloads - few, since(began));
  settle(host);
  print_memory(host, "all workloads pending");
  ask(host, 5);
  began = Clock::now();
  create(host, collection(Kind::kJob), 0, jobs, job);
  fmt::print("{} jobs, each with its workload, in {:.1f} s\n", jobs, since(began));
  settle(host);
  print_memory(host, "and all jobs");
  restart(host, folder / "log", runs);
  host.kill();
  return 0;
}

}  // namespace
}  // namespace sluice::host::test

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::string sluice, folder = "build/bench/serve";
  int workloads = 100'000, jobs = 50'000, runs = 5, watches = 2'000;
  CLI::App app("measures a host with many objects");
  app.add_option("--sluice", sluice, "the program")->required();
  app.add_option("--folder", folder, "for the store; emptied first, and left for a look");
  app.add_option("--workloads", workloads, "created without a job");
  app.add_option("--jobs", jobs, "created; each gets its workload");
  app.add_option("--watches", watches, "that are open while the host is at rest; 0: not measured");
  app.add_option("--runs", runs, "restarts");
  CLI11_PARSE(app, argc, argv);
  return sluice::host::test::run(sluice, folder, workloads, jobs, runs, watches);
}
