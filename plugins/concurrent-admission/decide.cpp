#include "decide.hpp"

#include <algorithm>
#include <chrono>
#include <sluice/cpp/time.hpp>

#include "names.hpp"

namespace options {
namespace {

using State = Option::State;

constexpr const char* kWaits = "Waits for its turn";

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

/// The options of a parent in the order of their rank, and what holds for all of them.
class Decision {
 public:
  explicit Decision(const Situation& now) : now_(now), plan_() {
    plan_.record = now.record;
    over_ = now.finished;
    for (const Option& option : now.options) {
      // Of two, one of which is about to end, the one that was known: the other replaces it.
      if (option.state == State::kAdmitted &&
          (admitted_ == nullptr || option.name == now.record.admitted))
        admitted_ = &option;
      over_ = over_ || option.state == State::kFinished;
    }
  }

  Plan take() {
    if (!over_) {
      follow_activity();
      follow_eviction();
      follow_admission();
    }
    settle_strangers();
    if (over_ || now_.policy == nullptr) {
      end_all();
    } else {
      for (std::size_t i = 0; i < now_.policy->options.size(); ++i) settle(i);
      reject_when_all_are();
    }
    settle_right();
    describe();
    if (plan_.status.empty() && now_.policy != nullptr) plan_.no_option = why_no_option();
    return std::move(plan_);
  }

 private:
  bool active() const { return now_.active && plan_.rejected.empty(); }

  const Option* find(std::string_view name) const {
    for (const Option& option : now_.options)
      if (option.name == name) return &option;
    return nullptr;
  }
  const Option* of_spec(std::string_view spec) const {
    for (const Option& option : now_.options)
      if (option.spec_name == spec) return &option;
    return nullptr;
  }

  /// Turned on again it begins anew.
  void follow_activity() {
    if (now_.active && now_.record.off) reset(true);
    plan_.record.off = !now_.active;
  }

  /// The delays count anew; `all`: rejections are forgotten, too. The right to preempt stays with
  /// its holder, see settle_right().
  void reset(bool all) {
    plan_.record.since = now_.now;
    plan_.record.first.clear();
    forgives_ = forgives_ || all;
  }

  /// After the eviction of the admitted option, or a preemption of one that waited for its checks,
  /// the race begins anew. A rejection does not clear other rejections.
  void follow_eviction() {
    if (admitted_ != nullptr) return;
    const std::string& before = now_.record.admitted;
    if (!before.empty()) {
      const Option* lost = find(before);
      plan_.lost = before;
      plan_.lost_reason = lost == nullptr || lost->evicted.empty() ? "OptionGone" : lost->evicted;
      plan_.record.admitted.clear();
      reset(!plan_.lost_reason.starts_with("Deactivated"));
      return;
    }
    for (const Option& option : now_.options)
      if (option.preempted_at > now_.record.since && option.state == State::kPending) {
        reset(true);
        return;
      }
  }

  void follow_admission() {
    if (admitted_ == nullptr) return;
    if (!now_.record.admitted.empty() && now_.record.admitted != admitted_->name)
      plan_.migrated_from = now_.record.admitted;
    plan_.record.admitted = admitted_->name;
    auto& first = plan_.record.first;
    const bool known = std::any_of(first.begin(), first.end(), [&](const auto& each) {
      return each.first == admitted_->spec_name;
    });
    if (!known && first.size() < 2) first.emplace_back(admitted_->spec_name, now_.now);
  }

  /// What the parent's own limit leaves of an option's flavors.
  std::vector<std::string> narrowed(const std::vector<std::string>& flavors) const {
    if (now_.allowed.empty()) return flavors;
    std::vector<std::string> out;
    for (const std::string& flavor : flavors)
      if (std::find(now_.allowed.begin(), now_.allowed.end(), flavor) != now_.allowed.end())
        out.push_back(flavor);
    return out;
  }

  bool is_wanted(const Option& option) const {
    if (now_.policy == nullptr || over_) return false;
    const OptionSpec* spec = now_.policy->find(option.spec_name);
    return spec != nullptr && !option.outdated && narrowed(spec->flavors) == option.flavors;
  }

  /// Removes options that the policy does not want any more; the admitted one runs on.
  void settle_strangers() {
    if (over_) return;
    for (const Option& option : now_.options) {
      if (is_wanted(option) || option.state == State::kFinished) continue;
      if (&option == admitted_) {
        if (now_.policy != nullptr) rerank(option, now_.policy->rank_of_stranger(option.flavors));
        if (!active()) hold(option, kHeldByParent, "the parent Workload being inactive");
        continue;
      }
      plan_.remove.push_back(option.name);
    }
  }

