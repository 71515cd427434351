// Intake: what every written object passes on its way in: namespace and priority are filled in, it
// is defaulted and validated by the Scheme and by the validators of plugins, and decoded once.
//
// The result is a PreparedObject, ready for Kernel::commit(). validate(), encode() and decode() may
// be called from any thread; the rest belongs to one at a time.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/scheme/scheme.hpp"
#include "core/types/kinds.hpp"
#include "host/objects/store.hpp"
#include "host/objects/text_pool.hpp"
#include "host/objects/write_questions.hpp"

namespace sluice::host {

/// The decoded form of the kinds that the engine knows; empty for all others.
using TypedObject =
    std::variant<std::monostate, std::shared_ptr<api::Workload>, std::unique_ptr<api::Namespace>,
                 std::unique_ptr<api::ResourceFlavor>, std::unique_ptr<api::ClusterQueue>,
                 std::unique_ptr<api::Cohort>, std::unique_ptr<api::LocalQueue>,
                 std::unique_ptr<api::AdmissionCheck>>;

struct PreparedObject {
  StoredObject stored;
  TypedObject typed;
  bool has_uid = false;  ///< given by the writer
  bool has_creation_time = false;
};

/// Why the status of a workload says that it ended; nullptr: it has not, or it is no workload.
const api::Condition* end_told(const PreparedObject& object);

/// What plugins add to the checks on a write. [control]
class WriteValidators {
 public:
  virtual ~WriteValidators() = default;
  virtual bool wants(const api::KindInfo& kind) const = 0;
  /// How an object is judged that a plugin changed: as any other that is written.
  using Validate = std::function<std::vector<api::Problem>(boost::json::object& object)>;
  /// Who writes, and how plugins are asked about it. With `questions` nobody waits: while these
  /// wait() nothing was decided, and the same is asked again; they are made where there are none.
  /// nullptr: every answer is waited for.
  struct Asking {
    std::string_view user;  ///< empty: the host itself
    std::shared_ptr<WriteQuestions>* questions = nullptr;
    bool* changed = nullptr;  ///< set where they made another one of the object
  };
  /// Fills in plugins' defaults and reports what they refuse. `old` is nullptr on creation.
  virtual void check(const api::KindInfo& kind, boost::json::object& object,
                     const boost::json::object* old, const Validate& problems_of,
                     std::vector<api::Problem>& problems, const Asking& asking) = 0;
};

/// Values of priority classes by `group/kind/name`, for workloads that name one. Any thread.
class PriorityClasses {
 public:
  void set(std::string_view name, std::int32_t value);
  void erase(std::string_view name);
  /// All whose name begins with `prefix` are now these.
  void replace(std::string_view prefix, const std::map<std::string, std::int32_t>& values);
  std::optional<std::int32_t> find(std::string_view name) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::int32_t, std::less<>> values_;  // guarded by mutex_
};

/// The value of the class that the spec of a Workload names; nullopt: it names none that there is.
std::optional<std::int32_t> class_value(const PriorityClasses& classes,
                                        const boost::json::object& spec);
/// Whether the class that a Workload names is there.
bool has_class(const PriorityClasses& classes, const api::PriorityClassRef& named);

/// The priority that a workload was given because of its class.
struct GivenPriority {
  std::string class_name;  ///< as PriorityClasses names it; empty: its own, or none
  std::optional<std::int32_t> value;
};

/// How a write is judged.
struct IntakeOptions {
  bool status = false;  ///< the write goes to the status subresource
  api::UnknownFields unknown_fields = api::UnknownFields::kWarn;
  bool may_lower_counts = false;                 ///< of the workload, while it holds quota
  bool dry_run = false;                          ///< nothing is remembered of the object
  std::vector<std::string>* warnings = nullptr;  ///< instead of warnings(); may be null
  std::vector<std::string>* advice = nullptr;    ///< what does nothing; may be null
  GivenPriority* priority = nullptr;             ///< what it was given; may be null
  WriteValidators::Asking asking;                ///< of plugins
};

/// Unknown fields that were left out, by kind and path without indices, with the number of objects.
using FieldWarnings = std::map<std::string, std::size_t>;

class Intake {
 public:
  /// `validators` may be nullptr.
  Intake(const api::Scheme& scheme, WriteValidators* validators)
      : scheme_(scheme), validators_(validators) {}

  /// Defaults, converts and judges `object` in place: as a new object, or in place of `old` (hub
  /// form). Empty: it was accepted, …
  std::vector<api::Problem> validate(const api::KindInfo& kind, boost::json::object& object,
                                     const boost::json::object* old, const IntakeOptions& options);
  /// … has plugins validate it, if any wants to, …
  bool asks_plugins(const api::KindInfo& kind) const;
  std::vector<api::Problem> ask_plugins(const api::KindInfo& kind, boost::json::object& object,
                                        const boost::json::object* old,
                                        const IntakeOptions& options);
  /// … and makes the form that is stored of a hub object that was accepted.
  PreparedObject encode(const api::KindInfo& kind, const boost::json::object& object,
                        bool dry_run = false);

  /// The decoded form of a hub object that was accepted before.
  TypedObject decode(const api::KindInfo& kind, const boost::json::object& object);
  /// What later objects are judged by: the value of a priority class that is stored. Nothing to do
  /// for all other kinds.
  void remember(const api::KindInfo& kind, const boost::json::object& object);
  /// All of a kind of priority classes are these. May be called from any thread.
  void remember_all(const api::KindInfo& kind, const std::vector<boost::json::object>& objects);
  /// An object that was remembered is gone.
  void forget(const api::KindInfo& kind, const std::string& key);
  /// The same for a Workload alone, with a cache of the caller's: for many threads at once.
  std::shared_ptr<api::Workload> decode_workload(const boost::json::object& object,
                                                 api::PodTemplateCache& templates) const {
    return std::make_shared<api::Workload>(api::decode_workload(object, templates, scheme_));
  }
  /// Whether decode() or remember() has anything to do for the kind.
  static bool is_typed(const api::KindInfo& kind);

  const api::Scheme& scheme() const { return scheme_; }
  const PriorityClasses& priority_classes() const { return classes_; }
  FieldWarnings warnings() const {
    const std::lock_guard lock(warnings_mutex_);
    return warnings_;
  }

 private:
  void warn(const api::KindInfo& kind, const std::vector<api::Problem>& warnings,
            const IntakeOptions& options);

  const api::Scheme& scheme_;
  WriteValidators* validators_;
  PriorityClasses classes_;
  api::PodTemplateCache templates_;
  TextPool bodies_;
  mutable std::mutex warnings_mutex_;
  FieldWarnings warnings_;  // guarded by warnings_mutex_
};

}  // namespace sluice::host
