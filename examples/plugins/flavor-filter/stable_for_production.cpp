// Workloads with the label tier: production never run on spot capacity.
#include <sluice/plugin.hpp>

class StableForProduction {
 public:
  void filter(const sluice::FilterQuery& query, sluice::FilterAnswer& answer) const {
    if (query.workload().label("tier") != "production") return;
    for (std::uint32_t i = 0; i < query.flavors(); ++i)
      if (query.flavor(i).starts_with("spot")) answer.skip(i, "spot is not for production");
  }
  std::string filter_shape_key(const sluice::Workload& workload) const {
    return std::string(workload.label("tier").value_or(""));
  }
};
SLUICE_PLUGIN(StableForProduction, "stable-for-production", "1.0.0")
