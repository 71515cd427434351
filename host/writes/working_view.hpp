// WorkingView: what drafts see that are made on the kernel's thread: everything as it is decided by
// now.
//
// Records are those of the store and valid until they change, so callers do not keep them. Belongs
// to the kernel's thread.
#pragma once

#include "core/engine/workload_views.hpp"
#include "host/kernel/kernel.hpp"
#include "host/writes/draft.hpp"

namespace sluice::host {

class WorkingView final : public DraftView {
 public:
  /// Both must outlive it.
  WorkingView(const Kernel& kernel, IdSource& ids) : kernel_(kernel), ids_(ids) {}

  const api::Scheme& scheme() const override { return kernel_.scheme(); }
  Time now() const override { return kernel_.now(); }
  IdSource& ids() const override { return ids_; }
  bool identifies(const api::KindInfo&) const override { return true; }
  RecordPtr find(const api::KindInfo& kind, std::string_view key) const override {
    return {RecordPtr(), kernel_.store().find(kind, key)};
  }
  boost::json::object current(const StoredObject& stored,
                              boost::json::storage_ptr storage) const override {
    return kernel_.current(stored, std::move(storage));
  }
  bool may_lower_counts(std::string_view key) const override {
    const auto id = kernel_.engine().find(key);
    return id && sluice::may_lower_counts(kernel_.engine().model(), *id);
  }
  std::optional<std::int32_t> priority_of(std::string_view class_name) const override {
    return kernel_.intake().priority_classes().find(class_name);
  }

 private:
  const Kernel& kernel_;
  IdSource& ids_;
};

}  // namespace sluice::host
