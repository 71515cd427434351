// Intake: what every object passes on its way in, whoever writes it: namespace and priority are
// filled in, it is defaulted and validated by the Scheme and by the validators of plugins, and
// decoded once.
//
// The result is a PreparedObject, ready for Kernel::put(). Used by one thread at a time.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/api/codec.hpp"
#include "core/api/kinds.hpp"
#include "core/api/scheme.hpp"
#include "host/objects/store.hpp"
#include "host/objects/text_pool.hpp"

namespace sluice::host {

/// The decoded form of the kinds that the engine knows; empty for all others.
using TypedObject =
    std::variant<std::monostate, std::shared_ptr<api::Workload>, std::unique_ptr<api::Namespace>,
                 std::unique_ptr<api::ResourceFlavor>, std::unique_ptr<api::ClusterQueue>,
                 std::unique_ptr<api::Cohort>, std::unique_ptr<api::LocalQueue>>;

struct PreparedObject {
  StoredObject stored;
  TypedObject typed;
  bool has_uid = false;  ///< given by the writer
  bool has_creation_time = false;
};

/// What plugins add to the checks on a write. [control]
class WriteValidators {
 public:
  virtual ~WriteValidators() = default;
  virtual bool wants(const api::KindInfo& kind) const = 0;
  /// Fills in plugins' defaults and reports what they refuse. `old` is nullptr on creation.
  virtual void check(const api::KindInfo& kind, boost::json::object& object,
                     const boost::json::object* old, std::vector<api::Problem>& problems) = 0;
};

/// Values of priority classes by `group/kind/name`, for workloads that name one.
class PriorityClasses {
 public:
  void set(const api::KindInfo& kind, std::string_view name, std::int32_t value);
  const std::int32_t* find(std::string_view group, std::string_view kind,
                           std::string_view name) const;

 private:
  std::map<std::string, std::int32_t, std::less<>> values_;
};

/// Unknown fields that were left out, by kind and path without indices, with the number of objects.
using FieldWarnings = std::map<std::string, std::size_t>;

class Intake {
 public:
  /// `validators` may be nullptr.
  Intake(const api::Scheme& scheme, WriteValidators* validators)
      : scheme_(scheme), validators_(validators) {}

  /// Prepares `object` for being stored: as a new object, or in place of `old` (hub form). With
  /// `status` the write goes to the status subresource. Empty when it was accepted.
  std::vector<api::Problem> prepare(const api::KindInfo& kind, boost::json::object& object,
                                    const boost::json::object* old, bool status,
                                    PreparedObject& out);

  const api::Scheme& scheme() const { return scheme_; }
  PriorityClasses& priority_classes() { return classes_; }
  const FieldWarnings& warnings() const { return warnings_; }

 private:
  void warn(const api::KindInfo& kind, const std::vector<api::Problem>& warnings);
  TypedObject decode(const api::KindInfo& kind, const boost::json::object& object);

  const api::Scheme& scheme_;
  WriteValidators* validators_;
  PriorityClasses classes_;
  api::PodTemplateCache templates_;
  TextPool bodies_;
  FieldWarnings warnings_;
};

}  // namespace sluice::host
