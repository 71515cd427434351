// An outbox with objects of a few kinds, and a cluster that a test plays: it answers by hand.
// One thread: the test's.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <map>
#include <string>
#include <vector>

#include "api/json/json.hpp"
#include "host/machine/rules.hpp"
#include "host/outbox/outbox.hpp"
#include "host/plugins/clock.hpp"

namespace sluice::host {

struct OutboxFixture {
  VirtualClock clock;
  std::unique_ptr<Rules> rules = Rules::without_plugins(clock);
  TextPool pool;
  Duration now = 100 * kSecond;
  /// The trees of ClusterQueues that are not in the first one.
  std::map<std::string, std::uint32_t, std::less<>> other_trees;
  std::uint64_t shape = 0;  // grows with a change of these
  std::uint32_t tree_of(std::string_view queue) const {
    const auto found = other_trees.find(queue);
    return found == other_trees.end() ? 0 : found->second;
  }
  /// The chain of an object is that of its annotation `chain`, else its own.
  Outbox outbox{[](const StoredObject& object) {
                  const auto metadata = boost::json::parse(object.metadata.text()).as_object();
                  const auto* found = metadata.if_contains("annotations");
                  return found ? std::string(api::find_text(found->as_object(), "chain"))
                               : object.key;
                },
                {.of = [this](std::string_view queue) { return tree_of(queue); },
                 .shape = [this] { return shape; }},
                limits()};

  static OutboxLimits limits() {
    OutboxLimits out;
    out.under_way = 8;
    out.spare = {.shared = 2, .queues = 0, .texts = 0, .events = 1};
    out.events_waiting = 3;
    out.retelling_waits = out.telling_waits;
    return out;
  }

  const api::KindInfo& kind(std::string_view name) const {
    const api::KindInfo* found = rules->scheme.find_by_name(name);
    SLUICE_CHECK(found != nullptr, "no kind ", name);
    return *found;
  }
  StoredObject object(std::string_view of, const std::string& name, const std::string& chain,
                      const std::string& status = "", const std::string& spec = "{}") {
    const api::KindInfo& info = kind(of);
    boost::json::object out{
        {"metadata", boost::json::object{{"name", name}, {"uid", "uid-" + name}}},
        {"spec", boost::json::parse(spec)}};
    auto& metadata = out["metadata"].as_object();
    if (info.namespaced) metadata["namespace"] = "ns";
    if (!chain.empty()) metadata["annotations"] = boost::json::object{{"chain", chain}};
    if (!status.empty()) out["status"] = boost::json::parse(status);
    return to_stored(info, out, pool);
  }
  /// A Workload that waits, or holds quota of this flavor.
  StoredObject workload(const std::string& name, const std::string& flavor = "",
                        const std::string& chain = "") {
    std::string status;
    if (!flavor.empty())
      status = R"({"admission":{"clusterQueue":")" + flavor +
               R"("},"conditions":[{"type":"QuotaReserved","status":"True"}]})";
    return object("Workload", name, chain, status);
  }
  StoredObject waiting(const std::string& name, const std::string& why) {
    return object(
        "Workload", name, "",
        R"({"conditions":[{"type":"QuotaReserved","status":"False","message":")" + why + R"("}]})");
  }
  StoredObject job(const std::string& name, bool suspended, const std::string& chain = "") {
    return object("Job", name, chain, "",
                  std::string(R"({"suspend":)") + (suspended ? "true}" : "false}"));
  }

  void edit(const StoredObject& before, const StoredObject& after, std::uint64_t version = 1) {
    outbox.edited(before, after, version, now);
    targets[after.key] = after;
  }
  /// What is sent now, as `METHOD name`; under way from now on.
  std::vector<std::string> due() {
    std::vector<std::string> out;
    for (const ClusterRequest& request : outbox.due(now)) {
      std::string path = request.path.substr(0, request.path.find('?'));
      const bool status = path.ends_with("/status");
      if (status) path.resize(path.size() - 7);
      std::string name = path.substr(path.rfind('/') + 1);
      out.push_back(std::string(request.method) + " " + name + (status ? "/status" : ""));
      ids[name] = request.id;
      bodies[name] = request.body;
    }
    return out;
  }
  /// The request about this object is answered: it is stored as it was wanted.
  void stored(const std::string& name, std::uint64_t version) {
    outbox.stored(ids.at(name), targets.at("ns/" + name), version);
  }

  std::map<std::string, std::uint64_t> ids;     // of the last request about each object
  std::map<std::string, std::string> bodies;    // and what it said
  std::map<std::string, StoredObject> targets;  // by key, as last wanted
};

}  // namespace sluice::host
