#include "host/plugins/bridge_jobs.hpp"

#include <algorithm>
#include <exception>
#include <string_view>

#include "api/schema/formats.hpp"
#include "host/plugins/job_query.hpp"

namespace sluice::host {

namespace {

constexpr std::size_t kMostNew = 100;   // workloads of one answer
constexpr std::size_t kMostGates = 32;  // of one plugin, for one job

/// What one plugin answered in one call.
struct PlanAnswer {
  hooks::JobPlan plan;
  bool given = false;
  Nonsense nonsense;
};

/// Runs fn on the plan; what cannot be stored is a fault, not half an answer.
template <typename Fn>
void store(void* context, Fn&& fn) noexcept {
  PlanAnswer& answer = *static_cast<PlanAnswer*>(context);
  answer.given = true;
  try {
    fn(answer.plan, answer.nonsense);
  } catch (const std::exception&) {
    answer.nonsense.note(kNoMemory);
  }
}

void speaker(void* context, sluice_str_t workload) noexcept {
  store(context, [&](hooks::JobPlan& plan, Nonsense& nonsense) {
    plan.speaker = required_name_of(workload, "the speaker", nonsense);
  });
}

void resize(void* context, sluice_str_t workload) noexcept {
  store(context, [&](hooks::JobPlan& plan, Nonsense& nonsense) {
    plan.resize.push_back(required_name_of(workload, "the workload to resize", nonsense));
  });
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs labels_of(const sluice_new_workload_t& workload, Nonsense& nonsense) {
  Pairs out;
  for (std::uint64_t i = 0; i < workload.label_count; ++i) {
    const sluice_text_pair_t& label = workload.labels[i];
    if (!api::is_label_value(view_of(label.value)) || label.value.len > api::kLabelBytes)
      nonsense.note("the value of a new workload's label", "is none");
    out.emplace_back(name_of(label.key, "a new workload's label", nonsense),
                     name_of(label.value, "the value of a new workload's label", nonsense));
    if (!api::is_qualified_name(out.back().first)) nonsense.note("a new workload's label is none");
  }
  return out;
}

Pairs annotations_of(const sluice_new_workload_t& workload, Nonsense& nonsense) {
  Pairs out;
  for (std::uint64_t i = 0; i < workload.annotation_count; ++i) {
    const sluice_text_pair_t& annotation = workload.annotations[i];
    out.emplace_back(name_of(annotation.key, "a new workload's annotation", nonsense),
                     value_of(annotation.value, "a new workload's annotation", nonsense));
    if (!api::is_qualified_name(out.back().first))
      nonsense.note("a new workload's annotation has a key that is none");
  }
  return out;
}

void create(void* context, const sluice_new_workload_t* workload) noexcept {
  store(context, [&](hooks::JobPlan& plan, Nonsense& nonsense) {
    if (plan.create.size() >= kMostNew)
      return nonsense.note("it asks for more than 100 new workloads of one job at a time");
    if (!SLUICE_HAS(workload, annotations))
      return nonsense.note("the struct of a new workload is too short");
    plan.create.push_back({name_of(workload->name, "a new workload's name", nonsense),
                           name_of(workload->revision, "a new workload's revision", nonsense),
                           labels_of(*workload, nonsense), annotations_of(*workload, nonsense)});
  });
}

void finish(void* context, sluice_str_t workload, sluice_str_t reason,
            sluice_str_t message) noexcept {
  store(context, [&](hooks::JobPlan& plan, Nonsense& nonsense) {
    plan.finish.push_back({required_name_of(workload, "the workload to finish", nonsense),
                           condition_reason_of(reason, "the reason of a finish", nonsense),
                           shown_text(message, kMessageBytes)});
  });
}

void recreate(void* context) noexcept {
  store(context, [](hooks::JobPlan& plan, Nonsense&) { plan.recreate = true; });
}

void remove(void* context, sluice_str_t workload) noexcept {
  store(context, [&](hooks::JobPlan& plan, Nonsense& nonsense) {
    plan.remove.push_back(required_name_of(workload, "the workload to remove", nonsense));
  });
}

bool is_contradiction(const hooks::JobPlan& plan) {
  return plan.recreate && (!plan.speaker.empty() || !plan.resize.empty() || !plan.create.empty() ||
                           !plan.finish.empty() || !plan.remove.empty());
}

/// The job would follow a workload that there never is, and be held without a word.
bool follows_nobody(const hooks::JobPlan& plan, const hooks::JobQuery& query) {
  const auto is_speaker = [&](std::string_view name) { return name == plan.speaker; };
  return !plan.speaker.empty() &&
         std::none_of(query.workloads.begin(), query.workloads.end(),
                      [&](const auto& each) { return is_speaker(each.workload->meta.name); }) &&
         std::none_of(plan.create.begin(), plan.create.end(),
                      [&](const auto& each) { return is_speaker(each.name); });
}

struct GrantAnswer {
  std::vector<std::optional<std::int32_t>> pods;
  Nonsense nonsense;
};

void grant(void* context, std::uint64_t pod_set, std::int32_t pods) noexcept {
  GrantAnswer& answer = *static_cast<GrantAnswer*>(context);
  if (pod_set >= answer.pods.size())
    answer.nonsense.note("it grants pods to a pod set that it was not asked about");
  else if (pods < 0)
    answer.nonsense.note("it grants less than no pods");
  else
    answer.pods[pod_set] = pods;
}

}  // namespace

std::string gate_of_faulty_plugin(const std::string& plugin) {
  return std::string(kFaultGate) + plugin;
}

void MappingBridge::plan(const hooks::JobQuery& query, hooks::JobPlan& out, hooks::Fault& fault) {
  const RawJobQuery raw(query);
  for (LoadedPlugin* plugin : plugins_) {
    PlanAnswer answer;
    const sluice_job_plan_sink_t sink{sizeof(sluice_job_plan_sink_t),
                                      0,
                                      &answer,
                                      &speaker,
                                      &resize,
                                      &create,
                                      &finish,
                                      &recreate,
                                      &remove};
    const Answer outcome = plugin->call(Hook::kPlan, fault, [&] {
      const std::int32_t code =
          plugin->extensions().job_mapping->plan(plugin->self(), &raw.raw(), &sink);
      if (is_contradiction(answer.plan))
        answer.nonsense.note("beside recreate nothing else may be asked for");
      if (follows_nobody(answer.plan, query))
        answer.nonsense.note("the speaker", "is no workload of the job, and none that it creates");
      return plugin->judged(code, answer.nonsense);
    });
    if (outcome == Answer::kClosed) return;
    if (outcome != Answer::kOk || !answer.given) continue;
    if (!out.provider.empty()) {
      out.conflict = "plugins " + out.provider + " and " + plugin->name() +
                     " both say which workloads the job has; only one of them may";
      return;
    }
    out = std::move(answer.plan);
    out.provider = plugin->name();
  }
}

void PodGateBridge::gates(const hooks::JobQuery& query, std::vector<std::string>& out,
                          hooks::Fault& fault) {
  const RawJobQuery raw(query);
  for (LoadedPlugin* plugin : plugins_) {
    IncomingText text;
    const sluice_sink_t sink = text.sink();
    std::vector<std::string> gates;
    hooks::Fault own;
    const Answer outcome = plugin->call(Hook::kPodGates, own, [&] {
      const std::int32_t code =
          plugin->extensions().pod_gate->gates(plugin->self(), &raw.raw(), &sink);
      Nonsense nonsense;
      gates = text.names("a gate", nonsense);
      if (gates.size() > kMostGates) nonsense.note("it gives a job more than 32 gates");
      for (const std::string& gate : gates)
        if (!api::is_qualified_name(gate)) nonsense.note("a gate", "is no qualified name");
      return plugin->judged(code, nonsense);
    });
    if (outcome == Answer::kClosed) {
      out.push_back(gate_of_faulty_plugin(plugin->name()));
      if (!fault) fault = own;
    }
    if (outcome != Answer::kOk) continue;
    for (std::string& gate : gates)
      if (std::find(out.begin(), out.end(), gate) == out.end()) out.push_back(std::move(gate));
  }
}

void PodGateBridge::granted(const hooks::JobQuery& query, hooks::PodGrants& out,
                            hooks::Fault& fault) {
  const RawJobQuery raw(query);
  for (LoadedPlugin* plugin : plugins_) {
    GrantAnswer answer;
    answer.pods.resize(query.pod_sets.size());
    const sluice_grant_sink_t sink{sizeof(sluice_grant_sink_t), 0, &answer, &grant};
    const Answer outcome = plugin->call(Hook::kPodGrants, fault, [&] {
      const std::int32_t code =
          plugin->extensions().pod_gate->granted(plugin->self(), &raw.raw(), &sink);
      return plugin->judged(code, answer.nonsense);
    });
    if (outcome == Answer::kClosed) return;
    if (outcome != Answer::kOk) continue;
    for (std::size_t i = 0; i < answer.pods.size(); ++i)
      if (answer.pods[i])
        out.pods[i] = std::min(out.pods[i].value_or(*answer.pods[i]), *answer.pods[i]);
  }
}

}  // namespace sluice::host
