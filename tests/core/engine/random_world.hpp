// Random configurations and event sequences for the property tests of the engine.
//
// A plan is drawn first and then played, so that the same plan can be played twice: with other
// numbers of threads, or with a restart in the middle.
#pragma once

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/core/support/scenario.hpp"

namespace sluice::testing {

struct Event {
  enum class Kind {
    kSubmit,
    kFinish,
    kRemove,
    kQueue,
    kCohort,
    kPriority,
    kActive,
    kAnswer,
    kCheck
  } kind = Kind::kSubmit;
  std::string name;
  std::string check, state, reason;  // with kAnswer; kCheck: state is its activity
  std::int32_t priority = 0;
  bool active = true;
  std::vector<Job> job;      // one, with kSubmit
  std::vector<Queue> queue;  // one, with kQueue
  std::vector<CohortOf> cohort;
};

struct Plan {
  EngineConfig config;
  std::vector<CohortOf> cohorts;
  std::vector<Queue> queues;
  std::vector<std::string> flavors;
  std::vector<std::vector<Event>> instants;
};

class Planner {
 public:
  explicit Planner(std::uint64_t seed) : random_(seed) {}

  /// From now on there are queues that count pods, queues that stop, and workloads that are
  /// switched off and on, too.
  Planner& varied() {
    varied_ = true;
    return *this;
  }

  /// The same world with admission checks on its queues, and answers of them. Its quotas stay.
  Plan draw_with_checks(int cohorts, int queues, int instants) {
    Plan plan = draw(cohorts, queues, instants);
    for (Queue& queue : plan.queues)
      for (int c = 0; c < 3; ++c)
        if (chance(2)) {
          std::vector<std::string> on;
          if (chance(3)) on = {"f" + std::to_string(pick(0, flavors_ - 1))};
          queue.checked_by("k" + std::to_string(c), on);
        }
    static const std::vector<std::string> kStates = {"Ready", "Ready",   "Ready",
                                                     "Retry", "Pending", "Rejected"};
    for (std::vector<Event>& events : plan.instants) {
      std::erase_if(events, [](const Event& e) {
        return e.kind == Event::Kind::kQueue || e.kind == Event::Kind::kCohort;
      });
      for (int n = pick(0, 8); n-- > 0;) {
        Event& e = events.emplace_back();
        e.kind = chance(20) ? Event::Kind::kCheck : Event::Kind::kAnswer;
        e.name = "w" + std::to_string(pick(0, std::max(0, names_ - 1)));
        e.check = "k" + std::to_string(pick(0, 2));
        e.state = kStates[static_cast<std::size_t>(pick(0, 5))];
        if (e.state == "Pending" && chance(2)) e.reason = "PreemptionRequired";
      }
    }
    return plan;
  }

  /// Much waits for little, in queues that let others go first: hardly any configuration changes,
  /// few rights to preempt, requests that often do not fit.
  Plan draw_full(int cohorts, int queues, int instants) {
    full_ = true;
    Plan plan = draw(cohorts, queues, instants);
    for (std::vector<Event>& events : plan.instants)
      std::erase_if(events, [this](const Event& e) {
        const bool changes = e.kind == Event::Kind::kQueue || e.kind == Event::Kind::kCohort;
        return changes && !chance(30);
      });
    return plan;
  }

  Plan draw(int cohorts, int queues, int instants) {
    Plan plan;
    plan.config = Scenario::single_thread();
    plan.config.fair_sharing = chance(3);
    flavors_ = pick(1, 3);
    for (int f = 0; f < flavors_; ++f) plan.flavors.push_back("f" + std::to_string(f));
    for (int c = 0; c < cohorts; ++c) {
      const int parent = pick(-1, c - 1);
      CohortOf cohort("c" + std::to_string(c), parent < 0 ? "" : "c" + std::to_string(parent));
      if (chance(2)) cohort.quota("cpu", amounts(0, 4));
      if (parent >= 0 && chance(4)) cohort.borrowing_limit(pick(0, 4));
      if (parent >= 0 && chance(4)) cohort.lending_limit(pick(0, 4));
      if (chance(3)) cohort.weight(pick(0, 3));
      plan.cohorts.push_back(cohort);
    }
    for (int q = 0; q < queues; ++q) plan.queues.push_back(queue(q, cohorts));
    for (int i = 0; i < instants; ++i) {
      std::vector<Event>& events = plan.instants.emplace_back();
      for (int n = pick(1, 5); n-- > 0;) events.push_back(event(queues, cohorts));
    }
    return plan;
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int one_in) { return pick(1, one_in) == 1; }

