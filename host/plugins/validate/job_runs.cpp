#include <algorithm>
#include <boost/json.hpp>
#include <memory>

#include "api/jobs/job_kind.hpp"
#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/plugins/job_query.hpp"
#include "host/plugins/validate/hook_runs.hpp"
#include "host/plugins/validate/own_kinds.hpp"

namespace sluice::host {

namespace {

/// A job with its workloads, as the host would show it.
struct SampleJob {
  std::string kind = "batch/Job";
  std::string json;
  std::vector<hooks::JobPodSet> pod_sets;
  std::vector<hooks::JobWorkload> workloads;

  hooks::JobQuery query() const { return {kind, json, pod_sets, workloads}; }
};

/// For a note of a call.
std::string shown_job(const SampleJob& job) {
  std::string text = job.kind + " " + job.json;
  for (const auto& each : job.workloads) text += ", " + shown(*each.workload);
  return text;
}

std::string job_json(int parallelism, int generation, bool annotated) {
  boost::json::object metadata{
      {"name", "train"}, {"namespace", "team-a"}, {"uid", "uid-train"}, {"generation", generation}};
  const std::string& note = UserText::present();
  if (annotated) metadata["annotations"] = {{"example.com/note", note.empty() ? "true" : note}};
  return boost::json::serialize(
      boost::json::object{{"apiVersion", "batch/v1"},
                          {"kind", "Job"},
                          {"metadata", metadata},
                          {"spec", {{"parallelism", parallelism}, {"suspend", false}}}});
}

hooks::JobWorkload workload_of(const std::string& name, std::int32_t count, bool admitted,
                               hooks::JobMatch match) {
  auto w = std::make_shared<api::Workload>();
  w->meta.ns = "team-a";
  w->meta.name = name;
  w->meta.uid = "uid-" + name;
  w->pod_sets.resize(1);
  w->pod_sets[0].count = count;
  if (admitted) {
    w->status.admission = api::Admission{"cq", {api::PodSetAssignment{"main", count, {}, {}}}};
    for (const char* type : {"QuotaReserved", "Admitted"})
      w->status.conditions.push_back({type, "True", type, "", 0, 0});
  }
  return {std::move(w), match};
}

/// Jobs of the kinds that it contributes, as a host reads them.
void add_own_jobs(TestInstance& instance, std::vector<SampleJob>& all) {
  const OwnKinds kinds(instance);
  for (const OwnObject& object : kinds.jobs()) {
    const api::JobKind& kind = *kinds.scheme().find(object.api_version, object.kind)->job;
    SampleJob job{std::string(kind.group_kind()), object.text, {}, {}};
    boost::system::error_code error;
    const auto tree = api::parse_deep(object.text, error);
    SLUICE_CHECK(!error, "a made-up object cannot be read: ", object.text);
    for (const api::JobPodSet& set : kind.pod_sets(tree.get_object()))
      job.pod_sets.push_back({set.name, set.count, set.min_count});
    all.push_back(std::move(job));
  }
}

std::vector<SampleJob> sample_jobs(TestInstance& instance) {
  std::vector<SampleJob> all;
  for (const bool annotated : {false, true}) {
    for (const std::int32_t count : {2, 3, 5}) {  // one workload of three pods, or none
      SampleJob job{"batch/Job", job_json(count, count, annotated), {{"main", count, {}}}, {}};
      all.push_back(job);
      const auto match = count == 3 ? hooks::JobMatch::kSame : hooks::JobMatch::kCounts;
      for (const bool admitted : {false, true}) {
        job.workloads = {workload_of("job-train-00000", 3, admitted, match)};
        all.push_back(job);
      }
      job.workloads.push_back(workload_of("job-train-11111", 4, false, hooks::JobMatch::kCounts));
      all.push_back(job);
    }
  }
  all.push_back({"ray.io/RayCluster", "{}", {}, {}});
  add_own_jobs(instance, all);
  return all;
}

/// Collects a plan as text and as what to do.
struct Plan {
  std::string text;
  std::vector<std::string> created, finished, resized, removed;
  bool recreated = false;
};

Plan& plan_of(void* context) { return *static_cast<Plan*>(context); }

Plan ask_plan(TestInstance& instance, const SampleJob& job, HostAge age) {
  Plan plan;
  const sluice_job_plan_sink_t sink{
      sizeof(sluice_job_plan_sink_t),
      0,
      &plan,
      [](void* out, sluice_str_t w) { plan_of(out).text += "speaker " + text_of(w) + ";"; },
      [](void* out, sluice_str_t w) {
        plan_of(out).text += "resize " + text_of(w) + ";";
        plan_of(out).resized.push_back(text_of(w));
      },
      [](void* out, const sluice_new_workload_t* w) {
        plan_of(out).text += "create " + text_of(w->name) + "/" + text_of(w->revision) + ";";
        plan_of(out).created.push_back(w->name.len > 0 ? text_of(w->name)
                                                       : "job-train-" + text_of(w->revision));
      },
      [](void* out, sluice_str_t w, sluice_str_t reason, sluice_str_t) {
        plan_of(out).text += "finish " + text_of(w) + " " + text_of(reason) + ";";
        plan_of(out).finished.push_back(text_of(w));
      },
      [](void* out) {
        plan_of(out).text += "recreate;";
        plan_of(out).recreated = true;
      },
      [](void* out, sluice_str_t w) {
        plan_of(out).text += "remove " + text_of(w) + ";";
        plan_of(out).removed.push_back(text_of(w));
      }};
  const hooks::JobQuery query = job.query();
  const RawJobQuery raw(query);
  Longer<sluice_job_query_t> longer(raw.raw(), age);
  longer.value.workload_api = workload_api(age);
  const auto* mapping = instance.table<sluice_job_mapping_t>(SLUICE_EXT_JOB_MAPPING);
  const Asking asking("job-mapping.plan", shown_job(job));
  const std::int32_t code = mapping->plan(instance.self, longer.get(), &sink);
  expect(code == SLUICE_OK,
         "plan answered " + std::to_string(code) + ": " + instance.side.take_fault_text());
  return plan;
}

std::string ask_gates(TestInstance& instance, const SampleJob& job, HostAge age) {
  std::string text;
  const hooks::JobQuery query = job.query();
  const RawJobQuery raw(query);
  Longer<sluice_job_query_t> longer(raw.raw(), age);
  longer.value.workload_api = workload_api(age);
  const auto* gate = instance.table<sluice_pod_gate_t>(SLUICE_EXT_POD_GATE);
  const sluice_sink_t sink = sink_of(text);
  {
    const Asking asking("pod-gate.gates", shown_job(job));
    const std::int32_t code = gate->gates(instance.self, longer.get(), &sink);
    expect(code == SLUICE_OK, "gates answered " + std::to_string(code));
  }
  struct Grants {
    std::string text;
    std::uint64_t pod_sets;
    bool sensible = true;
  } grants{"", job.pod_sets.size()};
  const sluice_grant_sink_t out{sizeof(sluice_grant_sink_t), 0, &grants,
                                [](void* context, std::uint64_t pod_set, std::int32_t pods) {
                                  Grants& g = *static_cast<Grants*>(context);
                                  g.sensible &= pod_set < g.pod_sets && pods >= 0;
                                  g.text +=
                                      " " + std::to_string(pod_set) + ":" + std::to_string(pods);
                                }};
  const Asking asking("pod-gate.granted", shown_job(job));
  const std::int32_t code = gate->granted(instance.self, longer.get(), &out);
  expect(code == SLUICE_OK, "granted answered " + std::to_string(code));
  expect(grants.sensible, "granted names a pod set that there is not, or a negative number");
  return text + grants.text;
}

/// What the host would do with the plan.
void carry_out(SampleJob& job, const Plan& plan) {
  if (plan.recreated)
    job.workloads = {
        workload_of("job-train-99999", job.pod_sets[0].count, false, hooks::JobMatch::kSame)};
  for (auto& [workload, match] : job.workloads) {
    const std::string& name = workload->meta.name;
    auto changed = std::make_shared<api::Workload>(*workload);
    if (std::count(plan.resized.begin(), plan.resized.end(), name) > 0) {
      changed->pod_sets[0].count = job.pod_sets[0].count;
      match = hooks::JobMatch::kSame;
    }
    if (std::count(plan.finished.begin(), plan.finished.end(), name) > 0 &&
        changed->status.condition("Finished") == nullptr)
      changed->status.conditions.push_back({"Finished", "True", "Done", "", 0, 0});
    workload = changed;
  }
  for (const std::string& name : plan.created) {
    const bool known = std::any_of(job.workloads.begin(), job.workloads.end(),
                                   [&](const auto& w) { return w.workload->meta.name == name; });
    if (!known)
      job.workloads.push_back(
          workload_of(name, job.pod_sets[0].count, false, hooks::JobMatch::kSame));
  }
}

}  // namespace

std::string ask_job_hooks(TestInstance& instance, HostAge age) {
  std::string text;
  for (const SampleJob& job : sample_jobs(instance)) {
    if (instance.table<void>(SLUICE_EXT_JOB_MAPPING) != nullptr)
      text += "plan " + ask_plan(instance, job, age).text + "\n";
    if (instance.table<void>(SLUICE_EXT_POD_GATE) != nullptr)
      text += "gates " + ask_gates(instance, job, age) + "\n";
  }
  return text;
}

void drive_job_mapping(TestInstance& instance) {
  for (SampleJob job : sample_jobs(instance)) {
    if (job.pod_sets.empty()) continue;
    std::string last;
    for (int round = 0; round < 8; ++round) {
      const Plan plan = ask_plan(instance, job, HostAge::kPresent);
      if (plan.text == last && !plan.recreated) break;
      expect(round < 7, "it never comes to rest: " + plan.text);
      last = plan.text;
      carry_out(job, plan);
    }
  }
}

void feed_job_garbage(TestInstance& instance) {
  for (const std::string_view text :
       {std::string_view(""), std::string_view("no json"), std::string_view("[]"),
        std::string_view("{\"spec\":7}"), std::string_view("\xff\xfe")}) {
    const hooks::JobQuery query{"batch/Job", text, {}, {}};
    const RawJobQuery raw(query);
    if (const auto* mapping = instance.table<sluice_job_mapping_t>(SLUICE_EXT_JOB_MAPPING)) {
      const sluice_job_plan_sink_t sink{sizeof(sluice_job_plan_sink_t),
                                        0,
                                        nullptr,
                                        [](void*, sluice_str_t) {},
                                        [](void*, sluice_str_t) {},
                                        [](void*, const sluice_new_workload_t*) {},
                                        [](void*, sluice_str_t, sluice_str_t, sluice_str_t) {},
                                        [](void*) {},
                                        [](void*, sluice_str_t) {}};
      const Asking asking("job-mapping.plan", "batch/Job " + shown_bytes(text));
      mapping->plan(instance.self, &raw.raw(), &sink);
    }
    if (const auto* gate = instance.table<sluice_pod_gate_t>(SLUICE_EXT_POD_GATE)) {
      std::string out;
      const sluice_sink_t sink = sink_of(out);
      {
        const Asking asking("pod-gate.gates", "batch/Job " + shown_bytes(text));
        gate->gates(instance.self, &raw.raw(), &sink);
      }
      const sluice_grant_sink_t grants{sizeof(sluice_grant_sink_t), 0, nullptr,
                                       [](void*, std::uint64_t, std::int32_t) {}};
      const Asking asking("pod-gate.granted", "batch/Job " + shown_bytes(text));
      gate->granted(instance.self, &raw.raw(), &grants);
    }
  }
}

}  // namespace sluice::host
