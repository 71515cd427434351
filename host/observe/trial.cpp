#include "host/observe/trial.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace sluice::host {

void TrialNotes::decided(Time, const Decision& decision) {
  if (decision.type != DecisionType::kEvicted) return;
  evictions_[engine_.key(decision.workload)].push_back(
      {decision.reason, decision.message, decision.by});
}

Result<std::unique_ptr<Trial>> Trial::make(const TrialOptions& options, const LiveStore& mirror,
                                           const api::Scheme& scheme, Time now) {
  std::unique_ptr<Trial> trial(new Trial());
  trial->clock_.set(now);
  auto rules = Rules::load(options.config.plugins, options.plugins, trial->clock_);
  if (!rules) return rules.error();
  trial->rules_ = std::move(*rules);
  trial->copy(mirror, scheme);
  trial->machine_ = std::make_unique<Machine>(options.config, *trial->rules_,
                                              MachineEdges{.store = trial->store_,
                                                           .ids = trial->ids_,
                                                           .upkeep = Upkeep::kOnDemand,
                                                           .controllers = false});
  trial->notes_ = std::make_unique<TrialNotes>(trial->engine());
  trial->machine_->observe(*trial->notes_);
  trial->machine_->begin_instant(now);
  trial->machine_->load();
  return trial;
}

/// The texts are shared, not copied. All kinds are read at one version; should that be forgotten
/// meanwhile, all over again.
void Trial::copy(const LiveStore& mirror, const api::Scheme& scheme) {
  bool whole = false;
  while (!whole) {
    store_ = MemoryStore();
    version_ = mirror.version();
    whole = true;
    for (const api::KindInfo* kind : scheme.kinds()) {
      const auto listing = mirror.read(*kind, "", "", 0, version_);
      whole = whole && listing.ok();
      if (!whole) break;
      const api::KindInfo* own = rules_->scheme.find(kind->hub_api_version(), kind->kind);
      for (const RecordPtr& record : listing->objects) {
        SLUICE_CHECK(own != nullptr, "kind ", kind->kind, " is unknown to a trial");
        StoredObject copied = *record;
        copied.kind = own;
        store_.put(std::move(copied));
      }
    }
  }
}

void Trial::run() { machine_->run_to_rest(); }

}  // namespace sluice::host
