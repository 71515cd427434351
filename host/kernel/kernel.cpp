#include "host/kernel/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "core/engine/queue_views.hpp"
#include "core/model/model.hpp"
#include "core/reasons/eviction_reason.hpp"
#include "host/kernel/decode_ahead.hpp"
#include "host/kernel/workload_reader.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/workload_quota.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Empty for an empty object: a status that says nothing is none.
std::string text_of(const json::object& status) {
  std::string out;
  if (!status.empty()) api::append_json(status, out);
  return out;
}

}  // namespace

Kernel::Kernel(const EngineConfig& config, const hooks::HostHooks& hooks, Intake& intake,
               ObjectStore& store, PluginPort& plugins, DecisionObserver& observer)
    : engine_(config, hooks),
      traits_(hooks),
      queue_watch_(hooks.queue_watch),
      queue_order_(hooks.queue_order),
      intake_(intake),
      store_(store),
      plugins_(plugins),
      observer_(observer),
      workload_kind_(api::kueue_kind(intake.scheme(), "Workload")),
      check_kind_(api::kueue_kind(intake.scheme(), "AdmissionCheck")),
      waits_for_pods_(config.pods_ready_timeout.has_value()),
      blocks_admission_(config.block_admission),
      notices_(engine_, store_, workload_kind_, plugins_, changes_),
      judge_(engine_, store_, check_kind_, plugins_) {}

void Kernel::begin_instant(Time now) {
  now_ = now;
  engine_.begin_instant(now);
  plugins_.begin_instant(now);
  if (listener_) listener_->begin_instant(now);
}

/// What was read while the store was loaded, if it is still what the store holds.
std::optional<std::vector<WorkloadReader::Decoded>> Kernel::take_read(WorkloadReader* read) const {
  if (!read) return std::nullopt;
  std::vector<WorkloadReader::Decoded> out = read->take();
  const bool same =
      out.size() == store_.count(workload_kind_) &&
      std::all_of(out.begin(), out.end(), [this](const WorkloadReader::Decoded& each) {
        return store_.find(workload_kind_, each.second->meta.key()) == each.first;
      });
  return same ? std::optional(std::move(out)) : std::nullopt;
}

/// A changed set of claims is written when no thread reads the store any more.
void Kernel::take_loaded(WorkloadReader::Decoded& loaded, ChangedClaims& changed) {
  const Claims before = claims_of(*loaded.first);
  pods_.read(*loaded.second, *loaded.first);
  TraitsSource::Told told = ask_traits(*loaded.second, before);
  if (told.claims != before) changed.emplace_back(loaded.first->key, told.claims);
  engine_.apply(std::move(loaded.second), std::move(told.traits));
}

Kernel::ChangedClaims Kernel::load_workloads(int threads, WorkloadReader* reader) {
  ChangedClaims changed;
  if (auto read = take_read(reader)) {
    for (WorkloadReader::Decoded& each : *read) take_loaded(each, changed);
    return changed;
  }
  DecodeAhead ahead(store_.list(workload_kind_), intake_, threads);
  while (auto each = ahead.next()) take_loaded(*each, changed);
  return changed;
}

void Kernel::announce(const api::KindInfo& kind, bool apart) {
  if (!listener_) return;
  for (const StoredObject* stored : store_.list(kind))
    listener_->loaded({&kind, stored->key, stored, nullptr}, apart);
}

// What others refer to comes first: the engine needs the queue before its workloads. What needs no
// engine is done by a thread of its own, meanwhile.
void Kernel::load(int threads, WorkloadReader* read) {
  std::vector<unsigned char> buffer(64U << 10);
  for (const api::KindInfo* kind : scheme().kinds()) {
    if (decides_about_pods(*kind))
      for (const StoredObject* stored : store_.list(*kind))
        pods_.changed(*kind, stored->key, stored);
    if (kind == &workload_kind_ || !intake_.is_typed(*kind)) continue;
    for (const StoredObject* stored : store_.list(*kind)) {
      json::monotonic_resource memory(buffer.data(), buffer.size());
      const json::object object = to_object(*stored, &memory);
      TypedObject typed = intake_.decode(*kind, object);
      intake_.remember(*kind, object);
      tell_engine(typed);
    }
  }
  std::jthread apart([this] {
    for (const api::KindInfo* kind : scheme().kinds()) announce(*kind, true);
  });
  const ChangedClaims changed = load_workloads(threads, read);
  engine_.take_statuses_as_told();
  apart.join();
  for (const api::KindInfo* kind : scheme().kinds())
    if (listener_ && listener_->wants_loaded(*kind)) announce(*kind, false);
  for (const auto& [key, claims] : changed) put_claims(*store_.find(workload_kind_, key), claims);
  plugins_.begin_anew();
}

