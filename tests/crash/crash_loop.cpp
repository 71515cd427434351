#include "tests/crash/crash_loop.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <random>
#include <sstream>
#include <thread>

#include "host/objects/parts.hpp"
#include "tests/crash/host_process.hpp"
#include "tests/crash/load.hpp"
#include "tests/crash/usage.hpp"
#include "tests/crash/watcher.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

constexpr const char* kConfig = R"(
apiVersion: config.sluice.dev/v1alpha1
kind: Configuration
server: {address: "127.0.0.1:0"}
metrics: {address: "127.0.0.1:0"}
store: {path: data}
plugins: {load: []}
executor: {type: local, nodes: [{name: node, capacity: {cpu: "1000", memory: 64Gi}}]}
)";

// Jobs are never preempted, so that each has to run exactly once; plain workloads are.
constexpr const char* kQueue = R"({{
  "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {{"name": "{0}"}},
  "spec": {{"namespaceSelector": {{}}, "preemption": {{"withinClusterQueue": "{1}"}},
    "resourceGroups": [{{"coveredResources": ["cpu"], "flavors": [
      {{"name": "main", "resources": [{{"name": "cpu", "nominalQuota": "{2}"}}]}}]}}]}}}})";

constexpr Kind kKinds[] = {Kind::kConfigMap, Kind::kFlavor, Kind::kLocalQueue, Kind::kWorkload,
                           Kind::kJob};
constexpr std::chrono::seconds kPatience{60};
constexpr auto kLook = std::chrono::milliseconds(10);

/// Waits for something that comes by itself.
template <typename F>
bool comes(const F& condition) {
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    if (condition()) return true;
    std::this_thread::sleep_for(kLook);
  }
  return false;
}

class CrashLoop {
 public:
  explicit CrashLoop(const CrashOptions& options)
      : options_(options),
        random_(options.seed),
        host_(std::filesystem::absolute(options.sluice), std::filesystem::absolute(options.folder),
              kConfig) {
    const std::string runs = (std::filesystem::absolute(options.folder) / "runs").string();
    std::ofstream{runs};
    // Jobs run as a user of their namespace, and write there.
    using std::filesystem::perms;
    std::filesystem::permissions(options.folder, perms::owner_all | perms(0011));
    std::filesystem::permissions(runs, perms(0666));
    for (int i = 0; i < options.clients; ++i)
      loads_.emplace_back(i, static_cast<std::uint32_t>(random_()), runs);
    for (const Kind kind : {Kind::kConfigMap, Kind::kWorkload, Kind::kJob})
      watchers_.emplace_back(kind);
  }

  CrashFigures run() {
    const auto began = Clock::now();
    for (int round = 0; round < options_.rounds && findings_.none(); ++round) {
      if (!start()) break;
      if (round == 0) make_queues();
      with_watchers([&] {
        check();
        load();
      });
      ++figures_.rounds;
      if (options_.progress) options_.progress(round + 1, options_.rounds);
    }
    if (findings_.none() && start()) with_watchers([&] { finish(); });
    host_.kill();
    sum_up();
    figures_.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    return std::move(figures_);
  }

