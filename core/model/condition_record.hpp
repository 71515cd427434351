// A condition of a workload in compact form, and the names that its status has for those that the
// engine writes.
//
// Invariant: every type has one name in kConditionNames, and no other place spells it for the
// engine. Values; a record's conditions are written by the engine's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "core/base/shared_text.hpp"
#include "core/base/time.hpp"

namespace sluice {

struct ConditionRecord {
  enum class Type : std::uint8_t {
    kQuotaReserved,
    kAdmitted,
    kEvicted,
    kPreempted,
    kRequeued,
    kPodsReady,
    kFinished,
    kDeactivationTarget,
  };
  Type type = Type::kQuotaReserved;
  bool is_true = false;
  std::int32_t generation = 0;  ///< of the object, when the condition was set
  SharedText reason, message;
  Time time = 0;
};

/// By type.
inline constexpr std::string_view kConditionNames[] = {
    "QuotaReserved", "Admitted",  "Evicted",  "Preempted",
    "Requeued",      "PodsReady", "Finished", "DeactivationTarget",
};

constexpr std::string_view condition_name(ConditionRecord::Type type) {
  return kConditionNames[static_cast<std::size_t>(type)];
}

/// nullopt: the engine does not write a condition of this name.
constexpr std::optional<ConditionRecord::Type> condition_type(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kConditionNames); ++i)
    if (kConditionNames[i] == name) return static_cast<ConditionRecord::Type>(i);
  return std::nullopt;
}

static_assert(std::size(kConditionNames) ==
              static_cast<std::size_t>(ConditionRecord::Type::kDeactivationTarget) + 1);

}  // namespace sluice