/// All but workloads. The engine gives a queue its number first, then the watching plugins get it.
void Kernel::tell_engine(TypedObject& typed) {
  std::visit(
      [this](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::shared_ptr<api::Workload>>) {
          SLUICE_CHECK(!held, "workload ", held->meta.key(), " comes without its claims");
        } else if constexpr (!std::is_same_v<Held, std::monostate>) {
          using Object = std::remove_const_t<std::remove_reference_t<decltype(*held)>>;
          if constexpr (std::is_same_v<Object, api::ClusterQueue>) {
            const hooks::QueueId id = engine_.apply(*held);
            if (queue_watch_) queue_watch_->queue_changed(id, *held);
          } else {
            engine_.apply(*held);
          }
        }
      },
      typed);
}

/// What plugins say of a workload: asked before it is passed to the engine, and again when they, or
/// its queue, report a change.
TraitsSource::Told Kernel::ask_traits(const api::Workload& object, const Claims& before) {
  if (!traits_.asks() && before.plugins.empty()) return {};
  const auto id = engine_.find(object.meta.key());
  const bool known = id && engine_.object(*id)->meta.uid == object.meta.uid;
  const bool holds =
      known ? engine_.holds_quota(*id) : holds_quota(object.status) && object.status.admission;
  TraitsSource::Told told =
      traits_.ask({object, cluster_queue_of(engine_.model(), object), holds}, before);
  if (!told.traits.unknown_because.empty()) retries_.note(object.meta.key(), now_);
  return told;
}

void Kernel::tell_of_workload(std::shared_ptr<api::Workload> workload, StoredObject& stored) {
  const Claims before = claims_of(stored);
  pods_.read(*workload, stored);
  TraitsSource::Told told = ask_traits(*workload, before);
  if (told.claims != before) set_claims(stored, told.claims);
  engine_.apply(std::move(workload), std::move(told.traits));
}

/// The object did not change.
void Kernel::renew_traits(std::string_view key) {
  const auto id = engine_.find(key);
  const StoredObject* stored = id ? store_.find(workload_kind_, key) : nullptr;
  if (!stored) return;
  TraitsSource::Told told = ask_traits(*engine_.object(*id), claims_of(*stored));
  engine_.traits_changed(*id, std::move(told.traits));
  put_claims(*stored, told.claims);
}

/// Workloads that hold quota keep what they were admitted with.
void Kernel::renew_pods(const api::KindInfo& kind, std::string_view changed) {
  pods_.changed(kind, changed, store_.find(kind, changed));
  std::vector<std::string> waiting;
  for (const WorkloadId id : engine_.model().open)
    if (MadePods::concerns(kind, changed, engine_.key(id)) && !engine_.holds_quota(id))
      waiting.emplace_back(engine_.key(id));
  for (const std::string& key : waiting) {
    const StoredObject* stored = store_.find(workload_kind_, key);
    if (!stored) continue;
    StoredObject again = *stored;
    tell_of_workload(
        std::get<std::shared_ptr<api::Workload>>(intake_.decode(workload_kind_, current(again))),
        again);
    put_claims(*stored, claims_of(again));
  }
}

void Kernel::ask_order(const std::string& local_queue) {
  const std::string cluster_queue = cluster_queue_of(engine_.model(), local_queue);
  const auto queue = queue_number(engine_.model(), cluster_queue);
  if (!queue) return;
  hooks::Ordering said;
  queue_order_->local_queue({*queue, cluster_queue, local_queue}, said);
  engine_.order(local_queue, std::move(said));
}

