#include "bench/live/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace sluice::bench {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::string_view kKueue = "/apis/kueue.x-k8s.io/v1beta2";
constexpr std::string_view kRuntime = "sluice.dev/runtime";

json::value read_json(const fs::path& file) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  boost::system::error_code error;
  json::value out = json::parse(text, error);
  if (error) fail(fmt::format("{}: {}", file.string(), error.message()));
  return out;
}

std::string text_at(const json::value& object, const char* pointer) {
  return std::string(object.at_pointer(pointer).as_string());
}

/// Of `1200ms`, the only form that generate.py writes.
std::int64_t micros(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || std::string_view(end) != "ms")
    fail(fmt::format("time {}: allowed are whole milliseconds, like 1200ms", text));
  return out * 1000;
}

std::string collection_of(const json::value& object) {
  static const std::map<std::string, std::string, std::less<>> kPlurals = {
      {"Namespace", "namespaces"},       {"ResourceFlavor", "resourceflavors"},
      {"ClusterQueue", "clusterqueues"}, {"LocalQueue", "localqueues"},
      {"Workload", "workloads"},
  };
  const std::string kind = text_at(object, "/kind");
  const auto plural = kPlurals.find(kind);
  if (plural == kPlurals.end()) fail("manifests hold a " + kind + ", which live_bench cannot play");
  if (kind == "Namespace") return "/api/v1/namespaces";
  const json::value* ns = object.at("metadata").as_object().if_contains("namespace");
  if (ns == nullptr) return fmt::format("{}/{}", kKueue, plural->second);
  return fmt::format("{}/namespaces/{}/{}", kKueue, std::string_view(ns->as_string()),
                     plural->second);
}

double cpus_of(const json::value& workload) {
  double out = 0;
  for (const json::value& set : workload.at_pointer("/spec/podSets").as_array()) {
    double pod = 0;
    for (const json::value& c : set.at_pointer("/template/spec/containers").as_array())
      pod += std::stod(text_at(c, "/resources/requests/cpu"));
    out += pod * static_cast<double>(set.at("count").as_int64());
  }
  return out;
}

void make_manifests(const fs::path& file, const Target& target, Load& load) {
  std::vector<std::pair<std::string, std::string>> requests;
  const json::value list = read_json(file);
  for (const json::value& item : list.at("items").as_array()) {
    requests.emplace_back(collection_of(item), json::serialize(item));
    if (text_at(item, "/kind") != "ClusterQueue") continue;
    for (const json::value& group : item.at_pointer("/spec/resourceGroups").as_array())
      for (const json::value& flavor : group.at("flavors").as_array())
        for (const json::value& resource : flavor.at("resources").as_array())
          load.quota_cpus += std::stod(text_at(resource, "/nominalQuota"));
  }
  CallOptions options;
  options.connections = 1;  // in the order of the file
  options.seconds = INFINITY;
  std::size_t next = 0;
  call_many(target, options, [&](std::string& text) {
    if (next == requests.size()) return false;
    const auto& [path, body] = requests[next++];
    text = head(target, "POST", path, "application/json", body.size()) + body;
    return true;
  });
}

Arrival arrival_of(const json::value& event, const Target& target, Load& load) {
  const json::value& workload = event.at("apply");
  const std::string path = collection_of(workload);
  Arrival out;
  out.at_us = micros(text_at(event, "/at"));
  out.name = text_at(workload, "/metadata/name");
  out.runtime_us = micros(
      std::string_view(workload.at_pointer("/metadata/annotations").at(kRuntime).as_string()));
  out.cpus = cpus_of(workload);
  const std::string sort = out.name.substr(0, out.name.find('-'));
  const auto known = std::find(load.sorts.begin(), load.sorts.end(), sort);
  out.sort = static_cast<std::size_t>(known - load.sorts.begin());
  if (known == load.sorts.end()) load.sorts.push_back(sort);
  const std::string body = json::serialize(workload);
  out.create = head(target, "POST", path, "application/json", body.size()) + body;
  const std::string finished = fmt::format(
      R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{{"name":"{}"}},)"
      R"("status":{{"conditions":[{{"type":"Finished","status":"True","reason":"Succeeded",)"
      R"("message":"Job finished successfully","lastTransitionTime":"2026-01-01T00:00:00Z"}}]}}}})",
      out.name);
  out.finish = head(target, "PATCH",
                    fmt::format("{}/{}/status?fieldManager=live-bench&force=true", path, out.name),
                    "application/apply-patch+yaml", finished.size()) +
               finished;
  return out;
}

}  // namespace

Load read_load(const std::string& folder, const Target& target) {
  Load out;
  out.watch = fmt::format("{}/workloads", kKueue);
  make_manifests(fs::path(folder) / "manifests.json", target, out);
  std::vector<fs::path> timelines;
  for (const auto& file : fs::directory_iterator(folder))
    if (file.path().filename().string().starts_with("timeline")) timelines.push_back(file.path());
  std::sort(timelines.begin(), timelines.end());
  for (const fs::path& file : timelines) {
    const json::value timeline = read_json(file);
    for (const json::value& event : timeline.at("events").as_array())
      out.arrivals.push_back(arrival_of(event, target, out));
  }
  if (out.arrivals.empty()) fail(folder + " has no Timeline with workloads");
  return out;
}

double area_bound_seconds(const Load& load) {
  double cpu_seconds = 0;
  for (const Arrival& a : load.arrivals)
    cpu_seconds += a.cpus * static_cast<double>(a.runtime_us) / 1e6;
  return cpu_seconds / load.quota_cpus;
}

}  // namespace sluice::bench
