#include "host/serve/host.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <shared_mutex>
#include <utility>

#include "host/access/host_authenticator.hpp"
#include "host/access/startup.hpp"
#include "host/apiserver/api_server.hpp"
#include "host/apiserver/listener.hpp"
#include "host/base/version.hpp"
#include "host/config/config.hpp"
#include "host/plugins/clock.hpp"
#include "host/serve/world.hpp"
#include "host/store/sqlite_journal.hpp"

namespace sluice::host {
namespace {

constexpr std::int64_t kGraceMs = 10'000;

/// Signals are taken by the main thread, and by nobody else.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return set;
}

Result<Configuration> read_configuration(const ServeOptions& options) {
  if (options.config_file.empty()) return Configuration();
  return load_configuration(options.config_file);
}

std::string store_folder(const Configuration& config) {
  return config.store.path == "memory" ? std::string() : config.store.path;
}

/// Asks the authorizer of the World that is there; without one nobody may do anything.
class PresentAuthorizer final : public Authorizer {
 public:
  AccessAnswer may(const Identity& who, const AccessRequest& request) const override {
    const std::shared_lock lock(mutex_);
    return present_ ? present_->may(who, request) : AccessAnswer{};
  }
  void set(const Authorizer* present) {
    const std::unique_lock lock(mutex_);
    present_ = present;
  }

 private:
  mutable std::shared_mutex mutex_;
  const Authorizer* present_ = nullptr;
};

ApiLimits api_limits(const ServerLimits& limits) {
  ApiLimits out;
  out.body_depth = static_cast<std::size_t>(limits.depth);
  out.watches = static_cast<std::size_t>(limits.watchers);
  return out;
}

/// The process: what stays the same over reloads.
class Host {
 public:
  Host(const ServeOptions& options, Configuration config)
      : options_(options),
        config_(std::move(config)),
        authenticator_(authorizer_),
        api_(authenticator_, api_limits(config_.server.limits)) {}

  Result<int> run(const sigset_t& signals) {
    if (auto started = start(); !started) return started.error();
    fmt::print("ready https://{} kubeconfig {}\n", listener_->address(), kubeconfig_);
    std::fflush(stdout);
    for (;;) {
      int signal = 0;
      sigwait(&signals, &signal);
      if (signal != SIGHUP) break;
      if (auto reloaded = reload(); !reloaded)
        log(LogLevel::kError, "host",
            "the configuration was not reloaded: " + reloaded.error().text);
      if (!world_) return Error{"the host lost its store on a reload; see the log"};
    }
    log(LogLevel::kInfo, "host", "shutting down");
    stop();
    return 0;
  }

 private:
  Result<void> start() {
    if (auto safe = check_exposure(config_.server); !safe) return safe;
    auto world = World::make(config_, clock_);
    if (!world) return world.error();
    if (auto opened = open(**world); !opened) return opened;
    auto keys = prepare_keys(config_.server, store_folder(config_), seconds());
    if (!keys) return keys.error();
    auto path = kubeconfig_path(config_.server, store_folder(config_));
    if (!path) return path.error();
    kubeconfig_ = *path;
    if (auto listening = listen(*keys); !listening) return listening;
    auto token =
        publish_kubeconfig(kubeconfig_, store_folder(config_), listener_->address(), *keys);
    if (!token) return token.error();
    admin_token_ = *token;
    return enter(std::move(*world));
  }

  std::int64_t seconds() const { return clock_.now() / kSecond; }

  Result<void> open(World& world) {
    const std::string folder = store_folder(config_);
    if (folder.empty()) return world.open(nullptr);
    auto journal = SqliteJournal::open(folder);
    if (!journal) return journal.error();
    return world.open(std::move(*journal));
  }

  Result<void> listen(const ServerKeys& keys) {
    ListenerOptions options;
    options.address = config_.server.address;
    options.tls = TlsOptions{keys.certificate, keys.key, keys.client_ca};
    options.limits.body_bytes = static_cast<std::size_t>(config_.server.limits.body_bytes);
    options.limits.header_bytes = static_cast<std::size_t>(config_.server.limits.header_bytes);
    options.limits.connections = static_cast<std::size_t>(config_.server.limits.connections);
    auto listener = Listener::open(options, api_.handler(), api_.head_check());
    if (!listener) return listener.error().context("server.address");
    listener_ = std::move(*listener);
    if (config_.server.insecure_http.empty()) return {};
    options.name = "http";
    options.address = config_.server.insecure_http;
    options.tls.reset();
    auto plain = Listener::open(options, api_.handler(), api_.head_check());
    if (!plain) return plain.error().context("server.insecureHttp");
    plain_ = std::move(*plain);
    return {};
  }

  /// Requests go to `world` from now on.
  Result<void> enter(std::unique_ptr<World> world) {
    auto loaded = authenticator_.load(admin_token_, config_.server.token_file);
    if (!loaded) return loaded;
    world_ = std::move(world);
    authorizer_.set(&world_->authorizer());
    api_.attach(world_->backend(authenticator_));
    return {};
  }

  void leave() {
    api_.detach();
    authorizer_.set(nullptr);
    world_->stop();
    world_.reset();
  }

  Result<void> reload() {
    auto config = read_configuration(options_);
    if (!config) return config.error();
    if (config->store.path != config_.store.path)
      return Error{"store.path cannot change on a reload; restart the host"};
    if (config->server.address != config_.server.address)
      return Error{"server.address cannot change on a reload; restart the host"};
    if (auto safe = check_exposure(config->server); !safe) return safe;
    auto keys = prepare_keys(config->server, store_folder(*config), seconds());
    if (!keys) return keys.error();
    auto next = World::make(*config, clock_);
    if (!next) return next.error();
    if (store_folder(*config).empty())
      return Error{"a host with a store in memory cannot reload: its objects would be lost"};
    if (auto renewed = listener_->reload_tls({keys->certificate, keys->key, keys->client_ca});
        !renewed)
      return renewed;
    log(LogLevel::kInfo, "host", "reloading the configuration");
    leave();
    config_ = std::move(*config);
    if (auto opened = open(**next); !opened) return opened;
    if (auto entered = enter(std::move(*next)); !entered) return entered;
    log(LogLevel::kInfo, "host", "the new configuration is in force");
    return {};
  }

  void stop() {
    listener_->stop(kGraceMs);
    if (plain_) plain_->stop(kGraceMs);
    leave();
  }

  ServeOptions options_;
  SystemPluginClock clock_;
  Configuration config_;
  std::string kubeconfig_;
  Digest admin_token_{};
  PresentAuthorizer authorizer_;
  HostAuthenticator authenticator_;
  ApiServer api_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Listener> listener_, plain_;
};

}  // namespace

Result<int> run_host(const ServeOptions& options) {
  set_log(options.log_format, options.log_level);
  log(LogLevel::kInfo, "host", "starting", {{"version", std::string(version())}});
  umask(077);
  const sigset_t signals = block_signals();
  auto config = read_configuration(options);
  if (!config) return config.error();
  Host host(options, std::move(*config));
  return host.run(signals);
}

}  // namespace sluice::host
