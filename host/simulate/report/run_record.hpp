// RunRecord: what a report shows of one run of the scheduler, as columns of small numbers: which
// workloads came, what was decided on each and when, and how much of each quota was used.
// ReportTables: the texts, reasons, places and shapes that these numbers name; the run and the one
// that it is compared with share them.
//
// Filled in order of time by the simulation's thread, then only read.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/intern.hpp"
#include "core/base/time.hpp"
#include "core/engine/decision.hpp"
#include "core/types/kinds.hpp"

namespace sluice::host {

/// No workload, no entry of a table.
inline constexpr std::uint32_t kNotThere = 0xffffffffU;

/// Times further from the start count as this: no difference of two overflows.
inline constexpr Duration kFarthest = 4'000'000'000 * kSecond;

struct RunEvent {
  /// Beside the types of decisions.
  static constexpr std::uint8_t kGone = 0xff;  ///< it was deleted, or replaced by one of its name

  Duration at = 0;               ///< since the start; before it: negative
  std::uint32_t workload = 0;    ///< index in RunRecord::workloads
  std::uint8_t type = 0;         ///< a DecisionType, or kGone
  std::uint32_t what = 0;        ///< a place (kQuotaReserved, kLowered), or a reason
  std::uint32_t by = kNotThere;  ///< kEvicted: for which workload
};

/// Texts are numbers of ReportTables::texts.
struct ReportReason {
  StringId reason = 0, message = 0;
};

struct ReportPods {
  StringId name = 0;
  std::int32_t count = 0;
  std::vector<std::pair<StringId, StringId>> flavors;  ///< resource, flavor
};

struct ReportPlace {
  StringId queue = 0;
  bool borrowing = false;
  std::vector<ReportPods> pods;
};

/// What one pod of each pod set asks for, in the engine's unit.
struct ReportShape {
  struct Pods {
    StringId name = 0;
    std::int32_t count = 0;
    std::vector<std::pair<StringId, std::int64_t>> requests;
  };
  std::vector<Pods> pods;
};

class ReportTables {
 public:
  std::uint32_t reason(std::string_view reason, std::string_view message);
  std::uint32_t place(std::string_view queue, bool borrowing,
                      const std::vector<api::PodSetAssignment>& pods);
  std::uint32_t shape(ReportShape shape);

  StringPool texts;
  std::vector<ReportReason> reasons;
  std::vector<ReportPlace> places;
  std::vector<ReportShape> shapes;

 private:
  std::map<std::pair<StringId, StringId>, std::uint32_t> reason_ids_;
  std::unordered_map<std::string, std::uint32_t> place_ids_, shape_ids_;
  std::string key_;  // of the last place or shape; kept for its memory
};

struct ReportWorkload {
  std::string key;
  StringId queue = 0;  ///< the ClusterQueue where it got quota last, or that it came to; 0: none
  std::int32_t priority = 0;
  Duration arrived = 0;                  ///< its creation
  std::uint32_t counts_for = kNotThere;  ///< which workload it is a way to run
  std::uint32_t shape = kNotThere;       ///< kNotThere: only the other run knows it
};

/// One ClusterQueue's (or cohort's own) part of a flavor and resource over time; each point holds
/// until the next.
struct UseSeries {
  struct Point {
    Duration at = 0;
    std::int64_t amount = 0;
    bool operator==(const Point&) const = default;
  };
  static void put(std::vector<Point>& points, Duration at, std::int64_t amount);

  StringId node = 0, flavor = 0, resource = 0;
  bool cohort = false;
  std::vector<Point> use, nominal;
};

class UseRecord {
 public:
  UseSeries& of(bool cohort, StringId node, StringId flavor, StringId resource);
  const std::deque<UseSeries>& all() const { return series_; }

 private:
  std::deque<UseSeries> series_;  // a deque keeps references valid
  std::map<std::tuple<bool, StringId, StringId, StringId>, std::size_t> ids_;
};

struct RunRecord {
  std::vector<ReportWorkload> workloads;
  std::vector<RunEvent> events;
  UseRecord use;
};

/// Use of quota as it follows from the events and from what the workloads ask for; those of
/// unknown shape are left out. O(events).
UseRecord use_of_events(const std::vector<RunEvent>& events,
                        const std::vector<ReportWorkload>& workloads, ReportTables& tables);

}  // namespace sluice::host
