// Configuration: what `sluice.yaml` says, checked and with defaults filled in.
//
// Plain values; immutable after loading. load_configuration() accepts a file as a whole or refuses
// it with one line per mistake, each naming file, line, path, what was found and what is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/engine/engine.hpp"
#include "host/objects/managed_jobs.hpp"

namespace sluice::host {

struct TlsConfig {
  std::string cert_file, key_file, client_ca_file;
};

/// What one client may cost the API server.
struct ServerLimits {
  std::int64_t body_bytes = 3 * 1024 * 1024;
  std::int64_t header_bytes = 64 * 1024;
  std::int64_t depth = 100;  ///< nesting of JSON
  std::int64_t connections = 4096;
  std::int64_t streams = 250;  ///< requests at a time on a connection of HTTP/2
  std::int64_t watchers = 4096;
  std::int64_t watchers_per_user = 3072;
  Duration header_time = 10 * kSecond;  ///< for the head of a request to arrive
  Duration body_time = 60 * kSecond;    ///< for its body
  Duration idle_time = 150 * kSecond;   ///< between two requests of a connection
  Duration stall_time = 60 * kSecond;   ///< for a client to take some of what it asked for
};

struct ServerConfig {
  std::string address = "127.0.0.1:6443";
  TlsConfig tls;
  std::string token_file;
  std::string kubeconfig;     ///< empty: `kubeconfig` in the store's folder
  std::string insecure_http;  ///< empty: off; loopback only
  ServerLimits limits;
};

struct MetricsConfig {
  std::string address = "127.0.0.1:9464";  ///< of the listener without credentials; empty: none
};

/// What users and plugins may keep.
struct StoreLimits {
  std::int64_t objects = 2'000'000;
  std::int64_t bytes = 8LL << 30;
  std::int64_t namespace_objects = 500'000;  ///< of each
  std::int64_t namespace_bytes = 512LL << 20;
  std::int64_t events = 10'000;  ///< beyond it the oldest go
};

/// Of Secrets, on the disk.
struct EncryptionConfig {
  std::string key_file;  ///< empty: nothing is encrypted
  bool enabled = true;   ///< false: the keys only read what was encrypted before
};

struct StoreConfig {
  std::string path = "./sluice-data";  ///< or "memory"
  StoreLimits limits;
  EncryptionConfig encryption;
};

enum class FailurePolicy : std::uint8_t { kClosed, kOpen };

/// A plugin in a process of its own: what runs, and what it may take.
struct ProcessConfig {
  std::vector<std::string> command;  ///< empty: the library NAME.so, run by Sluice's own program
  std::int64_t memory_bytes = 1LL << 30;  ///< that it may write to
  std::int64_t cpu_seconds = 0;           ///< of one life; 0: no limit
  std::int64_t files = 256;               ///< open at a time
  bool network = false;                   ///< sockets of other kinds than the machine's own
  std::vector<std::pair<std::string, std::string>> environment;
  Duration call_timeout = 1 * kSecond;        ///< for an answer; then it is ended
  Duration start_timeout = 10 * kSecond;      ///< to be there, created and active
  Duration first_pause = 100 * kMillisecond;  ///< before it is started again; doubles each time
  Duration longest_pause = 60 * kSecond;
};

/// Whose libraries are loaded.
struct PluginTrust {
  std::vector<std::string> keys;  ///< files with public keys, PEM
  bool require = false;           ///< what none of them signed is not loaded, unless it is pinned
};

struct PluginConfig {
  std::string name;
  bool enabled = true;
  FailurePolicy failure_policy = FailurePolicy::kClosed;
  std::string sha256;                                   ///< lower-case hex; empty: not pinned
  std::string config_json = "{}";                       ///< the value of `config`, as JSON text
  std::optional<ProcessConfig> process = std::nullopt;  ///< absent: inside of the host
  PluginTrust trust = {};                               ///< that of all plugins
  std::string host_json = {};                           ///< that of all plugins
};

struct PluginsConfig {
  std::string directory = "lib/sluice/plugins";  ///< relative: to the program's prefix
  PluginTrust trust;
  /// nullopt: the key is absent, and the plugins that belong to this build are loaded.
  std::optional<std::vector<PluginConfig>> load;
  /// Of the host's own configuration what plugins may take as defaults of theirs: JSON.
  std::string host_json = ManagedJobs().for_plugins();
  /// Kinds of jobs that another configuration names and that plugins bring (Kueue's
  /// integrations.frameworks): those are loaded besides.
  std::vector<std::string> frameworks;
};

enum class ExecutorType : std::uint8_t { kLocal, kNone };

struct TaintConfig {
  std::string key, value, effect;
};

struct NodeConfig {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<TaintConfig> taints;
  std::vector<std::pair<std::string, std::string>> capacity;  ///< resource → quantity as written
};

/// What a container runs that has this image and no command.
struct ImageConfig {
  std::string name;  ///< without tag and digest, which are not looked at
  std::vector<std::string> entrypoint;
};

/// The output of pods.
struct LogsConfig {
  std::string path;                      ///< empty: in the store's folder
  std::int64_t pod_bytes = 32 << 20;     ///< of one pod; the latest output is kept
  std::int64_t total_bytes = 4LL << 30;  ///< of all; what ended first goes first
};

/// As whom jobs run.
struct JobUsersConfig {
  /// kAuto: as users of their own where the host may start them, else as its own; kOn: or not at
  /// all; kOff: as the host's user.
  enum class Mode : std::uint8_t { kAuto, kOn, kOff };
  Mode mode = Mode::kAuto;
  std::int64_t first = 2'000'000'000;              ///< user of the first namespace
  std::int64_t count = 100'000;                    ///< of namespaces, at most
  std::string work_path = "/var/lib/sluice-jobs";  ///< for their working directories
};

struct ExecutorConfig {
  ExecutorType type = ExecutorType::kLocal;
  std::vector<NodeConfig> nodes;  ///< empty: this machine
  std::vector<ImageConfig> images;
  LogsConfig logs;
  bool control_groups = true;  ///< pods run in them where the machine has them
  JobUsersConfig job_users;
  bool all_system_calls = false;           ///< jobs may make them
  Duration longest_grace = 600 * kSecond;  ///< that a pod has to end, whatever it says
};

/// How long objects are kept that are not needed any more; absent: for ever.
struct RetentionConfig {
  std::optional<Duration> after_finished;     ///< workloads, after they finished
  std::optional<Duration> after_deactivated;  ///< with their job, after the host deactivated them
};

/// What is kept of workloads after their objects are gone.
struct HistoryConfig {
  bool enabled = true;
  std::string path;                            ///< of the file; empty: in the store's folder
  Duration keep_time = 2160 * 3600 * kSecond;  ///< of a run, after its end
  std::int64_t keep_bytes = 1LL << 30;         ///< of the file; beyond it the oldest go
};

struct Configuration {
  ServerConfig server;
  MetricsConfig metrics;
  StoreConfig store;
  PluginsConfig plugins;
  EngineConfig engine;  ///< the sections `scheduling` and `resources`
  ExecutorConfig executor;
  RetentionConfig retention;
  HistoryConfig history;
  /// Jobs that name no queue may be held too, until they get one.
  ManagedJobs managed_jobs;
  /// What a file of Kueue says that has no counterpart here, or another one; empty for our own.
  std::vector<std::string> notes;
};

/// Reads and checks a file. YAML or JSON. Without a name: the defaults.
Result<Configuration> load_configuration(const std::string& path);

/// The same for a text; `file` stands in the errors.
Result<Configuration> parse_configuration(std::string_view text, const std::string& file);

}  // namespace sluice::host