  FlavorAmounts amounts(int low, int high) {
    FlavorAmounts out;
    for (int f = 0; f < flavors_; ++f) out.emplace_back("f" + std::to_string(f), pick(low, high));
    return out;
  }

  Queue queue(int number, int cohorts) {
    Queue q("q" + std::to_string(number));
    q.quota("cpu", amounts(0, 6));
    if (chance(4)) {
      std::vector<std::int64_t> units;
      for (int f = 0; f < flavors_; ++f) units.push_back(pick(0, 8));
      q.with("gpu", units);
    }
    if (varied_ && chance(3)) {
      std::vector<std::int64_t> counts;
      for (int f = 0; f < flavors_; ++f) counts.push_back(pick(1, 8));
      q.with("pods", counts);
    }
    const int cohort = pick(-1, cohorts - 1);
    if (cohort >= 0) {
      q.cohort("c" + std::to_string(cohort));
      if (chance(4)) q.borrowing_limit(pick(0, 4));
      if (chance(4)) q.lending_limit(0);
    }
    if (chance(full_ ? 40 : 3)) q.strict();
    if (full_ && !chance(3)) {
      if (chance(3)) q.lower_priority();
      if (chance(4)) q.reclaim_any();
      return q;
    }
    q.within(static_cast<api::WithinClusterQueue>(pick(0, 2)));
    q.reclaim(static_cast<api::ReclaimWithinCohort>(pick(0, 2)));
    if (q.object.preemption.reclaim_within_cohort != api::ReclaimWithinCohort::kNever &&
        chance(3)) {
      q.borrow_within_cohort();
      if (chance(2)) q.threshold(pick(0, 2));
    }
    if (chance(3)) q.weight(pick(0, 3));
    return q;
  }

  Event event(int queues, int cohorts) {
    Event e;
    const int what = pick(0, 19);
    const std::string some = names_ == 0 ? "w0" : "w" + std::to_string(pick(0, names_ - 1));
    e.name = some;
    if (what < (full_ ? 8 : 11)) {
      Job job("w" + std::to_string(names_++), "q" + std::to_string(pick(0, queues - 1)));
      job.cpu(full_ ? pick(1, 8) : pick(0, 4)).count(pick(1, 3)).priority(pick(0, 3));
      if (chance(4)) job.request("gpu", pick(1, 2));
      if (chance(full_ ? 40 : 4)) job.min_count(1);
      if (chance(full_ ? 20 : 6)) job.pods("second").cpu(pick(1, 3));
      e.job.push_back(job);
      return e;
    }
    if (varied_ && chance(10)) {
      e.kind = Event::Kind::kActive;
      e.active = chance(2);
    } else if (what < (full_ ? 15 : 14)) {
      e.kind = Event::Kind::kFinish;
    } else if (what < 16) {
      e.kind = Event::Kind::kRemove;
    } else if (what < 17) {
      e.kind = Event::Kind::kPriority;
      e.priority = pick(0, 3);
    } else if (what < 19 || cohorts == 0) {
      e.kind = Event::Kind::kQueue;
      e.queue.push_back(queue(pick(0, queues - 1), cohorts));
      if (varied_ && chance(3)) e.queue.back().stop(static_cast<api::StopPolicy>(pick(1, 2)));
    } else {
      e.kind = Event::Kind::kCohort;
      const int c = pick(0, cohorts - 1);
      const int parent = chance(3) ? pick(0, cohorts - 1) : pick(-1, c - 1);  // may form a cycle
      CohortOf cohort("c" + std::to_string(c), parent < 0 ? "" : "c" + std::to_string(parent));
      cohort.quota("cpu", amounts(0, 4));
      e.cohort.push_back(cohort);
    }
    return e;
  }

