#include "host/kernel/merge_patch.hpp"

#include "api/json/steps.hpp"

namespace sluice::host {

void merge_patch(boost::json::value& target, const boost::json::value& patch) {
  api::Steps::count();
  const auto* changes = patch.if_object();
  if (!changes) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  auto& object = target.get_object();
  for (const auto& change : *changes) {
    if (change.value().is_null()) {
      object.erase(change.key());
    } else {
      merge_patch(object[change.key()], change.value());
    }
  }
}

}  // namespace sluice::host
