#include "host/executor/nodes.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <thread>
#include <utility>

#include "core/base/text.hpp"
#include "host/base/files.hpp"
#include "host/base/version.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kManaged = "sluice.dev/managed-node";  // annotation: made by this host
constexpr const char* kPods = "1000";                        // as many processes as are sensible

json::object condition(std::string_view type, bool on, std::string_view reason,
                       std::string_view message, const std::string& time) {
  return {{"type", type},
          {"status", on ? "True" : "False"},
          {"lastHeartbeatTime", time},
          {"lastTransitionTime", time},
          {"reason", reason},
          {"message", message}};
}

json::object capacity_of(const NodeConfig& node, const MachineFacts& machine) {
  json::object out;
  for (const auto& [name, quantity] : node.capacity) out[name] = quantity;
  if (!out.contains("cpu")) out["cpu"] = std::to_string(machine.cpus);
  if (!out.contains("memory")) out["memory"] = std::to_string(machine.memory_kib) + "Ki";
  if (!out.contains("pods")) out["pods"] = kPods;
  return out;
}

json::object status_of(const NodeConfig& node, const MachineFacts& machine, Time now) {
  const std::string time = format_time(now / kSecond * kSecond);
  const json::object capacity = capacity_of(node, machine);
  return {{"capacity", capacity},
          {"allocatable", capacity},
          {"conditions",
           json::array{condition("MemoryPressure", false, "Sufficient", "", time),
                       condition("Ready", true, "ExecutorReady", "the executor runs pods", time)}},
          {"addresses", json::array{json::object{{"type", "InternalIP"}, {"address", "127.0.0.1"}},
                                    json::object{{"type", "Hostname"}, {"address", node.name}}}},
          {"nodeInfo",
           {{"architecture", machine.arch},
            {"operatingSystem", "linux"},
            {"kernelVersion", machine.kernel},
            {"kubeletVersion", "sluice-" + std::string(version())},
            {"kubeProxyVersion", ""},
            {"containerRuntimeVersion", "process://1"},
            {"osImage", "linux"},
            {"machineID", ""},
            {"systemUUID", ""},
            {"bootID", ""}}}};
}

json::object make_node(const NodeConfig& node, const MachineFacts& machine, Time now) {
  json::object labels{{"kubernetes.io/hostname", node.name},
                      {"kubernetes.io/arch", machine.arch},
                      {"kubernetes.io/os", "linux"}};
  for (const auto& [name, value] : node.labels) labels[name] = value;
  json::object spec;
  for (const TaintConfig& taint : node.taints) {
    json::object entry{{"key", taint.key}, {"effect", taint.effect}};
    if (!taint.value.empty()) entry["value"] = taint.value;
    array_of(spec, "taints").push_back(std::move(entry));
  }
  return {
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata",
       {{"name", node.name}, {"labels", std::move(labels)}, {"annotations", {{kManaged, "true"}}}}},
      {"spec", std::move(spec)},
      {"status", status_of(node, machine, now)}};
}

std::vector<NodeConfig> configured(const ExecutorConfig& config, const MachineFacts& machine) {
  if (!config.nodes.empty()) return config.nodes;
  NodeConfig self;
  self.name = machine.hostname;
  return {self};
}

/// `wanted` with what users added to the present object.
json::object merged(json::object wanted, const json::object& present) {
  json::object& metadata = object_of(wanted, "metadata");
  for (const char* map : {"labels", "annotations"}) {
    json::object& mine = object_of(metadata, map);
    for (const auto& member : part(part(present, "metadata"), map)) {
      mine.emplace(member.key(), member.value());
    }
  }
  for (const auto& member : part(present, "spec")) {  // a cordon, a provider's name
    if (member.key() != "taints") object_of(wanted, "spec").emplace(member.key(), member.value());
  }
  return wanted;
}

}  // namespace

MachineFacts machine_facts() {
  MachineFacts facts;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) facts.hostname = name.data();
  for (char& c : facts.hostname) {
    c = lower_ascii(c);
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.') c = '-';
  }
  if (facts.hostname.empty()) facts.hostname = "localhost";
  utsname system{};
  if (::uname(&system) == 0) {
    facts.kernel = system.release;
    const std::string_view machine = system.machine;
    facts.arch = machine == "x86_64" ? "amd64" : machine == "aarch64" ? "arm64" : system.machine;
  }
  facts.cpus = std::max(1U, std::thread::hardware_concurrency());
  const std::string memory = read_file("/proc/meminfo").value_or("");
  const std::size_t at = memory.find_first_of("0123456789");  // MemTotal comes first
  if (at != std::string::npos) {
    std::from_chars(memory.data() + at, memory.data() + memory.size(), facts.memory_kib);
  }
  return facts;
}

std::vector<std::string> node_names(const ExecutorConfig& config, const MachineFacts& machine) {
  std::vector<std::string> names;
  for (const NodeConfig& node : configured(config, machine)) names.push_back(node.name);
  return names;
}

std::vector<json::object> make_nodes(const ExecutorConfig& config, const MachineFacts& machine,
                                     Time now) {
  std::vector<json::object> nodes;
  for (const NodeConfig& node : configured(config, machine)) {
    nodes.push_back(make_node(node, machine, now));
  }
  return nodes;
}

ApiResult<void> ensure_nodes(const ExecutorConfig& config, const MachineFacts& machine,
                             ObjectAccess& objects) {
  const api::KindInfo* kind = objects.scheme().find("v1", "Node");
  if (!kind) return {};
  const std::vector<std::string> names = node_names(config, machine);
  for (const std::string& key : objects.keys(*kind)) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    const auto node = objects.get(*kind, key);
    if (!node || !part(part(*node, "metadata"), "annotations").contains(kManaged)) continue;
    ApiResult<void> removed = objects.remove(*kind, key);
    if (!removed) return removed;
  }
  for (json::object& node : make_nodes(config, machine, objects.now())) {
    const std::string key = key_of(node);
    json::object status = part(node, "status");
    const auto present = objects.get(*kind, key);
    if (present) node = merged(std::move(node), *present);
    ApiResult<void> written =
        present ? objects.update(std::move(node)) : objects.create(std::move(node));
    if (!written) return written;
    ApiResult<void> told = objects.update_status(*kind, key, std::move(status));
    if (!told) return told;
  }
  return {};
}

}  // namespace sluice::host