  /// Without a policy, or after the end.
  void end_all() {
    if (!over_) {
      plan_.collapse = admitted_ == nullptr;
      return;
    }
    for (const Option& option : now_.options) {
      if (option.state != State::kAdmitted && option.state != State::kFinished)
        hold(option, kHeldByParent, "the parent Workload having finished");
    }
  }

  void rerank(const Option& option, std::int32_t rank) {
    if (option.rank != rank) plan_.rerank.emplace_back(option.name, rank);
  }

  /// Off because of us: noted each time, as the reason may be another than before.
  void hold(const Option& option, std::string_view held, std::string why) {
    plan_.why_off.emplace_back(option.name, why);
    if (option.state == State::kInactive && !option.held.empty()) return;
    plan_.change.push_back({option.name, false, std::string(held), std::move(why)});
  }

  /// Why policy keeps this option from running now; empty: it does not.
  std::string excluded(const OptionSpec& spec) {
    if (admitted_ != nullptr && admitted_->spec_name != spec.name)
      if (std::string why = excluded_by_admitted(narrowed(spec.flavors)); !why.empty()) return why;
    if (!spec.delete_delay_seconds) return {};
    for (const auto& [name, when] : plan_.record.first) {
      if (name == spec.name) continue;
      const Nanoseconds due = when + *spec.delete_delay_seconds * kSecondNs;
      if (now_.now >= due)
        return "the end of its deleteDelaySeconds, " + std::to_string(*spec.delete_delay_seconds) +
               " s after another option was admitted";
      wake_at(due);
      break;
    }
    return {};
  }

  /// A move needs a better place than that which the admitted one has.
  std::string excluded_by_admitted(const std::vector<std::string>& flavors) const {
    const std::string other = "\"" + admitted_->name + "\"";
    if (now_.policy->on_success == OnSuccess::kRemoveOther)
      return "another option, " + other + ", being admitted";
    std::vector<std::string> reachable = flavors;
    if (now_.policy->on_success == OnSuccess::kRemoveBelowTarget) {
      if (now_.policy->below_target(flavors))
        return "being below the target flavor \"" + now_.policy->target + "\" while " + other +
               " is admitted";
      reachable = now_.policy->within_target(flavors);
    }
    if (now_.policy->may_improve(reachable, admitted_->placement)) return {};
    return "offering no better flavor than the admitted option " + other + " has";
  }

  void wake_at(Nanoseconds when) { plan_.next = std::min(plan_.next.value_or(when), when); }

  /// One option of the policy: made, turned on or off.
  void settle(std::size_t i) {
    const OptionSpec& spec = now_.policy->options[i];
    const std::int32_t rank = Policy::rank_of(i);
    const Option* option = of_spec(spec.name);
    if (option != nullptr && !is_wanted(*option)) return;  // its successor comes when it is gone
    if (option != nullptr) rerank(*option, rank);
    if (option != nullptr && option == admitted_) {
      if (!active()) hold(*option, kHeldByParent, "the parent Workload being inactive");
      return;
    }
    const Nanoseconds due = plan_.record.since + spec.create_delay_seconds * kSecondNs;
    const bool delayed = spec.create_delay_seconds > 0 && now_.now < due;
    std::string why = excluded(spec);
    std::string held;
    if (!active()) {
      held = kHeldByParent;
      why = "the parent Workload being inactive";
    } else if (!why.empty()) {
      held = kHeldByPolicy;
    } else if (delayed) {
      held = kHeldByDelay;
      why = "its createDelaySeconds, which end at " + sluice::time_text(due);
    }
    if (delayed && active()) wake_at(due);
    if (option == nullptr) return create(spec, rank, std::move(held), why);
    if (rejected(*option) && held != kHeldByParent) return;
    if (!held.empty()) return hold(*option, held, std::move(why));
    if (option->state == State::kInactive || !option->held.empty())
      plan_.change.push_back({option->name, true, "", turned_on_because()});
  }

  std::string turned_on_because() const {
    if (admitted_ != nullptr)
      return "offering better flavors than the admitted option \"" + admitted_->name + "\" has";
    return "no other option being admitted";
  }

