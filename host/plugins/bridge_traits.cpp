#include "host/plugins/bridge_traits.hpp"

#include <array>
#include <exception>
#include <optional>
#include <string_view>
#include <vector>

#include "host/plugins/workload_api.hpp"

namespace sluice::host {

namespace {

enum Trait : std::uint8_t {
  kTakesPart,
  kGroup,
  kReplaces,
  kFollows,
  kInactiveBecause,
  kShapeKey,
  kMayLowerCounts,
  kEndsLater,
  kTraitCount
};

constexpr std::array<std::string_view, kTraitCount> kTraitNames = {
    "takes part",       "group",     "replaces",         "follows",
    "inactive because", "shape key", "may lower counts", "ends later"};

/// What one plugin answered in one call.
struct Answers {
  hooks::Traits traits;
  std::array<bool, kTraitCount> given{};
  Nonsense nonsense;
};

/// Runs fn on the answers; what cannot be stored (out of memory) is a fault, not half an answer.
template <typename Fn>
void store(void* context, Trait trait, Fn&& fn) noexcept {
  Answers& answers = *static_cast<Answers*>(context);
  try {
    fn(answers.traits, answers.nonsense);
    answers.given[trait] = true;
  } catch (const std::exception&) {
    answers.nonsense.note(kNoMemory);
  }
}

void takes_no_part(void* context, sluice_str_t because) noexcept {
  store(context, kTakesPart, [&](hooks::Traits& traits, Nonsense&) {
    traits.takes_part = false;
    traits.takes_no_part_because = shown_text(because);
  });
}

void group(void* context, const sluice_group_t* group) noexcept {
  store(context, kGroup, [&](hooks::Traits& traits, Nonsense& nonsense) {
    if (!SLUICE_HAS(group, order_as)) return nonsense.note("the group's struct is too short");
    traits.has_group = true;
    traits.group = {required_name_of(group->id, "the group's id", nonsense), group->rank,
                    group->represents == 1, name_of(group->order_as, "the group's order", nonsense),
                    SLUICE_HAS(group, called) ? shown_text(group->called) : std::string()};
  });
}

void replaces(void* context, const sluice_replaces_t* replaces) noexcept {
  store(context, kReplaces, [&](hooks::Traits& traits, Nonsense& nonsense) {
    if (!SLUICE_HAS(replaces, message))
      return nonsense.note("the struct of what it replaces is too short");
    if (replaces->how < SLUICE_ENDS_FINISHED || replaces->how > SLUICE_ENDS_DEACTIVATED)
      return nonsense.note("there is no such way in which a replaced workload ends");
    traits.has_replaces = true;
    traits.replaces = {required_name_of(replaces->workload, "the replaced workload", nonsense),
                       static_cast<hooks::ReplacedEnds>(replaces->how),
                       condition_reason_of(replaces->reason, "the reason to replace", nonsense),
                       shown_text(replaces->message, kMessageBytes),
                       SLUICE_HAS(replaces, only_better) && replaces->only_better == 1};
  });
}

void shape_key(void* context, sluice_str_t key) noexcept {
  store(context, kShapeKey, [&](hooks::Traits& traits, Nonsense& nonsense) {
    if (key.len > kMessageBytes) return nonsense.note("the shape key", "is too long");
    traits.shape_key = escaped_key(view_of(key));
  });
}

void may_lower_counts(void* context) noexcept {
  store(context, kMayLowerCounts,
        [](hooks::Traits& traits, Nonsense&) { traits.may_lower_counts = true; });
}

void ends_later(void* context) noexcept {
  store(context, kEndsLater, [](hooks::Traits& traits, Nonsense&) { traits.ends_later = true; });
}

void follows(void* context, sluice_str_t workload) noexcept {
  store(context, kFollows, [&](hooks::Traits& traits, Nonsense& nonsense) {
    traits.follows = name_of(workload, "the workload that it follows", nonsense);
  });
}

void inactive_because(void* context, sluice_str_t because) noexcept {
  store(context, kInactiveBecause,
        [&](hooks::Traits& traits, Nonsense&) { traits.inactive_because = shown_text(because); });
}

void move_trait(Trait trait, hooks::Traits& from, hooks::Traits& to) {
  switch (trait) {
    case kTakesPart:
      to.takes_part = from.takes_part;
      to.takes_no_part_because = std::move(from.takes_no_part_because);
      break;
    case kGroup:
      to.has_group = true;
      to.group = std::move(from.group);
      break;
    case kReplaces:
      to.has_replaces = true;
      to.replaces = std::move(from.replaces);
      break;
    case kShapeKey:
      to.shape_key = std::move(from.shape_key);
      break;
    case kMayLowerCounts:
      to.may_lower_counts = true;
      break;
    case kEndsLater:
      to.ends_later = true;
      break;
    case kFollows:
      to.follows = std::move(from.follows);
      break;
    case kInactiveBecause:
      to.inactive_because = std::move(from.inactive_because);
      break;
    case kTraitCount:
      break;
  }
}

/// Joins the answers of several plugins.
class Joined {
 public:
  explicit Joined(hooks::TraitsAnswer& out) : out_(out) {}

