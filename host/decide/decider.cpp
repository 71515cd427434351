#include "host/decide/decider.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "api/json/json.hpp"
#include "host/access/startup.hpp"
#include "host/aggregation/aggregated_api.hpp"
#include "host/aggregation/configuration.hpp"
#include "host/aggregation/registrar.hpp"
#include "host/base/service.hpp"
#include "host/base/version.hpp"
#include "host/config/config.hpp"
#include "host/decide/chains.hpp"
#include "host/decide/cluster_door.hpp"
#include "host/decide/cluster_pages.hpp"
#include "host/decide/cluster_readings.hpp"
#include "host/decide/followed_kinds.hpp"
#include "host/explain/insight.hpp"
#include "host/history/history.hpp"
#include "host/kube/follower.hpp"
#include "host/metrics/decision_metrics.hpp"
#include "host/metrics/metric_upkeep.hpp"
#include "host/objects/job_pages.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"
#include "host/observe/mirror.hpp"
#include "host/observe/read_server.hpp"
#include "host/plugins/clock.hpp"
#include "host/plugins/onward_clock.hpp"
#include "host/plugins/plugin_deaths.hpp"
#include "host/serve/control_loop.hpp"
#include "host/serve/host_instance.hpp"
#include "host/serve/live_moment.hpp"
#include "host/serve/live_readings.hpp"
#include "host/serve/signals.hpp"
#include "host/webhook/configuration.hpp"
#include "host/webhook/keeper.hpp"
#include "host/webhook/server.hpp"
#include "host/whatif/what_if.hpp"

namespace sluice::host {
namespace {

constexpr Duration kLook = 100 * kMillisecond;  // whether the end was asked for meanwhile

/// A name for this process that no other one has: the pod's, or the machine's, and a number.
std::string own_identity() {
  char name[256] = "sluice";
  static_cast<void>(::gethostname(name, sizeof(name) - 1));
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", name, random(), random());
}

class Decider final : public TurnEnd {
 public:
  Decider(const ControllerOptions& options, Configuration config, Signals& signals)
      : options_(options),
        config_(std::move(config)),
        signals_(signals),
        outbox_(
            [this](const StoredObject& object) {
              return chain_of(object, *store_, machine_->index());
            },
            quota_trees([this]() -> const Model& { return machine_->engine().model(); }),
            OutboxLimits()) {}

  ~Decider() override { stop(); }

  /// What run() answers when another Decider is to go on, with the pages that there are now.
  static constexpr int kOtherPages = -1;

  /// The exit status.
  Result<int> run() {
    if (auto started = start(); !started) return started.error();
    fmt::print("following {}; answering at https://{} kubeconfig {}\n", server_, reads_->address(),
               options_.own_kubeconfig);
    std::fflush(stdout);
    tell_service_manager("READY=1");
    std::thread standby([this] { stand_by(); });
    int signal = 0;
    while ((signal = signals_.next()) == SIGHUP)
      log(LogLevel::kInfo, "controller", "restart it to reload");
    ending_ = true;
    standby.join();
    tell_service_manager("STOPPING=1");
    stop();
    if (lost_) return Error{"another replica may decide: the lease was lost"};
    return signal == Signals::kOther ? kOtherPages : 0;
  }

  // TurnEnd
  void turn_ended(Duration now) override { sender_->send(outbox_.due(now)); }
  std::optional<Duration> wants_turn() const override { return outbox_.next(); }

