#include "host/serve/host.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <shared_mutex>
#include <utility>

#include "host/access/host_authenticator.hpp"
#include "host/access/key_renewal.hpp"
#include "host/access/startup.hpp"
#include "host/apiserver/api_server.hpp"
#include "host/apiserver/listener.hpp"
#include "host/base/service.hpp"
#include "host/base/version.hpp"
#include "host/config/config.hpp"
#include "host/metrics/metered_journal.hpp"
#include "host/plugins/clock.hpp"
#include "host/plugins/crash_note.hpp"
#include "host/plugins/onward_clock.hpp"
#include "host/plugins/plugin_deaths.hpp"
#include "host/plugins/watchdog.hpp"
#include "host/serve/host_instance.hpp"
#include "host/serve/signals.hpp"
#include "host/serve/telemetry.hpp"
#include "host/store/carried.hpp"
#include "host/store/encrypted_journal.hpp"
#include "host/store/reader.hpp"
#include "host/store/sqlite_journal.hpp"

namespace sluice::host {
namespace {

std::string store_folder(const Configuration& config) {
  return config.store.path == "memory" ? std::string() : config.store.path;
}

/// Asks the authorizer of the present HostInstance; without a HostInstance all is denied.
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

Result<Encryption> encryption_of(const EncryptionConfig& config) {
  Encryption out;
  out.enabled = config.enabled;
  if (config.key_file.empty()) return out;
  auto keys = EncryptionKeys::read(config.key_file);
  if (!keys) return keys.error().context("store.encryption.keyFile");
  out.keys = std::move(*keys);
  return out;
}

ApiLimits api_limits(const ServerLimits& limits) {
  ApiLimits out;
  out.body_bytes = static_cast<std::size_t>(limits.body_bytes);
  out.body_depth = static_cast<std::size_t>(limits.depth);
  out.watches = static_cast<std::size_t>(limits.watchers);
  out.watches_per_user = static_cast<std::size_t>(limits.watchers_per_user);
  return out;
}

ListenerLimits listener_limits(const ServerLimits& limits) {
  ListenerLimits out;
  out.body_bytes = static_cast<std::size_t>(limits.body_bytes);
  out.bodies_bytes = std::max(out.bodies_bytes, 8 * out.body_bytes);
  out.bodies_per_user_bytes = std::max(out.bodies_per_user_bytes, 2 * out.body_bytes);
  out.header_bytes = static_cast<std::size_t>(limits.header_bytes);
  out.connections = static_cast<std::size_t>(limits.connections);
  out.streams = static_cast<std::size_t>(limits.streams);
  out.header_ms = limits.header_time / kMillisecond;
  out.body_ms = limits.body_time / kMillisecond;
  out.idle_ms = limits.idle_time / kMillisecond;
  out.stall_ms = limits.stall_time / kMillisecond;
  return out;
}

/// A pipe said all it had when the host started; reading it again would wait for ever.
Result<void> check_file(const std::string& path) {
  std::error_code code;
  const auto found = std::filesystem::status(path, code);
  if (path.empty() || !std::filesystem::exists(found) || std::filesystem::is_regular_file(found))
    return {};
  return Error{path + ": is no file; a reload reads the configuration from a file"};
}

/// What a reload cannot change, because connections and the store stay: each key that differs.
Result<void> check_unchanged(const Configuration& before, const Configuration& after) {
  const struct {
    std::string_view key;
    std::string before, after;
  } fixed[] = {
      {"store.path", before.store.path, after.store.path},
      {"store.limits.events", std::to_string(before.store.limits.events),
       std::to_string(after.store.limits.events)},
      {"server.address", before.server.address, after.server.address},
      {"server.insecureHttp", before.server.insecure_http, after.server.insecure_http},
      {"server.kubeconfig", before.server.kubeconfig, after.server.kubeconfig},
      {"metrics.address", before.metrics.address, after.metrics.address},
  };
  std::string changed;
  for (const auto& [key, old_value, new_value] : fixed)
    if (old_value != new_value)
      changed += fmt::format("{}{} (\"{}\" to \"{}\")", changed.empty() ? "" : ", ", key, old_value,
                             new_value);
  if (changed.empty()) return {};
  return Error{fmt::format("{} cannot change on a reload; restart the host", changed)};
}

/// The process: what stays the same over reloads.
class Host {
 public:
  Host(const ServeOptions& options, Configuration config)
      : options_(options),
        config_(std::move(config)),
        keys_(store_folder(config_)),
        authenticator_(authorizer_),
        api_(authenticator_, api_limits(config_.server.limits)),
        telemetry_(api_) {
    api_.set_liveness([this] {
      HealthState state;
      state.busy = watchdog_.busy();
      state.limits = watchdog_.limits();
      return state;
    });
  }
  ~Host() {
    keys_.stop();        // it renews those of the listeners
    telemetry_.stop(0);  // it looks at them
  }

