// What the hooks are asked, and where they put their answers. See ext/*.h for the meaning.
//
// All of these are views: they and their texts die when the hook returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/cpp/capacity.hpp"
#include "sluice/cpp/text.hpp"
#include "sluice/cpp/workload.hpp"
#include "sluice/ext/flavor_filter.h"
#include "sluice/ext/flavor_search.h"
#include "sluice/ext/post_admit.h"
#include "sluice/ext/preemption_veto.h"
#include "sluice/ext/queue_order.h"
#include "sluice/ext/queue_watch.h"
#include "sluice/ext/validator.h"
#include "sluice/ext/workload_traits.h"

namespace sluice {

/// A ClusterQueue that exists or changed.
class Queue {
 public:
  explicit Queue(const sluice_queue_t* queue) : queue_(queue) {}
  std::uint32_t id() const { return queue_->id; }
  std::string_view name() const { return to_view(queue_->name); }
  std::string_view json() const { return to_view(queue_->json); }

 private:
  const sluice_queue_t* queue_;
};

namespace detail {
/// Of a query that may be too short to have one.
template <typename Query>
std::optional<ClusterQueue> cluster_queue_of(const Query* query) {
  if (!SLUICE_HAS(query, cluster_queue_api) || query->cluster_queue_api == nullptr)
    return std::nullopt;
  return ClusterQueue(query->cluster_queue_api, query->cluster_queue);
}
}  // namespace detail

// ---- flavor-filter/1

class FilterQuery {
 public:
  explicit FilterQuery(const sluice_filter_query_t* query) : query_(query) {}
  Workload workload() const { return Workload(query_->workload); }
  std::uint32_t queue() const { return query_->queue; }
  std::uint32_t pod_set() const { return query_->pod_set; }
  std::uint32_t flavors() const { return query_->flavor_count; }
  std::string_view flavor(std::uint32_t i) const { return to_view(query_->flavors[i]); }
  /// Its labels and taints; nullopt with a host that is older than this.
  std::optional<Flavor> flavor_details(std::uint32_t i) const {
    if (!SLUICE_HAS(query_, flavor_api) || query_->flavor_api == nullptr) return std::nullopt;
    return Flavor(query_->flavor_api, query_->flavor_handles[i]);
  }
  /// Its quotas and its cohort; nullopt with a host that is older than this.
  std::optional<ClusterQueue> cluster_queue() const { return detail::cluster_queue_of(query_); }

 private:
  const sluice_filter_query_t* query_;
};

class FilterAnswer {
 public:
  explicit FilterAnswer(const sluice_filter_sink_t* sink) : sink_(sink) {}
  /// Flavor number i is not for this pod set; people see the reason.
  void skip(std::uint32_t i, std::string_view reason) {
    sink_->skip(sink_->context, i, to_abi(reason));
  }

 private:
  const sluice_filter_sink_t* sink_;
};

// ---- flavor-search/1

enum class Mode : std::int32_t {
  kNoFit = SLUICE_MODE_NO_FIT,
  kNoCandidates = SLUICE_MODE_NO_CANDIDATES,
  kPreempt = SLUICE_MODE_PREEMPT,
  kReclaim = SLUICE_MODE_RECLAIM,
  kFit = SLUICE_MODE_FIT
};

enum class Search : std::int32_t {
  kGoOn = SLUICE_SEARCH_GO_ON,
  kStopHere = SLUICE_SEARCH_STOP_HERE,
  kStopBest = SLUICE_SEARCH_STOP_BEST
};

struct Outcome {
  Mode mode = Mode::kNoFit;
  std::int32_t borrow_level = 0;
  static Outcome of(sluice_outcome_t raw) {
    return {static_cast<Mode>(raw.mode), raw.borrow_level};
  }
  bool operator==(const Outcome&) const = default;
};

struct SearchStep {
  std::uint32_t queue = 0;
  Outcome current;
  bool has_best = false;
  Outcome best;
};

struct PositionAge {
  std::uint32_t queue = 0;
  std::uint64_t cycles = 0;
  std::uint64_t queue_generations = 0;
  std::uint64_t tree_generations = 0;
};

// ---- preemption-veto/1

class VetoQuery {
 public:
  explicit VetoQuery(const sluice_veto_query_t* query) : query_(query) {}
  Workload preemptor() const { return Workload(query_->preemptor); }
  std::uint32_t queue() const { return query_->queue; }
  std::uint64_t candidates() const { return query_->candidate_count; }
  Workload candidate(std::uint64_t i) const {
    return Workload({query_->preemptor.api, query_->candidates[i]});
  }
  /// Since when it is admitted, in ns since 1970 UTC; nullopt: it only holds quota, or the host is
  /// older than this.
  std::optional<std::int64_t> admitted_at(std::uint64_t i) const {
    if (!SLUICE_HAS(query_, admitted_at) || query_->admitted_at == nullptr ||
        query_->admitted_at[i] == 0)
      return std::nullopt;
    return query_->admitted_at[i];
  }
  /// The preemptor's; nullopt with a host that is older than this.
  std::optional<ClusterQueue> cluster_queue() const { return detail::cluster_queue_of(query_); }

