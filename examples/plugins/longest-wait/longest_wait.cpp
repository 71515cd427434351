// longest-wait: whoever waits longest is next; each step of priority is worth some minutes of that.
#include <sluice/plugin.hpp>

#include <cstdint>
#include <string>

class LongestWait {
 public:
  static constexpr std::string_view kDescription =
      "the workload that waits longest is next; priority counts as time";
  static constexpr std::string_view kConfigSchema = R"({
    "type": "object",
    "properties": {
      "minutesPerPriority": {
        "type": "integer", "minimum": 0, "maximum": 10000, "default": 0,
        "description": "so much longer one counts as waiting for each step of its priority"
      }
    }
  })";

  explicit LongestWait(const sluice::Context& context)
      : minutes_(context.config().int_or("minutesPerPriority", 0)) {}

  // A time does not change while it is waited, so no key is ever asked for again.
  void order_workload(const sluice::Workload& workload, sluice::OrderAnswer& answer) const {
    const std::int64_t ahead = workload.priority() * minutes_ * kMinute;
    const std::int64_t since = workload.created_at() - ahead;
    answer.key(since, "it counts as waiting since " + sluice::time_text(since));
  }

 private:
  static constexpr std::int64_t kMinute = 60'000'000'000;
  std::int64_t minutes_;
};

SLUICE_PLUGIN(LongestWait, "longest-wait", "1.0.0")
