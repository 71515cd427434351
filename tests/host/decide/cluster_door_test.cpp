// A machine that decides for a cluster, over random histories: writes of others, answers that come
// late, in any order or not at all, refusals, crashes. Whatever happens, no version of the cluster
// shows more quota held than there is or a job let go without an admission; and when all is quiet
// both say the same.
#include "host/decide/cluster_door.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <random>
#include <set>

#include "decided.hpp"
#include "host/objects/parts.hpp"
#include "host/outbox/quota_shown.hpp"
#include "host/plugins/clock.hpp"
#include "pretended_cluster.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::int64_t kQuota = 4;

class RandomWorld {
 public:
  explicit RandomWorld(std::uint32_t seed) : random_(seed) {
    clock_.set(1'767'225'600 * kSecond);
    auto rules = Rules::load(config_.plugins, std::vector<std::string>(), clock_);
    SLUICE_CHECK(rules, "no rules");
    rules_ = std::move(*rules);
    cluster_ = std::make_unique<PretendedCluster>(rules_->scheme);
    cluster_->witness = [this](const api::KindInfo& kind, const std::string& key,
                               const json::object& object) { look(kind, key, object); };
    make("Namespace", R"({"metadata":{"name":"ns"}})");
    make("ResourceFlavor", R"({"metadata":{"name":"f"},"spec":{}})");
    make("ClusterQueue", R"({"metadata":{"name":"cq"},"spec":{"namespaceSelector":{},
      "preemption":{"withinClusterQueue":"LowerPriority"},
      "resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f",
        "resources":[{"name":"cpu","nominalQuota":"4"}]}]}]}})");
    make("LocalQueue",
         R"({"metadata":{"name":"q","namespace":"ns"},"spec":{"clusterQueue":"cq"}})");
    start();
  }

  void play(int steps) {
    for (int i = 0; i < steps; ++i) {
      something();
      deliver(draw(4));
      if (draw(2) == 0) turn();
      if (draw(3) == 0) answer_one(true);
      if (draw(40) == 0) crash();
    }
  }

  /// Nobody does anything more, and everything is answered.
  void quiet() {
    for (int i = 0; i < 3000; ++i) {
      deliver(1000);
      turn();
      while (!under_way_.empty()) answer_one(false);
      run_jobs();
      clock_.set(clock_.now() + kSecond);
      if (cluster_->told.empty() && under_way_.empty() && decided_->outbox.size() == 0 && i > 20)
        return;
    }
    ADD_FAILURE() << "it does not come to rest: " << decided_->outbox.size() << " edits, "
                  << cluster_->told.size() << " letters";
  }

  /// What the machine holds is what the cluster has.
  void compare() {
    for (const char* name : {"Workload", "Job"}) {
      const auto& there = cluster_->all(kind(name));
      EXPECT_EQ(decided_->objects.list(kind(name)).size(), there.size()) << name;
      for (const StoredObject* here : decided_->objects.list(kind(name))) {
        const json::object* object = cluster_->find(kind(name), here->key);
        if (!object) {
          ADD_FAILURE() << name << " " << here->key << " is not in the cluster";
          continue;
        }
        const std::string there_text = api::to_json(part(*object, "status"));
        EXPECT_TRUE(same_but_times(here->status, there_text)) << here->key << "\n"
                                                              << here->status << "\n"
                                                              << there_text;
      }
    }
    decided_->machine.engine().verify();
  }

  /// Nobody waits who would fit.
  void nobody_is_forgotten() {
    const std::int64_t used = held();
    for (const auto& [key, workload] : cluster_->all(kind("Workload"))) {
      const json::object& status = part(workload, "status");
      if (has_condition(status, "Finished") || has_condition(status, "QuotaReserved")) continue;
      if (!api::find_bool(part(workload, "spec"), "active", true)) continue;
      EXPECT_GT(used + cpus(workload), kQuota)
          << key << " waits: " << json::serialize(status) << "\n"
          << history();
    }
  }

  const std::vector<std::string>& wrong() const { return wrong_; }
  std::string history() const { return fmt::format("{}", fmt::join(history_, "\n")); }

 private:
  const api::KindInfo& kind(std::string_view name) const {
    return *rules_->scheme.find_by_name(name);
  }
  std::size_t draw(std::size_t below) { return random_() % below; }
  void make(std::string_view of, const std::string& text) {
    cluster_->create(kind(of), json::parse(text).as_object());
  }

  static bool suspended(const json::object& job) {
    return api::find_bool(part(job, "spec"), "suspend", false);
  }
  static std::int64_t cpus(const json::object& workload) {
    std::int64_t out = 0;
    for_each_object(part(workload, "spec"), "podSets", [&](const json::object& set) {
      const json::object& spec = part(part(set, "template"), "spec");
      for_each_object(spec, "containers", [&](const json::object& container) {
        const json::object& requests = part(part(container, "resources"), "requests");
        out += std::stoll(text_in(requests, "cpu")) * api::find_int(set, "count").value_or(1);
      });
    });
    return out;
  }
  std::int64_t held(const std::string& but = "") {
    std::int64_t out = 0;
    for (const auto& [key, workload] : cluster_->all(kind("Workload")))
      if (key != but) out += holds(workload) ? cpus(workload) : 0;
    return out;
  }
  static bool holds(const json::object& workload) {
    const json::object& status = part(workload, "status");
    return has_condition(status, "QuotaReserved") && !has_condition(status, "Finished");
  }

  /// What happened, for a seed that fails.
  void note(std::string line) { history_.push_back(std::move(line)); }
  static std::string brief(const json::object& object) {
    std::string out = text_in(part(object, "metadata"), "resourceVersion");
    if (const json::value* suspend = api::find(part(object, "spec"), "suspend"))
      out += " suspend " + json::serialize(*suspend);
    if (const json::value* active = api::find(part(object, "spec"), "active"))
      out += " active " + json::serialize(*active);
    for_each_object(part(object, "status"), "conditions", [&](const json::object& condition) {
      if (api::find_text(condition, "status") == "True") out += " " + text_in(condition, "type");
    });
    return out;
  }

  /// The object as it will be is put into the cluster: may that be?
  void look(const api::KindInfo& of, const std::string& key, const json::object& object) {
    note(fmt::format("  {} {} is {}", of.kind, key, brief(object)));
    if (of.kind == "Workload" && holds(object)) {
      const std::int64_t used = held(key) + cpus(object);
      std::string holders;
      for (const auto& [other, workload] : cluster_->all(of))
        if (other != key && holds(workload)) holders += " " + other;
      if (used > kQuota)
        wrong_.push_back(fmt::format("{} takes all to {} cpu, with{}", key, used, holders));
      if (used > kQuota) note("!!! " + wrong_.back());
    }
    // Whoever takes the workload away a moment later comes too late for who reads in between.
    if (of.kind == "Workload" && has_condition(part(object, "status"), "Admitted"))
      for_each_object(part(object, "metadata"), "ownerReferences",
                      [&](const json::object& owner) { admitted_.insert(text_in(owner, "uid")); });
    if (of.kind != "Job") return;
    const std::string uid = text_in(part(object, "metadata"), "uid");
    const json::object* before = cluster_->find(of, key);
    const bool ran = before && !suspended(*before);
    if (ran && suspended(object)) admitted_.erase(uid);
    if (!ran && !suspended(object) && !admitted_.contains(uid))
      wrong_.push_back(key + " is let go without an admission");
  }

  void start() {
    cluster_->told.clear();
    under_way_.clear();
    std::vector<const api::KindInfo*> all;
    for (const char* name :
         {"Namespace", "ResourceFlavor", "ClusterQueue", "LocalQueue", "Job", "Workload"})
      all.push_back(&kind(name));
    decided_ = std::make_unique<Decided>(config_, *rules_, clock_);
    decided_->lead(cluster_->listed(all));
  }
  /// What it had sent may have been carried out, or not.
  void crash() {
    for (const ClusterRequest& request : under_way_)
      if (draw(2) == 0) cluster_->answer(request);
    decided_.reset();
    note("crash");
    start();
  }

  void turn() {
    for (ClusterRequest& request : decided_->turn()) {
      note(fmt::format("send {} {} {}", request.id, request.method, request.path));
      under_way_.push_back(std::move(request));
    }
  }
  void deliver(std::size_t most) {
    std::vector<Letter> letters;
    for (; most > 0 && !cluster_->told.empty(); --most) {
      letters.push_back(std::move(cluster_->told.front()));
      cluster_->told.pop_front();
    }
    decided_->machine.begin_instant(clock_.now());
    for (const Letter& letter : letters)
      note(fmt::format("told {} {} {} {}", letter.kind->kind, key_of(letter.object),
                       brief(letter.object), letter.says == Letter::Says::kRemove ? "gone" : ""));
    decided_->door.take(std::move(letters));
  }
  void answer_one(bool faults) {
    if (under_way_.empty()) return;
    const std::size_t i = draw(under_way_.size());
    const ClusterRequest request = std::move(under_way_[i]);
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
    ClusterAnswer out;
    out.id = request.id;
    const std::size_t fault = faults ? draw(12) : 99;
    if (fault == 0) {
      cluster_->answer(request);  // carried out, and the line broke
    } else if (fault == 1) {
      out.sent = draw(2) == 0;
    } else if (fault == 2) {
      out.status = draw(2) == 0 ? 429 : 500;
    } else {
      out = cluster_->answer(request);
    }
    note(fmt::format("answer {} {} {}", out.id, out.status, out.sent));
    decided_->machine.begin_instant(clock_.now());
    decided_->door.answered(out, clock_.now());
  }

  /// Somebody does something.
  void something() {
    clock_.set(clock_.now() + static_cast<Duration>(draw(400)) * kMillisecond);
    switch (draw(8)) {
      case 0:
      case 1:
        return new_job();
      case 2:
        return new_workload();
      case 3:
        return finish_or_remove();
      case 4:
        return write_between();
      default:
        return run_jobs();
    }
  }

  std::string containers() {
    return fmt::format(R"({{"restartPolicy":"Never","containers":[{{"name":"c","image":"i",)"
                       R"("resources":{{"requests":{{"cpu":"{}"}}}}}}]}})",
                       1 + draw(3));
  }
  void new_job() {
    if (cluster_->all(kind("Job")).size() > 12) return;
    make("Job", fmt::format(R"({{"metadata":{{"name":"j{}","namespace":"ns","labels":)"
                            R"({{"kueue.x-k8s.io/queue-name":"q"}}}},"spec":{{"suspend":true,)"
                            R"("parallelism":1,"completions":1,"template":{{"spec":{}}}}}}})",
                            ++made_, containers()));
  }
  void new_workload() {
    if (cluster_->all(kind("Workload")).size() > 20) return;
    make("Workload", fmt::format(R"({{"metadata":{{"name":"w{}","namespace":"ns"}},"spec":{{)"
                                 R"("active":true,"queueName":"q","priority":{},"podSets":[{{)"
                                 R"("name":"main","count":1,"template":{{"spec":{}}}}}]}}}})",
                                 ++made_, draw(3), containers()));
  }

  const std::string* any(const char* of) {
    const auto& table = cluster_->all(kind(of));
    if (table.empty()) return nullptr;
    return &std::next(table.begin(), static_cast<std::ptrdiff_t>(draw(table.size())))->first;
  }
  void finish_or_remove() {
    const std::string* found = any(draw(2) == 0 ? "Workload" : "Job");
    if (!found) return;
    const std::string key = *found;
    const bool job = cluster_->find(kind("Job"), key) != nullptr;
    if (draw(2) == 0) return cluster_->remove(kind(job ? "Job" : "Workload"), key);
    if (job || !key.starts_with("ns/w")) return;
    if (!holds(*cluster_->find(kind("Workload"), key))) return;
    cluster_->change(kind("Workload"), key, [](json::object& workload) {
      array_of(object_of(workload, "status"), "conditions")
          .push_back(json::object{{"type", "Finished"},
                                  {"status", "True"},
                                  {"reason", "JobFinished"},
                                  {"message", "done"},
                                  {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
    });
  }
  /// An annotation, a stop, a start: of whatever is there.
  void write_between() {
    const char* of = draw(2) == 0 ? "Workload" : "Job";
    const std::string* key = any(of);
    if (!key) return;
    const std::size_t what = draw(3);
    cluster_->change(kind(of), *key, [&](json::object& object) {
      if (what == 0 || std::string_view(of) == "Job")
        object_of(object_of(object, "metadata"), "annotations")["x"] = std::to_string(++made_);
      else
        object_of(object, "spec")["active"] = what == 1;
    });
  }
  /// As the job controller of a cluster does: pods come and go with `suspend`.
  void run_jobs() {
    const api::KindInfo& jobs = kind("Job");
    std::vector<std::string> keys;
    for (const auto& [key, job] : cluster_->all(jobs)) keys.push_back(key);
    for (const std::string& key : keys) {
      const json::object job = *cluster_->find(jobs, key);
      const json::object& status = part(job, "status");
      const bool active = api::find_int(status, "active").value_or(0) > 0;
      const bool ended = has_condition(status, "Complete");
      if (ended || suspended(job) != active) {
        if (ended || !active || draw(3) > 0) continue;
        cluster_->change(jobs, key, [](json::object& it) {
          it["status"] = json::object{
              {"succeeded", 1},
              {"conditions", json::array{json::object{{"type", "Complete"}, {"status", "True"}}}}};
        });
        continue;
      }
      cluster_->change(jobs, key, [active](json::object& it) {
        json::object& now = object_of(it, "status");
        now["active"] = active ? 0 : 1;
        if (!active) now["startTime"] = "2026-01-01T00:00:00Z";
      });
    }
  }

  std::minstd_rand random_;
  VirtualClock clock_;
  Configuration config_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<PretendedCluster> cluster_;
  std::unique_ptr<Decided> decided_;
  std::vector<ClusterRequest> under_way_;
  std::set<std::string> admitted_;  // jobs, by uid: since they were suspended
  std::vector<std::string> wrong_, history_;
  int made_ = 0;
};

std::uint32_t worlds() {
  return static_cast<std::uint32_t>(trial::amount("SLUICE_CLUSTER_WORLDS", 40));
}

class ClusterDoorWorlds : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(ClusterDoorWorlds, NothingIsGivenTwiceAndAllComesToRest) {
  RandomWorld world(GetParam());
  world.play(300);
  world.quiet();
  world.compare();
  world.nobody_is_forgotten();
  EXPECT_EQ(world.wrong(), std::vector<std::string>()) << world.history();
}

INSTANTIATE_TEST_SUITE_P(Seeds, ClusterDoorWorlds, ::testing::Range(1U, 1U + worlds()));

}  // namespace
}  // namespace sluice::host