 private:
  Result<void> start() {
    auto cluster = cluster_of(options_.kubeconfig, options_.context);
    if (!cluster) return cluster.error();
    server_ = cluster->server;
    auto target = link_target(*cluster);
    if (!target) return target.error();
    auto rules = load_host_rules(config_, options_.plugins, clock_, PluginDeaths());
    if (!rules) return rules.error();
    rules_ = std::move(*rules);
    // Kinds that come or go need other rules, which a Decider has from its start on. What cannot be
    // read now is found to be missing before it decides.
    const JobPages pages = pages_of_cluster(*cluster, *target);
    rules_->declare(pages);
    page_rights_ = std::make_unique<PageRights>(*cluster, *target, pages, [this] { begin_anew(); });
    for (const auto& [name, page] : rules_->pages())
      if (!page.problem.empty())
        log(LogLevel::kWarning, "job kinds", "JobKind " + name + " is not served: " + page.problem);
    objects_ = std::make_unique<LiveStore>(rules_->scheme, nullptr, kMirroredHistory);
    store_ = std::make_unique<ClusterStore>(*objects_, outbox_, [this] { return clock_.steady(); });
    MachineEdges edges{.store = *store_, .ids = ids_};
    edges.births = store_.get();
    edges.jobs_end_later = true;
    edges.other_pages = [this] { begin_anew(); };
    machine_ = std::make_unique<Machine>(config_, *rules_, edges);
    door_ = std::make_unique<ClusterDoor>(machine_->kernel(), *store_, *objects_, outbox_);
    kinds_ = followed_kinds(rules_->scheme, machine_->controllers());
    reads_ = std::make_unique<ReadServer>(rules_->scheme, kinds_, clock_);
    decisions_ = std::make_unique<DecisionMetrics>(machine_->engine(),
                                                   machine_->kernel().intake().priority_classes(),
                                                   reads_->telemetry().metrics());
    machine_->observe(*decisions_);
    // Of kinds that the engine follows anyway.
    metric_upkeep_ =
        std::make_unique<MetricUpkeep>(rules_->scheme, machine_->engine(), *decisions_);
    machine_->controllers().add(*metric_upkeep_);
    reads_->telemetry().metrics().set_replica(Replica::kFollower);
    reads_->telemetry().enter([](const Telemetry::Done& done) { done({leader_reading(false)}); });
    if (auto open = reads_->open(config_.server, options_.address, options_.own_kubeconfig); !open)
      return open;
    return follow(*cluster, std::move(*target));
  }

  Result<void> follow(const Kubeconfig& cluster, LinkTarget target) {
    auto follower = ClusterFollower::make(cluster, kinds_, mail_);
    if (!follower) return follower.error();
    follower_ = std::move(*follower);
    lease_ = std::make_unique<LeaseHolder>(
        target, cluster, options_.lease, own_identity(), [this] { return machine_clock_.now(); },
        [this] { lost(); });
    if (auto made = make_webhook(cluster, target); !made) return made;
    sender_ = std::make_unique<RequestSender>(
        std::move(target), cluster,
        SenderHooks{[this] { return lease_->holds(); },
                    [this](ClusterAnswer answer) { mail_.answered(std::move(answer)); }},
        SenderLimits());
    follower_->start();
    sender_->start();
    lease_->start();
    if (keeper_) keeper_->start();
    if (reviews_) reviews_->start();
    if (registrar_) registrar_->start();
    return {};
  }

  /// The webhook, if there is to be one: it listens once it has keys.
  Result<void> make_webhook(const Kubeconfig& cluster, const LinkTarget& target) {
    const WebhookOptions& wanted = options_.webhook;
    if (wanted.address.empty()) return {};
    auto server = WebhookServer::make(config_, *rules_, *objects_, clock_, wanted.address);
    if (!server) return server.error();
    webhook_ = std::move(*server);
    serve_cluster(cluster, target);
    WebhookKeeping keeping;
    keeping.ns = options_.lease.ns;
    keeping.configuration = "sluice-controller";
    keeping.definitions = converted_definitions(rules_->scheme);
    keeping.api_services = visibility_api_services();
    keeping.names = server_names(wanted.address);
    keeping.names.insert(keeping.names.end(), wanted.names.begin(), wanted.names.end());
    keeping.names.push_back(fmt::format("{}.{}.svc", kVisibilityService, keeping.ns));
    keeping.cert_file = wanted.cert_file;
    keeping.key_file = wanted.key_file;
    keeping.trust_file = wanted.trust_file;
    WebhookKeeperHooks hooks;
    hooks.use = [this](const WebhookKeys& keys) { return webhook_->use(keys); };
    hooks.is = [this](const std::string& user) { webhook_->set_self(user); };
    hooks.decides = [this] { return lease_->holds(); };
    hooks.seconds = [this] { return machine_clock_.now() / kSecond; };
    keeper_ =
        std::make_unique<WebhookKeeper>(target, cluster, std::move(keeping), std::move(hooks));
    return {};
  }

