#include "host/observe/observer.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "host/config/config.hpp"
#include "host/history/history.hpp"
#include "host/objects/kinds.hpp"
#include "host/observe/compare.hpp"
#include "host/observe/mirror.hpp"
#include "host/observe/read_server.hpp"
#include "host/observe/trial_room.hpp"
#include "host/plugins/clock.hpp"
#include "host/serve/signals.hpp"
#include "host/simulate/dump.hpp"
#include "host/whatif/what_if.hpp"

namespace sluice::host {
namespace {

constexpr Duration kLook = 200 * kMillisecond;  // whether the end was asked for meanwhile
constexpr const char* kOthersDecide =
    "another program decides in this cluster: this is what Sluice would decide there, once what "
    "waits and would start at once has started";

/// Why the cluster is not known in full; empty when it is.
std::string what_is_missing(const ClusterFollower& follower, const std::string& server) {
  std::string out;
  for (const FollowState& state : follower.states()) {
    const std::string name = fmt::format("{}{}{}", state.kind->plural,
                                         state.kind->group.empty() ? "" : ".", state.kind->group);
    if (!state.synced)
      out += state.trouble.empty() ? fmt::format("{} did not come in time\n", name)
                                   : fmt::format("cannot list {}: {}\n", name, state.trouble);
    if (state.absent && is_workload(*state.kind))
      out += fmt::format("{} has no {}; is Kueue installed there?\n", server, name);
  }
  return out;
}

class Observer {
 public:
  Observer(const ObserveOptions& options, Configuration config)
      : options_(options), config_(std::move(config)) {}

  Result<int> serve(Signals& signals) {
    if (auto following = follow(true); !following) return following.error();
    return answer_until(signals);
  }

  Result<int> answer() {
    if (auto following = follow(false); !following) return following.error();
    follower_->wait(options_.patience);
    if (std::string missing = what_is_missing(*follower_, server_); !missing.empty()) {
      missing.pop_back();
      return Error{missing};
    }
    follower_->stop();
    return answer_once();
  }

 private:
  Result<void> follow(bool jobs) {
    Result<Kubeconfig> cluster = cluster_of(options_.kubeconfig, options_.context);
    if (!cluster) return cluster.error();
    server_ = cluster->server;
    auto rules = Rules::load(config_.plugins, options_.plugins, clock_);
    if (!rules) return rules.error();
    rules_ = std::move(*rules);
    store_ = std::make_unique<LiveStore>(rules_->scheme, nullptr, kMirroredHistory);
    mirrored_ = std::make_unique<MirrorStore>(*store_);
    mirror_ = std::make_unique<Mirror>(*rules_->intake, *mirrored_);
    kinds_ = kinds_to_follow(rules_->scheme, jobs);
    auto follower = ClusterFollower::make(*cluster, kinds_, *mirror_);
    if (!follower) return follower.error();
    follower_ = std::move(*follower);
    follower_->start();
    return {};
  }

  TrialSource source() const { return {config_, *rules_, *store_}; }

  /// Until what was committed last is published, which happens on a thread of the store's own.
  void settle() {
    auto published = std::make_shared<std::promise<void>>();
    store_->commit([published](const Result<void>&) { published->set_value(); });
    published->get_future().wait();
  }

  Result<int> answer_once() {
    settle();
    auto trial = Trial::make(source(), clock_.now());
    if (!trial) return trial.error();
    if (!options_.dump.empty()) {
      auto dumped = write_dump(options_.dump, (*trial)->machine().kernel(), (*trial)->now(), 0);
      if (!dumped) return dumped.error();
    }
    if (!options_.compare) return 0;
    const boost::json::object document = comparison(**trial, *mirror_);
    fmt::print("{}", options_.tell(document));
    return agrees(document) ? 0 : kDifferStatus;
  }

  /// Until a signal says that it is enough.
  Result<int> answer_until(Signals& signals) {
    ReadServer server(rules_->scheme, kinds_, clock_);
    if (auto open = server.open(config_.server, options_.address, options_.own_kubeconfig); !open)
      return open.error();
    TrialRoom room(source(), clock_);
    const auto history = history_of_cluster(config_.history, *store_, rules_->scheme,
                                            [this] { return clock_.now(); });
    const auto moment = [this] {
      return Result<ForkMoment>(ForkMoment{
          .now = clock_.now(), .version = store_->version(), .uncertain = {kOthersDecide}});
    };
    const auto past = [&] { return history ? history->run_times() : PastRunTimes(); };
    HostWhatIf what_if({config_, *rules_, *store_}, server.askers(), moment, past);
    what_if.start();
    std::atomic<bool> ending = false;
    std::thread ready([&] {
      while (!ending && !follower_->wait(kLook)) {
      }
      if (ending) return;
      mirror_->log_problems();
      if (history) history->start();
      server.attach(*store_, room, what_if, history.get());
      fmt::print("ready https://{} kubeconfig {}\n", server.address(), options_.own_kubeconfig);
      std::fflush(stdout);
    });
    while (signals.next() == SIGHUP) {
    }
    ending = true;
    ready.join();
    server.stop();
    what_if.stop();
    follower_->stop();
    if (history) history->stop();
    return 0;
  }

  const ObserveOptions& options_;
  SystemPluginClock clock_;
  Configuration config_;
  std::string server_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<LiveStore> store_;
  std::unique_ptr<MirrorStore> mirrored_;
  std::unique_ptr<Mirror> mirror_;
  std::vector<FollowedKind> kinds_;
  std::unique_ptr<ClusterFollower> follower_;
};

}  // namespace

Result<int> run_observer(const ObserveOptions& options) {
  set_log(options.log_format, options.log_level);
  umask(077);
  const bool serves = !options.compare && options.dump.empty();
  std::optional<Signals> signals;  // before any thread is there
  if (serves) signals.emplace();
  auto config = load_configuration(options.config_file);
  if (!config) return config.error();
  Observer observer(options, std::move(*config));
  return serves ? observer.serve(*signals) : observer.answer();
}

}  // namespace sluice::host
