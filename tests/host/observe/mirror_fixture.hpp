// A mirror that a test feeds as a follower would, and the store behind it.
// One thread: the test's.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <future>
#include <set>
#include <string>

#include "host/machine/rules.hpp"
#include "host/observe/mirror.hpp"

namespace sluice::host {

struct MirrorFixture {
  static constexpr const char* kVersion = "kueue.x-k8s.io/v1beta2";

  VirtualClock clock;
  std::unique_ptr<Rules> rules = Rules::without_plugins(clock);
  LiveStore store{rules->scheme, nullptr};
  MirrorStore kept{store};
  Mirror mirror{*rules->intake, kept};

  const api::KindInfo& kind(std::string_view name) const {
    const api::KindInfo* found = rules->scheme.find_by_name(name);
    SLUICE_CHECK(found != nullptr, "no kind ", name);
    return *found;
  }
  void put(std::string_view name, const std::string& object) {
    const api::KindInfo& info = kind(name);
    mirror.put(info, info.hub_api_version(), boost::json::parse(object).as_object());
  }
  void settle() {
    mirror.settle();
    std::promise<void> published;
    store.commit([&](const Result<void>&) { published.set_value(); });
    published.get_future().wait();
  }
  std::set<std::string> keys(std::string_view name) const {
    std::set<std::string> out;
    for (const StoredObject* each : store.list(kind(name))) out.insert(each->key);
    return out;
  }

  /// A flavor, and a ClusterQueue with so much cpu of it and a LocalQueue of the same name.
  void queue(const std::string& name, int cpu, const std::string& more = {}) {
    put("Namespace", R"({"metadata":{"name":"ns"}})");
    put("ResourceFlavor", R"({"metadata":{"name":"default"},"spec":{}})");
    put("ClusterQueue",
        R"({"metadata":{"name":")" + name + R"("},"spec":{"namespaceSelector":{},)" + more +
            R"("resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"default",)" +
            R"("resources":[{"name":"cpu","nominalQuota":)" + std::to_string(cpu) + "}]}]}]}}");
    put("LocalQueue", R"({"metadata":{"name":")" + name + R"(","namespace":"ns"},)" +
                          R"("spec":{"clusterQueue":")" + name + R"("}})");
  }

  /// `status`: JSON of the status, or empty.
  static std::string workload(const std::string& name, const std::string& queue, int cpu,
                              int priority, const std::string& status = {}) {
    return R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":"u-)" + name +
           R"(","creationTimestamp":"2026-01-01T00:00:00Z","managedFields":[{"manager":"m"}]},)" +
           R"("spec":{"queueName":")" + queue + R"(","priority":)" + std::to_string(priority) +
           R"(,"podSets":[{"name":"main","count":1,"template":{"spec":{"restartPolicy":"Never",)" +
           R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":)" +
           std::to_string(cpu) + "}}}]}}}]}" + (status.empty() ? "" : R"(,"status":)" + status) +
           "}";
  }
  static std::string admitted(const std::string& queue, int cpu) {
    const std::string rest = R"(,"status":"True","reason":"r","message":"m","lastTransitionTime":)"
                             R"("2026-01-01T00:00:01Z"})";
    return R"({"conditions":[{"type":"QuotaReserved")" + rest + R"(,{"type":"Admitted")" + rest +
           R"(],"admission":{"clusterQueue":")" + queue +
           R"(","podSetAssignments":[{"name":"main","count":1,"flavors":{"cpu":"default"},)" +
           R"("resourceUsage":{"cpu":")" + std::to_string(cpu) + R"("}}]}})";
  }
};

}  // namespace sluice::host
