#include "core/types/kinds.hpp"

namespace sluice::api {

const Condition* WorkloadStatus::condition(std::string_view type) const {
  for (const auto& each : conditions) {
    if (each.type == type) return &each;
  }
  return nullptr;
}

}  // namespace sluice::api
