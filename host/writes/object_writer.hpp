// ObjectWriter: creating, changing and deleting objects by the rules of the Kubernetes API, for
// users (through Writer), controllers and plugins alike. It is the live ObjectAccess.
//
// Every change goes through here: defaults, policies of the kind, validation, identity,
// generation, finalizers, and then the Kernel. A refused change changes nothing. Belongs to the
// kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/kernel/kernel.hpp"
#include "host/kernel/object_index.hpp"
#include "host/objects/object_access.hpp"
#include "host/writes/deletion.hpp"
#include "host/writes/edit.hpp"
#include "host/writes/ids.hpp"
#include "host/writes/policy.hpp"

namespace sluice::host {

/// Where Events go.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void emit(const EventNote& event) = 0;
};

/// How one write is carried out.
struct WriteMode {
  bool dry_run = false;
  bool by_system = false;  ///< the host itself: a status is taken over on creation
  bool answer = true;      ///< false: nobody reads the object of the outcome
  FieldValidation field_validation = FieldValidation::kIgnore;
  std::string_view field_manager;  ///< who owns the fields that change; empty: not recorded
  std::string_view plugin;         ///< that writes; it may take its own mark away
  std::vector<std::string>* warnings = nullptr;  ///< unknown and duplicate fields go here
  /// What the writer should know and what refuses nothing, however strict he is.
  std::vector<std::string>* advice = nullptr;
  /// Asked last, with the object as it would be stored; may be empty.
  std::function<std::optional<ApiError>(const api::KindInfo&, const boost::json::object&)> guard;
};

class ObjectWriter final : public ObjectAccess {
 public:
  /// All must outlive the writer.
  ObjectWriter(Kernel& kernel, const ObjectIndex& index, IdSource& ids);

  void add_policy(WritePolicy& policy) { policies_.push_back(&policy); }
  /// nullptr: Events are dropped.
  void set_event_sink(EventSink* sink) { events_ = sink; }
  /// Objects can be created only in namespaces that exist.
  void require_namespaces() { require_namespaces_ = true; }

  /// `object` names its apiVersion and kind and, when namespaced, its namespace.
  ApiResult<WriteOutcome> create(const api::KindInfo& kind, boost::json::object object,
                                 const WriteMode& mode);
  /// The same of an object that was sealed before: without another look at it where its kind allows
  /// that.
  ApiResult<WriteOutcome> create(PreparedObject prepared, const WriteMode& mode);
  /// Makes of the object what the edit says. REQUIRES: that was said.
  ApiResult<WriteOutcome> replace(Edit edit, const WriteMode& mode);
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
  std::vector<ObjectRef> owned_by(std::string_view uid) const override;
  ApiResult<void> create(boost::json::object object) override;
  ApiResult<void> update(boost::json::object object) override;
  ApiResult<void> update_status(const api::KindInfo& kind, std::string_view key,
                                boost::json::object status) override;
  ApiResult<void> remove(const api::KindInfo& kind, std::string_view key, Propagation propagation,
                         std::optional<std::int64_t> grace_seconds) override;
  void emit(EventNote event) override;
  ApiResult<void> report_check(std::string_view key,
                               const api::AdmissionCheckState& check) override;
  ApiResult<void> finish_workload(std::string_view key, std::string_view reason,
                                  std::string_view message) override;

 private:
  ApiResult<std::string> name_new(const api::KindInfo& kind, boost::json::object& object) const;
  std::optional<ApiError> namespace_refuses(const api::KindInfo& kind, std::string_view name,
                                            std::string_view ns) const;
  std::optional<ApiError> judge(const api::KindInfo& kind, std::string_view name,
                                boost::json::object& object, const boost::json::object* old,
                                bool status, const WriteMode& mode,
                                std::vector<api::Problem> problems);
  ApiResult<void> apply_workload_status(const ObjectRef& ref, const boost::json::object& after);
  std::optional<ApiError> refuses(Edit& edit, std::string_view name, const WriteMode& mode);
  WriteOutcome store_new(const ObjectRef& ref, const boost::json::object& object,
                         const WriteMode& mode);
  bool needs_tree(const api::KindInfo& kind, const WriteMode& mode) const;
  static WriteOutcome outcome_of(const StoredObject& stored, int code, const WriteMode& mode);

  Kernel& kernel_;
  const ObjectIndex& index_;
  IdSource& ids_;
  Deletion deletion_;
  std::vector<WritePolicy*> policies_;
  EventSink* events_ = nullptr;
  bool require_namespaces_ = false;
};

}  // namespace sluice::host
