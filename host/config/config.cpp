#include "host/config/config.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <sstream>

#include "api/schema/formats.hpp"
#include "core/base/text.hpp"
#include "core/types/quantity.hpp"
#include "host/base/files.hpp"
#include "host/base/log.hpp"
#include "host/config/kueue_file.hpp"
#include "host/config/policies.hpp"
#include "host/config/section.hpp"

namespace sluice::host {
namespace {

/// HOST:PORT, where the host may be an IPv6 address in brackets. Empty when it is not one.
std::string host_of(const std::string& address) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return "";
  int port = -1;
  const char* const end = address.data() + address.size();
  const auto [last, code] = std::from_chars(address.data() + colon + 1, end, port);
  if (code != std::errc() || last != end || port < 0 || port > 65535) return "";
  std::string host = address.substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (bracketed) return host.substr(1, host.size() - 2);
  return host.find(':') == std::string::npos ? host : "";
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

void read_address(Section& section, const std::string& key, std::string& out) {
  section.text(key, out);
  if (section.has(key) && host_of(out).empty())
    section.fail(key,
                 fmt::format("found \"{}\"; allowed: HOST:PORT with a port from 0 to 65535", out));
}

void read_server(Section& section, ServerConfig& out) {
  read_address(section, "address", out.address);
  {
    Section tls(section.errors(), section.child("tls"), section.path_of("tls"));
    tls.text("certFile", out.tls.cert_file);
    tls.text("keyFile", out.tls.key_file);
    tls.text("clientCAFile", out.tls.client_ca_file);
    if (out.tls.cert_file.empty() != out.tls.key_file.empty())
      tls.fail(out.tls.cert_file.empty() ? "certFile" : "keyFile",
               "is missing; certFile and keyFile go together");
  }
  section.text("tokenFile", out.token_file);
  section.text("kubeconfig", out.kubeconfig);
  if (section.has("insecureHttp")) {
    read_address(section, "insecureHttp", out.insecure_http);
    if (const std::string host = host_of(out.insecure_http); !host.empty() && !is_loopback(host))
      section.fail("insecureHttp",
                   fmt::format("found \"{}\"; allowed: a loopback address, because this "
                               "listener has no encryption",
                               out.insecure_http));
  } else {
    section.text("insecureHttp", out.insecure_http);
  }
  Section limits(section.errors(), section.child("limits"), section.path_of("limits"));
  limits.integer("bodyBytes", out.limits.body_bytes, 1024, 1LL << 30);
  limits.integer("headerBytes", out.limits.header_bytes, 1024, 1LL << 20);
  limits.integer("depth", out.limits.depth, 8, 1'000);
  limits.integer("connections", out.limits.connections, 1, 1'000'000);
  limits.integer("streams", out.limits.streams, 1, 10'000);
  limits.integer("watchers", out.limits.watchers, 1, 1'000'000);
  limits.integer("watchersPerUser", out.limits.watchers_per_user, 1, 1'000'000);
  const std::pair<const char*, Duration*> times[] = {{"headerTime", &out.limits.header_time},
                                                     {"bodyTime", &out.limits.body_time},
                                                     {"idleTime", &out.limits.idle_time},
                                                     {"stallTime", &out.limits.stall_time}};
  for (const auto& [key, time] : times)
    limits.duration(key, *time, {kSecond, 86'400 * kSecond, "from 1s to 24h"});
}

void read_metrics(Section& section, MetricsConfig& out) {
  section.text("address", out.address);
  if (out.address == "none") return out.address.clear();
  const std::string host = host_of(out.address);
  if (section.has("address") && (host.empty() || !is_loopback(host)))
    section.fail("address", fmt::format("found \"{}\"; allowed: none, or HOST:PORT with a loopback "
                                        "address and a port from 0 to 65535, because this listener "
                                        "asks for no credentials; elsewhere read /metrics of "
                                        "server.address with a token",
                                        out.address));
}

bool is_variable_name(const std::string& name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

void read_process(Section& item, ProcessConfig& out) {
  Section section(item.errors(), item.child("process"), item.path_of("process"));
  section.integer("memoryBytes", out.memory_bytes, 16LL << 20, 1LL << 46);
  section.integer("cpuSeconds", out.cpu_seconds, 0, 1LL << 31);
  section.integer("files", out.files, 16, 1 << 20);
  section.boolean("network", out.network);
  section.pairs("environment", out.environment);
  section.duration("callTimeout", out.call_timeout,
                   {kMillisecond, 10 * kSecond, "from 1ms to 10s"});
  section.duration("startTimeout", out.start_timeout,
                   {100 * kMillisecond, 300 * kSecond, "from 100ms to 300s"});
  section.duration("firstPause", out.first_pause, {kMillisecond, 3600 * kSecond, "from 1ms to 1h"});
  out.longest_pause = std::max(out.longest_pause, out.first_pause);  // where the file has none
  section.duration("longestPause", out.longest_pause,
                   {out.first_pause, 3600 * kSecond, "from firstPause to 1h"});
  for (const auto& [name, value] : out.environment)
    if (!is_variable_name(name))
      section.fail("environment",
                   fmt::format("found \"{}\"; allowed: names of letters, digits and _", name));
}

/// Where a plugin runs, and what as.
void read_isolation(Section& section, PluginConfig& out) {
  const bool process = section.choice("isolation", {"none", "process"}) == 1;
  ProcessConfig read;
  section.texts("command", read.command);
  read_process(section, read);
  if (process) out.process = std::move(read);
  if (!process && section.has("process"))
    section.fail("process", "it has no effect without `isolation: process`");
  if (!process && section.has("command"))
    section.fail("command", "a command is a process: it needs `isolation: process`");
  if (!process || out.process->command.empty()) return;
  if (out.process->command[0].empty()) section.fail("command", "the program has no name");
  if (!out.sha256.empty())
    section.fail("sha256", "it pins a library; a plugin with a `command` has none");
}

void read_plugin(Section& section, PluginConfig& out) {
  section.require("name");
  section.text("name", out.name);
  section.boolean("enabled", out.enabled);
  if (section.choice("failurePolicy", {"closed", "open"}) == 1)
    out.failure_policy = FailurePolicy::kOpen;
  section.text("sha256", out.sha256);
  section.json("config", out.config_json);
  if (out.name.find('/') != std::string::npos)
    section.fail(
        "name",
        fmt::format("found \"{}\"; allowed: the name of a file NAME.so without folder", out.name));
  const bool hex = std::all_of(out.sha256.begin(), out.sha256.end(),
                               [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!out.sha256.empty() && (out.sha256.size() != 64 || !hex))
    section.fail("sha256", fmt::format("found \"{}\"; allowed: 64 hexadecimal digits", out.sha256));
  out.sha256 = lower_ascii(out.sha256);
  read_isolation(section, out);
}

void read_trust(Section& section, PluginTrust& out) {
  section.texts("keys", out.keys);
  section.boolean("require", out.require);
  if (out.require && out.keys.empty())
    section.fail("require", "it needs the keys by which libraries may be signed, in `keys`");
}

/// A program that runs cannot be verified: it reads other files, whenever it likes.
void check_trusted(Section& item, const PluginConfig& plugin) {
  if (!plugin.enabled || !plugin.trust.require || !plugin.process ||
      plugin.process->command.empty())
    return;
  item.fail("command",
            "nobody can sign a command; with plugins.trust.require, allowed: libraries that are "
            "signed or pinned by `sha256`");
}

void read_plugins(Section& section, PluginsConfig& out) {
  section.text("directory", out.directory);
  {
    Section trust(section.errors(), section.child("trust"), section.path_of("trust"));
    read_trust(trust, out.trust);
  }
  std::vector<PluginConfig> load;
  std::set<std::string> names;
  const bool given = section.each("load", [&](Section& item) {
    PluginConfig plugin;
    read_plugin(item, plugin);
    item.once("name", plugin.name, names);
    plugin.trust = out.trust;
    check_trusted(item, plugin);
    load.push_back(std::move(plugin));
  });
  if (given) out.load = std::move(load);
}

void read_fair_sharing(Section& section, EngineConfig& out) {
  section.boolean("enable", out.fair_sharing);
  read_preemption_strategies(section, out);
}

constexpr Duration kPodsReadyTimeout = 1800 * kSecond;

void read_pods_ready(Section& section, EngineConfig& out) {
  bool enable = true;
  Duration timeout = kPodsReadyTimeout;
  Duration recovery = kPodsReadyTimeout;
  section.boolean("enable", enable);
  section.duration("timeout", timeout);
  section.duration("recoveryTimeout", recovery);
  section.boolean("blockAdmission", out.block_admission);
  read_requeuing(section, out.requeue);
  out.block_admission &= enable;
  if (!enable) return;
  out.pods_ready_timeout = timeout;
  out.pods_recovery_timeout = recovery;
}

void read_scheduling(Section& section, EngineConfig& out) {
  std::int64_t threads = out.threads;
  section.integer("threads", threads, 0, 1024);
  out.threads = static_cast<int>(threads);
  {
    Section fair(section.errors(), section.child("fairSharing"), section.path_of("fairSharing"));
    read_fair_sharing(fair, out);
  }
  section.duration("progressWindow", out.progress_window);
  const YAML::Node ready = section.child("waitForPodsReady");
  if (!ready.IsDefined()) return;
  Section pods_ready(section.errors(), ready, section.path_of("waitForPodsReady"));
  read_pods_ready(pods_ready, out);
}

void read_taint(Section& section, TaintConfig& out) {
  section.require("key");
  section.require("effect");
  section.text("key", out.key);
  section.text("value", out.value);
  const char* const names[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  if (const int i = section.choice("effect", {names[0], names[1], names[2]}); i >= 0)
    out.effect = names[i];
}

bool is_node_name(std::string_view text) {
  return text.size() <= api::kSubdomainBytes && api::is_dns_subdomain(text);
}

void read_node(Section& section, NodeConfig& out) {
  section.require("name");
  section.name("name", out.name, is_node_name,
               "lower-case letters, digits, '-' and '.', at most 253 bytes");
  section.pairs("labels", out.labels);
  section.each("taints", [&](Section& item) { read_taint(item, out.taints.emplace_back()); });
  section.require("capacity");
  section.pairs("capacity", out.capacity);
  for (const auto& [resource, amount] : out.capacity) {
    const auto quantity = api::Quantity::parse(amount);
    if (!quantity) {
      section.fail("capacity", fmt::format("{}: {}", resource, quantity.error().text));
    } else if (quantity->negative()) {
      section.fail("capacity",
                   fmt::format("{}: found {}; allowed: a quantity of 0 or more", resource, amount));
    }
  }
}

void read_image(Section& section, ImageConfig& out) {
  section.require("name");
  section.text("name", out.name);
  section.require("entrypoint");
  section.texts("entrypoint", out.entrypoint);
  if (section.has("entrypoint") && out.entrypoint.empty())
    section.fail("entrypoint", "found no program; allowed: [PROGRAM, ARGUMENT, …]");
}

void read_logs(Section& section, LogsConfig& out) {
  constexpr std::int64_t kLeast = 64 * 1024, kMost = std::int64_t{1} << 50;
  section.text("path", out.path);
  if (!out.path.empty() && out.path.front() != '/')
    section.fail("path", fmt::format("found \"{}\"; allowed: an absolute path", out.path));
  section.integer("podBytes", out.pod_bytes, kLeast, kMost);
  section.integer("totalBytes", out.total_bytes, kLeast, kMost);
  if (out.total_bytes < out.pod_bytes)
    section.fail("totalBytes", fmt::format("found {}; allowed: at least podBytes, which is {}",
                                           out.total_bytes, out.pod_bytes));
}

void read_job_users(Section& section, JobUsersConfig& out) {
  using Mode = JobUsersConfig::Mode;
  const int mode = section.choice("mode", {"auto", "on", "off"});
  if (mode > 0) out.mode = mode == 1 ? Mode::kOn : Mode::kOff;
  section.integer("first", out.first, 1000, (1LL << 31) - 1);
  section.integer("count", out.count, 1, 1'000'000);
  if (out.first + out.count > (1LL << 31) - 1)
    section.fail("count", "allowed: users below 2147483648");
  section.text("workPath", out.work_path);
  if (out.work_path.empty() || out.work_path.front() != '/')
    section.fail("workPath", fmt::format("found \"{}\"; allowed: an absolute path", out.work_path));
}

void read_executor(Section& section, ExecutorConfig& out) {
  if (section.choice("type", {"local", "none"}) == 1) out.type = ExecutorType::kNone;
  std::set<std::string> nodes, images;
  section.each("nodes", [&](Section& item) {
    read_node(item, out.nodes.emplace_back());
    item.once("name", out.nodes.back().name, nodes);
  });
  section.each("images", [&](Section& item) {
    read_image(item, out.images.emplace_back());
    item.once("name", out.images.back().name, images);
  });
  Section logs(section.errors(), section.child("logs"), section.path_of("logs"));
  read_logs(logs, out.logs);
  out.control_groups = section.choice("controlGroups", {"auto", "off"}) != 1;
  section.duration("longestGrace", out.longest_grace,
                   {kSecond, 86'400 * kSecond, "from 1s to 24h"});
  Section users(section.errors(), section.child("jobUsers"), section.path_of("jobUsers"));
  read_job_users(users, out.job_users);
  out.all_system_calls = section.choice("systemCalls", {"filtered", "all"}) == 1;
}

void read_store(Section& section, StoreConfig& out) {
  section.text("path", out.path);
  Section limits(section.errors(), section.child("limits"), section.path_of("limits"));
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  limits.integer("objects", out.limits.objects, 1, kMost);
  limits.integer("bytes", out.limits.bytes, 1, kMost);
  limits.integer("namespaceObjects", out.limits.namespace_objects, 1, kMost);
  limits.integer("namespaceBytes", out.limits.namespace_bytes, 1, kMost);
  limits.integer("events", out.limits.events, 1, kMost);
  const YAML::Node keys = section.child("encryption");
  if (!keys.IsDefined()) return;
  Section encryption(section.errors(), keys, section.path_of("encryption"));
  encryption.require("keyFile");
  encryption.text("keyFile", out.encryption.key_file);
  encryption.boolean("enabled", out.encryption.enabled);
  if (out.path == "memory")
    encryption.fail("keyFile", "a store in memory has nothing on the disk to encrypt");
}

void read_history(Section& section, HistoryConfig& out) {
  constexpr std::int64_t kLeast = 1 << 20, kMost = std::int64_t{1} << 50;
  section.boolean("enabled", out.enabled);
  section.text("path", out.path);
  if (!out.path.empty() && out.path.front() != '/')
    section.fail("path", fmt::format("found \"{}\"; allowed: an absolute path", out.path));
  section.duration("keepTime", out.keep_time, {.least = 60 * kSecond, .text = "of 1m or more"});
  section.integer("keepBytes", out.keep_bytes, kLeast, kMost);
}

void expect_constant(Section& section, const std::string& key, const std::string& value) {
  section.require(key);
  section.choice(key, {value});
}

void read_own(Section& root, Configuration& out) {
  root.require("apiVersion");
  root.choice("apiVersion", {"config.sluice.dev/v1alpha1", "config.kueue.x-k8s.io/v1beta1",
                             "config.kueue.x-k8s.io/v1beta2"});
  expect_constant(root, "kind", "Configuration");
  const auto part = [&](const std::string& key, auto&& read, auto& target) {
    Section section(root.errors(), root.child(key), key);
    read(section, target);
  };
  part("server", read_server, out.server);
  part("metrics", read_metrics, out.metrics);
  part("store", read_store, out.store);
  part("plugins", read_plugins, out.plugins);
  part("scheduling", read_scheduling, out.engine);
  part(
      "resources",
      [](Section& s, EngineConfig& engine) {
        engine.ignore_undeclared_resources = s.choice("undeclared", {"block", "ignore"}) == 1;
        read_resource_rules(s, engine.resources);
      },
      out.engine);
  part("executor", read_executor, out.executor);
  part("objectRetentionPolicies", read_retention, out.retention);
  part("history", read_history, out.history);
  read_managed_jobs(root, out.managed_jobs);
}

/// Takes a document and keeps nothing of it.
class DeafHandler final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// Whether there is a second document. The library finds documents without end in some texts that
/// are not YAML, so it is not asked for all of them.
bool has_second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DeafHandler listener;
  return parser.HandleNextDocument(listener) && parser.HandleNextDocument(listener);
}

std::string text_of(const YAML::Node& document, const char* key) {
  if (!document.IsMap()) return {};
  const YAML::Node value = document[key];
  return value.IsDefined() && value.IsScalar() ? value.Scalar() : std::string();
}

/// The file that a ConfigMap of Kueue holds; empty: it is none, or holds none.
std::string held_by(const YAML::Node& document) {
  if (text_of(document, "kind") != "ConfigMap" || !document["data"].IsMap()) return {};
  return text_of(document["data"], kKueueDataKey);
}

Configuration read_document(const YAML::Node& document, ConfigErrors& errors) {
  Configuration out;
  const KueueFile kueue = kueue_file(text_of(document, "apiVersion"));
  if (kueue != KueueFile::kNone) {
    read_kueue_file(kueue, document, errors, out);
  } else {
    Section root(errors, document, "");
    read_own(root, out);
  }
  out.plugins.host_json = out.managed_jobs.for_plugins();
  return out;
}

/// `may_hold`: it may be a ConfigMap with a configuration in it.
Result<Configuration> parse_document(const std::string& text, const std::string& file,
                                     bool may_hold) {
  try {
    if (has_second_document(text)) return Error{file + ": holds several documents; allowed: one"};
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    const YAML::Node document =
        documents.empty() ? YAML::Node(YAML::NodeType::Undefined) : documents.front();
    if (const std::string held = may_hold ? held_by(document) : std::string(); !held.empty())
      return parse_document(held, fmt::format("{}: data.{}", file, kKueueDataKey), false);
    ConfigErrors errors(file);
    Configuration out = read_document(document, errors);
    if (!errors.empty()) return errors.error();
    return out;
  } catch (const YAML::Exception& e) {
    return Error{
        fmt::format("{}:{}: not YAML: {}", file, e.mark.is_null() ? 1 : e.mark.line + 1, e.msg)};
  }
}

}  // namespace

Result<Configuration> parse_configuration(std::string_view text, const std::string& file) {
  return parse_document(std::string(text), file, true);
}

Result<Configuration> load_configuration(const std::string& path) {
  if (path.empty()) return Configuration();
  const std::optional<std::string> text = read_file(path);
  if (!text)
    return Error{
        path +
        ": cannot be read; --config names a file that does not exist or is not yours to read"};
  auto out = parse_configuration(*text, path);
  if (out)
    for (const std::string& note : out->notes)
      log(LogLevel::kWarning, "configuration", note, {{"file", path}});
  return out;
}

}  // namespace sluice::host