/// The plugin says that its keys there are others now.
void Kernel::renew_order(const std::string& local_queue) {
  if (!queue_order_) return;
  ask_order(local_queue);
  if (!queue_order_->orders_workloads()) return;
  for (const WorkloadId id : waiting_in(engine_.model(), {local_queue}))
    renew_traits(std::string(engine_.key(id)));
}

void Kernel::ask_moved() {
  if (queue_order_)
    for (const std::string& each : std::set<std::string>(engine_.changed_local_queues()))
      ask_order(each);
  if (!traits_.asks()) return;
  for (const WorkloadId id : engine_.moved()) {
    const StoredObject* stored = store_.find(workload_kind_, engine_.key(id));
    if (!stored) continue;
    TraitsSource::Told told = ask_traits(*engine_.object(id), claims_of(*stored));
    engine_.traits_of_moved(id, std::move(told.traits));
    put_claims(*stored, told.claims);
  }
}

/// With the status that the engine has now: standing aside changes it.
void Kernel::put_claims(const StoredObject& old, const Claims& claims) {
  if (claims == claims_of(old)) return;
  StoredObject changed = old;
  set_claims(changed, claims);
  if (writes_status_of(changed)) changed.status = status_text(old.key, old.status);
  put_stored(std::move(changed), &old);
}

void Kernel::put_stored(StoredObject object, const StoredObject* old) {
  ++changes_;
  if (listener_) listener_->changed({object.kind, object.key, &object, old});
  store_.put(std::move(object));
}

void Kernel::commit(PreparedObject object, const json::object* status) {
  if (staged_) {
    if (status) object.stored.status = text_of(*status);
    return staged_->add(std::move(object));
  }
  const StoredObject* old = store_.find(*object.stored.kind, object.stored.key);
  if (!old && births_ && births_->elsewhere(object.stored)) return;
  if (old && old->metadata == object.stored.metadata) object.stored.metadata = old->metadata;
  // A status of a queue is told to people; to the engine it would look like a change of the queue.
  const bool read_by_engine = reads_statuses_of(*object.stored.kind);
  if (status && !read_by_engine) object.stored.status = text_of(*status);
  const bool status_alone = old && !read_by_engine && old->status != object.stored.status &&
                            same_but_status(*old, object.stored);
  const bool workload = object.stored.kind == &workload_kind_;
  if (old && workload) note_pods_ready(object.typed);
  // What the engine makes of a change is written with it.
  if (workload)
    tell_of_workload(std::move(std::get<std::shared_ptr<api::Workload>>(object.typed)),
                     object.stored);
  else if (!status_alone)
    tell_engine(object.typed);
  const bool overlays = old && workload && writes_status_of(object.stored);
  if (status && read_by_engine) object.stored.status = text_of(*status);
  if (overlays) object.stored.status = status_text(object.stored.key, object.stored.status);
  const api::KindInfo& kind = *object.stored.kind;
  const std::string key = decides_about_pods(kind) ? object.stored.key : std::string();
  put_stored(std::move(object.stored), old);
  if (!key.empty()) renew_pods(kind, key);
}

void Kernel::erase(const api::KindInfo& kind, const std::string& key) {
  const StoredObject* old = store().find(kind, key);
  if (!old) return;
  if (staged_) return staged_->add(StagedErase{&kind, key});
  ++changes_;
  if (listener_) listener_->changed({&kind, key, nullptr, old});
  if (&kind == &workload_kind_) {
    retries_.forget(key);
    if (const auto id = engine_.find(key)) notices_.note_deletion(*id);
  }
  if (const auto told = engine_kind(kind)) engine_.remove(*told, key);
  intake_.forget(kind, key);
  const std::string gone = decides_about_pods(kind) ? key : std::string();
  store_.erase(kind, key);
  if (!gone.empty()) renew_pods(kind, gone);
}

/// Called before the engine gets the change: it only reports what is new.
void Kernel::note_pods_ready(const TypedObject& typed) {
  const auto& workload = std::get<std::shared_ptr<api::Workload>>(typed);
  const api::Condition* ready = workload->status.condition("PodsReady");
  if (!ready || !ready->is_true()) return;
  const auto id = engine_.find(workload->meta.key());
  if (!id) return;
  const WorkloadRecord& before = engine_.model().workloads[*id];
  if (!before.is_true(ConditionRecord::Type::kPodsReady)) observer_.pods_ready(now_, *id);
}

