#include "host/observe/trial.hpp"

#include <utility>

namespace sluice::host {

void TrialNotes::decided(Time, const Decision& decision) {
  if (decision.type != DecisionType::kEvicted) return;
  evictions_[engine_.key(decision.workload)].push_back(
      {decision.reason, decision.message, decision.by});
}

namespace {

constexpr int kTries = 20;

/// The objects of one version. One that is forgotten while it is read is read anew, as of then.
Result<std::unique_ptr<ForkStore>> objects_of(const TrialSource& source) {
  for (int n = 1;; ++n) {
    auto store = ForkStore::make(source.rules.scheme, source.store, source.store.version());
    if (store || n == kTries) return store;
  }
}

}  // namespace

Result<std::unique_ptr<Trial>> Trial::make(const TrialSource& source, Time now) {
  std::unique_ptr<Trial> trial(new Trial());
  trial->clock_.set(now);
  auto rules = Rules::beside(source.rules, trial->clock_,
                             [](int, std::string_view, std::string_view) {}, {});
  if (!rules) return rules.error();
  trial->rules_ = std::move(*rules);
  auto store = objects_of(source);
  if (!store) return store.error();
  trial->store_ = std::move(*store);
  trial->machine_ = std::make_unique<Machine>(source.config, *trial->rules_,
                                              MachineEdges{.store = *trial->store_,
                                                           .ids = trial->ids_,
                                                           .upkeep = Upkeep::kOnDemand,
                                                           .controllers = false});
  trial->notes_ = std::make_unique<TrialNotes>(trial->engine());
  trial->machine_->observe(*trial->notes_);
  trial->machine_->begin_instant(now);
  trial->machine_->load();
  return trial;
}

void Trial::run() { machine_->run_to_rest(); }

}  // namespace sluice::host
