#include "host/plugins/validate/hook_runs.hpp"

#include <cstddef>
#include <map>
#include <utility>

#include "host/plugins/capacity_api.hpp"
#include "host/plugins/event_filter.hpp"
#include "host/plugins/workload_api.hpp"

namespace sluice::host {

namespace {

std::string line(const std::string& what, std::int32_t code, const std::string& answer) {
  return what + " -> " + std::to_string(code) + " " + answer + "\n";
}

std::vector<sluice_outcome_t> all_outcomes() {
  std::vector<sluice_outcome_t> all;
  for (std::int32_t mode = SLUICE_MODE_NO_FIT; mode <= SLUICE_MODE_FIT; ++mode)
    for (const std::int32_t level : {0, 1, 2}) all.push_back({mode, level});
  return all;
}

std::string name_of(sluice_outcome_t outcome) {
  return "(" + std::to_string(outcome.mode) + "," + std::to_string(outcome.borrow_level) + ")";
}

std::string ask_search(const TestInstance& instance, HostAge age) {
  const auto* search = instance.table<sluice_flavor_search_t>(SLUICE_EXT_FLAVOR_SEARCH);
  if (search == nullptr) return {};
  std::string text;
  for (const std::uint32_t queue : {0u, 1u, 4711u}) {  // the last one was never announced
    for (const sluice_outcome_t current : all_outcomes()) {
      for (const sluice_outcome_t best : {sluice_outcome_t{0, 0}, sluice_outcome_t{2, 1}}) {
        const Longer<sluice_search_step_t> step({0, queue, current, best, best.mode != 0, 0}, age);
        std::int32_t verdict = -1;
        const Asking asking("flavor-search.after_flavor", "queue " + std::to_string(queue) +
                                                              ", current " + name_of(current) +
                                                              ", best " + name_of(best));
        const std::int32_t code = search->after_flavor(instance.self, step.get(), &verdict);
        expect(code == SLUICE_OK, "after_flavor answered " + std::to_string(code));
        expect(verdict >= SLUICE_SEARCH_GO_ON && verdict <= SLUICE_SEARCH_STOP_BEST,
               "after_flavor gave the verdict " + std::to_string(verdict));
        text += line("after " + name_of(current), code, std::to_string(verdict));
      }
    }
    for (const std::uint64_t age_in_cycles : {1u, 2u, 9u}) {
      for (const std::uint64_t generations : {0u, 1u}) {
        const Longer<sluice_position_age_t> position(
            {0, queue, age_in_cycles, generations, generations + 1}, age);
        std::int32_t keep = -1;
        const Asking asking("flavor-search.keep_position",
                            "queue " + std::to_string(queue) + ", of " +
                                std::to_string(age_in_cycles) + " cycles and generation " +
                                std::to_string(generations));
        const std::int32_t code = search->keep_position(instance.self, position.get(), &keep);
        expect(code == SLUICE_OK && (keep == 0 || keep == 1),
               "keep_position answered " + std::to_string(code) + ", " + std::to_string(keep));
        text += line("keep", code, std::to_string(keep));
      }
    }
  }
  return text;
}

std::string ask_veto(const TestInstance& instance, HostAge age) {
  const auto* veto = instance.table<sluice_preemption_veto_t>(SLUICE_EXT_PREEMPTION_VETO);
  if (veto == nullptr) return {};
  std::string text;
  const auto& workloads = sample_workloads();
  std::vector<const sluice_workload_t*> handles;
  for (const api::Workload& workload : workloads) handles.push_back(handle_of(workload));
  // The first one only holds quota, the others have run for a while.
  std::vector<std::int64_t> admitted_at(handles.size(), 1'699'999'000 * kSecond);
  admitted_at.front() = 0;
  for (const api::Workload& preemptor : workloads) {
    for (const std::size_t count : {std::size_t{0}, handles.size()}) {
      std::string answer;
      const Longer<sluice_veto_sink_t> sink(
          {0, 0, &answer,
           [](void* out, sluice_str_t reason) {
             *static_cast<std::string*>(out) += "no: " + text_of(reason) + " ";
           },
           [](void* out, std::uint64_t candidate) {
             *static_cast<std::string*>(out) += std::to_string(candidate) + " ";
           },
           [](void* out, std::uint64_t candidate, sluice_str_t reason) {
             *static_cast<std::string*>(out) +=
                 std::to_string(candidate) + ": " + text_of(reason) + " ";
           }},
          age, offsetof(sluice_veto_sink_t, protect_because));
      const Longer<sluice_veto_query_t> query(
          {0, 0, ref_of(preemptor, age), count, handles.data(), handle_of(sample_queue()),
           &cluster_queue_api(), admitted_at.data()},
          age, offsetof(sluice_veto_query_t, cluster_queue));
      const Asking asking("preemption-veto.veto",
                          std::to_string(count) + " candidates, preemptor " + shown(preemptor));
      const std::int32_t code = veto->veto(instance.self, query.get(), sink.get());
      expect(code == SLUICE_OK, "veto answered " + std::to_string(code));
      text += line("veto " + preemptor.meta.name, code, answer);
    }
  }
  return text;
}

std::string ask_traits(TestInstance& instance, HostAge age) {
  const auto* traits = instance.table<sluice_workload_traits_t>(SLUICE_EXT_WORKLOAD_TRAITS);
  if (traits == nullptr) return {};
  std::string text;
  for (const api::Workload& workload : sample_workloads()) {
    std::string answer;
    const auto append = [](void* out, const std::string& what) {
      *static_cast<std::string*>(out) += what + ";";
    };
    static const auto add = append;
    const sluice_traits_sink_t sink{
        sizeof(sluice_traits_sink_t),
        0,
        &answer,
        [](void* out, sluice_str_t because) { add(out, "no part " + text_of(because)); },
        [](void* out, const sluice_group_t* group) {
          add(out, "group " + text_of(group->id) + std::to_string(group->rank) +
                       text_of(group->order_as) + (group->represents == 1 ? " for it" : ""));
        },
        [](void* out, const sluice_replaces_t* r) {
          add(out, "replaces " + text_of(r->workload) + text_of(r->reason) + text_of(r->message));
        },
        [](void* out, sluice_str_t other) { add(out, "follows " + text_of(other)); },
        [](void* out, sluice_str_t because) { add(out, "inactive " + text_of(because)); },
        [](void* out, sluice_str_t key) { add(out, "shape " + std::string(view_of(key))); },
        [](void* out) { add(out, "lower"); },
        abi_of("cluster-queue"),
        0,
        0,
        [](void* out) { add(out, "ends later"); }};
    const Asking asking("workload-traits.traits", shown(workload));
    const std::int32_t code = traits->traits(instance.self, ref_of(workload, age), &sink);
    expect(code == SLUICE_OK, "traits answered " + std::to_string(code));
    text += line("traits " + workload.meta.name, code, answer);
  }
  return text;
}

std::string ask_order(TestInstance& instance, HostAge age) {
  const auto* order = instance.table<sluice_queue_order_t>(SLUICE_EXT_QUEUE_ORDER);
  if (order == nullptr) return {};
  std::string text;
  std::string answer;
  const sluice_order_sink_t sink{sizeof(sluice_order_sink_t), 0, &answer,
                                 [](void* out, std::int64_t key, sluice_str_t because) {
                                   *static_cast<std::string*>(out) =
                                       std::to_string(key) + " " + text_of(because);
                                 }};
  const auto answered = [&](const std::string& what, std::int32_t code) {
    expect(code == SLUICE_OK,
           what + " answered " + std::to_string(code) + ": " + instance.side.take_fault_text());
    text += line(what, code, std::exchange(answer, {}));
  };
  if (SLUICE_HAS(order, local_queue) && order->local_queue != nullptr)
    for (const std::uint32_t queue : {0u, 4711u}) {  // the second was never announced
      const Longer<sluice_order_query_t> query({0, queue, abi_of("cq"), abi_of("team-0/main")},
                                               age);
      const Asking asking("queue-order.local_queue",
                          "queue " + std::to_string(queue) + ", team-0/main");
      answered("local_queue", order->local_queue(instance.self, query.get(), &sink));
    }
  if (SLUICE_HAS(order, workload) && order->workload != nullptr)
    for (const api::Workload& workload : sample_workloads()) {
      const Asking asking("queue-order.workload", shown(workload));
      answered("workload " + workload.meta.name,
               order->workload(instance.self, ref_of(workload, age), &sink));
    }
  return text;
}

void notify_all(TestInstance& instance, HostAge age) {
  const auto* post_admit = instance.table<sluice_post_admit_t>(SLUICE_EXT_POST_ADMIT);
  if (post_admit == nullptr) return;
  std::uint64_t sequence = 0;
  const sluice_str_t other = abi_of("team-0/victim");
  const std::int32_t last =
      age == HostAge::kFuture ? SLUICE_EVENT_FINISHED + 5 : SLUICE_EVENT_FINISHED;
  for (std::int32_t event = SLUICE_EVENT_RESERVED; event <= last; ++event) {
    const Longer<sluice_notification_t> told(
        {0, event, ++sequence, ref_of(sample_workloads()[1], age), abi_of("Preempted"), 1, &other},
        age);
    for (int twice = 0; twice < 2; ++twice) {
      const Asking asking("post-admit.notify", "event " + std::to_string(event) +
                                                   (twice == 1 ? ", told again, " : ", ") +
                                                   shown(sample_workloads()[1]));
      const std::int32_t code =
          instance.writing([&] { return post_admit->notify(instance.self, told.get()); });
      expect(code == SLUICE_OK || code == SLUICE_RETRY,
             "notify answered " + std::to_string(code) + " to event " + std::to_string(event) +
                 (twice == 1 ? ", told again" : "") + ": " + instance.side.take_fault_text());
    }
  }
}

}  // namespace

std::string ask_filter(const TestInstance& instance, const api::Workload& workload,
                       const std::vector<std::string>& flavors, HostAge age) {
  const auto* filter = instance.table<sluice_flavor_filter_t>(SLUICE_EXT_FLAVOR_FILTER);
  if (filter == nullptr) return {};
  std::vector<sluice_str_t> names;
  for (const std::string& flavor : flavors) names.push_back(abi_of(flavor));
  struct Skipped {
    std::map<std::uint32_t, std::string> reasons;
  } skipped;
  const sluice_filter_sink_t sink{sizeof(sluice_filter_sink_t), 0, &skipped,
                                  [](void* out, std::uint32_t flavor, sluice_str_t reason) {
                                    static_cast<Skipped*>(out)->reasons[flavor] = text_of(reason);
                                  }};
  const std::vector<hooks::FlavorFacts> facts = sample_facts(flavors);
  std::vector<const sluice_flavor_t*> handles;
  for (const hooks::FlavorFacts& each : facts) handles.push_back(handle_of(each));
  const Longer<sluice_filter_query_t> query(
      {0, 0, ref_of(workload, age), 0, static_cast<std::uint32_t>(names.size()), names.data(),
       handles.data(), &flavor_api(), handle_of(sample_queue()), &cluster_queue_api()},
      age, offsetof(sluice_filter_query_t, flavor_handles));
  std::string listed;
  for (const std::string& flavor : flavors)
    listed += (listed.empty() ? "" : ", ") + shown_bytes(flavor);
  const Asking asking("flavor-filter.filter", "flavors " + listed + "; " + shown(workload));
  const std::int32_t code = filter->filter(instance.self, query.get(), &sink);
  expect(code == SLUICE_OK, "filter answered " + std::to_string(code));
  std::string text;
  for (std::uint32_t i = 0; i < flavors.size(); ++i) {
    const auto it = skipped.reasons.find(i);
    text += flavors[i] + "=" + (it == skipped.reasons.end() ? "" : "skip: " + it->second) + "\n";
    if (it != skipped.reasons.end()) skipped.reasons.erase(it);
  }
  expect(skipped.reasons.empty(), "filter skipped a flavor that it was not asked about");
  return text;
}

std::string ask_cycle_hooks(const TestInstance& instance, HostAge age) {
  std::string text;
  for (const api::Workload& workload : sample_workloads())
    text += ask_filter(instance, workload, sample_flavors(), age);
  return text + ask_search(instance, age) + ask_veto(instance, age);
}

std::string ask_control_hooks(TestInstance& instance, HostAge age) {
  std::string text =
      ask_traits(instance, age) + ask_order(instance, age) + ask_job_hooks(instance, age);
  notify_all(instance, age);
  return text;
}

std::vector<std::string> names_said(const TestInstance& instance, const char* hook,
                                    LoadedPlugin::NamesFunction function, const char* what) {
  IncomingText text;
  const sluice_sink_t sink = text.sink();
  const Asking asking(hook, "");
  const std::int32_t code = function(instance.self, &sink);
  const std::string_view name(hook);
  expect(code == SLUICE_OK, std::string(name.substr(name.find('.') + 1)) + " answered " +
                                std::to_string(code) +
                                " when asked for the names: " + instance.side.take_fault_text());
  Nonsense nonsense;
  auto names = text.names(what, nonsense);
  expect(!nonsense, nonsense.sentence());
  return names;
}

void ask_told_events(TestInstance& instance) {
  const auto* post_admit = instance.table<sluice_post_admit_t>(SLUICE_EXT_POST_ADMIT);
  if (!SLUICE_HAS(post_admit, events) || post_admit->events == nullptr) return;
  const auto filter =
      EventFilter::parse(names_said(instance, "post-admit.events", post_admit->events, "an event"));
  expect(filter.ok(), filter.ok() ? "" : filter.error().text);
}

int ask_better(const TestInstance& instance, sluice_outcome_t a, sluice_outcome_t b) {
  const auto* search = instance.table<sluice_flavor_search_t>(SLUICE_EXT_FLAVOR_SEARCH);
  const sluice_search_pair_t pair{sizeof(sluice_search_pair_t), 0, a, b};
  std::int32_t out = -1;
  const Asking asking("flavor-search.better", name_of(a) + " and " + name_of(b));
  const std::int32_t code = search->better(instance.self, &pair, &out);
  return code == SLUICE_OK && (out == 0 || out == 1) ? out : -1;
}

void feed_garbage(TestInstance& instance) {
  const std::string deep(5000, '[');
  for (const std::string_view text :
       {std::string_view(""), std::string_view("no json"), std::string_view("[]"),
        std::string_view("{\"spec\":7}"), std::string_view("\xff\xfe"), std::string_view(deep)}) {
    if (const auto* watch = instance.table<sluice_queue_watch_t>(SLUICE_EXT_QUEUE_WATCH)) {
      const sluice_queue_t queue{sizeof(sluice_queue_t), 1, abi_of("cq"), abi_of(text)};
      const Asking asking("queue-watch.queue_changed", shown_bytes(text));
      watch->queue_changed(instance.self, &queue);
    }
    feed_validator_garbage(instance, text);
  }
  feed_job_garbage(instance);
  feed_check_garbage(instance);
  if (const auto* timers = instance.table<sluice_timers_t>(SLUICE_EXT_TIMERS)) {
    const Asking asking("timers.fired", "timer 281474976710655, which is not set");
    instance.writing(
        [&] { return timers->fired(instance.self, 0xFFFF'FFFF'FFFFu, instance.clock.time); });
  }
}

}  // namespace sluice::host
