#include "host/writes/edit.hpp"

#include "core/base/check.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kMemory = 8U << 10;  // most objects fit twice

}  // namespace

std::unique_ptr<boost::json::monotonic_resource> Edit::memory() {
  return std::make_unique<boost::json::monotonic_resource>(kMemory);
}

Edit::Edit(const api::KindInfo& kind) : ref_{&kind, {}}, memory_(memory()) {}

Edit::Edit(ObjectRef ref, RecordPtr stored, bool status,
           std::unique_ptr<boost::json::monotonic_resource> memory, boost::json::object before)
    : ref_(std::move(ref)),
      status_(status),
      stored_(std::move(stored)),
      memory_(std::move(memory)),
      before_(std::move(before)) {
  SLUICE_CHECK(stored_ != nullptr, "an edit of ", ref_.key, ", which is not there");
}

}  // namespace sluice::host
