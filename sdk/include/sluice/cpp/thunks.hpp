// The C tables of a plugin class: each function turns C arguments into C++ ones, under the guard.
//
// The tables are constants, so the answer for an id never changes; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/cpp/guard.hpp"
#include "sluice/cpp/provides.hpp"
#include "sluice/ext/schema.h"
#include "sluice/ext/timers.h"

namespace sluice::detail {

/// What the opaque instance handle of the C interface stands for.
template <typename T>
struct Instance {
  Instance(const sluice_host_t* host_table, Json config)
      : host(host_table), context(host_table, std::move(config)), object(make(context)) {}

  static T make(const Context& context) {
    if constexpr (std::is_constructible_v<T, const Context&>)
      return T(context);
    else
      return T();
  }
  static Instance& of(sluice_instance_t* self) { return *reinterpret_cast<Instance*>(self); }
  sluice_instance_t* handle() { return reinterpret_cast<sluice_instance_t*>(this); }

  const sluice_host_t* host;
  Context context;
  T object;
};

template <typename T>
struct Thunks {
  using Self = Instance<T>;

  static std::int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                             const sluice_filter_sink_t* out) noexcept {
    const Self& s = Self::of(self);
    return guarded(s.host, [&] {
      FilterAnswer answer(out);
      s.object.filter(FilterQuery(query), answer);
    });
  }