  /// What API servers pass on to this replica; it decides or does not.
  void serve_cluster(const Kubeconfig& cluster, const LinkTarget& target) {
    reviews_ = std::make_unique<AccessReviews>(target, cluster);
    aggregated_ = std::make_unique<AggregatedApi>(rules_->scheme, *reviews_,
                                                  [this] { return lease_->holds(); });
    webhook_->serve_also(
        {AggregatedApi::serves, [this](Request& request) { return aggregated_->check(request); },
         [this](const std::shared_ptr<Exchange>& exchange) { aggregated_->handle(exchange); }});
    RegistrarHooks hooks;
    hooks.trust = [this](const FrontProxy& proxy) {
      auto known = webhook_->know_clients(proxy.client_ca);
      if (known) aggregated_->trust(proxy);
      return known;
    };
    hooks.decides = [this] { return lease_->holds(); };
    hooks.place = [this] {
      return AdvertisedPlace{options_.webhook.advertised_ip, webhook_->port()};
    };
    registrar_ = std::make_unique<Registrar>(target, cluster, options_.lease.ns, std::move(hooks));
  }

  void begin_anew() {
    if (!ending_) signals_.call();  // else it is done already
  }

  void lost() {
    lost_ = true;
    ::kill(::getpid(), SIGTERM);  // the main thread waits for signals
  }

  /// Whether the pages are others than at the start: another Decider is to go on then. While it
  /// stands by; one that decides has a controller for that.
  bool has_other_pages() const {
    const api::KindInfo& kind = *rules_->scheme.find(kJobKindVersion, "JobKind");
    std::vector<boost::json::object> found;
    for (const std::string& name : MirrorStore(*objects_).keys(kind))
      if (const StoredObject* each = objects_->find(kind, name)) found.push_back(to_object(*each));
    return pages_of(found) != rules_->pages();
  }

  /// Keeps what the cluster has until this one is to decide, and then begins.
  void stand_by() {
    bool pages = true;
    const auto take = [&](std::vector<Letter> letters) {
      for (const Letter& each : letters) pages |= is_job_page(*each.kind);
      door_->take(std::move(letters));
    };
    while (!ending_) {
      mail_.wait(kLook);
      take(mail_.take().letters);
      if (!follower_->wait(0)) continue;
      take(mail_.take().letters);  // what came between
      if (std::exchange(pages, false) && has_other_pages()) return signals_.call();
      if (webhook_) webhook_->ready();
      if (lease_->holds()) return lead();
    }
  }

  void lead() {
    const Duration began = clock_.steady();
    if (keeper_) keeper_->look_now();
    machine_->begin_instant(clock_.now());
    machine_->load();
    door_->lead();
    control_ = std::make_unique<ControlLoop>(*machine_, *objects_, clock_);
    control_->at_end(*this);
    rules_->plugins->plugins().set_wake([this] { control_->wake(); });
    rules_->plugins->plugins().set_patience(kPluginPatience);
    insight_ = std::make_unique<LiveInsight>(machine_->engine(), *control_, rules_->checks);
    control_->start();
    const auto take = [this](ObjectAccess& objects) { take_mail(objects); };
    mail_.tell([this, take] { control_->post(take); });
    control_->post(take);
    what_if_ = std::make_unique<HostWhatIf>(
        ForkSource{config_, *rules_, *objects_}, reads_->askers(),
        // Of what is decided by now, whether the cluster has heard of it or not.
        [this] { return live_moment(*machine_, *control_, *objects_); },
        [this] { return past_run_times(); });
    what_if_->start();
    history_ = history_of_cluster(config_.history, *objects_, rules_->scheme,
                                  [this] { return clock_.now(); });
    if (history_) history_->start();
    reads_->attach(*objects_, *insight_, *what_if_, history_.get());
    if (aggregated_) aggregated_->attach(*insight_);
    if (registrar_) registrar_->look_now();
    reads_->telemetry().metrics().set_replica(Replica::kLeader);
    reads_->telemetry().enter([this](Telemetry::Done done) {
      control_->post(
          [this, done = std::move(done)](ObjectAccess& objects) { done(readings(objects)); });
    });
    log(LogLevel::kInfo, "controller", "deciding for " + server_,
        {{"workloads", std::to_string(machine_->engine().workloads().size())},
         {"took_ms", std::to_string((clock_.steady() - began) / kMillisecond)}});
    fmt::print("ready: deciding for {}\n", server_);
    std::fflush(stdout);
  }