void Kernel::begin_staging() {
  SLUICE_CHECK(!staged_, "staged twice");
  staged_ = std::make_unique<StagedChanges>(store_);
}

std::vector<StagedChange> Kernel::end_staging() {
  SLUICE_CHECK(staged_ != nullptr, "nothing is staged");
  auto changes = staged_->take();
  staged_.reset();
  return changes;
}

std::unique_ptr<StagedChanges> Kernel::suspend_staging() {
  SLUICE_CHECK(staged_ != nullptr, "nothing is staged");
  return std::move(staged_);
}

std::optional<StagedErase> Kernel::resume_staging(std::unique_ptr<StagedChanges> staged) {
  SLUICE_CHECK(!staged_, "staged twice");
  if (auto changed = staged->overtaken()) return changed;
  staged_ = std::move(staged);
  return std::nullopt;
}

bool Kernel::writes_status_of(const StoredObject& workload) const {
  return writes_all_statuses() || (listener_ && listener_->follows(workload));
}

/// The status as the engine has it now, to be stored; what it does not know of is kept.
std::string Kernel::status_text(std::string_view key, std::string_view before) {
  const auto id = engine_.find(key);
  if (!id) return std::string(before);
  engine_.note_shown(*id);
  return api::workload_status_text(engine_.status(*id), before);
}

void Kernel::write_status(WorkloadId id) {
  const StoredObject* old = store_.find(workload_kind_, engine_.key(id));
  if (!old || !writes_status_of(*old)) return;
  std::string text = status_text(old->key, old->status);
  if (text == old->status) return;
  StoredObject changed = *old;
  changed.status = std::move(text);
  put_stored(std::move(changed), old);
}

/// One step of the engine, its decisions in decisions_; whether there is more to do.
bool Kernel::step() {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t cycles = engine_.stats().cycles;
  const Clock::time_point start = Clock::now();
  std::vector<WorkloadId> faulted;
  const bool more = engine_.step(decisions_, &faulted);
  for (const WorkloadId id : faulted) retries_.note(engine_.key(id), now_);
  cycle_.reset();
  if (engine_.stats().cycles == cycles) return more;
  cycle_.emplace();
  cycle_->took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
  cycle_->reserved = std::any_of(decisions_.begin(), decisions_.end(), [](const Decision& each) {
    return each.type == DecisionType::kQuotaReserved;
  });
  return more;
}

/// What the step decided is in the store before any listener is called. In which order matters
/// where the store is a cluster's, which may have the first half of it when this process ends: a
/// workload is turned off before its end is told, or that says that it is to be
/// (commit_deactivation), or it would only queue again; and one that is replaced ends after its
/// successor is admitted, and is turned off then, or nothing would be left of the admission that
/// both had.
void Kernel::commit_decisions() {
  for (const Decision& decision : decisions_)
    if (decision.type == DecisionType::kDeactivated && !decision.successor)
      commit_deactivation(decision);
  std::optional<WorkloadId> last;  // several decisions on a workload are one after the other
  for (const Decision& decision : decisions_) {
    if (decision.type == DecisionType::kQuotaReserved)
      retries_.forget(engine_.key(decision.workload));
    if (decision.workload != last) {
      if (decision.successor) write_status(*decision.successor);
      write_status(decision.workload);
      last = decision.workload;
    }
    if (decision.type == DecisionType::kDeactivated && decision.successor)
      commit_deactivation(decision);
  }
}

bool Kernel::run(std::size_t steps) {
  for (bool more = true; more;) {
    // They follow the last step, too: a job is stopped with its workload's eviction, not a turn
    // later.
    const bool worked = listener_ && listener_->run();
    if (steps-- == 0) return false;
    apply_requests();  // traits that controllers changed hold in this cycle
    ask_moved();
    if (listener_ && listener_->has_first_looks()) {
      if (!worked) return true;  // they pause, and go on with the listener's timer
      continue;
    }
    more = step();
    commit_decisions();
    for (const Decision& decision : decisions_) observer_.decided(now_, decision);
    if (cycle_) observer_.cycled(*cycle_);
    more |= worked || (listener_ && listener_->has_work());
    const std::uint64_t changes = changes_;
    notices_.tell(decisions_);
    more |= changes_ != changes;
    more |= apply_requests();
  }
  return true;
}

