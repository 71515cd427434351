// flavor-fungibility: KEP-582 as a plugin. The rules are in policy.hpp, the fields in schema.hpp;
// here they are bound to the host.
#include <sluice/plugin.hpp>

#include "policy.hpp"
#include "schema.hpp"

namespace fungibility {

class FlavorFungibility {
 public:
  static constexpr std::string_view kDescription =
      "KEP-582: when to borrow or preempt in a flavor before trying the next one";
  static constexpr std::string_view kConfigSchema = R"({
    "type": "object",
    "properties": {
      "implicitPreferenceDefault": {
        "type": "boolean", "default": false,
        "description": "PreemptionOverBorrowing where a queue states no preference and )"
                                                    R"(whenCanBorrow is TryNextFlavor"
      },
      "search": {
        "type": "string", "enum": ["measured", "proposal"], "default": "measured",
        "description": "follow what Kueue does, or the letter of the proposal"
      }
    }
  })";

  explicit FlavorFungibility(const sluice::Context& context)
      : letter_(context.config().string_or("search", "measured") == "proposal" ? Letter::kProposal
                                                                               : Letter::kMeasured),
        implicit_preference_(context.config().bool_or("implicitPreferenceDefault", false)) {}

  std::string schema() const { return std::string(kSchema); }

  void queue_changed(const sluice::Queue& queue) {
    if (queue.id() >= policies_.size()) policies_.resize(queue.id() + 1);
    policies_[queue.id()] = policy_of(sluice::Json::parse(queue.json()), implicit_preference_);
  }

  sluice::Search after_flavor(const sluice::SearchStep& step) const {
    return fungibility::after_flavor(policy(step.queue), letter_, step.current);
  }
  bool better(std::uint32_t queue, sluice::Outcome a, sluice::Outcome b) const {
    return fungibility::better(policy(queue), a, b);
  }
  bool keep_position(const sluice::PositionAge& age) const {
    return fungibility::keep_position(letter_, age);
  }

 private:
  /// A queue that was never announced has the defaults.
  Policy policy(std::uint32_t queue) const {
    return queue < policies_.size() ? policies_[queue] : Policy{};
  }

  Letter letter_;
  bool implicit_preference_;
  std::vector<Policy> policies_;  // by queue id
};

}  // namespace fungibility

SLUICE_PLUGIN(fungibility::FlavorFungibility, "flavor-fungibility", "0.1.0")
