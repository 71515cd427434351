#include "core/engine/turn.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

using Type = ConditionRecord::Type;

namespace {

constexpr const char* kWaitsForStart = "WaitForStart";

}  // namespace

void set_condition(Model& model, WorkloadRecord& w, Type type, bool value, std::string_view reason,
                   std::string_view message) {
  set_condition(model, w, type, value, model.texts.intern(reason), model.texts.intern(message));
}

void set_condition(Model& model, WorkloadRecord& w, Type type, bool value, SharedText reason,
                   SharedText message) {
  const auto same = std::find_if(w.conditions.begin(), w.conditions.end(),
                                 [type](const ConditionRecord& c) { return c.type == type; });
  const bool fresh = same == w.conditions.end();
  if (w.conditions.empty()) w.conditions.reserve(3);  // most end with three
  ConditionRecord& c = fresh ? w.conditions.emplace_back() : *same;
  if (fresh || c.is_true != value) c.time = model.now;
  c.type = type;
  c.is_true = value;
  c.generation = static_cast<std::int32_t>(w.object->meta.generation);
  c.reason = std::move(reason);
  c.message = std::move(message);
  if (type == Type::kPodsReady) model.pods_ready.reset();
}

void say_reserved(Model& model, WorkloadRecord& w, QueueRecord& queue) {
  if (queue.reserved_message.text().empty())
    queue.reserved_message = model.texts.intern("Quota reserved in ClusterQueue " + queue.name);
  const SharedText reason = model.texts.intern("QuotaReserved");
  set_condition(model, w, Type::kQuotaReserved, true, reason, queue.reserved_message);
  for (const Type type : {Type::kEvicted, Type::kPreempted})
    if (const ConditionRecord* c = w.if_true(type))
      set_condition(model, w, type, false, reason,
                    model.texts.intern("Previously: " + c->message.text()));
}

void say_unadmitted(Model& model, WorkloadRecord& w) {
  set_condition(model, w, Type::kAdmitted, false, "NoReservation",
                "The workload has no reservation");
}

bool say_unready(Model& model, WorkloadRecord& w) {
  const ConditionRecord* ready = w.condition(Type::kPodsReady);
  if (!ready || (!ready->is_true && ready->reason == kWaitsForStart)) return false;
  set_condition(model, w, Type::kPodsReady, false, kWaitsForStart,
                "Not all pods are ready or succeeded");
  return true;
}

void say_backoff_finished(Model& model, WorkloadRecord& w) {
  set_condition(model, w, Type::kRequeued, true, "BackoffFinished",
                "The workload backoff was finished");
  if (w.extras) w.extras->requeue.requeue_at.reset();
}

}  // namespace sluice