  std::vector<Reading> readings(const ObjectAccess& objects) const {
    std::vector<Reading> out = live_readings(
        {*machine_, *control_, *objects_, *decisions_, config_.engine.fair_sharing}, objects);
    for (Reading& each : cluster_readings(door_->counts(), outbox_)) out.push_back(std::move(each));
    out.push_back(leader_reading(true));
    return out;
  }

  PastRunTimes past_run_times() { return history_ ? history_->run_times() : PastRunTimes(); }

  void take_mail(ObjectAccess& objects) {
    Delivery delivery = mail_.take();
    door_->take(std::move(delivery.letters));
    for (const ClusterAnswer& answer : delivery.answers) door_->answered(answer, clock_.steady());
    for (EventNote& refusal : door_->take_refusals()) objects.emit(std::move(refusal));
  }

  void stop() {
    mail_.tell({});
    page_rights_.reset();
    if (keeper_) keeper_->stop();
    if (registrar_) registrar_->stop();
    if (webhook_) webhook_->stop();
    if (reviews_) reviews_->stop();  // insight_ answers until then
    if (reads_) reads_->stop();
    if (what_if_) what_if_->stop();
    if (history_) history_->stop();
    if (follower_) follower_->stop();
    if (rules_) rules_->plugins->plugins().set_wake({});
    if (control_) control_->stop();
    if (sender_) sender_->stop();
    if (lease_) lease_->stop();
  }

  const ControllerOptions& options_;
  SystemPluginClock machine_clock_;  // of the lease and of certificates
  OnwardClock clock_{machine_clock_};
  Configuration config_;
  Signals& signals_;
  std::string server_;
  std::unique_ptr<Rules> rules_;
  LiveIds ids_;
  Outbox outbox_;
  std::unique_ptr<LiveStore> objects_;
  std::unique_ptr<ClusterStore> store_;
  std::unique_ptr<MetricUpkeep> metric_upkeep_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<ClusterDoor> door_;
  std::vector<FollowedKind> kinds_;
  ClusterMail mail_;
  std::unique_ptr<ControlLoop> control_;
  std::unique_ptr<LiveInsight> insight_;
  std::unique_ptr<ReadServer> reads_;
  std::unique_ptr<DecisionMetrics> decisions_;
  std::unique_ptr<HostHistory> history_;  // of a replica that leads; null: none is kept
  std::unique_ptr<HostWhatIf> what_if_;   // likewise
  std::unique_ptr<LeaseHolder> lease_;
  std::unique_ptr<RequestSender> sender_;
  std::unique_ptr<ClusterFollower> follower_;
  std::unique_ptr<AccessReviews> reviews_;
  std::unique_ptr<AggregatedApi> aggregated_;
  std::unique_ptr<WebhookServer> webhook_;
  std::unique_ptr<Registrar> registrar_;
  std::unique_ptr<WebhookKeeper> keeper_;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> lost_ = false;
  std::unique_ptr<PageRights> page_rights_;
};

}  // namespace

Result<int> run_controller(const ControllerOptions& options) {
  set_log(options.log_format, options.log_level);
  log(LogLevel::kInfo, "controller", "starting", {{"version", std::string(version())}});
  umask(077);
  Signals signals;
  auto config = load_configuration(options.config_file);
  if (!config) return config.error();
  for (;;) {
    Decider decider(options, *config, signals);
    auto status = decider.run();
    if (!status || *status != Decider::kOtherPages) return status;
    log(LogLevel::kInfo, "controller", "other kinds of jobs: it begins anew with them");
  }
}

}  // namespace sluice::host
