// overload_bench: what a host does when far more is asked of it than it can do: how much of its
// best it still does, who gets it, and how long health checks and the administrator wait meanwhile.
//
//   overload_bench --sluice BIN [--work FOLDER] [--seconds S] [--watchers N]
//
// The store is on disk, the client beside the host on the same processors: what a thousand
// connections cost the client is part of each row. Prints one row per phase, and exits 1 where a
// promise of docs/reliability.md is broken.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/rest/client.hpp"
#include "bench/rest/host_process.hpp"

namespace sluice::bench {
namespace {

constexpr std::size_t kUsers = 8, kEach = 8, kFactor = 10, kNamespaces = 100, kStalled = 100;

struct Options {
  std::string sluice, work = "build/bench/overload";
  double seconds = 10;
  std::size_t watchers = 5000;
};

std::string user_name(std::size_t user) { return fmt::format("user{}", user); }
std::string token_of(std::size_t user) { return fmt::format("the-token-of-{}", user_name(user)); }

/// A line for each user, and one more, who floods.
std::string token_lines() {
  std::string out;
  for (std::size_t user = 0; user <= kUsers; ++user)
    out += fmt::format("{},{},{},load\n", token_of(user), user_name(user), user);
  return out;
}

/// Asks something small again and again, each time over a connection of its own.
class Prober {
 public:
  Prober(Target target, std::string path) : target_(std::move(target)), path_(std::move(path)) {
    thread_ = std::thread([this] {
      while (!stop_) {
        const auto began = Clock::now();
        call_once(target_, "GET", path_, "");
        const auto took = Clock::now() - began;
        seen_.micros.push_back(static_cast<std::uint32_t>(
            std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }
  ~Prober() { end(); }
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;
  Latencies& end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return seen_;
  }

 private:
  const Target target_;
  const std::string path_;
  Latencies seen_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

struct Figures {
  double goodput = 0;                    // requests that succeeded, in a second
  std::vector<double> each;              // of the users
  double p99 = 0;                        // of the users but the last one, in milliseconds
  double health = 0, administrator = 0;  // their longest wait, in milliseconds
};

class Bench {
 public:
  explicit Bench(Options options)
      : options_(std::move(options)),
        host_(options_.sluice, options_.work,
              {.server = "limits: {connections: 12000, watchers: 12000, watchersPerUser: 12000}",
               .tokens = token_lines()}) {}

  int run();

 private:
  Figures load(const std::vector<std::size_t>& connections);
  void make_room();
  void row(const std::string& name, const Figures& figures, const std::string& note);
  void watched();
  void expect(bool holds, const std::string& what) {
    if (!holds) broken_.push_back(what);
  }
  Target as(std::size_t user) const {
    Target out = host_.secure();
    out.token = token_of(user);
    return out;
  }

  const Options options_;
  HostProcess host_;
  double peak_ = 0;
  std::size_t made_ = 0;  // phases
  std::vector<std::string> broken_;
};

void Bench::make_room() {
  for (std::size_t i = 0; i < kNamespaces; ++i)
    call_once(host_.secure(), "POST", "/api/v1/namespaces",
              fmt::format(R"({{"metadata":{{"name":"n{}"}}}})", i));
  call_once(host_.secure(), "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            R"({"metadata":{"name":"load"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
            R"("kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"apiGroup":)"
            R"("rbac.authorization.k8s.io","kind":"Group","name":"load"}]})");
}

/// User i writes over so many connections as fast as he gets answers.
Figures Bench::load(const std::vector<std::size_t>& connections) {
  const std::size_t phase = made_++;
  Prober health(host_.secure(), "/readyz");
  Prober administrator(host_.secure(), "/api/v1/namespaces/n0");
  std::vector<CallResult> results(connections.size());
  std::vector<std::thread> threads;
  for (std::size_t user = 0; user < connections.size(); ++user)
    threads.emplace_back([&, user] {
      const Target target = as(user);
      std::size_t made = 0;
      CallOptions options;
      options.connections = connections[user];
      options.seconds = options_.seconds;
      results[user] = call_many(target, options, [&](std::string& text) {
        const std::string body =
            fmt::format(R"({{"metadata":{{"name":"p{}-u{}-{}"}},"data":{{"key":"{:0>64}"}}}})",
                        phase, user, made, made);
        text = head(target, "POST",
                    fmt::format("/api/v1/namespaces/n{}/configmaps", made++ % kNamespaces),
                    "application/json", body.size()) +
               body;
        return true;
      });
    });
  for (std::thread& thread : threads) thread.join();
  Figures out;
  Latencies polite;
  for (std::size_t user = 0; user < results.size(); ++user) {
    CallResult& result = results[user];
    out.each.push_back(static_cast<double>(result.requests) / result.seconds);
    out.goodput += out.each.back();
    if (user < kUsers)
      polite.micros.insert(polite.micros.end(), result.latencies.micros.begin(),
                           result.latencies.micros.end());
  }
  out.p99 = polite.percentile(0.99);
  out.health = health.end().percentile(1);
  out.administrator = administrator.end().percentile(1);
  return out;
}

void Bench::row(const std::string& name, const Figures& figures, const std::string& note) {
  const auto users = figures.each.begin() + static_cast<std::ptrdiff_t>(kUsers);
  const auto [least, most] = std::minmax_element(figures.each.begin(), users);
  fmt::print(
      "| {:<28} | {:>7.0f} | {:>5.0f} % | {:>5.0f} – {:<5.0f} | {:>7.0f} | {:>7.0f} | "
      "{:>7.0f} | {}\n",
      name, figures.goodput, 100 * figures.goodput / peak_, *least, *most, figures.p99,
      figures.health, figures.administrator, note);
  std::fflush(stdout);
}

/// Readers that read, and some that never do, while users write as at the peak.
void Bench::watched() {
  WatchOptions options;
  // From now on: what there is already would come in order of names.
  const std::string list =
      call_once(host_.secure(), "GET", "/api/v1/namespaces/n0/configmaps?limit=1", "");
  const std::string from = "watch=true&resourceVersion=" + member(list, "resourceVersion");
  for (std::size_t i = 0; i < options_.watchers; ++i)
    options.paths.push_back(
        fmt::format("/api/v1/namespaces/n{}/configmaps?{}", i % kNamespaces, from));
  WatchSet watches(host_.secure(), options);
  std::vector<std::unique_ptr<Socket>> stalled;
  for (std::size_t i = 0; i < kStalled; ++i) {
    stalled.push_back(std::make_unique<Socket>(host_.secure(), 4096));
    stalled.back()->send(
        head(host_.secure(), "GET", "/api/v1/namespaces/n0/configmaps?" + from, "", 0));
  }
  const std::size_t before = watches.events();
  const Figures figures = load(std::vector<std::size_t>(kUsers, kEach));
  const double told = static_cast<double>(watches.events() - before) / options_.seconds;
  row(fmt::format("{} watches, {} stalled", options_.watchers, kStalled), figures,
      fmt::format("{:.0f} events a second; watches that the host ended: {}; in order: {}; host "
                  "{:.0f} MiB",
                  told, watches.closed(), watches.in_order(), host_.resident()));
  expect(watches.closed() == 0, "a watch that was read was ended");
  expect(watches.in_order(), "events came out of order");
}

int Bench::run() {
  make_room();
  fmt::print("| {:<28} | {:>7} | {:>7} | {:^13} | {:>7} | {:>7} | {:>7} |\n", "phase", "per s",
             "of peak", "each user", "p99 ms", "readyz", "admin");
  fmt::print("|---|---|---|---|---|---|---|\n");
  std::vector<std::size_t> connections(kUsers, kEach);
  load(connections);  // warm
  Figures figures = load(connections);
  peak_ = figures.goodput;
  row(fmt::format("{} users, {} connections", kUsers, kUsers * kEach), figures, "");

  const double before = figures.goodput;
  figures = load(std::vector<std::size_t>(kUsers, kFactor * kEach));
  row(fmt::format("{} × the connections", kFactor), figures, "");
  expect(figures.goodput >= 0.8 * peak_, "less than 80 % of the peak was done at 10 ×");

  connections.push_back(kFactor * kUsers * kEach);
  figures = load(connections);
  const double share = figures.each.back() / figures.goodput;
  row("one more user floods", figures,
      fmt::format("his part: {:.0f} %; the others have {:.0f} % of what they had alone",
                  100 * share, 100 * (figures.goodput - figures.each.back()) / before));
  expect(figures.goodput >= 0.8 * peak_, "less than 80 % of the peak was done under a flood");
  watched();
  for (const std::string& each : broken_) fmt::print("error: {}\n", each);
  return broken_.empty() ? 0 : 1;
}

Options read(int count, char** words) {
  Options out;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string word = words[i], value = words[i + 1];
    if (word == "--sluice")
      out.sluice = value;
    else if (word == "--work")
      out.work = value;
    else if (word == "--seconds")
      out.seconds = std::stod(value);
    else if (word == "--watchers")
      out.watchers = std::stoul(value);
    else
      fail("unknown option " + word);
  }
  if (count % 2 == 0 || out.sluice.empty())
    fail("usage: overload_bench --sluice BIN [--work FOLDER] [--seconds S] [--watchers N]");
  return out;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
  sluice::bench::allow_many_files();
  return sluice::bench::Bench(sluice::bench::read(count, words)).run();
}
