// The plugin that hook_bench measures: hooks that do next to nothing, so that the way there counts.
#include <sluice/plugin.hpp>

class Idle {
 public:
  sluice::Search after_flavor(const sluice::SearchStep& step) const {
    return step.current.mode == sluice::Mode::kFit ? sluice::Search::kStopHere
                                                   : sluice::Search::kGoOn;
  }
  bool better(std::uint32_t, sluice::Outcome a, sluice::Outcome b) const { return a.mode > b.mode; }
  bool keep_position(const sluice::PositionAge& age) const { return age.cycles <= 1; }
  void filter(const sluice::FilterQuery& query, sluice::FilterAnswer& answer) const {
    if (query.workload().priority() < 0) answer.skip(0, "never");
  }
  void veto(const sluice::VetoQuery& query, sluice::VetoAnswer& answer) const {
    if (query.preemptor().priority() < 0) answer.may_not_preempt("never");
  }
};

SLUICE_PLUGIN(Idle, "bench-idle", "1.0.0")
