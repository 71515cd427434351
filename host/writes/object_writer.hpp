// ObjectWriter: creating, changing and deleting objects by the rules of the Kubernetes API, for
// users (through Writer), controllers and plugins alike. It is the live ObjectAccess.
//
// Every change goes through here, as a Draft: what it says, checked by the rules of the Drafter,
// then what plugins and the guard say, identity, finalizers, and then the Kernel. A refused change
// changes nothing. Belongs to the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/kernel/kernel.hpp"
#include "host/kernel/object_index.hpp"
#include "host/objects/object_access.hpp"
#include "host/writes/deletion.hpp"
#include "host/writes/drafter.hpp"
#include "host/writes/ids.hpp"
#include "host/writes/working_view.hpp"

namespace sluice::host {

/// Where Events go.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void emit(const EventNote& event) = 0;
};

/// Whether a new object of the kind is judged as it is when it is written, by plugins too, whatever
/// was found about it before: built-in kinds and jobs get names, defaults and statuses that hang on
/// who they are and on what is there.
bool is_judged_when_written(const api::KindInfo& kind);

class ObjectWriter final : public ObjectAccess {
 public:
  /// All must outlive the writer.
  ObjectWriter(Kernel& kernel, const ObjectIndex& index, IdSource& ids);

  void add_policy(WritePolicy& policy) { drafter_.add_policy(policy); }
  /// What is in use stays when it is deleted.
  void hold(Deletion::Holder holder) { deletion_.hold(std::move(holder)); }
  /// nullptr: Events are dropped.
  void set_event_sink(EventSink* sink) { events_ = sink; }
  /// Objects can be created only in namespaces that exist.
  void require_namespaces() { drafter_.require_namespaces(); }
  const Drafter& drafter() const { return drafter_; }
  const WorkingView& view() const { return view_; }

  /// `object` names its apiVersion and kind and, when namespaced, its namespace.
  ApiResult<WriteOutcome> create(const api::KindInfo& kind, boost::json::object object,
                                 const WriteMode& mode);
  /// The same of an object that was encoded before: without another look at it where its kind
  /// allows that.
  ApiResult<WriteOutcome> create(PreparedObject prepared, const WriteMode& mode);
  /// Makes of the object what the edit says. REQUIRES: that was said.
  ApiResult<WriteOutcome> replace(Edit edit, const WriteMode& mode);
  /// Carries out what was drafted; where the outcome is `later` the same draft is taken again.
  /// REQUIRES: it holds in view().
  ApiResult<WriteOutcome> take(Draft& draft, const WriteMode& mode);
  ApiResult<WriteOutcome> remove(const ObjectRef& ref, const DeleteOptions& options,
                                 const WriteMode& mode);

  Kernel& kernel() { return kernel_; }

  // ObjectAccess
  Time now() const override { return kernel_.now(); }
  const api::Scheme& scheme() const override { return kernel_.scheme(); }
  std::optional<boost::json::object> get(const api::KindInfo& kind,
                                         std::string_view key) const override;
  bool exists(const api::KindInfo& kind, std::string_view key) const override;
  std::vector<std::string> keys(const api::KindInfo& kind, std::string_view ns) const override;
  std::vector<ObjectRef> owned_by(std::string_view uid, std::string_view ns) const override;
  ApiResult<void> create(boost::json::object object) override;
  ApiResult<void> update(boost::json::object object) override;
  ApiResult<void> update_status(const api::KindInfo& kind, std::string_view key,
                                boost::json::object status) override;
  ApiResult<void> remove(const api::KindInfo& kind, std::string_view key, Propagation propagation,
                         std::optional<std::int64_t> grace_seconds) override;
  void emit(EventNote event) override;
  ApiResult<void> report_check(std::string_view key,
                               const api::AdmissionCheckState& check) override;
  void tell_ended(std::string_view key) override { kernel_.tell_ended(key); }
  ApiResult<void> finish_workload(std::string_view key, std::string_view reason,
                                  std::string_view message) override;

 private:
  ApiResult<void> apply_workload_status(const ObjectRef& ref, const boost::json::object& after);
  void identify(Draft& draft);
  ApiResult<WriteOutcome> store_new(Draft& draft, const WriteMode& mode);
  ApiResult<WriteOutcome> store_change(Draft& draft, const WriteMode& mode);
  void commit(Draft& draft);
  bool needs_tree(const api::KindInfo& kind, const WriteMode& mode) const;
  WriteOutcome outcome_of_new(const ObjectRef& ref, const WriteMode& mode) const;
  static WriteOutcome outcome_of(const StoredObject& stored, int code, const WriteMode& mode);
  static WriteOutcome answered_later();

  Kernel& kernel_;
  const ObjectIndex& index_;
  IdSource& ids_;
  Deletion deletion_;
  Drafter drafter_;
  WorkingView view_;
  EventSink* events_ = nullptr;
};

}  // namespace sluice::host
