#include "host/writes/edit.hpp"

#include <string>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kMemory = 8U << 10;  // most objects fit twice

}  // namespace

Edit::Edit(const Kernel& kernel, ObjectRef ref, bool status)
    : ref_(std::move(ref)),
      status_(status),
      stored_(kernel.store().find(*ref_.kind, ref_.key)),
      memory_(std::make_unique<json::monotonic_resource>(kMemory)),
      before_(kernel.current(*ref_.kind, ref_.key, memory_.get())) {}

void Edit::commit(Kernel& kernel) {
  SLUICE_CHECK(after_.has_value(), "nothing is to become of ", ref_.key);
  if (status_) return kernel.commit(seal_status(kernel), &part(*after_, "status"));
  PreparedObject made = kernel.intake().seal(*ref_.kind, *after_);
  made.stored.hidden = stored_->hidden;
  kernel.commit(std::move(made));
}

StoredObject Edit::preview(Kernel& kernel) const {
  return kernel.intake().seal(*ref_.kind, *after_, true).stored;
}

PreparedObject Edit::seal_status(Kernel& kernel) const {
  PreparedObject out;
  out.stored.kind = stored_->kind;
  out.stored.key = stored_->key;
  out.stored.metadata = stored_->metadata;
  out.stored.body = stored_->body;
  out.stored.hidden = stored_->hidden;
  out.has_uid = out.has_creation_time = true;
  // Who owns which field of the status may have changed.
  if (std::string text = metadata_text(part(*after_, "metadata")); text != stored_->metadata.text())
    out.stored.metadata = Header(std::move(text));
  const auto known = kernel.typed_workload(*stored_);
  if (!known) {
    out.typed = kernel.intake().decode(*ref_.kind, *after_);
    return out;
  }
  auto workload = std::make_shared<api::Workload>(*known);
  workload->status = api::decode_workload_status(part(*after_, "status"));
  workload->extensions = kernel.scheme().extensions("Workload", *after_);
  out.typed = std::move(workload);
  return out;
}

}  // namespace sluice::host