 private:
  bool start() {
    // One in ten is killed before it is ready, and then started again.
    while (figures_.rounds != 0 && random_() % 10 == 0) {
      if (!host_.spawn()) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % 60'000));
      host_.kill();
      ++figures_.killed_while_starting;
    }
    const auto began = Clock::now();
    Result<void> ready = host_.spawn();
    if (ready) ready = host_.wait_until_ready();
    if (!ready) findings_.add(ready.error().text);
    figures_.restarts_ms.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - began).count());
    return ready.ok();
  }

  void make_queues() {
    AdminClient client(host_);
    const auto make = [&](const char* path, const std::string& body) {
      const Answer answer = client.send("POST", path, body);
      if (answer.status != 201)
        findings_.add(fmt::format("{} was answered {} {}", path, answer.status, answer.body));
    };
    make(collection(Kind::kFlavor),
         R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
             "metadata": {"name": "main"}})");
    for (const auto& [name, policy, quota] :
         {std::tuple{"jobs", "Never", 8}, std::tuple{"plain", "LowerPriority", 5}}) {
      make("/apis/kueue.x-k8s.io/v1beta2/clusterqueues",
           fmt::format(fmt::runtime(kQueue), name, policy, quota));
      make(collection(Kind::kLocalQueue),
           fmt::format(
               R"({{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
                   "metadata": {{"name": "{0}"}}, "spec": {{"clusterQueue": "{0}"}}}})",
               name));
    }
  }

  /// Runs `body` while all watchers follow the host; it has to end with the host killed.
  template <typename F>
  void with_watchers(const F& body) {
    std::vector<std::thread> threads;
    for (Watcher& watcher : watchers_)
      threads.emplace_back([&] { watcher.follow(host_, findings_); });
    body();
    host_.kill();
    for (std::thread& thread : threads) thread.join();
  }

  void load() {
    if (!findings_.none()) return;
    std::vector<std::thread> threads;
    for (Load& load : loads_) threads.emplace_back([&] { load.run(host_, findings_); });
    const auto limit = static_cast<unsigned>(options_.most_load_ms) * 1000;
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % limit));
    host_.kill();
    for (std::thread& thread : threads) thread.join();
    for (const Load& load : loads_) last_version_ = std::max(last_version_, load.last_version());
    for (const Watcher& watcher : watchers_)
      last_version_ = std::max(last_version_, watcher.last());
  }

  /// What has to hold after each restart.
  void check() {
    AdminClient client(host_);
    for (const Kind kind : kKinds) check_objects(client, kind);
    check_usage(client);
    check_watch(client);
  }

  void check_objects(AdminClient& client, Kind kind) {
    const Answer answer = client.get(collection(kind));
    const json::object list = parse_object(answer.body);
    if (answer.status != 200)
      findings_.add(
          fmt::format("{} was answered {} {}", collection(kind), answer.status, answer.body));
    if (version_of(list) < last_version_)
      findings_.add(fmt::format("the host is at version {}, clients have seen {}", version_of(list),
                                last_version_));
    std::map<std::string, SeenObject> objects;
    for_each_object(list, "items", [&](const json::object& item) {
      SeenObject object = seen(kind, item);
      std::string name = object.name;
      objects.emplace(std::move(name), std::move(object));
    });
    for (Load& load : loads_) load.check(kind, objects, findings_);
  }

  void check_usage(AdminClient& client) {
    UsageSeen usage;
    const bool agree = comes([&] {
      usage = read_usage(client);
      return !usage.complete || usage.told == usage.summed;
    });
    if (!agree || !usage.complete)
      findings_.add(fmt::format("the queues say {}\nthe workloads hold {}", to_text(usage.told),
                                to_text(usage.summed)));
  }

  /// A write that every watch has to see; nothing else writes objects of this kind now.
  void check_watch(AdminClient& client) {
    NewObject object;
    object.name = fmt::format("round-{}", figures_.rounds);
    const Answer answer = client.send("POST", collection(object.kind), to_json(object));
    const std::uint64_t version = version_of(parse_object(answer.body));
    if (answer.status != 201 || version <= last_version_)
      findings_.add(fmt::format("the first write after version {} was answered {} {}",
                                last_version_, answer.status, answer.body));
    if (!comes([&] { return watchers_.front().reached(version); }))
      findings_.add(fmt::format("version {} was never watched", version));
    compare(client, Kind::kConfigMap, watchers_.front());
    for (Load& load : loads_) {
      const std::vector<Acknowledged> writes = load.take_acknowledged();
      for (const Watcher& watcher : watchers_) watcher.check(writes, findings_);
    }
  }

  void compare(AdminClient& client, Kind kind, const Watcher& watcher) {
    std::map<std::string, std::uint64_t> there;
    const bool same = comes([&] {
      there.clear();
      for_each_object(parse_object(client.get(collection(kind)).body), "items",
                      [&](const json::object& item) {
                        const SeenObject object = seen(kind, item);
                        there[object.name] = object.version;
                      });
      return there == watcher.state();
    });
    if (same) return;
    std::string text = fmt::format("{}: what was watched is not what is there:", collection(kind));
    const auto watched = watcher.state();
    for (const auto& [name, version] : there)
      if (const auto at = watched.find(name); at == watched.end() || at->second != version)
        text += fmt::format(" {} at {}, watched {}", name, version,
                            at == watched.end() ? 0 : at->second);
    for (const auto& [name, version] : watched)
      if (!there.contains(name)) text += fmt::format(" {} is gone, watched {}", name, version);
    findings_.add(std::move(text));
  }

  /// After the last restart: everything comes to its end.
  void finish() {
    check();
    AdminClient client(host_);
    check_jobs(client);
    check_usage(client);
    compare(client, Kind::kJob, watchers_.back());
    compare(client, Kind::kWorkload, *std::next(watchers_.begin()));
    host_.kill();
    const std::string command =
        fmt::format("'{}' store check '{}' >'{}' 2>&1", host_.binary().string(),
                    (host_.folder() / "data").string(), (host_.folder() / "check").string());
    const int status = std::system(command.c_str());
    if (status != 0) findings_.add("sluice store check: " + text_of(host_.folder() / "check"));
  }

  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }

  std::map<std::string, const char*> states_of_jobs(AdminClient& client) {
    std::map<std::string, const char*> out;
    for_each_object(parse_object(client.get(collection(Kind::kJob)).body), "items",
                    [&](const json::object& job) {
                      const json::object& status = part(job, "status");
                      out[std::string(api::find_text(part(job, "metadata"), "name"))] =
                          has_condition(status, "Complete") ? "complete"
                          : has_condition(status, "Failed") ? "failed"
                                                            : "not ended";
                    });
    return out;
  }

  void check_jobs(AdminClient& client) {
    std::map<std::string, const char*> states;
    comes([&] {
      states = states_of_jobs(client);
      return std::none_of(states.begin(), states.end(), [](const auto& entry) {
        return std::string_view(entry.second) == "not ended";
      });
    });
    struct Runs {
      int started = 0, ended = 0;
    };
    std::map<std::string, Runs> runs;
    std::ifstream in(host_.folder() / "runs");
    for (std::string what, job, uid; in >> what >> job >> uid;)
      ++(what == "start" ? runs[job].started : runs[job].ended);
    for (const Load& load : loads_) {
      for (const auto& [job, pods] : load.jobs()) {
        const Runs& of = runs[job];
        ++figures_.jobs;
        figures_.pods_started += static_cast<std::uint64_t>(of.started);
        const auto state = states.find(job);
        const bool lost = state != states.end() && (std::string_view(state->second) != "complete" ||
                                                    of.started != pods || of.ended != pods);
        if (lost || of.started > pods)
          findings_.add(fmt::format("job {} is {}; of its {} pods {} started and {} ended", job,
                                    state == states.end() ? "gone" : state->second, pods,
                                    of.started, of.ended));
        if (state == states.end() && !load.is_deleted(job))
          findings_.add(fmt::format("job {} is gone", job));
      }
    }
  }

  void sum_up() {
    for (const Load& load : loads_) {
      figures_.acknowledged += load.counts().acknowledged;
      figures_.refused += load.counts().refused;
      figures_.unanswered += load.counts().unanswered;
      figures_.unanswered_and_done += load.counts().unanswered_and_done;
    }
    for (const Watcher& watcher : watchers_) {
      figures_.watched += watcher.events();
      figures_.resumed += watcher.resumed;
      figures_.expired += watcher.expired;
    }
    figures_.findings = findings_.all();
    if (!figures_.findings.empty()) figures_.findings.push_back("the host's log:\n" + host_.log());
  }

  const CrashOptions options_;
  std::mt19937 random_;
  HostProcess host_;
  Findings findings_;
  std::list<Load> loads_;
  std::list<Watcher> watchers_;
  std::uint64_t last_version_ = 0;
  CrashFigures figures_;
};

double at_fraction(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

}  // namespace

CrashFigures run_crash_loop(const CrashOptions& options) { return CrashLoop(options).run(); }

std::string to_text(const CrashFigures& figures) {
  std::string out = fmt::format(
      "killed {} times under load and {} times while starting, in {:.1f} s\n"
      "writes: {} acknowledged, {} refused, {} without an answer, of which {} were done\n"
      "watches: {} events, went on {} times, listed again {} times\n"
      "jobs: {}, with {} pods that started\n"
      "restart to the ready line: {:.0f} ms in the median, {:.0f} ms for 99 in 100, at most "
      "{:.0f} ms\n",
      figures.rounds, figures.killed_while_starting, figures.seconds, figures.acknowledged,
      figures.refused, figures.unanswered, figures.unanswered_and_done, figures.watched,
      figures.resumed, figures.expired, figures.jobs, figures.pods_started,
      at_fraction(figures.restarts_ms, 0.5), at_fraction(figures.restarts_ms, 0.99),
      at_fraction(figures.restarts_ms, 1));
  for (const std::string& finding : figures.findings) out += "WRONG: " + finding + "\n";
  if (figures.findings.empty()) out += "nothing was lost\n";
  return out;
}

}  // namespace sluice::host::test