  static std::int32_t filter_shape_key(sluice_instance_t* self, sluice_workload_ref_t workload,
                                       const sluice_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] { Sink(out).write(s.object.filter_shape_key(Workload(workload))); });
  }

  static std::int32_t after_flavor(sluice_instance_t* self, const sluice_search_step_t* step,
                                   std::int32_t* verdict) noexcept {
    const Self& s = Self::of(self);
    return guarded(s.host, [&] {
      const SearchStep in{step->queue, Outcome::of(step->current), step->has_best != 0,
                          Outcome::of(step->best)};
      *verdict = static_cast<std::int32_t>(s.object.after_flavor(in));
    });
  }

  static std::int32_t better(sluice_instance_t* self, const sluice_search_pair_t* pair,
                             std::int32_t* out) noexcept {
    const Self& s = Self::of(self);
    return guarded(s.host, [&] {
      *out = s.object.better(pair->queue, Outcome::of(pair->a), Outcome::of(pair->b)) ? 1 : 0;
    });
  }

  static std::int32_t keep_position(sluice_instance_t* self, const sluice_position_age_t* age,
                                    std::int32_t* out) noexcept {
    const Self& s = Self::of(self);
    return guarded(s.host, [&] {
      const PositionAge in{age->queue, age->cycles, age->queue_generations, age->tree_generations};
      *out = s.object.keep_position(in) ? 1 : 0;
    });
  }

  static std::int32_t veto(sluice_instance_t* self, const sluice_veto_query_t* query,
                           const sluice_veto_sink_t* out) noexcept {
    const Self& s = Self::of(self);
    return guarded(s.host, [&] {
      VetoAnswer answer(out);
      s.object.veto(VetoQuery(query), answer);
    });
  }

  static std::int32_t traits(sluice_instance_t* self, sluice_workload_ref_t workload,
                             const sluice_traits_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      Traits answer(out);
      s.object.traits(Workload(workload), answer);
    });
  }

  static std::int32_t order_local_queue(sluice_instance_t* self, const sluice_order_query_t* query,
                                        const sluice_order_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      OrderAnswer answer(out);
      s.object.order_local_queue(OrderQuery(query), answer);
    });
  }

  static std::int32_t order_workload(sluice_instance_t* self, sluice_workload_ref_t workload,
                                     const sluice_order_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      OrderAnswer answer(out);
      s.object.order_workload(Workload(workload), answer);
    });
  }

  static std::int32_t notify(sluice_instance_t* self, const sluice_notification_t* told) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host,
                   [&] { return static_cast<std::int32_t>(s.object.notify(Notification(told))); });
  }

  static std::int32_t told_events(sluice_instance_t* self, const sluice_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      for (const std::string& event : s.object.told_events()) Sink(out).write(event + "\n");
    });
  }

  static std::int32_t queue_changed(sluice_instance_t* self, const sluice_queue_t* queue) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] { s.object.queue_changed(Queue(queue)); });
  }

  static std::int32_t timer(sluice_instance_t* self, std::uint64_t number,
                            std::int64_t now) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] { s.object.timer(number, now); });
  }

  static std::int32_t schema(sluice_instance_t* self, const sluice_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] { Sink(out).write(s.object.schema()); });
  }

  static std::int32_t kinds(sluice_instance_t* self, const sluice_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      for (const std::string& kind : s.object.kinds()) Sink(out).write(kind + "\n");
    });
  }

  static std::int32_t set_defaults(sluice_instance_t* self, const sluice_write_t* write,
                                   const sluice_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      if (const auto changed = s.object.set_defaults(Write(write))) Sink(out).write(*changed);
    });
  }

  static std::int32_t validate(sluice_instance_t* self, const sluice_write_t* write,
                               const sluice_field_error_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      FieldErrors errors(out);
      s.object.validate(Write(write), errors);
    });
  }

  static std::int32_t plan(sluice_instance_t* self, const sluice_job_query_t* query,
                           const sluice_job_plan_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      JobPlan answer(out);
      s.object.plan(Job(query), answer);
    });
  }

  static std::int32_t pod_gates(sluice_instance_t* self, const sluice_job_query_t* query,
                                const sluice_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      for (const std::string& gate : s.object.pod_gates(Job(query))) Sink(out).write(gate + "\n");
    });
  }

  static std::int32_t pod_grants(sluice_instance_t* self, const sluice_job_query_t* query,
                                 const sluice_grant_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      Grants answer(out);
      s.object.pod_grants(Job(query), answer);
    });
  }

  static std::int32_t check_controllers(sluice_instance_t* self,
                                        const sluice_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      for (const std::string& name : s.object.check_controllers()) Sink(out).write(name + "\n");
    });
  }

  static std::int32_t check_changed(sluice_instance_t* self, const sluice_check_t* check,
                                    const sluice_activity_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      if constexpr (HasCheckChanged<T>) {
        Activity answer(out);
        s.object.check_changed(Check(check), answer);
      }
    });
  }

  static std::int32_t begin_check(sluice_instance_t* self,
                                  const sluice_check_query_t* query) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] { s.object.begin_check(CheckQuery(query)); });
  }

  static std::int32_t cancel_check(sluice_instance_t* self,
                                   const sluice_check_cancel_t* cancel) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] { s.object.cancel_check(CheckCancel(cancel)); });
  }

  static std::int32_t explain_check(sluice_instance_t* self, const sluice_check_query_t* query,
                                    const sluice_sink_t* out) noexcept {
    Self& s = Self::of(self);
    bool more_soon = false;
    const std::int32_t code = guarded(s.host, [&] {
      const auto told = s.object.explain_check(CheckQuery(query));
      if constexpr (std::is_same_v<std::decay_t<decltype(told)>, CheckWords>) {
        for (const std::string& line : told.lines) Sink(out).write(line + "\n");
        more_soon = told.more_soon;
      } else {
        for (const std::string& line : told) Sink(out).write(line + "\n");
      }
    });
    return code == SLUICE_OK && more_soon ? std::int32_t{SLUICE_RETRY} : code;
  }

  static std::int32_t watched_kinds(sluice_instance_t* self, const sluice_sink_t* out) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      for (const std::string& kind : s.object.watched_kinds()) Sink(out).write(kind + "\n");
    });
  }

  static std::int32_t reconcile(sluice_instance_t* self, const sluice_reconcile_t* what,
                                std::int64_t* again_after_ms) noexcept {
    Self& s = Self::of(self);
    return guarded(s.host, [&] {
      const ObjectRef ref{
          std::string(to_view(what->api_version)), std::string(to_view(what->kind)),
          std::string(to_view(what->namespace_of)), std::string(to_view(what->name)),
          SLUICE_HAS(what, remote) ? std::string(to_view(what->remote)) : std::string()};
      const Again again = s.object.reconcile(ref);
      *again_after_ms = again.after_ms;
    });
  }

  static const void* extension(sluice_instance_t*, sluice_str_t raw_id) noexcept {
    const std::string_view id = to_view(raw_id);
    if constexpr (HasFilter<T>) {
      static constexpr sluice_flavor_filter_t kTable{sizeof(sluice_flavor_filter_t), 0, &filter,
                                                     filter_shape_or_null()};
      if (id == SLUICE_EXT_FLAVOR_FILTER) return &kTable;
    }
    if constexpr (HasSearch<T>) {
      static constexpr sluice_flavor_search_t kTable{sizeof(sluice_flavor_search_t), 0,
                                                     &after_flavor, &better, &keep_position};
      if (id == SLUICE_EXT_FLAVOR_SEARCH) return &kTable;
    }
    if constexpr (HasVeto<T>) {
      static constexpr sluice_preemption_veto_t kTable{sizeof(sluice_preemption_veto_t), 0, &veto};
      if (id == SLUICE_EXT_PREEMPTION_VETO) return &kTable;
    }
    if constexpr (HasTraits<T>) {
      static constexpr sluice_workload_traits_t kTable{sizeof(sluice_workload_traits_t), 0,
                                                       &traits};
      if (id == SLUICE_EXT_WORKLOAD_TRAITS) return &kTable;
    }
    if (id == SLUICE_EXT_QUEUE_ORDER) return queue_order();
    if constexpr (HasNotify<T>) {
      static constexpr sluice_post_admit_t kTable{sizeof(sluice_post_admit_t), 0, &notify,
                                                  told_events_or_null()};
      if (id == SLUICE_EXT_POST_ADMIT) return &kTable;
    }
    if constexpr (HasQueueChanged<T>) {
      static constexpr sluice_queue_watch_t kTable{sizeof(sluice_queue_watch_t), 0, &queue_changed};
      if (id == SLUICE_EXT_QUEUE_WATCH) return &kTable;
    }
    if constexpr (HasTimer<T>) {
      static constexpr sluice_timers_t kTable{sizeof(sluice_timers_t), 0, &timer};
      if (id == SLUICE_EXT_TIMERS) return &kTable;
    }
    if constexpr (HasSchema<T>) {
      static constexpr sluice_schema_t kTable{sizeof(sluice_schema_t), 0, &schema};
      if (id == SLUICE_EXT_SCHEMA) return &kTable;
    }
    if constexpr (HasValidate<T>) {
      static constexpr sluice_validator_t kTable{sizeof(sluice_validator_t), 0, &kinds,
                                                 set_defaults_or_null(), &validate};
      if (id == SLUICE_EXT_VALIDATOR) return &kTable;
    }
    if constexpr (HasPlan<T>) {
      static constexpr sluice_job_mapping_t kTable{sizeof(sluice_job_mapping_t), 0, &plan};
      if (id == SLUICE_EXT_JOB_MAPPING) return &kTable;
    }
    if constexpr (HasPodGates<T>) {
      static constexpr sluice_pod_gate_t kTable{sizeof(sluice_pod_gate_t), 0, &pod_gates,
                                                &pod_grants};
      if (id == SLUICE_EXT_POD_GATE) return &kTable;
    }
    if constexpr (HasChecks<T>) {
      static constexpr sluice_check_controller_t kTable{sizeof(sluice_check_controller_t),
                                                        0,
                                                        &check_controllers,
                                                        &check_changed,
                                                        &begin_check,
                                                        &cancel_check,
                                                        explain_check_or_null()};
      if (id == SLUICE_EXT_CHECK_CONTROLLER) return &kTable;
    }
    if constexpr (HasController<T>) {
      static constexpr sluice_controller_t kTable{sizeof(sluice_controller_t), 0, &watched_kinds,
                                                  &reconcile};
      if (id == SLUICE_EXT_CONTROLLER) return &kTable;
    }
    return nullptr;
  }

 private:
  static constexpr decltype(sluice_flavor_filter_t::shape_key) filter_shape_or_null() {
    if constexpr (HasFilterShape<T>)
      return &filter_shape_key;
    else
      return nullptr;
  }
  static const void* queue_order() noexcept {
    if constexpr (HasOrder<T>) {
      static constexpr sluice_queue_order_t kTable{
          sizeof(sluice_queue_order_t), 0, order_local_queue_or_null(), order_workload_or_null()};
      return &kTable;
    }
    return nullptr;
  }
  static constexpr decltype(sluice_queue_order_t::local_queue) order_local_queue_or_null() {
    if constexpr (HasOrderLocalQueue<T>)
      return &order_local_queue;
    else
      return nullptr;
  }
  static constexpr decltype(sluice_queue_order_t::workload) order_workload_or_null() {
    if constexpr (HasOrderWorkload<T>)
      return &order_workload;
    else
      return nullptr;
  }
  static constexpr decltype(sluice_post_admit_t::events) told_events_or_null() {
    if constexpr (HasToldEvents<T>)
      return &told_events;
    else
      return nullptr;
  }
  static constexpr decltype(sluice_check_controller_t::explain) explain_check_or_null() {
    if constexpr (HasExplainCheck<T>)
      return &explain_check;
    else
      return nullptr;
  }
  static constexpr decltype(sluice_validator_t::set_defaults) set_defaults_or_null() {
    if constexpr (HasSetDefaults<T>)
      return &set_defaults;
    else
      return nullptr;
  }
};

}  // namespace sluice::detail