 private:
  const sluice_veto_query_t* query_;
};

class VetoAnswer {
 public:
  explicit VetoAnswer(const sluice_veto_sink_t* sink) : sink_(sink) {}
  void may_not_preempt(std::string_view reason) {
    sink_->may_not_preempt(sink_->context, to_abi(reason));
  }
  void protect(std::uint64_t candidate) { sink_->protect(sink_->context, candidate); }
  /// People see the reason when the preemptor finds no victims.
  void protect_because(std::uint64_t candidate, std::string_view reason) {
    if (!SLUICE_HAS(sink_, protect_because) || sink_->protect_because == nullptr)
      return protect(candidate);
    sink_->protect_because(sink_->context, candidate, to_abi(reason));
  }

 private:
  const sluice_veto_sink_t* sink_;
};

// ---- workload-traits/1

enum class Ends : std::int32_t {
  kFinished = SLUICE_ENDS_FINISHED,
  kDeactivated = SLUICE_ENDS_DEACTIVATED
};

class Traits {
 public:
  explicit Traits(const sluice_traits_sink_t* sink) : sink_(sink) {}
  void takes_no_part(std::string_view because) {
    sink_->takes_no_part(sink_->context, to_abi(because));
  }
  void group(std::string_view id, std::int32_t rank, std::string_view order_as) {
    const sluice_group_t group{sizeof(sluice_group_t), rank,      0, 0, to_abi(id),
                               to_abi(order_as),       to_abi("")};
    sink_->group(sink_->context, &group);
  }
  /// One of the ways to run `whom`, which takes no part itself, in its place: at most one of them
  /// is admitted, and `whom` has its status. `called`: what it is, for sentences about it.
  void represents(std::string_view whom, std::string_view called, std::int32_t rank) {
    const sluice_group_t group{sizeof(sluice_group_t), rank,          0, 1, to_abi(whom),
                               to_abi(whom),           to_abi(called)};
    sink_->group(sink_->context, &group);
  }
  /// `only_better`: only with at least its pods and on better flavors.
  void replaces(std::string_view workload, Ends how, std::string_view reason,
                std::string_view message, bool only_better = false) {
    const sluice_replaces_t replaces{sizeof(sluice_replaces_t),
                                     static_cast<std::int32_t>(how),
                                     to_abi(workload),
                                     to_abi(reason),
                                     to_abi(message),
                                     only_better ? 1 : 0,
                                     0};
    sink_->replaces(sink_->context, &replaces);
  }
  void shape_key(std::string_view key) { sink_->shape_key(sink_->context, to_abi(key)); }
  void may_lower_counts() { sink_->may_lower_counts(sink_->context); }
  /// Evicted, it keeps its quota until Context::ended().
  void ends_later() {
    if (SLUICE_HAS(sink_, ends_later)) sink_->ends_later(sink_->context);
  }
  /// Preempting that workload ends this one too.
  void follows(std::string_view workload) { sink_->follows(sink_->context, to_abi(workload)); }
  /// Why it is inactive, for its condition.
  void inactive_because(std::string_view because) {
    sink_->inactive_because(sink_->context, to_abi(because));
  }

  /// The ClusterQueue that the workload's LocalQueue names now; empty without one.
  std::string_view cluster_queue() const { return to_view(sink_->cluster_queue); }
  /// Does another plugin let its pod counts change while it runs?
  bool counts_may_change() const { return sink_->counts_may_change == 1; }
  bool holds_quota() const { return sink_->holds_quota == 1; }

