// PublishedView: what drafts see that are made beside the kernel's thread: what is durable.
//
// It belongs to a machine that writes every status with the step that changed it, so that a record
// is the whole object. An identity is given on the kernel's thread, because workloads of the same
// second keep the order in which they came by it; only a body that says its own uid cannot wait for
// that. Any thread, and so must be the ids.
#pragma once

#include "host/plugins/clock.hpp"
#include "host/store/live_store.hpp"
#include "host/writes/drafter.hpp"

namespace sluice::host {

class PublishedView final : public DraftView {
 public:
  /// All must outlive it.
  PublishedView(const LiveStore& store, const Intake& intake, const PluginClock& clock,
                IdSource& ids)
      : store_(store), intake_(intake), clock_(clock), ids_(ids) {}

  const api::Scheme& scheme() const override { return intake_.scheme(); }
  Time now() const override { return clock_.now(); }
  IdSource& ids() const override { return ids_; }
  bool identifies(const api::KindInfo& kind) const override { return names_itself(kind); }
  RecordPtr find(const api::KindInfo& kind, std::string_view key) const override {
    return store_.get(kind, key);
  }
  boost::json::object current(const StoredObject& stored,
                              boost::json::storage_ptr storage) const override {
    return to_object(stored, std::move(storage));
  }
  /// As it is of nearly all; what the engine knows is asked when the draft is taken.
  bool may_lower_counts(std::string_view) const override { return false; }
  std::optional<std::int32_t> priority_of(std::string_view class_name) const override {
    return intake_.priority_classes().find(class_name);
  }

 private:
  const LiveStore& store_;
  const Intake& intake_;
  const PluginClock& clock_;
  IdSource& ids_;
};

}  // namespace sluice::host
