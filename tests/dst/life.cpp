#include "tests/dst/life.hpp"

#include <boost/json/parse.hpp>
#include <utility>

namespace sluice::host::test {

std::unique_ptr<Rules> rules_of(const Configuration& config, const PluginClock& clock) {
  if (!config.plugins.load) return Rules::without_plugins(clock);
  auto rules = Rules::load(config.plugins, std::nullopt, clock);
  SLUICE_CHECK(rules.ok(), rules.ok() ? "" : rules.error().text);
  return std::move(*rules);
}

Life::Life(const Configuration& config, std::unique_ptr<Rules> rules,
           const std::shared_ptr<MemoryDisk>& disk, IdSource& ids, VirtualClock& clock,
           DecisionObserver* observer)
    : clock_(clock),
      rules_(std::move(rules)),
      store_(rules_->scheme, std::make_unique<MemoryJournal>(disk)),
      machine_(config, *rules_,
               {.store = store_,
                .ids = ids,
                .pods =
                    [&](ControllerLoop& loop, const GatesOfNewPods& gates) {
                      executor_ =
                          std::make_unique<ExecutorSetup>(config.executor, rules_->scheme, gates);
                      executor_->add_controllers(loop);
                    },
                .makes_pods = true,
                .jobs_end_later = true}) {
  if (observer) machine_.observe(*observer);
  machine_.begin_instant(clock_.now());
  machine_.load();
  const auto nodes = executor_->make_nodes(machine_.objects());
  SLUICE_CHECK(nodes.ok(), nodes.ok() ? "" : nodes.error().text);
}

ApiResult<WriteOutcome> Life::write(WriteVerb verb, std::string_view path, std::string_view body) {
  std::string words[4];
  std::size_t count = 0;
  for (std::string* word = words; !path.empty() && count < 4; ++word, ++count) {
    const std::size_t end = std::min(path.find('/'), path.size());
    *word = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  WriteRequest request;
  request.verb = verb;
  request.kind = scheme().find_by_name(words[0]);
  SLUICE_CHECK(request.kind != nullptr, "no kind ", words[0]);
  request.version = request.kind->versions.front().name;
  request.ns = words[1];
  request.name = words[2];
  request.subresource = words[3];
  request.deletion.propagation = Propagation::kBackground;
  if (!body.empty()) request.body = boost::json::parse({body.data(), body.size()});
  return machine_.write(std::move(request));
}

std::string Life::turn(Time now, std::size_t steps) {
  clock_.set(now);
  machine_.begin_instant(now);
  machine_.run(steps);
  return commit(store_);
}

}  // namespace sluice::host::test