  Result<int> run(Signals& signals) {
    signals.ask(watchdog_);
    signals_ = &signals;
    const Duration began = clock_.steady();
    if (auto started = start(); !started) return started.error();
    fmt::print("ready https://{} kubeconfig {}\n", listener_->address(), kubeconfig_);
    std::fflush(stdout);
    log(LogLevel::kInfo, "host", "serving",
        {{"url", "https://" + listener_->address()},
         {"kubeconfig", kubeconfig_},
         {"took_ms", std::to_string((clock_.steady() - began) / kMillisecond)}});
    tell_service_manager("READY=1");
    for (;;) {
      const int signal = signals.next();
      if (signal != SIGHUP && signal != Signals::kOther) break;
      tell_service_manager("RELOADING=1");
      if (signal == SIGHUP) {
        if (auto reloaded = reload(); !reloaded)
          log(LogLevel::kError, "host",
              "the configuration was not reloaded: " + reloaded.error().text);
      } else if (auto followed = follow_pages(); !followed) {
        log(LogLevel::kError, "host", "the job kinds are as before: " + followed.error().text);
      }
      tell_service_manager("READY=1");
      if (!instance_) return Error{"the host lost its store on a reload; see the log"};
    }
    log(LogLevel::kInfo, "host", "shutting down");
    tell_service_manager("STOPPING=1");
    stop();
    log(LogLevel::kInfo, "host", "ended");
    return 0;
  }

 private:
  Result<void> start() {
    if (auto safe = check_exposure(config_.server); !safe) return safe;
    auto encryption = encryption_of(config_.store.encryption);
    if (!encryption) return encryption.error();
    encryption_ = std::move(*encryption);
    note_deaths();
    auto instance = HostInstance::make(config_, clock_, telemetry_.metrics(), deaths_,
                                       declared(stored_pages()));
    if (!instance) return instance.error();
    // First, so that probes get an answer while a large store is read.
    if (auto listening = telemetry_.listen(config_.metrics.address); !listening) return listening;
    if (auto opened = open(**instance); !opened) return opened;
    auto keys = keys_.prepare(config_.server, seconds());
    if (!keys) return keys.error();
    auto path = kubeconfig_path(config_.server, store_folder(config_));
    if (!path) return path.error();
    kubeconfig_ = *path;
    if (auto listening = listen(*keys); !listening) return listening;
    auto token =
        publish_kubeconfig(kubeconfig_, store_folder(config_), listener_->address(), *keys);
    if (!token) return token.error();
    admin_token_ = *token;
    keys_.set(config_.server, std::move(*keys));
    auto tokens = HostAuthenticator::read(admin_token_, config_.server.token_file);
    if (!tokens) return tokens.error();
    authenticator_.use(std::move(*tokens));
    enter(std::move(*instance));
    keys_.start([this] { return seconds(); },
                [this](const ServerKeys& next) { return renew(next); });
    return {};
  }

  Declared declared(JobPages pages) const {
    return {std::move(pages), [signals = signals_] { signals->call(); }};
  }

  /// Those of the store on disk, which has to be read by a HostInstance that serves them.
  JobPages stored_pages() const {
    if (store_folder(config_).empty()) return {};
    auto found = objects_of_kind(store_folder(config_), "sluice.dev/JobKind");
    if (!found) log(LogLevel::kWarning, "job kinds", found.error().text);
    return found ? pages_of(*found) : JobPages();
  }

  /// Tells how the process before died, should it have died inside a plugin, and counts it.
  void note_deaths() {
    const std::filesystem::path folder = store_folder(config_);
    std::error_code ignored;  // opening the store reports what is wrong
    if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
    auto death = start_crash_notes(folder.empty() ? folder : folder / "plugin-crash");
    if (!death) return log(LogLevel::kWarning, "host", death.error().text);
    if (folder.empty()) return;
    deaths_ = PluginDeaths::read(folder);
    if (!*death) return;
    log(LogLevel::kError, "host",
        fmt::format("the host died last time inside plugin {}: {}", (*death)->plugin,
                    (*death)->how));
    deaths_.add(**death);
    write_deaths();
  }

  void write_deaths() const {
    if (store_folder(config_).empty()) return;
    if (auto written = deaths_.write(store_folder(config_)); !written)
      log(LogLevel::kWarning, "host", written.error().text);
  }