 private:
  const sluice_traits_sink_t* sink_;
};

// ---- queue-order/1

class OrderQuery {
 public:
  explicit OrderQuery(const sluice_order_query_t* query) : query_(query) {}
  std::uint32_t queue() const { return query_->queue; }
  std::string_view cluster_queue() const { return to_view(query_->cluster_queue); }
  /// `namespace/name`.
  std::string_view local_queue() const { return to_view(query_->local_queue); }

 private:
  const sluice_order_query_t* query_;
};

class OrderAnswer {
 public:
  explicit OrderAnswer(const sluice_order_sink_t* sink) : sink_(sink) {}
  /// Low keys first; people see why.
  void key(std::int64_t key, std::string_view because) {
    sink_->key(sink_->context, key, to_abi(because));
  }

 private:
  const sluice_order_sink_t* sink_;
};

// ---- post-admit/1

enum class Event : std::int32_t {
  kReserved = SLUICE_EVENT_RESERVED,
  kPreempting = SLUICE_EVENT_PREEMPTING,
  kWaitingForVictims = SLUICE_EVENT_WAITING_FOR_VICTIMS,
  kAdmitted = SLUICE_EVENT_ADMITTED,
  kReservationLost = SLUICE_EVENT_RESERVATION_LOST,
  kEvicted = SLUICE_EVENT_EVICTED,
  kDeactivated = SLUICE_EVENT_DEACTIVATED,
  kFinished = SLUICE_EVENT_FINISHED
};

enum class Told : std::int32_t { kDone = SLUICE_OK, kTellMeAgain = SLUICE_RETRY };

class Notification {
 public:
  explicit Notification(const sluice_notification_t* told) : told_(told) {}
  Event event() const { return static_cast<Event>(told_->event); }
  std::uint64_t sequence() const { return told_->sequence; }
  Workload workload() const { return Workload(told_->workload); }
  std::string_view reason() const { return to_view(told_->reason); }
  std::uint64_t others() const { return told_->other_count; }
  std::string_view other(std::uint64_t i) const { return to_view(told_->others[i]); }

 private:
  const sluice_notification_t* told_;
};

// ---- validator/1

enum class Operation : std::int32_t {
  kCreate = SLUICE_WRITE_CREATE,
  kUpdate = SLUICE_WRITE_UPDATE,
  kDelete = SLUICE_WRITE_DELETE
};

class Write {
 public:
  explicit Write(const sluice_write_t* write) : write_(write) {}
  Operation operation() const { return static_cast<Operation>(write_->operation); }
  std::string_view api_version() const { return to_view(write_->api_version); }
  std::string_view kind() const { return to_view(write_->kind); }
  std::string_view object() const { return to_view(write_->object); }
  std::string_view old() const { return to_view(write_->old); }
  /// Who writes; empty: the host itself, or one that is older than this.
  std::string_view user() const {
    return SLUICE_HAS(write_, user) ? to_view(write_->user) : std::string_view();
  }

 private:
  const sluice_write_t* write_;
};

class FieldErrors {
 public:
  explicit FieldErrors(const sluice_field_error_sink_t* sink) : sink_(sink) {}
  void invalid(std::string_view path, std::string_view json, std::string_view detail) {
    add(SLUICE_FIELD_INVALID, path, json, detail);
  }
  void required(std::string_view path, std::string_view detail) {
    add(SLUICE_FIELD_REQUIRED, path, {}, detail);
  }
  void forbidden(std::string_view path, std::string_view detail) {
    add(SLUICE_FIELD_FORBIDDEN, path, {}, detail);
  }
  void not_supported(std::string_view path, std::string_view json, std::string_view detail) {
    add(SLUICE_FIELD_NOT_SUPPORTED, path, json, detail);
  }
  void duplicate(std::string_view path, std::string_view json) {
    add(SLUICE_FIELD_DUPLICATE, path, json, {});
  }

 private:
  void add(std::int32_t kind, std::string_view path, std::string_view json,
           std::string_view detail) {
    sink_->error(sink_->context, kind, to_abi(path), to_abi(json), to_abi(detail));
  }
  const sluice_field_error_sink_t* sink_;
};

}  // namespace sluice
