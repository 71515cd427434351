#include "host/plugins/bridge_order.hpp"

#include <exception>

#include "host/plugins/workload_api.hpp"

namespace sluice::host {

namespace {

struct Given {
  hooks::Ordering order;
  Nonsense nonsense;
};

void take_key(void* context, std::int64_t key, sluice_str_t because) noexcept {
  Given& given = *static_cast<Given*>(context);
  try {
    given.order.key = key;
    given.order.because = shown_text(because);
  } catch (const std::exception&) {
    given.nonsense.note(kNoMemory);
  }
}

/// What the call said, or why it counts for nothing.
void conclude(const LoadedPlugin& plugin, Answer answer, const hooks::Fault& fault, Given& given,
              hooks::Ordering& out) {
  if (answer == Answer::kOk) {
    out = std::move(given.order);
    if (out.key != 0 || !out.because.empty()) out.by = plugin.name();
    return;
  }
  out = {};
  out.by = plugin.name();
  const hooks::Fault known{plugin.name(), fault ? fault.text : plugin.health().last_fault()};
  out.fault = known.sentence();
}

}  // namespace

void OrderBridge::local_queue(const hooks::OrderQuery& query, hooks::Ordering& out) {
  const sluice_queue_order_t& table = *provider_.extensions().queue_order;
  if (!SLUICE_HAS(&table, local_queue) || table.local_queue == nullptr) return;
  const sluice_order_query_t raw{sizeof(sluice_order_query_t), query.queue,
                                 abi_of(query.cluster_queue), abi_of(query.local_queue)};
  Given given;
  hooks::Fault fault;
  const sluice_order_sink_t sink{sizeof(sluice_order_sink_t), 0, &given, &take_key};
  const Answer answer = provider_.call(Hook::kOrderLocalQueue, fault, [&] {
    return provider_.judged(table.local_queue(provider_.self(), &raw, &sink), given.nonsense);
  });
  conclude(provider_, answer, fault, given, out);
}

bool OrderBridge::orders_workloads() const {
  const sluice_queue_order_t& table = *provider_.extensions().queue_order;
  return SLUICE_HAS(&table, workload) && table.workload != nullptr;
}

void OrderBridge::workload(const api::Workload& workload, hooks::Ordering& out) {
  const sluice_queue_order_t& table = *provider_.extensions().queue_order;
  Given given;
  hooks::Fault fault;
  const sluice_order_sink_t sink{sizeof(sluice_order_sink_t), 0, &given, &take_key};
  const Answer answer = provider_.call(Hook::kOrderWorkload, about_of(workload), fault, [&] {
    return provider_.judged(table.workload(provider_.self(), ref_of(workload), &sink),
                            given.nonsense);
  });
  conclude(provider_, answer, fault, given, out);
}

}  // namespace sluice::host
