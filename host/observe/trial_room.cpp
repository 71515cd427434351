#include "host/observe/trial_room.hpp"

#include <algorithm>
#include <utility>

#include "host/explain/insight.hpp"
#include "host/explain/obstacles.hpp"
#include "host/objects/object_key.hpp"
#include "host/observe/compare.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// The caller is on the trial's thread already.
class Here final : public KernelThread {
 public:
  explicit Here(ObjectAccess& objects) : objects_(objects) {}
  void post(std::function<void(ObjectAccess&)> task) override { task(objects_); }

 private:
  ObjectAccess& objects_;
};

}  // namespace

TrialRoom::TrialRoom(const TrialSource& source, const PluginClock& clock)
    : source_(source), clock_(clock), thread_([this] { answer(); }) {}

TrialRoom::~TrialRoom() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  came_.notify_all();
  thread_.join();
}

void TrialRoom::ask(Question question, Done otherwise) {
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back({std::move(question), std::move(otherwise)});
  }
  came_.notify_all();
}

Result<void> TrialRoom::renew() {
  const Duration began = clock_.steady();
  if (trial_ && (began < good_until_ || trial_->version() == source_.store.version())) return {};
  trial_.reset();
  auto made = Trial::make(source_, clock_.now());
  if (!made) return made.error();
  trial_ = std::move(*made);
  trial_->run();
  const Duration ended = clock_.steady();
  good_until_ = ended + std::max(kSecond, ended - began);
  return {};
}

void TrialRoom::answer() {
  for (;;) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [this] { return stopping_ || !asked_.empty(); });
    if (asked_.empty()) return;
    const Asked asked = std::move(asked_.front());
    asked_.pop_front();
    lock.unlock();
    if (const auto ready = renew(); !ready) {
      asked.otherwise(unavailable(ready.error().text, 1));
    } else {
      asked.question(*trial_);
    }
  }
}

void TrialRoom::pending_workloads(std::string ns, std::string queue, std::int64_t offset,
                                  std::int64_t limit, Done done) {
  auto question = [=](Trial& trial) {
    Here here(trial.machine().objects());
    LiveInsight(trial.engine(), here).pending_workloads(ns, queue, offset, limit, done);
  };
  ask(std::move(question), done);
}

void TrialRoom::explain(std::string ns, std::string workload, MayKnow may_know, Done done) {
  auto question = [this, ns, workload, may_know = std::move(may_know), done](Trial& trial) {
    Here here(trial.machine().objects());
    const auto with_cluster = [&](ApiResult<json::value> answer) {
      const api::KindInfo& kind = api::kueue_kind(source_.rules.scheme, "Workload");
      const RecordPtr record = source_.store.get(kind, join_key(ns, workload));
      if (answer && answer->is_object() && record)
        answer->get_object()["cluster"] = cluster_says(*record);
      done(std::move(answer));
    };
    LiveInsight(trial.engine(), here).explain(ns, workload, may_know, with_cluster);
  };
  ask(std::move(question), done);
}

}  // namespace sluice::host