  std::int64_t seconds() const { return machine_clock_.now() / kSecond; }

  Result<void> open(HostInstance& instance) {
    const std::string folder = store_folder(config_);
    if (folder.empty()) {
      auto opened = instance.open(carried_.empty() ? nullptr : carried_.journal());
      if (opened) carried_.forget(instance.scheme());
      return opened;
    }
    auto journal = SqliteJournal::open(folder);
    if (!journal) return journal.error();
    auto encrypted = std::make_unique<EncryptedJournal>(std::move(*journal), encryption_);
    return instance.open(metered(std::move(encrypted), telemetry_.metrics()));
  }

  Result<void> listen(const ServerKeys& keys) {
    ListenerOptions options;
    options.address = config_.server.address;
    options.tls = TlsOptions{keys.certificate, keys.key, keys.client_ca};
    options.limits = listener_limits(config_.server.limits);
    const MeteredApi api = telemetry_.api();
    auto listener = Listener::open(options, api.handler, api.check);
    if (!listener) return listener.error().context("server.address");
    listener_ = std::move(*listener);
    telemetry_.watch(*listener_);
    if (config_.server.insecure_http.empty()) return {};
    options.name = "http";
    options.address = config_.server.insecure_http;
    options.tls.reset();
    auto plain = Listener::open(options, api.handler, api.check);
    if (!plain) return plain.error().context("server.insecureHttp");
    plain_ = std::move(*plain);
    telemetry_.watch(*plain_);
    return {};
  }

  /// Requests go to `instance` from now on.
  void enter(std::unique_ptr<HostInstance> instance) {
    instance_ = std::move(instance);
    watchdog_.watch(
        [loop = &instance_->control()](Duration longer_than) { return loop->busy(longer_than); });
    authorizer_.set(&instance_->authorizer());
    api_.set_limits(api_limits(config_.server.limits));
    api_.attach(instance_->backend(authenticator_));
    telemetry_.enter([instance = instance_.get()](Telemetry::Done done) {
      instance->control().post([instance, done = std::move(done)](ObjectAccess& objects) {
        done(instance->readings(objects));
      });
    });
  }

  /// Ends the HostInstance, before one of the next configuration. Requests meanwhile are answered
  /// 503.
  void leave(const Configuration& next) {
    telemetry_.leave();
    api_.detach();
    authorizer_.set(nullptr);
    std::vector<std::string> plugins;
    for (const PluginConfig& plugin : chosen_plugins(next.plugins, std::nullopt))
      if (plugin.enabled) plugins.push_back(plugin.name);
    instance_->hand_over(plugins);
    watchdog_.watch({});
    if (store_folder(config_).empty()) carried_.take(instance_->store(), instance_->scheme());
    instance_.reset();
  }

  /// What a new configuration needs, made and checked while the old one is in force.
  struct Next {
    Configuration config;
    ServerKeys keys;
    HostAuthenticator::Table tokens;
    Encryption encryption;
    std::unique_ptr<HostInstance> instance;
  };

  Result<Next> prepare() {
    if (auto file = check_file(options_.config_file); !file) return file.error();
    auto config = load_configuration(options_.config_file);
    if (!config) return config.error();
    if (auto same = check_unchanged(config_, *config); !same) return same.error();
    if (auto safe = check_exposure(config->server); !safe) return safe.error();
    auto keys = keys_.prepare(config->server, seconds());
    if (!keys) return keys.error();
    auto tokens = HostAuthenticator::read(admin_token_, config->server.token_file);
    if (!tokens) return tokens.error();
    auto encryption = encryption_of(config->store.encryption);
    if (!encryption) return encryption.error();
    auto instance = HostInstance::make(*config, clock_, telemetry_.metrics(), PluginDeaths(),
                                       declared(instance_->published_pages()));
    if (!instance) return instance.error();
    return Next{std::move(*config), std::move(*keys), std::move(*tokens), std::move(*encryption),
                std::move(*instance)};
  }

  /// An error changes nothing; only when the present configuration does not come up again either,
  /// there is no HostInstance afterwards.
  Result<void> reload() {
    auto next = prepare();
    if (!next) return next.error();
    if (auto renewed = renew(next->keys); !renewed) return renewed;
    log(LogLevel::kInfo, "host", "reloading the configuration");
    Encryption before = std::exchange(encryption_, std::move(next->encryption));
    if (auto taken = take_over(next->config, next->instance, std::move(before)); !taken)
      return taken;
    keys_.set(config_.server, std::move(next->keys));
    authenticator_.use(std::move(next->tokens));
    for (Listener* listener : {listener_.get(), plain_.get()})
      if (listener != nullptr) listener->set_limits(listener_limits(config_.server.limits));
    enter(std::move(next->instance));
    deaths_.forget();
    write_deaths();
    log(LogLevel::kInfo, "host", "the new configuration is in force");
    return {};
  }

