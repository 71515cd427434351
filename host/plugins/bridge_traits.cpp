#include "host/plugins/bridge_traits.hpp"

#include <array>
#include <exception>
#include <string_view>

#include "host/plugins/workload_api.hpp"

namespace sluice::host {

namespace {

enum Trait : std::uint8_t {
  kTakesPart,
  kGroup,
  kReplaces,
  kEvictWith,
  kCountedAs,
  kShapeKey,
  kMayLowerCounts,
  kFollows,
  kTraitCount
};

constexpr std::array<std::string_view, kTraitCount> kTraitNames = {
    "takes part", "group",     "replaces",         "evict together with",
    "counted as", "shape key", "may lower counts", "follows"};

/// What one plugin answered in one call.
struct Answers {
  hooks::Traits traits;
  std::array<bool, kTraitCount> given{};
  bool nonsense = false;
};

/// Runs fn on the answers; what cannot be stored (out of memory) is a fault, not half an answer.
template <typename Fn>
void store(void* context, Trait trait, Fn&& fn) noexcept {
  Answers& answers = *static_cast<Answers*>(context);
  try {
    fn(answers.traits);
    answers.given[trait] = true;
  } catch (const std::exception&) {
    answers.nonsense = true;
  }
}

void takes_no_part(void* context, sluice_str_t because) noexcept {
  store(context, kTakesPart, [&](hooks::Traits& traits) {
    traits.takes_part = false;
    traits.takes_no_part_because = text_of(because);
  });
}

void group(void* context, const sluice_group_t* group) noexcept {
  if (!SLUICE_HAS(group, order_as) || group->id.len == 0) {
    static_cast<Answers*>(context)->nonsense = true;
    return;
  }
  store(context, kGroup, [&](hooks::Traits& traits) {
    traits.has_group = true;
    traits.group = {text_of(group->id), group->rank, group->exclusive == 1,
                    text_of(group->order_as)};
  });
}

void replaces(void* context, const sluice_replaces_t* replaces) noexcept {
  if (!SLUICE_HAS(replaces, message) || replaces->how < SLUICE_ENDS_FINISHED ||
      replaces->how > SLUICE_ENDS_EVICTED || replaces->workload.len == 0) {
    static_cast<Answers*>(context)->nonsense = true;
    return;
  }
  store(context, kReplaces, [&](hooks::Traits& traits) {
    traits.has_replaces = true;
    traits.replaces = {text_of(replaces->workload), static_cast<hooks::ReplacedEnds>(replaces->how),
                       text_of(replaces->reason), text_of(replaces->message)};
  });
}

void evict_with(void* context, sluice_str_t workload) noexcept {
  store(context, kEvictWith, [&](hooks::Traits& traits) { traits.evict_with = text_of(workload); });
}

void counted_as(void* context, std::int32_t whom, sluice_str_t workload) noexcept {
  if (whom < SLUICE_COUNTED_AS_ITSELF || whom > SLUICE_COUNTED_AS_OTHER ||
      (whom == SLUICE_COUNTED_AS_OTHER) != (workload.len > 0)) {
    static_cast<Answers*>(context)->nonsense = true;
    return;
  }
  store(context, kCountedAs, [&](hooks::Traits& traits) {
    traits.counted_as = static_cast<hooks::CountedAs>(whom);
    traits.counted_as_workload = text_of(workload);
  });
}

void shape_key(void* context, sluice_str_t key) noexcept {
  store(context, kShapeKey, [&](hooks::Traits& traits) { traits.shape_key = text_of(key); });
}

void may_lower_counts(void* context) noexcept {
  store(context, kMayLowerCounts, [](hooks::Traits& traits) { traits.may_lower_counts = true; });
}

void follows(void* context, sluice_str_t workload) noexcept {
  store(context, kFollows, [&](hooks::Traits& traits) { traits.follows = text_of(workload); });
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
    case kEvictWith:
      to.evict_with = std::move(from.evict_with);
      break;
    case kCountedAs:
      to.counted_as = from.counted_as;
      to.counted_as_workload = std::move(from.counted_as_workload);
      break;
    case kShapeKey:
      to.shape_key = std::move(from.shape_key);
      break;
    case kMayLowerCounts:
      to.may_lower_counts = true;
      break;
    case kFollows:
      to.follows = std::move(from.follows);
      break;
    case kTraitCount:
      break;
  }
}

/// Joins the answers of several plugins.
class Joined {
 public:
  explicit Joined(hooks::Traits& out) : out_(out) {}

  void add(const LoadedPlugin& plugin, Answers& answers) {
    bool any = false;
    for (std::uint8_t i = 0; i < kTraitCount; ++i) {
      if (!answers.given[i]) continue;
      any = true;
      if (provider_[i] != nullptr && out_.conflict.empty())
        out_.conflict = "plugins " + provider_[i]->name() + " and " + plugin.name() +
                        " both answer the trait \"" + std::string(kTraitNames[i]) +
                        "\"; only one of them may";
      if (provider_[i] != nullptr) continue;
      provider_[i] = &plugin;
      move_trait(static_cast<Trait>(i), answers.traits, out_);
    }
    if (any) out_.claimed_by.push_back(plugin.name());
  }

 private:
  hooks::Traits& out_;
  std::array<const LoadedPlugin*, kTraitCount> provider_{};
};

}  // namespace

void TraitsBridge::traits(const hooks::TraitsQuery& query, hooks::Traits& out,
                          hooks::Fault& fault) {
  const api::Workload& workload = query.workload;
  Joined joined(out);
  for (LoadedPlugin* plugin : plugins_) {
    Answers answers;
    const sluice_traits_sink_t sink{sizeof(sluice_traits_sink_t),
                                    0,
                                    &answers,
                                    &takes_no_part,
                                    &group,
                                    &replaces,
                                    &evict_with,
                                    &counted_as,
                                    &shape_key,
                                    &may_lower_counts,
                                    &follows,
                                    abi_of(query.cluster_queue),
                                    query.holds_quota ? 1 : 0,
                                    0};
    const Answer outcome = plugin->call(Hook::kTraits, fault, [&] {
      const std::int32_t code =
          plugin->extensions().traits->traits(plugin->self(), ref_of(workload), &sink);
      return code == SLUICE_OK && answers.nonsense ? LoadedPlugin::kNonsense : code;
    });
    if (outcome == Answer::kClosed) return;
    if (outcome == Answer::kOk) joined.add(*plugin, answers);
  }
  for (LoadedPlugin* plugin : filters_) {
    std::string key;
    const sluice_sink_t sink = sink_into(key);
    const Answer outcome = plugin->call(Hook::kFilterShapeKey, fault, [&] {
      return plugin->extensions().filter->shape_key(plugin->self(), ref_of(workload), &sink);
    });
    if (outcome == Answer::kClosed) return;
    if (outcome == Answer::kOk && !key.empty())
      out.shape_key += "\n" + plugin->name() + "=" + std::to_string(key.size()) + ":" + key;
  }
}

}  // namespace sluice::host
