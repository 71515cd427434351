// admission-fair-sharing: KEP-4136 as a plugin. What is counted is in usage.hpp and queues.hpp;
// here it is bound to the host.
#include <sluice/plugin.hpp>

#include "queues.hpp"
#include "schema.hpp"
#include "settings.hpp"

namespace afs {

class AdmissionFairSharing {
 public:
  static constexpr std::string_view kDescription =
      "KEP-4136: of the LocalQueues of a ClusterQueue the one that has used least is served first";
  static constexpr std::string_view kConfigSchema = afs::kConfigSchema;

  explicit AdmissionFairSharing(const sluice::Context& context)
      : context_(context), rates_(rates_of(context.config())), queues_(context, rates_) {}

  std::string schema() const { return std::string(kSchema); }

  std::vector<std::string> watched_kinds() const {
    const std::string version(kVersion);
    return {version + " ClusterQueue", version + " LocalQueue", version + " Workload"};
  }
  sluice::Again reconcile(const sluice::ObjectRef& what) {
    queues_.look_at(what);
    sample_later();
    return {};
  }

  void timer(std::uint64_t, std::int64_t) {
    sampling_ = false;
    sample_later();  // first: whatever becomes of this sample, there is a next one
    queues_.sample();
    sample_later();
  }

  void order_local_queue(const sluice::OrderQuery& query, sluice::OrderAnswer& answer) {
    if (const auto standing = queues_.standing(query.local_queue()))
      answer.key(key_of(standing->share), standing->because);
  }

 private:
  static constexpr std::uint64_t kSamplingTimer = 1;

  void sample_later() {
    if (sampling_ || !queues_.worth_sampling()) return;
    const auto pause = static_cast<std::int64_t>(rates_.sampling_seconds * 1e9);
    sampling_ = context_.set_timer(kSamplingTimer, context_.now() + pause);
  }

  sluice::Context context_;
  Rates rates_;
  Queues queues_;
  bool sampling_ = false;
};

}  // namespace afs

SLUICE_MAY("get,list kueue.x-k8s.io/ClusterQueue");
SLUICE_MAY("get,list kueue.x-k8s.io/LocalQueue");
SLUICE_MAY("get,list kueue.x-k8s.io/Workload");
SLUICE_MAY("patch kueue.x-k8s.io/LocalQueue/status");
SLUICE_PLUGIN(afs::AdmissionFairSharing, "admission-fair-sharing", "0.1.0")
