// The plugin that process_bench measures: a check that is Ready at once.
#include <sluice/plugin.hpp>

class Ready {
 public:
  explicit Ready(const sluice::Context& context) : context_(context) {}
  std::vector<std::string> check_controllers() const { return {"example.com/bench"}; }
  void begin_check(const sluice::CheckQuery& query) {
    context_.report(query.attempt(), sluice::CheckAnswer::ready("there is room"));
  }
  void cancel_check(const sluice::CheckCancel&) {}

 private:
  sluice::Context context_;
};

SLUICE_PLUGIN(Ready, "bench-ready", "1.0.0")
