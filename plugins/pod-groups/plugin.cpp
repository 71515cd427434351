// pod-groups: plain pods, and groups of them, wait for quota (KEP-976). What is to become of pods
// is decided in plan.hpp and carried out by the Keeper; here that is bound to the host.
#include <sluice/plugin.hpp>

#include <optional>
#include <string>
#include <vector>

#include "keeper.hpp"
#include "names.hpp"
#include "rules.hpp"
#include "schema.hpp"

namespace pods {

class PodGroups {
 public:
  static constexpr std::string_view kDescription =
      "KEP-976: pods that name a queue, alone or in groups, start when there is quota for them";
  static constexpr std::string_view kConfigSchema = pods::kConfigSchema;

  explicit PodGroups(const sluice::Context& context)
      : context_(context), settings_(settings_of(context.config())), keeper_(context) {}

  std::string schema() const { return std::string(kSchema); }

  std::vector<std::string> kinds() const { return {"Pod"}; }
  std::optional<std::string> set_defaults(const sluice::Write& write) {
    if (write.operation() != sluice::Operation::kCreate) return std::nullopt;
    return hold(write.object(), settings_, default_queues_);
  }
  void validate(const sluice::Write& write, sluice::FieldErrors& errors) { check(write, errors); }

  std::vector<std::string> watched_kinds() const {
    const std::string kueue(kKueue);
    return {"v1 Pod label:" + std::string(kManaged) + "=true", kueue + " Workload claimed",
            kueue + " LocalQueue", kueue + " WorkloadPriorityClass",
            "scheduling.k8s.io/v1 PriorityClass"};
  }
  sluice::Again reconcile(const sluice::ObjectRef& what) {
    if (what.kind == "LocalQueue")
      look_at_queue(what);
    else
      keeper_.look_at(what);
    return {};
  }

  /// A workload of pods is this plugin's: without it nobody would let them start.
  void traits(const sluice::Workload& workload, sluice::Traits& traits) {
    const auto owner = workload.controller();
    if (workload.annotation(kIsGroup) != "true" && (!owner || owner->first != "Pod")) return;
    traits.shape_key("pods");
    if (const auto why = keeper_.lacks_pods(workload.key()); why && !traits.holds_quota())
      traits.takes_no_part(*why);
  }

 private:
  void look_at_queue(const sluice::ObjectRef& what) {
    if (what.name != kDefaultQueue) return;
    if (context_.objects().find(what))
      default_queues_.insert(what.ns);
    else
      default_queues_.erase(what.ns);
  }

  sluice::Context context_;
  Settings settings_;
  DefaultQueues default_queues_;
  Keeper keeper_;
};

}  // namespace pods

SLUICE_MAY("get,list,update,patch,delete Pod");
SLUICE_MAY("patch Pod/status");
SLUICE_MAY("get,create,patch,delete kueue.x-k8s.io/Workload");
SLUICE_MAY("patch kueue.x-k8s.io/Workload/status");
SLUICE_MAY("get kueue.x-k8s.io/ResourceFlavor");
SLUICE_MAY("get kueue.x-k8s.io/LocalQueue");
SLUICE_MAY("get kueue.x-k8s.io/WorkloadPriorityClass");
SLUICE_MAY("get,list scheduling.k8s.io/PriorityClass");
SLUICE_PLUGIN(pods::PodGroups, "pod-groups", "0.1.0")