  /// Lets `instance` have the store in place of the present HostInstance. On success `config` is
  /// the one that was in force.
  Result<void> take_over(Configuration& config, std::unique_ptr<HostInstance>& instance,
                         Encryption before) {
    const JobPages pages = instance_->pages();
    leave(config);
    std::swap(config_, config);
    auto opened = open(*instance);
    if (opened) return {};
    std::swap(config_, config);
    instance.reset();
    // What the other one has encrypted has to be read, too.
    std::swap(encryption_, before);
    encryption_.enabled = encryption_.writes();
    encryption_.keys.add(before.keys);
    if (auto back = come_back(pages); !back) return back.error().context(opened.error().text);
    return opened;
  }

  /// Another HostInstance of the same configuration, which serves the kinds that are declared by
  /// now. An error changes nothing, as in reload().
  Result<void> follow_pages() {
    JobPages pages = instance_->published_pages();
    if (pages == instance_->pages()) return {};
    const Duration began = clock_.steady();
    auto instance = HostInstance::make(config_, clock_, telemetry_.metrics(), deaths_,
                                       declared(std::move(pages)));
    if (!instance) return instance.error();
    Configuration config = config_;
    if (auto taken = take_over(config, *instance, encryption_); !taken) return taken;
    enter(std::move(*instance));
    log(LogLevel::kInfo, "host", "other job kinds are served",
        {{"pages", std::to_string(instance_->pages().size())},
         {"took_ms", std::to_string((clock_.steady() - began) / kMillisecond)}});
    return {};
  }

  /// New connections have these keys, and the administrator's kubeconfig their authority.
  Result<void> renew(const ServerKeys& keys) {
    auto renewed = listener_->reload_tls({keys.certificate, keys.key, keys.client_ca});
    if (!renewed) return renewed;
    auto told = update_kubeconfig(kubeconfig_, listener_->address(), keys, admin_token_);
    if (!told)  // the keys are in force: it is written at the next start
      log(LogLevel::kWarning, "access", "the kubeconfig still has the authority of before",
          {{"reason", told.error().text}});
    return {};
  }

  /// The configuration that was in force, after another one failed to start.
  Result<void> come_back(JobPages pages) {
    if (auto renewed = renew(keys_.keys()); !renewed) return renewed;
    auto instance = HostInstance::make(config_, clock_, telemetry_.metrics(), deaths_,
                                       declared(std::move(pages)));
    if (!instance) return instance.error();
    if (auto opened = open(**instance); !opened) return opened;
    enter(std::move(*instance));
    return {};
  }

  void stop() {
    keys_.stop();
    // First, because ending streams and answering what runs needs the threads of the listeners.
    telemetry_.leave();
    api_.detach();
    authorizer_.set(nullptr);
    const Duration end = clock_.steady() + kRequestsEnd;
    const auto left_ms = [&] {
      return std::max<Duration>(0, end - clock_.steady()) / kMillisecond;
    };
    listener_->stop(left_ms());
    if (plain_) plain_->stop(left_ms());
    HostInstance::abandon(std::move(instance_), [this] { watchdog_.watch({}); });
    telemetry_.stop(left_ms());
  }

  ServeOptions options_;
  Signals* signals_ = nullptr;
  SystemPluginClock machine_clock_;  // of certificates, which others judge by their own
  OnwardClock clock_{machine_clock_};
  Watchdog watchdog_;
  PluginDeaths deaths_;
  Configuration config_;
  Encryption encryption_;  // of the store, in force
  std::string kubeconfig_;
  Digest admin_token_{};
  KeyRenewal keys_;  // in force
  Carried carried_;  // of a store in memory, over reloads
  PresentAuthorizer authorizer_;
  HostAuthenticator authenticator_;
  ApiServer api_;
  Telemetry telemetry_;
  std::unique_ptr<HostInstance> instance_;
  std::unique_ptr<Listener> listener_, plain_;
};

}  // namespace

Result<int> run_host(const ServeOptions& options) {
  set_log(options.log_format, options.log_level);
  log(LogLevel::kInfo, "host", "starting", {{"version", std::string(version())}});
  umask(077);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its write
  Signals signals;
  auto config = load_configuration(options.config_file);
  if (!config) return config.error();
  Host host(options, std::move(*config));
  return host.run(signals);
}

}  // namespace sluice::host