// A deactivation is written to spec.active, so that only a user activates the workload again. That
// says no cause: a status that does is written before, and tells until then that it is to be off.
void Kernel::commit_deactivation(const Decision& decision) {
  const auto object = engine_.object(decision.workload);
  if (!object || object->active) return;  // gone, or turned on again, within the instant
  const bool has_cause = cause_of_deactivation(decision.reason).has_value();
  if (has_cause) write_status(decision.workload);
  const StoredObject* old = store_.find(workload_kind_, engine_.key(decision.workload));
  if (!old) return;
  StoredObject changed = *old;
  boost::system::error_code code;
  json::value body = api::parse_deep(*changed.body, code);
  SLUICE_CHECK(!code && body.is_object(), "stored text is not an object: ", *changed.body);
  json::value& spec = body.get_object()["spec"];
  if (!spec.is_object()) spec.emplace_object();
  spec.get_object()["active"] = false;
  changed.body = std::make_shared<const std::string>(api::to_json(body));
  put_stored(std::move(changed), old);
  engine_.target_reached(decision.workload);
  if (has_cause) write_status(decision.workload);
}

bool Kernel::apply_requests() {
  if (plugins_.take_restarted()) notices_.tell_present_state();
  const auto requests = plugins_.take_requests();
  for (const auto& request : requests) {
    if (request.type == EngineRequest::Type::kTraitsChanged) {
      if (may_look(renewals_, request)) renew_traits(request.workload);
    } else if (request.type == EngineRequest::Type::kOrderChanged) {
      renew_order(request.workload);
    } else if (request.type == EngineRequest::Type::kEnded) {
      if (judge_.may_end(request)) engine_.ended(request.workload);
    } else if (may_look(requeues_, request)) {
      engine_.requeue(request.workload, judge_.may_take_back_retry(request));
    }
  }
  const std::vector<std::string> again = retries_.take_due(now_),
                                 put_off = requeues_.take_due(now_),
                                 renewed = renewals_.take_due(now_);
  for (const std::string& workload : again) {
    renew_traits(workload);
    engine_.requeue(workload);
  }
  for (const std::string& workload : renewed) renew_traits(workload);
  for (const std::string& workload : put_off) engine_.requeue(workload);
  return !requests.empty() || !again.empty() || !put_off.empty() || !renewed.empty();
}

/// Else it is put off.
bool Kernel::may_look(RequestPace& pace, const EngineRequest& request) {
  if (!paces_requests_ || pace.may(request.workload, now_)) return true;
  judge_.tell_put_off(request);
  return false;
}

bool Kernel::exists(const api::KindInfo& kind, std::string_view key) const {
  return store().find(kind, key) != nullptr;
}

std::optional<StoredObject> Kernel::shown(const StoredObject& stored) const {
  if (stored.kind != &workload_kind_ || is_changed(stored)) return std::nullopt;
  const auto id = engine_.find(stored.key);
  if (!id) return std::nullopt;
  StoredObject out = stored;
  out.status = api::workload_status_text(engine_.status(*id), stored.status);
  return out;
}

json::object Kernel::current(const StoredObject& stored, json::storage_ptr storage) const {
  const auto now = shown(stored);
  return to_object(now ? *now : stored, std::move(storage));
}

json::object Kernel::current(const api::KindInfo& kind, std::string_view key,
                             json::storage_ptr storage) const {
  const StoredObject* stored = store().find(kind, key);
  SLUICE_CHECK(stored != nullptr, kind.kind, " ", key, " does not exist");
  return current(*stored, std::move(storage));
}

std::shared_ptr<const api::Workload> Kernel::typed_workload(const StoredObject& stored) const {
  if (staged_ || stored.kind != &workload_kind_) return nullptr;
  const auto id = engine_.find(stored.key);
  return id ? engine_.object(*id) : nullptr;
}

Time Kernel::next_timer() const {
  Time next = engine_.next_timer();
  next =
      std::min({next, plugins_.next_timer(), retries_.next(), requeues_.next(), renewals_.next()});
  if (listener_) next = std::min(next, listener_->next_timer());
  return next;
}

}  // namespace sluice::host
