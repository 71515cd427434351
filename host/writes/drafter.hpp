// Drafter: the rules of every write that need no more than the object itself and what may be read
// of others: defaults, policies of the kind, validation, names, generation, owners of fields, size,
// and the forms that are stored.
//
// All of it works on a Draft. Once the policies are added, const and pure but for the ids of the
// view: any thread.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/kernel/kernel.hpp"
#include "host/objects/intake.hpp"
#include "host/objects/kinds.hpp"
#include "host/writes/draft.hpp"
#include "host/writes/policy.hpp"

namespace sluice::host {

/// How one write is carried out.
struct WriteMode {
  bool dry_run = false;
  bool by_system = false;  ///< the host itself: a status is taken over on creation
  bool answer = true;      ///< false: the object of the outcome is not read
  FieldValidation field_validation = FieldValidation::kIgnore;
  std::string_view field_manager;  ///< owner of the fields that change; empty: not recorded
  std::string_view plugin;         ///< that writes; marks are as it says; empty: none does
  std::string_view user;           ///< noted as the creator; empty: none is
  bool keeps_marks = false;        ///< those of a new object are the system's, by way of a template
  bool advises = false;            ///< warnings beside the outcome are read
  bool may_wait = false;           ///< see WriteRequest
  /// Asked last, with the object as it would be stored; may be empty.
  std::function<std::optional<ApiError>(const api::KindInfo& kind,
                                        const boost::json::object* before,
                                        const boost::json::object& after)>
      guard;
};

class Drafter {
 public:
  /// `intake` must outlive it.
  explicit Drafter(Intake& intake) : intake_(intake) {}

  void add_policy(WritePolicy& policy) { policies_.push_back(&policy); }
  const api::Scheme& scheme() const { return intake_.scheme(); }
  bool has_policy(const api::KindInfo& kind) const;
  bool asks_plugins(const api::KindInfo& kind) const { return intake_.asks_plugins(kind); }
  /// Objects can be created only in namespaces that exist.
  void require_namespaces() { require_namespaces_ = true; }

  /// What the system makes of a wish before its fields are checked: marks that are not the writer's
  /// to set, owners, and the policies of the kind. The first part of validate().
  void amend(Draft& draft, const WriteMode& mode, std::vector<api::Problem>& problems) const;
  /// Judges the draft's edit, and seals it unless plugins have to be asked before. Why not: in
  /// `refused`. REQUIRES: the edit says what is to become of the object.
  void validate(Draft& draft, const WriteMode& mode) const;
  /// Makes the form that is stored, before plugins judged what it is made from. REQUIRES: the draft
  /// was validated and is not encoded.
  void encode_ahead(Draft& draft, const WriteMode& mode) const;
  /// What plugins say of it; nothing is decided while the draft's questions wait. Where they change
  /// what it was encoded from, it is not encoded any more. [kernel's thread]
  std::optional<ApiError> ask_plugins(Draft& draft, const WriteMode& mode) const;
  /// Makes the form that is stored.
  void encode(Draft& draft, const WriteMode& mode) const;

  /// Why no object can be created in a namespace; nullopt: it can.
  std::optional<ApiError> namespace_refuses(const Reads& reads, const api::KindInfo& kind,
                                            std::string_view name, std::string_view ns) const;

 private:
  static void track(Draft& draft, const WriteMode& mode);
  std::optional<ApiError> judge_new(Draft& draft, const WriteMode& mode) const;
  std::optional<ApiError> judge_change(Draft& draft, const WriteMode& mode) const;
  std::optional<ApiError> judge_fields(Draft& draft, const WriteMode& mode,
                                       std::vector<api::Problem> problems) const;
  static IntakeOptions options_of(Draft& draft, const WriteMode& mode);
  static ApiResult<std::string> name_new(Draft& draft);
  void seal_status(Draft& draft) const;

  Intake& intake_;
  std::vector<WritePolicy*> policies_;
  bool require_namespaces_ = false;
};

/// Whether the body of a new object of the kind says its own uid.
bool names_itself(const api::KindInfo& kind);

}  // namespace sluice::host