  bool full_ = false;
  bool varied_ = false;
  std::mt19937_64 random_;
  int names_ = 0;
  int flavors_ = 1;
};

/// Plays a plan on an engine.
class Player {
 public:
  explicit Player(const Plan& plan, int threads = 1, const hooks::HostHooks& hooks = {})
      : plan_(plan), scenario_(std::make_unique<Scenario>(config(plan, threads), hooks)) {
    configure(*scenario_);
  }

  Scenario& scenario() { return *scenario_; }

  /// From now on play() answers with what is told to those that wait, too.
  void tell() { told_ = true; }

  /// All events of one instant, then cycles to rest.
  Log play(std::size_t instant) {
    scenario_->after(1);
    for (const Event& event : plan_.instants[instant]) apply(event);
    return told_ ? scenario_->run_told() : scenario_->run();
  }

  /// A fresh engine that knows only what a dump of this one says.
  void restart() {
    auto fresh = std::make_unique<Scenario>(config(plan_, 1));
    fresh->after((scenario_->now() - fresh->now()) / kSecond);
    configure(*fresh);
    for (const auto& [name, queue] : queues_) fresh->queue(queue);
    for (const auto& [name, cohort] : cohorts_) fresh->cohort(cohort);
    for (const WorkloadId id : scenario_->engine.workloads()) {
      auto object = std::make_shared<api::Workload>(*scenario_->engine.object(id));
      object->status = scenario_->engine.status(id);
      fresh->apply(std::move(object));
    }
    scenario_ = std::move(fresh);
  }

  /// Whatever is left is deleted.
  void remove_all() {
    for (const WorkloadId id : scenario_->engine.workloads())
      scenario_->engine.remove(api::ObjectKind::kWorkload, std::string(scenario_->engine.key(id)));
  }

 private:
  static EngineConfig config(const Plan& plan, int threads) {
    EngineConfig out = plan.config;
    out.threads = threads;
    return out;
  }
  void configure(Scenario& s) const {
    for (const char* late : {"k0", "k1"}) s.check(late, true);
    for (const std::string& flavor : plan_.flavors) s.flavor(flavor);
    for (const CohortOf& cohort : plan_.cohorts) s.cohort(cohort);
    for (const Queue& queue : plan_.queues) s.queue(queue);
  }

  /// The workload comes in anew as `edit` leaves it; nothing where there is none.
  template <typename Edit>
  void change(std::optional<WorkloadId> id, const Edit& edit) {
    if (!id) return;
    auto object = std::make_shared<api::Workload>(*scenario_->engine.object(*id));
    edit(*object);
    scenario_->apply(std::move(object));
  }

  void apply(const Event& event) {
    Engine& engine = scenario_->engine;
    const auto id = engine.find("ns/" + event.name);
    switch (event.kind) {
      case Event::Kind::kSubmit:
        scenario_->apply(event.job.front().build(scenario_->now() + ++created_));
        break;
      case Event::Kind::kFinish:
        if (id && engine.state(*id) == WorkloadState::kAdmitted) scenario_->finish(event.name);
        break;
      case Event::Kind::kRemove:
        scenario_->remove(event.name);
        break;
      case Event::Kind::kAnswer:
        if (id && scenario_->checks(event.name).find(event.check) != std::string::npos)
          scenario_->answer(event.name, event.check, event.state, event.reason);
        break;
      case Event::Kind::kCheck:
        scenario_->check(event.check, event.check != "k2", event.state == "Ready");
        break;
      case Event::Kind::kPriority:
        change(id, [&event](api::Workload& workload) { workload.priority = event.priority; });
        break;
      case Event::Kind::kActive:
        change(id, [&event](api::Workload& workload) { workload.active = event.active; });
        break;
      case Event::Kind::kQueue: {
        const Queue& queue = event.queue.front();
        queues_.insert_or_assign(queue.object.meta.name, queue);
        scenario_->queue(queue);
        break;
      }
      case Event::Kind::kCohort: {
        const CohortOf& cohort = event.cohort.front();
        cohorts_.insert_or_assign(cohort.object.meta.name, cohort);
        scenario_->cohort(cohort);
        break;
      }
    }
  }

  const Plan& plan_;
  std::unique_ptr<Scenario> scenario_;
  std::map<std::string, Queue> queues_;  // changed since the start
  std::map<std::string, CohortOf> cohorts_;
  Time created_ = 0;
  bool told_ = false;
};

}  // namespace sluice::testing