  void create(const OptionSpec& spec, std::int32_t rank, std::string held, const std::string& why) {
    Creation creation{option_name(now_.parent, spec.name), spec, rank, std::move(held)};
    if (std::find(now_.taken.begin(), now_.taken.end(), creation.name) != now_.taken.end())
      creation.name = option_name(now_.parent, spec.name, true);
    creation.spec.flavors = narrowed(spec.flavors);
    if (creation.spec.flavors.empty()) return;
    if (!creation.held.empty()) plan_.why_off.emplace_back(creation.name, why);
    OptionStatus& status = plan_.status.emplace_back();
    status.name = creation.name;
    status.flavors = creation.spec.flavors;
    status.state = creation.held.empty() ? "Pending" : "Deactivated";
    status.message = creation.held.empty() ? kWaits : off_because(why);
    ranks_.emplace_back(status.name, rank);
    plan_.create.push_back(std::move(creation));
  }

  /// Made inactive by another writer: by a check, or by hand.
  bool rejected(const Option& option) const {
    return !forgives_ && option.state == State::kInactive && option.held.empty() &&
           option.evicted != kMigration;
  }

  void reject_when_all_are() {
    if (!active() || now_.policy->options.empty()) return;
    std::string text;
    for (const OptionSpec& spec : now_.policy->options) {
      if (narrowed(spec.flavors).empty()) continue;
      const Option* option = of_spec(spec.name);
      if (option == nullptr || !rejected(*option)) return;
      text += (text.empty() ? "" : "; ") + option->name +
              (option->message.empty() ? "" : " (" + option->message + ")");
    }
    if (!text.empty()) plan_.rejected = "All options were rejected: " + text;
  }

  std::string why_no_option() const {
    std::vector<std::string> offered;
    for (const OptionSpec& spec : now_.policy->options)
      for (const std::string& flavor : spec.flavors)
        if (std::find(offered.begin(), offered.end(), flavor) == offered.end())
          offered.push_back(flavor);
    if (offered.empty()) return "Its ClusterQueue has no flavor to try it on";
    return "It may use only the flavors " + joined(now_.allowed) +
           " (spec.admissionConstraints.allowedResourceFlavors), and no option of its ClusterQueue "
           "has one of them: allow one of " +
           joined(offered) + ", or use another queue";
  }

  /// The right to preempt is kept while preemptions or the reservation that came of them last.
  void settle_right() {
    const Option* holder = find(plan_.record.preempts);
    const bool keeps =
        holder != nullptr && (holder->state == State::kReserved ||
                              (holder->state == State::kPending && holder->waits_for_victims));
    if (!keeps || over_) plan_.record.preempts.clear();
  }

  std::string message_of(const Option& option, const Change* change) const {
    for (const auto& [name, why] : plan_.why_off)
      if (name == option.name) return off_because(why);
    return change != nullptr && change->active ? kWaits : option.message;
  }

  std::int32_t listed_rank(const std::string& name) const {
    for (const auto& [each, rank] : ranks_)
      if (each == name) return rank;
    return 0;
  }

  /// The options that stay and those that come, best first.
  void describe() {
    for (const Option& option : now_.options) {
      if (std::find(plan_.remove.begin(), plan_.remove.end(), option.name) != plan_.remove.end())
        continue;
      const Change* change = nullptr;
      for (const Change& each : plan_.change)
        if (each.name == option.name) change = &each;
      std::int32_t rank = option.rank;
      for (const auto& [name, changed] : plan_.rerank)
        if (name == option.name) rank = changed;
      ranks_.emplace_back(option.name, rank);
      plan_.status.push_back(
          {option.name, option.flavors, state_of(option, change), message_of(option, change)});
    }
    std::sort(plan_.status.begin(), plan_.status.end(),
              [this](const OptionStatus& a, const OptionStatus& b) {
                return std::pair(listed_rank(a.name), a.name) <
                       std::pair(listed_rank(b.name), b.name);
              });
  }

  std::string state_of(const Option& option, const Change* change) const {
    if (option.state == State::kFinished) return "Finished";
    if (change != nullptr) return change->active ? "Pending" : "Deactivated";
    if (option.state == State::kInactive) return "Deactivated";
    return option.state == State::kAdmitted ? "Admitted" : "Pending";
  }

  const Situation& now_;
  Plan plan_;
  const Option* admitted_ = nullptr;
  bool over_ = false;  // it finished, or one of them, and the parent with it
  bool forgives_ = false;
  std::vector<std::pair<std::string, std::int32_t>> ranks_;  // of those in plan_.status
};

}  // namespace

Plan decide(const Situation& now) { return Decision(now).take(); }

std::string off_because(const std::string& why) { return "Deactivated due to " + why; }

}  // namespace options