  void add(const LoadedPlugin& plugin, Answers& answers) {
    bool any = false;
    for (std::uint8_t i = 0; i < kTraitCount; ++i) {
      if (!answers.given[i]) continue;
      any = true;
      if (provider_[i] != nullptr && out_.traits.conflict.empty())
        out_.traits.conflict = "plugins " + provider_[i]->name() + " and " + plugin.name() +
                               " both answer the trait \"" + std::string(kTraitNames[i]) +
                               "\"; only one of them may";
      if (provider_[i] != nullptr) continue;
      provider_[i] = &plugin;
      if (i == kEndsLater) out_.traits.ends_later_by = plugin.name();
      move_trait(static_cast<Trait>(i), answers.traits, out_.traits);
    }
    if (any) out_.claimed_by.push_back(plugin.name());
  }

 private:
  hooks::TraitsAnswer& out_;
  std::array<const LoadedPlugin*, kTraitCount> provider_{};
};

/// What names the workload itself where another one is meant.
void judge_others(const api::Workload& workload, Answers& answers) {
  const std::string own = workload.meta.key();
  if (answers.given[kReplaces] && answers.traits.replaces.workload == own)
    answers.nonsense.note("the replaced workload", "is itself");
  if (answers.given[kFollows] && answers.traits.follows == own)
    answers.nonsense.note("the workload that it follows", "is itself");
}

/// One call. `answers` has nothing in it, and stays so when the plugin is out of service.
void ask(LoadedPlugin& plugin, const hooks::TraitsQuery& query, bool counts_may_change,
         hooks::Fault& fault, bool& closed, Answers& answers) {
  const sluice_traits_sink_t sink{sizeof(sluice_traits_sink_t),
                                  0,
                                  &answers,
                                  &takes_no_part,
                                  &group,
                                  &replaces,
                                  &follows,
                                  &inactive_because,
                                  &shape_key,
                                  &may_lower_counts,
                                  abi_of(query.cluster_queue),
                                  query.holds_quota ? 1 : 0,
                                  counts_may_change ? 1 : 0,
                                  &ends_later};
  const Answer outcome = plugin.call(Hook::kTraits, about_of(query.workload), fault, [&] {
    const std::int32_t code =
        plugin.extensions().traits->traits(plugin.self(), ref_of(query.workload), &sink);
    judge_others(query.workload, answers);
    return plugin.judged(code, answers.nonsense);
  });
  closed = outcome == Answer::kClosed;
  if (outcome != Answer::kOk) answers.given = {};
}

}  // namespace

/// Whose answers depend on whether another plugin lets the counts change is asked again when one
/// does, so that the order of plugins does not matter.
void TraitsBridge::traits(const hooks::TraitsQuery& query, hooks::TraitsAnswer& out,
                          hooks::Fault& fault) {
  const api::Workload& workload = query.workload;
  std::vector<Answers> answers;
  answers.reserve(plugins_.size());
  const LoadedPlugin* lowers = nullptr;
  bool closed = false;
  for (LoadedPlugin* plugin : plugins_) {
    ask(*plugin, query, lowers != nullptr, fault, closed, answers.emplace_back());
    if (closed) return;
    if (!answers.back().given[kMayLowerCounts] || lowers != nullptr) continue;
    lowers = plugin;
    for (std::size_t i = 0; i + 1 < answers.size(); ++i) {
      answers[i] = {};
      ask(*plugins_[i], query, true, fault, closed, answers[i]);
      if (closed) return;
    }
  }
  Joined joined(out);
  for (std::size_t i = 0; i < answers.size(); ++i) joined.add(*plugins_[i], answers[i]);
  for (LoadedPlugin* plugin : filters_) {
    IncomingText text(kMessageBytes);
    const sluice_sink_t sink = text.sink();
    const Answer outcome = plugin->call(Hook::kFilterShapeKey, about_of(workload), fault, [&] {
      return plugin->judged(
          plugin->extensions().filter->shape_key(plugin->self(), ref_of(workload), &sink),
          text.too_long("the shape key"));
    });
    if (outcome == Answer::kClosed) return;
    const std::string key = escaped_key(text.bytes());
    if (outcome == Answer::kOk && !key.empty())
      out.traits.shape_key += "\n" + plugin->name() + "=" + std::to_string(key.size()) + ":" + key;
  }
  if (order_ != nullptr) order_->workload(workload, out.traits.order);
}

}  // namespace sluice::host
