#include "host/whatif/fork.hpp"

#include <utility>

namespace sluice::host {
namespace {

constexpr int kLoadingThreads = 2;          // beside a host, so not all that there are
constexpr std::size_t kStepsAtATime = 256;  // between two looks at the deadline

}  // namespace

Result<std::unique_ptr<Fork>> Fork::make(const ForkSource& source, const ForkMoment& moment,
                                         Deadline deadline) {
  std::unique_ptr<Fork> fork(new Fork(source.config));
  // The host's own cycles come first; the decisions are the same for any number of threads.
  fork->config_.engine.threads = 1;
  fork->clock_.set(moment.now);
  // Whoever comes to the fork comes after all who are there, within the same millisecond, too.
  if (!moment.uid.empty()) fork->ids_.go_past(moment.uid);
  auto store = ForkStore::make(source.rules.scheme, source.store, moment.version);
  if (!store) return store.error();
  fork->store_ = std::move(*store);
  auto rules = Rules::beside(
      source.rules, fork->clock_, [](int, std::string_view, std::string_view) {},
      moment.quarantined);
  if (!rules) return rules.error();
  fork->rules_ = std::move(*rules);
  fork->jobs_ = std::make_unique<SimulatedJobs>(fork->rules_->scheme);
  fork->machine_ = std::make_unique<Machine>(fork->config_, *fork->rules_,
                                             MachineEdges{.store = *fork->store_,
                                                          .ids = fork->ids_,
                                                          .pods = fork->jobs_->pods(),
                                                          .upkeep = Upkeep::kOnDemand,
                                                          .asks_checks = false,
                                                          .resumes = true,
                                                          .makes_pods = source.makes_pods});
  fork->jobs_->join(*fork->machine_, false);
  if (source.guard) fork->machine_->set_guard(source.guard);
  fork->machine_->begin_instant(moment.now);
  fork->machine_->load(nullptr, kLoadingThreads);
  fork->machine_->kernel().recall(moment.memory);
  if (auto rested = fork->run_to_rest(deadline); !rested) return rested.error();
  fork->begin_instant(moment.now);  // what is asked comes in a turn of its own
  return fork;
}

Fork::~Fork() = default;

void Fork::begin_instant(Time at) {
  clock_.set(at);
  machine_->begin_instant(at);
}

Result<void> Fork::run_to_rest(Deadline deadline) {
  do {
    if (std::chrono::steady_clock::now() >= deadline)
      return Error{"it takes longer to work out than the request may take"};
  } while (!machine_->run(kStepsAtATime));
  return {};
}

}  // namespace sluice::host
