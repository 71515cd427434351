// pod-groups: plain pods, and groups of them, wait for quota (KEP-976). What is to become of pods
// is decided in plan.hpp and carried out by the Keeper; here that is bound to the host.
#include <sluice/plugin.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keeper.hpp"
#include "makers.hpp"
#include "names.hpp"
#include "parents.hpp"
#include "rules.hpp"
#include "schema.hpp"

namespace pods {

std::optional<sluice::Json> labels_of(const sluice::Context& context, const std::string& ns) {
  const auto found = context.objects().find({"v1", "Namespace", "", ns});
  if (!found) return std::nullopt;
  const sluice::Json* labels = found->find("metadata.labels");
  return labels != nullptr ? *labels : sluice::Json::object();
}

class PodGroups {
 public:
  static constexpr std::string_view kDescription =
      "KEP-976: pods that name a queue, alone or in groups, start when there is quota for them";
  static constexpr std::string_view kConfigSchema = pods::kConfigSchema;

  explicit PodGroups(const sluice::Context& context)
      : context_(context),
        settings_(settings_of(context.config(),
                              [context](const std::string& ns) { return labels_of(context, ns); })),
        keeper_(context, settings_.label_keys) {}

  std::string schema() const { return std::string(kSchema); }

  std::vector<std::string> kinds() const {
    std::vector<std::string> out = judged_pods(settings_);
    for (std::string& maker : judged_makers(settings_)) out.push_back(std::move(maker));
    return out;
  }
  std::optional<std::string> set_defaults(const sluice::Write& write) {
    const HasDefaultQueue has_default_queue = [this](const std::string& ns) {
      return context_.objects()
          .find({std::string(kKueue), "LocalQueue", ns, std::string(kDefaultQueue)})
          .has_value();
    };
    if (is_maker(write)) return pass_on(write, settings_, has_default_queue);
    if (write.kind() != "Pod" || write.operation() != sluice::Operation::kCreate)
      return std::nullopt;
    return hold(write.object(), settings_, has_default_queue,
                {write.user(), [this](const sluice::ObjectRef& job) { return find_job(job); }});
  }
  void validate(const sluice::Write& write, sluice::FieldErrors& errors) {
    if (is_scale(write))
      return check_scale(
          write,
          [this](const std::string& ns, const std::string& selector) {
            return context_.objects().list("v1", "Pod", ns, selector);
          },
          errors);
    if (is_maker(write))
      check_maker(write, errors);
    else
      check(write, errors);
  }

  std::vector<std::string> watched_kinds() const {
    const std::string kueue(kKueue);
    return {"v1 Pod label:" + std::string(kManaged) + "=true", kueue + " Workload claimed",
            std::string(kSetVersion) + " " + kSetKind + " label:" + std::string(kQueue),
            kueue + " WorkloadPriorityClass", "scheduling.k8s.io/v1 PriorityClass"};
  }
  sluice::Again reconcile(const sluice::ObjectRef& what) {
    constexpr std::int64_t kLaterSeconds = 30;
    return keeper_.look_at(what) ? sluice::Again::on_change()
                                 : sluice::Again::in_seconds(kLaterSeconds);
  }

  void timer(std::uint64_t, std::int64_t) { keeper_.look_at_those_without_pods(); }

  /// A workload of pods is this plugin's: without it nobody would let them start.
  void traits(const sluice::Workload& workload, sluice::Traits& traits) {
    const auto owner = workload.controller();
    if (workload.annotation(kIsGroup) != "true" && (!owner || owner->first != "Pod")) return;
    traits.shape_key("pods");
    // In a simulation nothing runs.
    if (!context_.simulated()) traits.ends_later();
    if (traits.holds_quota()) return;
    if (const auto why = keeper_.lacks_pods(workload)) traits.takes_no_part(*why);
  }

 private:
  std::optional<sluice::Json> find_job(const sluice::ObjectRef& job) const {
    const bool is_job = (job.kind == "Job" && job.api_version.starts_with("batch/")) ||
                        (job.kind == "RayCluster" && job.api_version.starts_with("ray.io/"));
    if (!is_job) return std::nullopt;
    const auto reply = context_.objects().get(job);
    return reply ? std::optional(reply.json()) : std::nullopt;
  }

  sluice::Context context_;
  Settings settings_;
  Keeper keeper_;
};

}  // namespace pods

SLUICE_MAY("get,list,update,patch,delete Pod");
SLUICE_MAY("patch Pod/status");
SLUICE_MAY("get,create,patch,delete kueue.x-k8s.io/Workload");
SLUICE_MAY("patch kueue.x-k8s.io/Workload/status");
SLUICE_MAY("get Namespace");
SLUICE_MAY("get batch/Job");
SLUICE_MAY("get ray.io/RayCluster");
SLUICE_MAY("get apps/StatefulSet");
SLUICE_MAY("get kueue.x-k8s.io/ResourceFlavor");
SLUICE_MAY("get kueue.x-k8s.io/LocalQueue");
SLUICE_MAY("get kueue.x-k8s.io/WorkloadPriorityClass");
SLUICE_MAY("get,list scheduling.k8s.io/PriorityClass");
SLUICE_PLUGIN(pods::PodGroups, "pod-groups", "0.1.0")
