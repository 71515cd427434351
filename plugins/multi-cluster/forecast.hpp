// What clusters say of when they would start workloads, and who gets which of them.
//
// Pure functions of answers to questions what if; any thread. Times are counted from the moment of
// an answer, so clocks of clusters may differ.
#pragma once

#include <sluice/plugin.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clusters {

inline constexpr std::string_view kWhatIfVersion = "sluice.dev/v1alpha1";
inline constexpr std::string_view kWhatIfKind = "WhatIf";

/// When one cluster would start one workload.
struct Forecast {
  enum class When : std::uint8_t { kNow, kAfterChecks, kLater, kNever };
  When when = When::kNever;
  std::optional<std::int64_t> earliest_ms, latest_ms;  ///< of kLater, where that is known
};

/// What one cluster says.
struct Outlook {
  std::string cluster;
  bool told = false;                          ///< it can answer such questions
  bool evicts = false;                        ///< somebody would lose what he has for them
  std::map<std::string, Forecast> workloads;  ///< by NAMESPACE/NAME
};

/// The WhatIf to ask about copies of workloads, in their order. `estimate`: when those would start
/// that cannot start now, which takes the cluster longer.
sluice::Json question_about(const std::vector<sluice::Json>& copies, bool estimate);

/// Of the answer to such a question.
Outlook read_outlook(const std::string& cluster, const sluice::Json& answer);

struct Assignment {
  std::string workload;                ///< NAMESPACE/NAME
  std::vector<std::string> nominated;  ///< never empty
};

/// Who of `workloads` goes where, in their order, each to a cluster that starts it now, rather one
/// where nobody is evicted for them. What is said of one takes those before it along: at the first
/// that nobody starts now it ends, and the rest is for the next question. `final`: that is the
/// first of all, and it goes to whoever starts it first. Clusters that do not tell get it as well,
/// unless another starts it now.
std::vector<Assignment> assign(const std::vector<std::string>& workloads,
                               const std::vector<Outlook>& outlooks, bool final);

}  // namespace clusters
