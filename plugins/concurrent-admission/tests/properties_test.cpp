// Whatever happens, in whatever order: what has to hold at every commit, and that all comes to an
// end. Random queues, policies, delays, preemptions, checks that answer anything or nothing,
// finishes, edits of the policy, deletions and restarts; jobs that would run with fewer pods.
//
// SLUICE_RACE_SEEDS=500 plays that many stories instead of 40, SLUICE_FIRST_SEED=N others.
#include <random>
#include <set>

#include "core/engine/queue_views.hpp"
#include "core/engine/workload_views.hpp"
#include "tests/support/amount.hpp"
#include "world.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

const std::vector<std::string> kFlavors = {"a", "b", "c", "d"};

class Story {
 public:
  explicit Story(unsigned seed) : random_(seed) {
    world_.flavors(kFlavors);
    world_.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{
      "name":"c"},"spec":{"controllerName":"example.com/c"}})");
    world_.patch("AdmissionCheck", "c", R"({"status":{"conditions":[{"type":"Active",
      "status":"True","reason":"Active","message":"",
      "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                 true);
    checked_ = draw(2) == 0;
    const std::string rule = draw(2) == 0 ? R"({"name":"c"})" : R"({"name":"c","onFlavors":["a"]})";
    const std::string checks =
        checked_ ? R"(,"admissionChecksStrategy":{"admissionChecks":[)" + rule + "]}" : "";
    const auto quota = quotas();
    world_.queue(
        "q", quota,
        some_policy() + checks + R"(,"preemption":{"withinClusterQueue":"LowerPriority"})");
    world_.rest();
    world_.committed = [this] { check(); };
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      world_.rest();
    }
    settle();
  }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }

  std::vector<std::pair<std::string, int>> quotas() {
    std::vector<std::pair<std::string, int>> out;
    for (const std::string& flavor : kFlavors)
      if (out.empty() || draw(4) != 0) out.emplace_back(flavor, 2 + static_cast<int>(draw(4)));
    last_ = out;
    return out;
  }

  std::string some_policy() {
    const char* kinds[] = {"RemoveOther", "RemoveLower", "RemoveBelowTarget"};
    const std::string kind = kinds[draw(3)];
    std::string out = R"("concurrentAdmission":{"onSuccess":")" + kind + "\"";
    if (kind == "RemoveBelowTarget")
      out += R"(,"removeBelowTargetConfig":{"targetResourceFlavor":")" +
             last_[draw(static_cast<unsigned>(last_.size()))].first + "\"}";
    if (draw(2) == 0) {
      std::string list;
      for (std::size_t i = 0; i < last_.size(); ++i) {
        list += (list.empty() ? "" : ",") + std::string(R"({"name":"o)") + std::to_string(i) +
                R"(","allowedResourceFlavors":[")" + last_[i].first + "\"";
        if (draw(3) == 0) list += ",\"" + last_.back().first + "\"";
        list += "]";
        if (draw(3) == 0) list += R"(,"createDelaySeconds":)" + std::to_string(draw(200));
        if (draw(3) == 0) list += R"(,"deleteDelaySeconds":)" + std::to_string(draw(400));
        list += "}";
      }
      // The same flavor twice in one list is refused.
      std::string unique;
      for (std::size_t at = 0; at < list.size(); ++at) unique += list[at];
      const std::string twice = "\"" + last_.back().first + "\",\"" + last_.back().first + "\"";
      if (const std::size_t at = unique.find(twice); at != std::string::npos)
        unique.replace(at, twice.size(), "\"" + last_.back().first + "\"");
      out += R"(,"explicitOptions":[)" + unique + "]";
    }
    return out + "}";
  }

  std::vector<std::string> names(bool options) {
    std::vector<std::string> out;
    for (const WorkloadId id : world_.engine().workloads()) {
      const std::string name = world_.engine().key(id).substr(3);
      if ((name.find("-option-") != std::string::npos) == options) out.push_back(name);
    }
    return out;
  }
  std::string any(bool option) {
    const auto all = names(option);
    return all.empty() ? std::string() : all[draw(static_cast<unsigned>(all.size()))];
  }

  void step() {
    const std::string parent = any(false);
    const std::string option = any(true);
    switch (draw(14)) {
      case 0:
        partial("w" + std::to_string(next_++));
        return;
      case 1:
      case 2:
        wide("w" + std::to_string(next_++));
        return;
      case 3:
      case 4:
      case 5:
        if (!option.empty()) {
          const char* states[] = {"Ready", "Ready", "Ready", "Retry", "Rejected"};
          const char* state = states[draw(5)];
          world_.answer(option, "c", state, static_cast<int>(draw(2)) * 30);
        }
        return;
      case 6:
        if (!parent.empty() && world_.state(parent) == "admitted") world_.finish(parent);
        return;
      case 7:
        if (!parent.empty()) world_.remove("Workload", "ns/" + parent);
        return;
      case 8:
        world_.pass(static_cast<Duration>(draw(300)) * kSecond);
        return;
      case 9:
        world_.patch("ClusterQueue", "q",
                     draw(4) == 0 ? R"({"spec":{"concurrentAdmission":null}})"
                                  : R"({"spec":{"concurrentAdmission":null,"resourceGroups":[]}})");
        if (draw(2) == 0) world_.rest();
        new_policy();
        return;
      case 10:
        world_.start();
        return;
      case 11:
        if (!parent.empty())
          world_.patch(
              "Workload", "ns/" + parent,
              draw(2) == 0 ? R"({"spec":{"active":false}})" : R"({"spec":{"active":true}})");
        return;
      case 12:
        world_.patch("ClusterQueue", "q",
                     draw(2) == 0 ? R"({"spec":{"stopPolicy":"HoldAndDrain"}})"
                                  : R"({"spec":{"stopPolicy":"None"}})");
        return;
      default:
        if (!option.empty() && draw(3) == 0) world_.remove("Workload", "ns/" + option);
        return;
    }
  }

  // What a call or a sum takes is drawn before it, in a statement of its own: a seed then tells the
  // same story with every compiler.

  void wide(const std::string& name) {
    const int pods = 1 + static_cast<int>(draw(4));
    world_.workload(name, "q", pods, static_cast<int>(draw(3)) * 10);
  }

  /// Up to four pods of one CPU each; fewer would do.
  void partial(const std::string& name) {
    const unsigned count = 2 + draw(3);
    const unsigned priority = draw(3) * 10;
    const unsigned least = 1 + draw(count);
    world_.apply(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":"ns",
      "name":")" +
        name + R"("},"spec":{"queueName":"q","priority":)" + std::to_string(priority) +
        R"(,"podSets":[{"name":"main","count":)" + std::to_string(count) + R"(,"minCount":)" +
        std::to_string(least) + R"(,"template":{"spec":{"restartPolicy":"Never",
      "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  }

  void new_policy() {
    const auto quota = quotas();
    const std::string text = some_policy();
    world_.patch("ClusterQueue", "q", R"({"spec":)" + RaceWorld::spec(quota, text) + "}");
  }

  /// What holds at every commit.
  void check() {
    world_.engine().verify();
    std::map<std::string, std::vector<std::string>> admitted;
    std::map<std::string, std::int64_t> most;  // CPUs of a parent on one flavor, "parent flavor"
    for (const std::string& name : names(true)) {
      const std::string parent = name.substr(0, name.find("-option-"));
      const WorkloadId id = *world_.engine().find("ns/" + name);
      if (world_.state(name) == "admitted") admitted[parent].push_back(name);
      for (const auto& pods : assignment_of(world_.engine().model(), id))
        for (const auto& [resource, flavor] : pods.flavors) {
          if (world_.state(name) == "finished") continue;
          std::int64_t amount = 0;
          for (const auto& [each, used] : pods.usage) amount += used;
          std::int64_t& held = most[parent + " " + flavor];
          held = std::max(held, amount);
        }
    }
    for (const auto& [parent, options] : admitted) {
      EXPECT_EQ(options.size(), 1U) << parent << " runs as " << options[0] << " and " << options[1];
      if (!world_.exists(parent)) continue;
      if (world_.state(parent) == "finished") continue;
      EXPECT_EQ(world_.state(parent), "admitted") << parent;
    }
    // No flavor holds a parent twice: usage is at most the sum of the parents' own.
    std::map<std::string, std::int64_t> sums;
    for (const auto& [at, amount] : most) sums[at.substr(at.find(' ') + 1)] += amount;
    for (const std::string& name : names(false)) {
      const WorkloadId id = *world_.engine().find("ns/" + name);
      if (!takes_part(world_.engine().model(), id)) continue;
      if (world_.state(name) == "finished") continue;
      for (const auto& pods : assignment_of(world_.engine().model(), id))
        for (const auto& [resource, flavor] : pods.flavors)
          for (const auto& [each, used] : pods.usage) sums[flavor] += used;
    }
    const auto view = queue_view(world_.engine().model(), "q");
    for (const FlavorUse& use : view->use) EXPECT_EQ(use.reserved, sums[use.flavor]) << use.flavor;
    check_moves();
  }

  struct Place {
    std::string option, flavor;
    int pods = 0;
  };

  /// No option ends for another one that is not placed better: on an earlier flavor of the queue,
  /// with no fewer pods.
  void check_moves() {
    std::map<std::string, Place> now;
    for (const std::string& name : names(true)) {
      if (world_.state(name) != "admitted") continue;
      const auto assigned =
          assignment_of(world_.engine().model(), *world_.engine().find("ns/" + name));
      const auto& [resource, flavor] = *assigned.at(0).flavors.begin();
      now[name.substr(0, name.find("-option-"))] = {name, flavor, assigned.at(0).count};
    }
    for (const std::string& line : world_.take_log()) {
      if (!line.ends_with(" FlavorMigration")) continue;
      const std::string loser = line.substr(8, line.find(' ', 8) - 8);
      const std::string parent = loser.substr(0, loser.find("-option-"));
      const Place& before = places_[parent];
      const Place& after = now[parent];
      EXPECT_EQ(before.option, loser);
      if (after.option.empty()) continue;  // which ended in the same commit
      EXPECT_LT(order_of(after.flavor), order_of(before.flavor))
          << loser << " on " << before.flavor << " ended for " << after.option << " on "
          << after.flavor;
      EXPECT_GE(after.pods, before.pods) << loser << " ended for " << after.option;
    }
    places_ = std::move(now);
  }
  std::size_t order_of(const std::string& flavor) const {
    for (std::size_t i = 0; i < last_.size(); ++i)
      if (last_[i].first == flavor) return i;
    return last_.size();
  }

  /// What is missing changes all the time, and is told anew when something else changes.
  static std::string without_amounts(std::string text) {
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
    return text;
  }

  /// What an option that does not run says: something, and nothing that is over.
  void check_reason(const std::string& parent, const std::string& option, const std::string& state,
                    const std::string& message) {
    if (state == "finished") return;
    EXPECT_NE(message, "") << option;
    const std::string own = world_.condition(option, "QuotaReserved", "message");
    if (state == "pending") {
      EXPECT_EQ(without_amounts(message), without_amounts(own)) << option;
      for (const std::string& flavor : kFlavors) {
        if (message.find("in flavor " + flavor + ",") == std::string::npos) continue;
        EXPECT_NE(world_.at(option, "/spec/admissionConstraints").find('"' + flavor + '"'),
                  std::string::npos)
            << option << ": " << message;
      }
    }
    const std::size_t quoted = message.find('"' + parent + "-option-");
    if (state != "inactive" || quoted == std::string::npos) return;
    const std::string other =
        message.substr(quoted + 1, message.find('"', quoted + 1) - quoted - 1);
    EXPECT_EQ(world_.state(other), "admitted") << option << ": " << message;
    EXPECT_EQ(message, own) << option;
  }

  /// At rest what is stored of a workload is what the engine says of it.
  void check_stored(const std::string& name) {
    const StoredObject* stored = world_.store->find(world_.kind("Workload"), "ns/" + name);
    ASSERT_NE(stored, nullptr) << name;
    const json::object now = world_.get(name);
    EXPECT_EQ(without_amounts(stored->status),
              without_amounts(now.contains("status") ? json::serialize(now.at("status")) : ""))
        << name;
  }

  /// At rest the parents say what their options are; and nothing outlives its parent.
  void check_at_rest() {
    for (const bool options : {false, true})
      for (const std::string& name : names(options)) check_stored(name);
    for (const std::string& name : names(true))
      EXPECT_TRUE(world_.exists(name.substr(0, name.find("-option-")))) << name;
    for (const std::string& name : names(false)) {
      const json::value object(world_.get(name));
      boost::system::error_code code;
      const json::value* list = object.find_pointer("/status/options", code);
      if (list == nullptr) continue;
      std::set<std::string> told;
      for (const json::value& each : list->as_array()) {
        const std::string option(api::find_text(each.as_object(), "name"));
        const std::string said(api::find_text(each.as_object(), "state"));
        told.insert(option);
        ASSERT_TRUE(world_.exists(option)) << option;
        const std::string state = world_.state(option);
        const std::string expected = state == "admitted"   ? "Admitted"
                                     : state == "finished" ? "Finished"
                                     : state == "inactive" ? "Deactivated"
                                                           : "Pending";
        EXPECT_EQ(said, expected) << option;
        check_reason(name, option, state, std::string(api::find_text(each.as_object(), "message")));
      }
      for (const std::string& option : names(true)) {
        if (!option.starts_with(name + "-option-")) continue;
        EXPECT_TRUE(told.contains(option)) << option;
      }
    }
  }

  /// Every workload runs and ends once checks answer and capacity is there.
  void settle() {
    check_at_rest();
    world_.patch("ClusterQueue", "q", R"({"spec":{"stopPolicy":"None"}})");
    for (const std::string& name : names(false))
      world_.patch("Workload", "ns/" + name, R"({"spec":{"active":true}})");
    world_.rest();
    for (int round = 0; round < 60; ++round) {
      bool open = false;
      for (const std::string& name : names(true))
        if (world_.state(name) == "reserved") world_.answer(name, "c", "Ready");
      for (const std::string& name : names(false)) {
        if (world_.state(name) == "admitted") {
          world_.finish(name);
        } else if (world_.state(name) == "reserved") {
          world_.answer(name, "c", "Ready");
        }
        open |= world_.state(name) != "finished";
      }
      world_.rest();
      if (!open) break;
      world_.pass(100 * kSecond);
    }
    check_at_rest();
    for (const std::string& name : names(false)) {
      if (world_.state(name) == "finished") continue;
      // Only a workload that asks for more than any flavor has may be left.
      EXPECT_NE(world_.condition(name, "QuotaReserved", "status"), "True")
          << name << " " << world_.state(name) << " " << json::serialize(world_.get(name));
      int largest = 0;
      for (const auto& [flavor, cpus] : last_) largest = std::max(largest, cpus);
      const std::string each =
          world_.at(name, "/spec/podSets/0/template/spec/containers/0/resources/requests/cpu");
      const std::string least = world_.at(name, "/spec/podSets/0/minCount");
      const bool partly =
          !least.empty() && least.find_first_not_of("0123456789") == std::string::npos;
      const std::string pods = partly ? least : world_.at(name, "/spec/podSets/0/count");
      EXPECT_GT(std::stoi(each) * std::stoi(pods), smallest())
          << name << " " << world_.options(name) << " " << json::serialize(world_.get(name));
    }
    EXPECT_EQ(queue_view(world_.engine().model(), "q")->counts.reserving, 0U);
  }
  int smallest() const {
    int out = 100;
    for (const auto& [flavor, cpus] : last_) out = std::min(out, cpus);
    return out;
  }

  RaceWorld world_;
  std::mt19937 random_;
  bool checked_ = false;
  int next_ = 0;
  std::map<std::string, Place> places_;            // of admitted options, by parent
  std::vector<std::pair<std::string, int>> last_;  // quotas
};

class Random : public ::testing::TestWithParam<unsigned> {};

TEST_P(Random, AllInvariantsHoldAndAllComesToAnEnd) {
  const auto all = static_cast<unsigned>(trial::amount("SLUICE_RACE_SEEDS", 40));
  const auto from = static_cast<unsigned>(trial::asked_for("SLUICE_FIRST_SEED").value_or(0));
  for (unsigned i = 0; 8 * i + GetParam() < all; ++i) {
    const unsigned seed = from + GetParam() * 1000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Story story(seed);
    story.run(40);
    if (HasFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(, Random, ::testing::Range(0U, 8U));

}  // namespace
}  // namespace sluice::host
