#include "host/plugins/bridge_jobs.hpp"

#include <algorithm>
#include <exception>
#include <string_view>

#include "host/plugins/job_query.hpp"

namespace sluice::host {

namespace {

/// What one plugin answered in one call.
struct PlanAnswer {
  hooks::JobPlan plan;
  bool given = false;
  bool nonsense = false;
};

/// Runs fn on the plan; what cannot be stored is a fault, not half an answer.
template <typename Fn>
void store(void* context, bool sensible, Fn&& fn) noexcept {
  PlanAnswer& answer = *static_cast<PlanAnswer*>(context);
  answer.given = true;
  try {
    if (sensible)
      fn(answer.plan);
    else
      answer.nonsense = true;
  } catch (const std::exception&) {
    answer.nonsense = true;
  }
}

void speaker(void* context, sluice_str_t workload) noexcept {
  store(context, workload.len > 0, [&](hooks::JobPlan& plan) { plan.speaker = text_of(workload); });
}

void resize(void* context, sluice_str_t workload) noexcept {
  store(context, workload.len > 0,
        [&](hooks::JobPlan& plan) { plan.resize.push_back(text_of(workload)); });
}

std::vector<std::pair<std::string, std::string>> pairs_of(const sluice_text_pair_t* pairs,
                                                          std::uint64_t count) {
  std::vector<std::pair<std::string, std::string>> out;
  for (std::uint64_t i = 0; i < count; ++i)
    out.emplace_back(text_of(pairs[i].key), text_of(pairs[i].value));
  return out;
}

void create(void* context, const sluice_new_workload_t* workload) noexcept {
  store(context, SLUICE_HAS(workload, annotations), [&](hooks::JobPlan& plan) {
    plan.create.push_back({text_of(workload->name), text_of(workload->revision),
                           pairs_of(workload->labels, workload->label_count),
                           pairs_of(workload->annotations, workload->annotation_count)});
  });
}

void finish(void* context, sluice_str_t workload, sluice_str_t reason,
            sluice_str_t message) noexcept {
  store(context, workload.len > 0 && reason.len > 0, [&](hooks::JobPlan& plan) {
    plan.finish.push_back({text_of(workload), text_of(reason), text_of(message)});
  });
}

void recreate(void* context) noexcept {
  store(context, true, [](hooks::JobPlan& plan) { plan.recreate = true; });
}

void remove(void* context, sluice_str_t workload) noexcept {
  store(context, workload.len > 0,
        [&](hooks::JobPlan& plan) { plan.remove.push_back(text_of(workload)); });
}

bool is_contradiction(const hooks::JobPlan& plan) {
  return plan.recreate && (!plan.speaker.empty() || !plan.resize.empty() || !plan.create.empty() ||
                           !plan.finish.empty() || !plan.remove.empty());
}

struct GrantAnswer {
  std::vector<std::optional<std::int32_t>> pods;
  bool nonsense = false;
};

void grant(void* context, std::uint64_t pod_set, std::int32_t pods) noexcept {
  GrantAnswer& answer = *static_cast<GrantAnswer*>(context);
  if (pod_set >= answer.pods.size() || pods < 0)
    answer.nonsense = true;
  else
    answer.pods[pod_set] = pods;
}

}  // namespace

std::string gate_of_faulty_plugin(const std::string& plugin) {
  return "sluice.dev/waits-for-" + plugin;
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
      const bool nonsense = answer.nonsense || is_contradiction(answer.plan);
      return code == SLUICE_OK && nonsense ? LoadedPlugin::kNonsense : code;
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
    std::string text;
    const sluice_sink_t sink = sink_into(text);
    hooks::Fault own;
    const Answer outcome = plugin->call(Hook::kPodGates, own, [&] {
      return plugin->extensions().pod_gate->gates(plugin->self(), &raw.raw(), &sink);
    });
    if (outcome == Answer::kClosed) {
      out.push_back(gate_of_faulty_plugin(plugin->name()));
      if (!fault) fault = own;
    }
    if (outcome != Answer::kOk) continue;
    for (std::string& gate : lines_of(text))
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
      return code == SLUICE_OK && answer.nonsense ? LoadedPlugin::kNonsense : code;
    });
    if (outcome == Answer::kClosed) return;
    if (outcome != Answer::kOk) continue;
    for (std::size_t i = 0; i < answer.pods.size(); ++i)
      if (answer.pods[i])
        out.pods[i] = std::min(out.pods[i].value_or(*answer.pods[i]), *answer.pods[i]);
  }
}

}  // namespace sluice::host
