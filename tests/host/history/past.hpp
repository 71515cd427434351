// What the tests of the history share: a past in memory, and workloads made of few words.
// Each belongs to one test.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/history/run_log.hpp"

namespace sluice::host::test {

using Entry = Run;  // a test of gtest has a Run() of its own

class PastInMemory final : public PastRuns {
 public:
  std::vector<Run> of(std::string_view uid) override {
    std::vector<Run> out;
    for (const auto& [key, run] : runs)
      if (key.first == uid) out.push_back(run);
    return out;
  }
  void write(std::vector<Run> changed) {
    for (Run& run : changed) runs[{run.uid, run.number}] = std::move(run);
  }
  std::map<std::pair<std::string, std::int64_t>, Run> runs;
};

/// Seconds of the test's own time.
inline Time at(std::int64_t second) { return second * kSecond; }
inline Millis ms(std::int64_t second) { return second * 1'000; }

/// A workload that was created in the second 10.
class Story {
 public:
  Story() {
    facts.uid = "0199a1c2-0000-7000-8000-000000000001";
    facts.ns = "team-a";
    facts.name = "job-train-1a2b3";
    facts.owner_kind = "Job";
    facts.owner = "train";
    facts.queue = "main";
    facts.user = "ann";
    facts.created = ms(10);
  }
  Story& condition(const char* type, bool on, std::int64_t second, const char* reason = "") {
    for (api::Condition& each : facts.status.conditions)
      if (each.type == type) {
        each = {type, on ? "True" : "False", reason, "", at(second), 0};
        return *this;
      }
    facts.status.conditions.push_back({type, on ? "True" : "False", reason, "", at(second), 0});
    return *this;
  }
  /// Two pods, `milli` of cpu each.
  Story& reserve(std::int64_t second, std::int64_t milli = 1'000) {
    facts.status.admission.emplace();
    facts.status.admission->cluster_queue = "cq";
    api::PodSetAssignment set{"main", 2, {}, {{"cpu", 2 * milli}}};
    set.flavors.set("cpu", "spot");
    facts.status.admission->pod_sets = {std::move(set)};
    return condition("QuotaReserved", true, second);
  }
  Story& admit(std::int64_t second) { return condition("Admitted", true, second); }
  Story& give_back(std::int32_t pods) {
    facts.status.reclaimable_pods = {{"main", pods}};
    return *this;
  }
  Story& evict(std::int64_t second, const char* reason) {
    facts.status.admission.reset();
    condition("Evicted", true, second, reason).condition("Admitted", false, second);
    return condition("QuotaReserved", false, second, "Pending");
  }
  Story& finish(std::int64_t second, const char* reason = "Succeeded") {
    return condition("Finished", true, second, reason);
  }

  WorkloadFacts facts;
};

}  // namespace sluice::host::test
