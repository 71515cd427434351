#include "host/whatif/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "core/engine/queue_views.hpp"
#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"
#include "host/whatif/play.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr int kPlays = 19;

/// What is known of the time of those that run now, in the trees of those that wait.
struct Basis {
  std::int64_t said = 0, past = 0, limit = 0, unknown = 0;

  bool open() const { return limit + unknown > 0; }
  json::object document() const {
    return {{"said", said}, {"past", past}, {"limit", limit}, {"unknown", unknown}};
  }
};

/// The roots of the queues; jobs of other trees are not in their way.
std::set<NodeId> roots_of(const Engine& engine, const std::vector<WorkloadId>& waiting) {
  std::set<NodeId> out;
  for (const WorkloadId id : waiting)
    if (const auto* queue =
            engine.model().find_queue(cluster_queue_of(engine.model(), *engine.object(id))))
      out.insert(engine.model().tree.root(queue->id));
  return out;
}

Basis basis_of(const Fork& fork, const RunTimes& times, const std::vector<WorkloadId>& waiting) {
  Basis out;
  const Engine& engine = fork.engine();
  const std::set<NodeId> roots = roots_of(engine, waiting);
  for (const WorkloadId id : engine.workloads()) {
    if (engine.state(id) != WorkloadState::kAdmitted || !takes_part(engine.model(), id)) continue;
    const QueueId queue = engine.model().workloads[id].holding->queue;
    if (!roots.contains(engine.model().tree.root(queue))) continue;
    const api::Condition* admitted = engine.object(id)->status.condition("Admitted");
    const Duration ran = admitted ? fork.now() - admitted->last_transition_time : 0;
    switch (times.source(engine, id, std::max<Duration>(0, ran))) {
      case RunTimeSource::kSaid:
        ++out.said;
        break;
      case RunTimeSource::kPast:
        ++out.past;
        break;
      case RunTimeSource::kLimit:
        ++out.limit;
        break;
      case RunTimeSource::kUnknown:
        ++out.unknown;
        break;
    }
  }
  return out;
}

/// What the plays showed of one workload.
struct Told {
  std::set<Time> starts;  ///< each that a play had
  bool never = false;     ///< in one of them it did not start …
  bool reserved = false;  ///< … though it had its quota: nobody plays who decides about its checks
  int plays = 0;          ///< that came far enough to tell

  void add(const Play::Seen& seen, std::size_t i) {
    const std::optional<Time>& start = seen.starts[i];
    if (start)
      starts.insert(*start);
    else if (!seen.cut)
      never = true;
    reserved = reserved || (!seen.cut && seen.reserved[i]);
    plays += start || !seen.cut ? 1 : 0;
  }
};

/// What the play showed of one workload in which all that has no known end ended at once.
struct Soonest {
  std::optional<Time> start;
  bool never = false;  ///< all that could stand in its way had ended, and it did not start

  static Soonest of(const Play::Seen& seen, std::size_t i) {
    return {seen.starts[i], !seen.cut && !seen.starts[i] && seen.freed[i]};
  }
};

std::string sentence(const Told& told, const Soonest& soonest, const Basis& basis) {
  if (told.plays == 0) return "it could not be worked out in time";
  if (told.reserved)
    return "when its admission checks are Ready: whoever decides about them says when";
  if (told.never && basis.unknown > 0 && !soonest.never)
    return fmt::format("unknown: {} running job{} no run time", basis.unknown,
                       basis.unknown == 1 ? " says" : "s say");
  if (told.never) return "it does not start, whatever ends: something else has to change";
  if (basis.limit > 0) return "at the latest when the jobs before it have reached their limits";
  return {};
}

/// How likely the true start lies between the least and the greatest of the plays: it is one more
/// like them, if past runs are like those to come. Of k plays that have nothing in common that is
/// (k - 1) / (k + 1); plays that draw from few past runs have much in common, and those that came
/// to the same start count as one.
int percent_of(std::size_t different) {
  const auto k = static_cast<int>(different);
  return 100 * (k - 1) / (k + 1);
}

/// Another one for each play of each question.
std::uint64_t seed_of(Time now, int play) {
  std::seed_seq sequence{static_cast<std::uint32_t>(now), static_cast<std::uint32_t>(now >> 32U),
                         static_cast<std::uint32_t>(play)};
  std::uint32_t out[2];
  sequence.generate(std::begin(out), std::end(out));
  return std::uint64_t{out[0]} << 32U | out[1];
}

json::object document(const Told& told, const Soonest& soonest, const Basis& basis, bool drawn) {
  json::object out{{"plays", told.plays}, {"runTimes", basis.document()}};
  std::optional<Time> earliest = soonest.start;
  if (!told.starts.empty()) earliest = std::min(earliest.value_or(kNever), *told.starts.begin());
  if (earliest) out["earliest"] = format_time(*earliest);
  if (!told.starts.empty() && !told.never) {
    out["latest"] = format_time(*told.starts.rbegin());
    out["percent"] = drawn ? percent_of(told.starts.size()) : 100;
  }
  if (const std::string because = sentence(told, soonest, basis); !because.empty())
    out["because"] = because;
  return out;
}

/// Plays, and what they showed so far.
class Estimate {
 public:
  Estimate(Put first, const PutAgain& put, const PastRunTimes& kept, Deadline deadline)
      : first_(std::move(first)), put_(put), kept_(kept), deadline_(deadline) {}

  std::vector<json::object> run() {
    for (int i = 0; i < kPlays; ++i)
      if (!play(Play::Mode::kPossible, i) || !drawn_) break;
    if (basis_.open()) play(Play::Mode::kSoonest, 0);
    std::vector<json::object> out;
    for (std::size_t i = 0; i < told_.size(); ++i)
      out.push_back(
          document(told_[i], i < soonest_.size() ? soonest_[i] : Soonest(), basis_, drawn_));
    return out;
  }

 private:
  bool play(Play::Mode mode, int number) {
    ApiResult<Put> put = first_.fork ? std::exchange(first_, {}) : put_();
    if (!put) return false;
    const RunTimes times(put->fork->engine(), put->fork->jobs(), kept_);
    const std::vector<WorkloadId> waiting = put->waiting();
    if (plays_ == 0) {
      told_.assign(waiting.size(), {});
      basis_ = basis_of(*put->fork, times, waiting);
    }
    Play on(*put->fork, times, mode, seed_of(put->fork->now(), number));
    Play::Seen seen = on.run(waiting, deadline_);
    put->fork.reset();  // it tells the play of what it decides
    if (waiting.size() != told_.size()) return false;
    if (mode == Play::Mode::kSoonest) {
      for (std::size_t i = 0; i < told_.size(); ++i) soonest_.push_back(Soonest::of(seen, i));
      return true;
    }
    // What was cut tells of early starts only: of many plays that would be a bad sample.
    if (seen.cut && plays_ > 0) return false;
    drawn_ = drawn_ || on.drawn();
    for (std::size_t i = 0; i < told_.size(); ++i) told_[i].add(seen, i);
    ++plays_;
    return !seen.cut;
  }

  Put first_;
  const PutAgain& put_;
  const PastRunTimes& kept_;
  const Deadline deadline_;
  std::vector<Told> told_;
  std::vector<Soonest> soonest_;
  Basis basis_;
  bool drawn_ = false;  // chance decided about some run time
  int plays_ = 0;
};

}  // namespace

std::vector<json::object> estimate_starts(Put first, const PutAgain& put, const PastRunTimes& kept,
                                          Deadline deadline) {
  return Estimate(std::move(first), put, kept, deadline).run();
}

}  // namespace sluice::host
