// The plugin that hook_bench measures: hooks that do next to nothing, so that the way there counts.
// As a check controller it answers Ready for all that began when its timer fires; a check takes
// `beginMs` to begin.
#include <sluice/plugin.hpp>

#include <chrono>
#include <thread>
#include <vector>

class Idle {
 public:
  static constexpr std::string_view kConfigSchema = R"({
    "type": "object", "properties": {"beginMs": {"type": "integer", "minimum": 0, "default": 0}}})";

  explicit Idle(const sluice::Context& context)
      : context_(context), begin_(context.config().int_or("beginMs", 0)) {}

  std::vector<std::string> check_controllers() const { return {"example.com/bench"}; }
  void begin_check(const sluice::CheckQuery& query) {
    if (begin_.count() > 0) std::this_thread::sleep_for(begin_);
    if (begun_.empty()) context_.set_timer(1, context_.now() + 3'600'000'000'000);
    begun_.push_back(query.attempt());
  }
  void cancel_check(const sluice::CheckCancel&) {}
  void timer(std::uint64_t, std::int64_t) {
    for (const sluice::CheckAttempt& attempt : begun_)
      context_.report(attempt, sluice::CheckAnswer::ready("there is room"));
    begun_.clear();
  }

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

 private:
  sluice::Context context_;
  std::chrono::milliseconds begin_;
  std::vector<sluice::CheckAttempt> begun_;
};

SLUICE_PLUGIN(Idle, "bench-idle", "1.0.0")
