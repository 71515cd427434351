// The questions of TestedPlugin (plugin.hpp): plain values into the C structs and back.
//
// Included by plugin.hpp only.
#pragma once

#include "sluice/testing/plugin.hpp"

namespace sluice::testing {

namespace detail {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

inline std::vector<sluice_str_t> abi_list(const std::vector<std::string>& texts) {
  std::vector<sluice_str_t> out;
  for (const std::string& text : texts) out.push_back(to_abi(text));
  return out;
}

inline sluice_write_t raw_write(const FakeWrite& write) {
  return {sizeof(sluice_write_t),    static_cast<std::int32_t>(write.operation),
          to_abi(write.api_version), to_abi(write.kind),
          to_abi(write.object),      to_abi(write.old),
          to_abi(write.user)};
}

inline TraitsGiven& traits_of(void* context) { return *static_cast<TraitsGiven*>(context); }

inline sluice_traits_sink_t traits_sink(TraitsGiven& given, const TraitsAsked& asked) {
  return {
      sizeof(sluice_traits_sink_t),
      0,
      &given,
      [](void* out, sluice_str_t because) { traits_of(out).takes_no_part = to_view(because); },
      [](void* out, const sluice_group_t* group) {
        traits_of(out).group = {
            std::string(to_view(group->id)), std::string(to_view(group->order_as)),
            std::string(to_view(group->called)), group->rank, group->represents == 1};
      },
      [](void* out, const sluice_replaces_t* replaces) {
        traits_of(out).replaces = {std::string(to_view(replaces->workload)),
                                   std::string(to_view(replaces->reason)),
                                   std::string(to_view(replaces->message)),
                                   static_cast<Ends>(replaces->how), replaces->only_better == 1};
      },
      [](void* out, sluice_str_t workload) { traits_of(out).follows = to_view(workload); },
      [](void* out, sluice_str_t because) { traits_of(out).inactive_because = to_view(because); },
      [](void* out, sluice_str_t key) { traits_of(out).shape_key = to_view(key); },
      [](void* out) { traits_of(out).may_lower_counts = true; },
      to_abi(asked.cluster_queue),
      asked.holds_quota ? 1 : 0,
      asked.counts_may_change ? 1 : 0,
      [](void* out) { traits_of(out).ends_later = true; }};
}

}  // namespace detail

inline TestedPlugin::TestedPlugin(FakeHost& host, const sluice_plugin_t& root,
                                  std::string_view config)
    : host_(host), root_(root) {
  Json document = Json::parse(config);
  if (root.config_schema.len > 0)
    detail::fill_defaults(document, Json::parse(to_view(root.config_schema)));
  config_ = document.dump();
  host_.set_config(std::move(document));
  std::string error;
  const sluice_sink_t sink = Sink::into(error);
  start(root_.create(host_.table(), to_abi(config_), &self_, &sink), error, "create");
  host_.allow_timers(provides(SLUICE_EXT_TIMERS));
  if (root_.activate == nullptr) return;
  const std::int32_t code = root_.activate(self_, &sink);
  if (code != SLUICE_OK) root_.destroy(self_);
  start(code, error, "activate");
}

inline TestedPlugin::~TestedPlugin() {
  std::string error;
  const sluice_sink_t sink = Sink::into(error);
  if (root_.deactivate != nullptr) root_.deactivate(self_, &sink);
  root_.destroy(self_);
}

inline void TestedPlugin::start(std::int32_t code, const std::string& error,
                                const char* what) const {
  if (code == SLUICE_REFUSED) throw Refused(error);
  if (code != SLUICE_OK)
    throw Fault(std::string(what) + " answered " + std::to_string(code) + ": " + error);
}

inline void TestedPlugin::advance_to(std::int64_t time) {
  std::uint64_t number = 0;
  for (int fired = 0; host_.take_timer(time, number); ++fired) {
    if (fired == 1'000'000) throw Fault("timers that are set again and again never come to rest");
    const auto& timers = table<sluice_timers_t>(SLUICE_EXT_TIMERS);
    check_call("timer", [&] { return timers.fired(self_, number, host_.now()); });
  }
  host_.set_now(time);
}

inline std::vector<Skip> TestedPlugin::filter(const FakeWorkload& workload,
                                              const std::vector<std::string>& flavors,
                                              std::uint32_t pod_set, std::uint32_t queue) {
  std::vector<FakeFlavor> plain;
  for (const std::string& name : flavors) plain.push_back({name, {}, {}});
  return filter(workload, plain, FakeClusterQueue(), pod_set, queue);
}

inline std::vector<Skip> TestedPlugin::filter(const FakeWorkload& workload,
                                              const std::vector<FakeFlavor>& flavors,
                                              const FakeClusterQueue& cluster_queue,
                                              std::uint32_t pod_set, std::uint32_t queue) {
  const auto& points = table<sluice_flavor_filter_t>(SLUICE_EXT_FLAVOR_FILTER);
  std::vector<sluice_str_t> names;
  std::vector<const sluice_flavor_t*> handles;
  for (const FakeFlavor& flavor : flavors) {
    names.push_back(to_abi(flavor.name));
    handles.push_back(flavor.handle());
  }
  struct Given {
    const std::vector<FakeFlavor>& flavors;
    std::vector<Skip> skips;
    bool sensible = true;
  } given{flavors, {}};
  const sluice_filter_sink_t sink{
      sizeof(sluice_filter_sink_t), 0, &given,
      [](void* context, std::uint32_t flavor, sluice_str_t reason) {
        Given& out = *static_cast<Given*>(context);
        out.sensible = out.sensible && flavor < out.flavors.size();
        if (out.sensible)
          out.skips.push_back({out.flavors[flavor].name, std::string(to_view(reason))});
      }};
  const sluice_filter_query_t query{sizeof(sluice_filter_query_t),
                                    queue,
                                    workload.ref(),
                                    pod_set,
                                    static_cast<std::uint32_t>(names.size()),
                                    names.data(),
                                    handles.data(),
                                    FakeFlavor::api(),
                                    cluster_queue.handle(),
                                    FakeClusterQueue::api()};
  check("filter", points.filter(self_, &query, &sink));
  if (!given.sensible) throw Fault("filter skipped a flavor that it was not asked about");
  return given.skips;
}

inline std::string TestedPlugin::filter_shape_key(const FakeWorkload& workload) {
  const auto& points = table<sluice_flavor_filter_t>(SLUICE_EXT_FLAVOR_FILTER);
  std::string key;
  const sluice_sink_t sink = Sink::into(key);
  if (SLUICE_HAS(&points, shape_key) && points.shape_key != nullptr)
    check("filter_shape_key", points.shape_key(self_, workload.ref(), &sink));
  return key;
}

inline Search TestedPlugin::after_flavor(const SearchStep& step) {
  const auto raw = [](Outcome outcome) {
    return sluice_outcome_t{static_cast<std::int32_t>(outcome.mode), outcome.borrow_level};
  };
  const sluice_search_step_t in{
      sizeof(sluice_search_step_t), step.queue, raw(step.current), raw(step.best),
      std::int32_t{step.has_best},  0};
  std::int32_t verdict = -1;
  check("after_flavor",
        table<sluice_flavor_search_t>(SLUICE_EXT_FLAVOR_SEARCH).after_flavor(self_, &in, &verdict));
  return static_cast<Search>(verdict);
}

inline bool TestedPlugin::better(std::uint32_t queue, Outcome a, Outcome b) {
  const sluice_search_pair_t in{sizeof(sluice_search_pair_t),
                                queue,
                                {static_cast<std::int32_t>(a.mode), a.borrow_level},
                                {static_cast<std::int32_t>(b.mode), b.borrow_level}};
  std::int32_t out = 0;
  check("better", table<sluice_flavor_search_t>(SLUICE_EXT_FLAVOR_SEARCH).better(self_, &in, &out));
  return out == 1;
}

inline bool TestedPlugin::keep_position(const PositionAge& age) {
  const sluice_position_age_t in{sizeof(sluice_position_age_t), age.queue, age.cycles,
                                 age.queue_generations, age.tree_generations};
  std::int32_t out = 0;
  check("keep_position",
        table<sluice_flavor_search_t>(SLUICE_EXT_FLAVOR_SEARCH).keep_position(self_, &in, &out));
  return out == 1;
}

inline VetoGiven TestedPlugin::veto(const FakeWorkload& preemptor,
                                    const std::vector<const FakeWorkload*>& candidates,
                                    std::uint32_t queue, const FakeClusterQueue& cluster_queue) {
  std::vector<const sluice_workload_t*> handles;
  std::vector<std::int64_t> admitted_at;
  for (const FakeWorkload* candidate : candidates) {
    handles.push_back(candidate->handle());
    admitted_at.push_back(Workload(candidate->ref()).true_since("Admitted").value_or(0));
  }
  VetoGiven given;
  const sluice_veto_sink_t sink{
      sizeof(sluice_veto_sink_t),
      0,
      &given,
      [](void* out, sluice_str_t reason) {
        static_cast<VetoGiven*>(out)->may_not_preempt = to_view(reason);
      },
      [](void* out, std::uint64_t i) { static_cast<VetoGiven*>(out)->protects.push_back(i); },
      [](void* out, std::uint64_t i, sluice_str_t reason) {
        VetoGiven& to = *static_cast<VetoGiven*>(out);
        to.protects.push_back(i);
        to.because[i] = to_view(reason);
      }};
  const sluice_veto_query_t query{sizeof(sluice_veto_query_t),
                                  queue,
                                  preemptor.ref(),
                                  handles.size(),
                                  handles.data(),
                                  cluster_queue.handle(),
                                  FakeClusterQueue::api(),
                                  admitted_at.data()};
  check("veto",
        table<sluice_preemption_veto_t>(SLUICE_EXT_PREEMPTION_VETO).veto(self_, &query, &sink));
  return given;
}

inline TraitsGiven TestedPlugin::traits(const FakeWorkload& workload, const TraitsAsked& asked) {
  TraitsGiven given;
  const sluice_traits_sink_t sink = detail::traits_sink(given, asked);
  check("traits", table<sluice_workload_traits_t>(SLUICE_EXT_WORKLOAD_TRAITS)
                      .traits(self_, workload.ref(), &sink));
  return given;
}

namespace detail {

inline sluice_order_sink_t order_sink(OrderGiven& given) {
  return {sizeof(sluice_order_sink_t), 0, &given,
          [](void* out, std::int64_t key, sluice_str_t because) {
            *static_cast<OrderGiven*>(out) = {key, std::string(to_view(because))};
          }};
}

}  // namespace detail

inline OrderGiven TestedPlugin::order_local_queue(std::string_view local_queue,
                                                  std::string_view cluster_queue,
                                                  std::uint32_t queue) {
  OrderGiven given;
  const sluice_order_sink_t sink = detail::order_sink(given);
  const sluice_order_query_t query{sizeof(sluice_order_query_t), queue, to_abi(cluster_queue),
                                   to_abi(local_queue)};
  const auto& points = table<sluice_queue_order_t>(SLUICE_EXT_QUEUE_ORDER);
  if (points.local_queue != nullptr)
    check("order_local_queue", points.local_queue(self_, &query, &sink));
  return given;
}

inline OrderGiven TestedPlugin::order_workload(const FakeWorkload& workload) {
  OrderGiven given;
  const sluice_order_sink_t sink = detail::order_sink(given);
  const auto& points = table<sluice_queue_order_t>(SLUICE_EXT_QUEUE_ORDER);
  if (points.workload != nullptr)
    check("order_workload", points.workload(self_, workload.ref(), &sink));
  return given;
}

inline Told TestedPlugin::notify(Event event, const FakeWorkload& workload, std::string_view reason,
                                 const std::vector<std::string>& others) {
  const auto names = detail::abi_list(others);
  const sluice_notification_t told{sizeof(sluice_notification_t),
                                   static_cast<std::int32_t>(event),
                                   ++sequence_,
                                   workload.ref(),
                                   to_abi(reason),
                                   names.size(),
                                   names.data()};
  const auto& points = table<sluice_post_admit_t>(SLUICE_EXT_POST_ADMIT);
  return static_cast<Told>(check_call(
      "notify", [&] { return points.notify(self_, &told); }, true));
}

inline void TestedPlugin::queue_changed(std::uint32_t id, std::string_view name,
                                        std::string_view json) {
  const sluice_queue_t queue{sizeof(sluice_queue_t), id, to_abi(name), to_abi(json)};
  check("queue_changed",
        table<sluice_queue_watch_t>(SLUICE_EXT_QUEUE_WATCH).queue_changed(self_, &queue));
}

inline std::string TestedPlugin::schema() {
  std::string text;
  const sluice_sink_t sink = Sink::into(text);
  check("schema", table<sluice_schema_t>(SLUICE_EXT_SCHEMA).contribute(self_, &sink));
  return text;
}

inline std::vector<std::string> TestedPlugin::kinds() {
  std::string text;
  const sluice_sink_t sink = Sink::into(text);
  check("kinds", table<sluice_validator_t>(SLUICE_EXT_VALIDATOR).kinds(self_, &sink));
  return detail::lines_of(text);
}

inline std::optional<std::string> TestedPlugin::set_defaults(const FakeWrite& write) {
  const auto& points = table<sluice_validator_t>(SLUICE_EXT_VALIDATOR);
  if (!SLUICE_HAS(&points, set_defaults) || points.set_defaults == nullptr) return std::nullopt;
  std::string text;
  const sluice_sink_t sink = Sink::into(text);
  const sluice_write_t raw = detail::raw_write(write);
  const FakeHost::Call reads(host_, false);  // it may read objects
  check("set_defaults", points.set_defaults(self_, &raw, &sink));
  return text.empty() ? std::nullopt : std::optional(text);
}

inline std::vector<FieldError> TestedPlugin::validate(const FakeWrite& write) {
  std::vector<FieldError> errors;
  const sluice_field_error_sink_t sink{
      sizeof(sluice_field_error_sink_t), 0, &errors,
      [](void* out, std::int32_t kind, sluice_str_t path, sluice_str_t value, sluice_str_t detail) {
        static_cast<std::vector<FieldError>*>(out)->push_back({kind, std::string(to_view(path)),
                                                               std::string(to_view(value)),
                                                               std::string(to_view(detail))});
      }};
  const sluice_write_t raw = detail::raw_write(write);
  const FakeHost::Call call(host_, false);  // it may read objects
  check("validate", table<sluice_validator_t>(SLUICE_EXT_VALIDATOR).validate(self_, &raw, &sink));
  return errors;
}

inline JobAnswer TestedPlugin::plan(const FakeJob& job) {
  JobAnswer answer;
  const detail::RawJob raw(job);
  const sluice_job_plan_sink_t sink = detail::plan_sink(answer);
  check("plan", table<sluice_job_mapping_t>(SLUICE_EXT_JOB_MAPPING).plan(self_, raw.get(), &sink));
  return answer;
}

inline std::vector<std::string> TestedPlugin::pod_gates(const FakeJob& job) {
  std::string text;
  const detail::RawJob raw(job);
  const sluice_sink_t sink = Sink::into(text);
  check("pod_gates", table<sluice_pod_gate_t>(SLUICE_EXT_POD_GATE).gates(self_, raw.get(), &sink));
  return detail::lines_of(text);
}

inline std::map<std::uint64_t, std::int32_t> TestedPlugin::pod_grants(const FakeJob& job) {
  std::map<std::uint64_t, std::int32_t> grants;
  const detail::RawJob raw(job);
  const sluice_grant_sink_t sink{
      sizeof(sluice_grant_sink_t), 0, &grants,
      [](void* out, std::uint64_t pod_set, std::int32_t pods) {
        (*static_cast<std::map<std::uint64_t, std::int32_t>*>(out))[pod_set] = pods;
      }};
  check("pod_grants",
        table<sluice_pod_gate_t>(SLUICE_EXT_POD_GATE).granted(self_, raw.get(), &sink));
  return grants;
}

inline std::vector<std::string> TestedPlugin::check_controllers() {
  std::string text;
  const sluice_sink_t sink = Sink::into(text);
  check("check_controllers",
        table<sluice_check_controller_t>(SLUICE_EXT_CHECK_CONTROLLER).controllers(self_, &sink));
  return detail::lines_of(text);
}

inline ActivityGiven TestedPlugin::check_changed(std::string_view name, std::string_view json) {
  ActivityGiven given;
  const sluice_activity_sink_t sink{
      sizeof(sluice_activity_sink_t), 0, &given,
      [](void* out, std::int32_t active, sluice_str_t reason, sluice_str_t message) {
        *static_cast<ActivityGiven*>(out) = {active == 1, std::string(to_view(reason)),
                                             std::string(to_view(message))};
      }};
  const sluice_check_t raw{sizeof(sluice_check_t), json.empty() ? 1 : 0, to_abi(name),
                           to_abi(json)};
  const auto& points = table<sluice_check_controller_t>(SLUICE_EXT_CHECK_CONTROLLER);
  check_call("check_changed", [&] { return points.check_changed(self_, &raw, &sink); });
  return given;
}

namespace detail {
inline sluice_check_query_t raw_query(const FakeWorkload& workload, const std::string& json,
                                      const FakeAttempt& attempt) {
  return {sizeof(sluice_check_query_t),
          attempt.retry_count,
          attempt.attempt,
          workload.ref(),
          to_abi(json),
          to_abi(attempt.check),
          to_abi(attempt.check_json)};
}
}  // namespace detail

inline void TestedPlugin::begin_check(const FakeWorkload& workload, const FakeAttempt& attempt) {
  const std::string json = workload.json();
  const sluice_check_query_t raw = detail::raw_query(workload, json, attempt);
  const auto& points = table<sluice_check_controller_t>(SLUICE_EXT_CHECK_CONTROLLER);
  check_call("begin_check", [&] { return points.begin(self_, &raw); });
}

inline void TestedPlugin::cancel_check(const FakeWorkload& workload, const FakeAttempt& attempt,
                                       std::string_view why) {
  const sluice_check_cancel_t raw{sizeof(sluice_check_cancel_t),
                                  0,
                                  attempt.attempt,
                                  to_abi(workload.ns),
                                  to_abi(workload.name),
                                  to_abi(workload.uid),
                                  to_abi(attempt.check),
                                  to_abi(why)};
  const auto& points = table<sluice_check_controller_t>(SLUICE_EXT_CHECK_CONTROLLER);
  check_call("cancel_check", [&] { return points.cancel(self_, &raw); });
}

inline CheckWords TestedPlugin::explain_check(const FakeWorkload& workload,
                                              const FakeAttempt& attempt) {
  const auto& points = table<sluice_check_controller_t>(SLUICE_EXT_CHECK_CONTROLLER);
  if (!SLUICE_HAS(&points, explain) || points.explain == nullptr) return {};
  const std::string json = workload.json();
  const sluice_check_query_t raw = detail::raw_query(workload, json, attempt);
  std::string text;
  const sluice_sink_t sink = Sink::into(text);
  const FakeHost::Call reads(host_, false);  // it may read objects
  const std::int32_t code = check("explain_check", points.explain(self_, &raw, &sink), true);
  return {detail::lines_of(text), code == SLUICE_RETRY};
}

inline std::vector<std::string> TestedPlugin::watched_kinds() {
  std::string text;
  const sluice_sink_t sink = Sink::into(text);
  check("watched_kinds", table<sluice_controller_t>(SLUICE_EXT_CONTROLLER).kinds(self_, &sink));
  return detail::lines_of(text);
}

inline Again TestedPlugin::reconcile(const ObjectRef& what) {
  const sluice_reconcile_t raw{sizeof(sluice_reconcile_t),
                               0,
                               to_abi(what.api_version),
                               to_abi(what.kind),
                               to_abi(what.ns),
                               to_abi(what.name),
                               to_abi(what.remote)};
  Again again;
  const auto& points = table<sluice_controller_t>(SLUICE_EXT_CONTROLLER);
  check_call("reconcile", [&] { return points.reconcile(self_, &raw, &again.after_ms); });
  return again;
}

}  // namespace sluice::testing
