#include "host/plugins/bridge_filter.hpp"

#include <array>
#include <exception>

#include "host/plugins/capacity_api.hpp"
#include "host/plugins/workload_api.hpp"

namespace sluice::host {

namespace {

constexpr std::size_t kFewFlavors = 64;  // what a resource group may hold at most

/// Texts of one query in C form, without an allocation for the usual sizes.
class AbiTexts {
 public:
  explicit AbiTexts(std::span<const std::string_view> texts) {
    sluice_str_t* out = few_.data();
    if (texts.size() > few_.size()) {
      many_.resize(texts.size());
      out = many_.data();
    }
    data_ = out;
    for (const std::string_view text : texts) *out++ = abi_of(text);
  }
  const sluice_str_t* data() const { return data_; }

 private:
  std::array<sluice_str_t, kFewFlavors> few_;
  std::vector<sluice_str_t> many_;
  const sluice_str_t* data_;
};

/// The handles of the flavors of a query; none where it says nothing of them.
std::span<const sluice_flavor_t* const> handles_of(const hooks::FilterQuery& query) {
  static thread_local std::vector<const sluice_flavor_t*> handles;
  handles.clear();
  for (const hooks::FlavorFacts& facts : query.facts) handles.push_back(handle_of(facts));
  return handles;
}

const sluice_cluster_queue_t* queue_handle(const api::ClusterQueue* queue) {
  return queue == nullptr ? nullptr : handle_of(*queue);
}
const sluice_cluster_queue_api_t* queue_api(const api::ClusterQueue* queue) {
  return queue == nullptr ? nullptr : &cluster_queue_api();
}

/// Where one plugin's skips go. `own` remembers them, to take them back should the call fail.
struct Skips {
  hooks::FilterAnswer& answer;
  const std::string& plugin;
  std::vector<std::uint32_t> own;
  Nonsense nonsense;
};

void skip(void* context, std::uint32_t flavor, sluice_str_t reason) noexcept {
  Skips& skips = *static_cast<Skips*>(context);
  if (flavor >= skips.answer.skip.size())
    return skips.nonsense.note("it skips a flavor that it was not asked about");
  if (skips.answer.skip[flavor] != 0) return;  // the first reason stands
  try {
    skips.answer.reasons[flavor] = shown_text(reason);
    skips.answer.by.resize(skips.answer.skip.size());
    skips.answer.by[flavor] = skips.plugin;
    skips.own.push_back(flavor);
    skips.answer.skip[flavor] = 1;
  } catch (const std::exception&) {
    skips.nonsense.note(kNoMemory);  // better a fault than half an answer
  }
}

void take_back(const Skips& skips) {
  for (const std::uint32_t flavor : skips.own) {
    skips.answer.skip[flavor] = 0;
    skips.answer.reasons[flavor].clear();
  }
}

/// Where one plugin's vetoes go.
struct Vetoes {
  hooks::VetoAnswer& answer;
  bool may_not_preempt = false;
  std::string reason;
  std::vector<std::size_t> own;
  std::string why_protected;  ///< the first reason that it gives
  Nonsense nonsense;
};

void may_not_preempt(void* context, sluice_str_t reason) noexcept {
  Vetoes& vetoes = *static_cast<Vetoes*>(context);
  vetoes.may_not_preempt = true;
  try {
    vetoes.reason = shown_text(reason);
  } catch (const std::exception&) {
    vetoes.nonsense.note(kNoMemory);
  }
}

void protect(void* context, std::uint64_t candidate) noexcept {
  Vetoes& vetoes = *static_cast<Vetoes*>(context);
  if (candidate >= vetoes.answer.protected_.size())
    return vetoes.nonsense.note("it protects a candidate that it was not asked about");
  if (vetoes.answer.protected_[candidate] != 0) return;
  try {
    vetoes.own.push_back(candidate);
    vetoes.answer.protected_[candidate] = 1;
  } catch (const std::exception&) {
    vetoes.nonsense.note(kNoMemory);
  }
}

void protect_because(void* context, std::uint64_t candidate, sluice_str_t reason) noexcept {
  Vetoes& vetoes = *static_cast<Vetoes*>(context);
  protect(context, candidate);
  try {
    if (vetoes.why_protected.empty()) vetoes.why_protected = shown_text(reason);
  } catch (const std::exception&) {
    vetoes.nonsense.note(kNoMemory);
  }
}

/// Who waits is not told names of those that he may not know: the reason stands for all of them.
std::string protection_text(const std::string& why) {
  std::string text = "some of those that it could preempt are protected";
  return why.empty() ? text : text + ": " + why;
}

}  // namespace

void FilterBridge::filter(const hooks::FilterQuery& query, hooks::FilterAnswer& answer,
                          hooks::Fault& fault) const {
  const AbiTexts flavors(query.flavors);
  const std::span handles = handles_of(query);
  const sluice_filter_query_t raw{sizeof(sluice_filter_query_t),
                                  query.queue,
                                  ref_of(query.workload),
                                  query.pod_set,
                                  static_cast<std::uint32_t>(query.flavors.size()),
                                  flavors.data(),
                                  handles.data(),
                                  handles.empty() ? nullptr : &flavor_api(),
                                  queue_handle(query.cluster_queue),
                                  queue_api(query.cluster_queue)};
  for (LoadedPlugin* plugin : plugins_) {
    Skips skips{answer, plugin->name(), {}, {}};
    const sluice_filter_sink_t sink{sizeof(sluice_filter_sink_t), 0, &skips, &skip};
    const Answer outcome = plugin->call(Hook::kFilter, about_of(query.workload), fault, [&] {
      const std::int32_t code = plugin->extensions().filter->filter(plugin->self(), &raw, &sink);
      return plugin->judged(code, skips.nonsense);
    });
    if (outcome == Answer::kOk) continue;
    take_back(skips);
    if (outcome == Answer::kClosed) return;
  }
}

void VetoBridge::veto(const hooks::VetoQuery& query, hooks::VetoAnswer& answer,
                      hooks::Fault& fault) const {
  // The handle of a workload is its address; the copy keeps the two pointer types apart.
  static thread_local std::vector<const sluice_workload_t*> handles;
  handles.clear();
  for (const api::Workload* candidate : query.candidates) handles.push_back(handle_of(*candidate));
  if (answer.protected_.size() < handles.size()) answer.protected_.resize(handles.size(), 0);
  const sluice_veto_query_t raw{sizeof(sluice_veto_query_t),
                                query.queue,
                                ref_of(query.preemptor),
                                handles.size(),
                                handles.data(),
                                queue_handle(query.cluster_queue),
                                queue_api(query.cluster_queue),
                                query.admitted_at.data()};
  for (LoadedPlugin* plugin : plugins_) {
    Vetoes vetoes{answer, false, {}, {}, {}, {}};
    const sluice_veto_sink_t sink{sizeof(sluice_veto_sink_t), 0,        &vetoes,
                                  &may_not_preempt,           &protect, &protect_because};
    const Answer outcome = plugin->call(Hook::kVeto, about_of(query.preemptor), fault, [&] {
      const std::int32_t code = plugin->extensions().veto->veto(plugin->self(), &raw, &sink);
      return plugin->judged(code, vetoes.nonsense);
    });
    if (outcome == Answer::kOk) {
      if (vetoes.may_not_preempt && !answer.may_not_preempt) {
        answer.may_not_preempt = true;
        answer.reason = vetoes.reason;
        answer.by = plugin->name();
      } else if (!vetoes.own.empty() && answer.by.empty()) {
        answer.reason = protection_text(vetoes.why_protected);
        answer.by = plugin->name();
      }
      continue;
    }
    for (const std::size_t candidate : vetoes.own) answer.protected_[candidate] = 0;
    if (outcome == Answer::kOpen) continue;
    answer.may_not_preempt = true;
    answer.reason = fault.text;
    answer.by = plugin->name();
    return;
  }
}

}  // namespace sluice::host
