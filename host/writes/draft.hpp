// Draft: what a write comes to, worked out beside the thread that writes.
//
// All that costs with the size of a request (patching, defaults, validation, owners of fields, the
// forms that are stored) is done in a draft, by one pure function of the request and of what was
// read for it (Writer::draft). On an I/O thread it reads the published view. What it read is kept,
// and the kernel's thread takes the draft if its own view says the same: a draft that holds is
// exactly what that thread would have made. Else it is made anew.
//
// Plugins are asked on the kernel's thread alone. A draft of an object that they judge is encoded
// all the same, as if they had nothing to change, which is what they mostly have; and is encoded
// again when one had.
//
// Invariant: a draft that was refused says only why; one that is encoded needs nothing but an
// identity (where `identified` is false), the word of plugins (where there is a `judged`) and of
// the guard, and to be committed. Used by one thread at a time.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "core/types/kinds.hpp"
#include "host/objects/intake.hpp"
#include "host/objects/object_access.hpp"
#include "host/objects/write_questions.hpp"
#include "host/store/change.hpp"
#include "host/writes/edit.hpp"
#include "host/writes/ids.hpp"

namespace sluice::host {

/// What a draft may look at.
class DraftView {
 public:
  virtual ~DraftView() = default;
  virtual const api::Scheme& scheme() const = 0;
  virtual Time now() const = 0;
  virtual IdSource& ids() const = 0;
  /// Whether a new object of the kind gets its identity in the draft; else when that is taken.
  virtual bool identifies(const api::KindInfo& kind) const = 0;
  /// nullptr when there is none.
  virtual RecordPtr find(const api::KindInfo& kind, std::string_view key) const = 0;
  /// The object in hub form with its present status.
  virtual boost::json::object current(const StoredObject& stored,
                                      boost::json::storage_ptr storage) const = 0;
  /// Whether the workload's counts may become less while it holds quota.
  virtual bool may_lower_counts(std::string_view key) const = 0;
  virtual std::optional<std::int32_t> priority_of(std::string_view class_name) const = 0;
};

/// Of the object as the view holds it; see Edit. REQUIRES: `stored` is it.
Edit open_edit(const DraftView& view, ObjectRef ref, RecordPtr stored, bool status);

/// Reads a view and keeps what it said.
class Reads final : public ObjectReader {
 public:
  /// `view` must live as long as anything is read.
  explicit Reads(const DraftView& view) : view_(&view) {}

  const DraftView& view() const { return *view_; }
  RecordPtr find(const api::KindInfo& kind, std::string_view key) const;
  bool may_lower_counts(std::string_view key) const;
  void note(GivenPriority priority) { priority_ = std::move(priority); }
  /// Whether the view says the same of all that was read.
  bool hold(const DraftView& view) const;

  // ObjectReader
  const api::Scheme& scheme() const override { return view_->scheme(); }
  std::optional<boost::json::object> get(const api::KindInfo& kind,
                                         std::string_view key) const override;
  bool exists(const api::KindInfo& kind, std::string_view key) const override;

 private:
  struct Read {
    ObjectRef ref;
    bool there;
    std::optional<std::uint64_t> version;  // nullopt: only whether it is there was asked
  };
  const DraftView* view_;
  mutable std::vector<Read> reads_;
  mutable std::optional<std::string> may_lower_asked_;  // the workload's key
  mutable bool may_lower_ = false;
  GivenPriority priority_;
};

struct Draft {
  explicit Draft(const DraftView& view) : reads(view) {}

  Reads reads;
  std::optional<ApiError> refused;
  std::vector<std::string> warnings;  ///< unknown and duplicate fields
  std::vector<std::string> advice;    ///< what the writer should know and what refuses nothing
  std::optional<Edit> edit;           ///< not when it was refused before there was any
  bool records_owners = true;         ///< in managedFields; false: `after` has them already
  bool identified = true;             ///< a new object has its uid and creation time
  std::shared_ptr<WriteQuestions> questions;  ///< to plugins, where they are not waited for

  // ---- once it is encoded
  bool encoded = false;
  /// What plugins have to judge yet: the edit's object as it was before it was encoded.
  std::optional<boost::json::object> judged;
  std::optional<ApiError> refused_late;  ///< after the guard had its say
  bool differs = true;                   ///< from what is stored
  PreparedObject prepared;               ///< as it is to be stored
  /// Of a workload's status: in place of `prepared.typed`, where the engine knows the rest.
  std::optional<api::WorkloadStatus> workload_status;
  std::string extensions;  ///< of that workload
};

}  // namespace sluice::host
