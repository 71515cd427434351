#include "host/plugins/process/services.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <vector>

#include "api/json/json.hpp"
#include "host/plugins/process/forms.hpp"
#include "host/plugins/process/frames.hpp"
#include "host/plugins/process/words.hpp"
#include "host/plugins/text_gate.hpp"
#include "sluice/svc/check_reporter.h"
#include "sluice/svc/clock.h"
#include "sluice/svc/events.h"
#include "sluice/svc/log.h"
#include "sluice/svc/metrics.h"
#include "sluice/svc/objects.h"
#include "sluice/svc/requeue.h"
#include "sluice/svc/state.h"

namespace sluice::host {

namespace json = boost::json;

namespace {

template <typename Table>
const Table& service(const sluice_host_t* host, std::string_view id) {
  return *static_cast<const Table*>(host->service(host, abi_of(id)));
}

std::vector<sluice_str_t> texts_in(const json::object& body, std::string_view key) {
  std::vector<sluice_str_t> out;
  if (const json::array* list = api::find_array(body, key))
    for (const json::value& each : *list)
      out.push_back(abi_of(each.is_string() ? api::view(each.get_string()) : std::string_view()));
  return out;
}

// ---- notes

void note_log(const sluice_host_t* host, const json::object& body) {
  const auto level = api::find_int32(body, "level").value_or(SLUICE_LOG_INFO);
  service<sluice_log_t>(host, SLUICE_SVC_LOG).write(host, level, text_in(body, "text"));
}

void note_report(const sluice_host_t* host, const json::object& body) {
  const std::string updates = document_in(body, "podSetUpdates");
  const auto attempt = api::find_int(body, "attempt").value_or(0);
  const sluice_check_report_t raw{sizeof(sluice_check_report_t),
                                  api::find_int32(body, "requeueAfterSeconds").value_or(-1),
                                  static_cast<std::uint64_t>(attempt),
                                  text_in(body, "namespace"),
                                  text_in(body, "name"),
                                  text_in(body, "uid"),
                                  text_in(body, "check"),
                                  text_in(body, "state"),
                                  text_in(body, "reason"),
                                  text_in(body, "message"),
                                  abi_of(updates)};
  service<sluice_check_reporter_t>(host, SLUICE_SVC_CHECK_REPORTER).report(host, &raw, nullptr);
}

void note_timer(const sluice_host_t* host, const json::object& body) {
  const auto& clock = service<sluice_clock_t>(host, SLUICE_SVC_CLOCK);
  const auto number = static_cast<std::uint64_t>(api::find_int(body, "timer").value_or(0));
  if (const auto at = api::find_int(body, "at"))
    clock.set_timer(host, number, *at);
  else
    clock.cancel_timer(host, number);
}

void note_event(const sluice_host_t* host, const json::object& body) {
  const sluice_event_t raw{
      sizeof(sluice_event_t),      api::find_bool(body, "warning", false) ? 1 : 0,
      text_in(body, "apiVersion"), text_in(body, "kind"),
      text_in(body, "namespace"),  text_in(body, "name"),
      text_in(body, "reason"),     text_in(body, "message")};
  service<sluice_events_t>(host, SLUICE_SVC_EVENTS).emit(host, &raw);
}

void note_requeue(const sluice_host_t* host, const json::object& body) {
  service<sluice_requeue_t>(host, SLUICE_SVC_REQUEUE).requeue(host, text_in(body, "workload"));
}

void note_metric(const sluice_host_t* host, const json::object& body) {
  const auto& metrics = service<sluice_metrics_t>(host, SLUICE_SVC_METRICS);
  const auto labels = texts_in(body, "labels"), values = texts_in(body, "values");
  const bool is_time = api::find_text(body, "unit") == "nanoseconds";
  const auto set = api::find_int(body, "set"), add = api::find_int(body, "add");
  const bool gauge = api::find_bool(body, "gauge", set.has_value());
  const bool in_full = api::find_bool(body, "inFull", false);
  const sluice_metric_spec_t spec{sizeof(sluice_metric_spec_t),
                                  (gauge ? SLUICE_METRIC_GAUGE : SLUICE_METRIC_COUNTER) +
                                      (in_full ? SLUICE_METRIC_NAMED_IN_FULL : 0),
                                  is_time ? SLUICE_UNIT_NANOSECONDS : SLUICE_UNIT_NONE,
                                  static_cast<std::uint32_t>(labels.size()),
                                  text_in(body, "name"),
                                  text_in(body, "help"),
                                  labels.data()};
  std::uint32_t number = 0;
  const auto count = static_cast<std::uint32_t>(values.size());
  const std::int32_t code = metrics.register_metric(host, &spec, &number);
  if (code != SLUICE_OK) return;  // which is told where it is refused
  if (set) metrics.set(host, number, values.data(), count, *set);
  if (add) metrics.add(host, number, values.data(), count, *add);
}

struct Note {
  std::string_view name;
  void (*take)(const sluice_host_t* host, const json::object& body);
};

constexpr Note kNotes[] = {{"log", &note_log},         {"report", &note_report},
                           {"timer", &note_timer},     {"event", &note_event},
                           {"requeue", &note_requeue}, {"metric", &note_metric}};

// ---- requests

/// What a service answers.
struct Said {
  std::int32_t code = SLUICE_OBJECTS_INVALID;
  std::string text, error;
};

Said ask_objects(const sluice_host_t* host, std::string_view what, const json::object& body) {
  const auto& objects = service<sluice_objects_t>(host, SLUICE_SVC_OBJECTS);
  const sluice_object_ref_t ref{sizeof(sluice_object_ref_t), 0,
                                text_in(body, "apiVersion"), text_in(body, "kind"),
                                text_in(body, "namespace"),  text_in(body, "name")};
  const std::string object = document_in(body, "object");
  const sluice_str_t subresource = text_in(body, "subresource");
  Said said;
  const sluice_sink_t out = sink_of(said.text), error = sink_of(said.error);
  if (what == "get") said.code = objects.get(host, &ref, &out, &error);
  if (what == "list") said.code = objects.list(host, &ref, text_in(body, "selector"), &out, &error);
  if (what == "create") said.code = objects.create(host, abi_of(object), &out, &error);
  if (what == "update") said.code = objects.update(host, abi_of(object), subresource, &out, &error);
  if (what == "patch")
    said.code = objects.patch(host, &ref, subresource, abi_of(object), &out, &error);
  if (what == "remove") said.code = objects.remove(host, &ref, text_in(body, "uid"), &error);
  if (what == "release_claim") said.code = objects.release_claim(host, &ref, &error);
  return said;
}

/// Values are texts here, and the answer is JSON.
Said ask_state(const sluice_host_t* host, std::string_view what, const json::object& body) {
  const auto& state = service<sluice_state_t>(host, SLUICE_SVC_STATE);
  const sluice_str_t key = text_in(body, "key");
  Said said;
  if (what == "get") {
    std::string value;
    const sluice_sink_t out = sink_of(value);
    said.code = state.get(host, key, &out);
    const bool is_text = document_problem(value) == nullptr;
    if (said.code == SLUICE_OBJECTS_OK && !is_text)
      said = {SLUICE_OBJECTS_INVALID, "",
              "the value is no text, and a process is given only texts"};
    if (said.code == SLUICE_OBJECTS_OK) api::append_json_text(value, said.text);
  }
  if (what == "set") said.code = state.set(host, key, text_in(body, "value"));
  if (what == "remove") said.code = state.remove(host, key);
  if (what == "keys") {
    json::array keys;
    said.code = state.keys(
        host, text_in(body, "prefix"),
        [](void* context, sluice_str_t each) {
          static_cast<json::array*>(context)->emplace_back(api::json_view(view_of(each)));
        },
        &keys);
    said.text = api::to_json(keys);
  }
  return said;
}

std::string reply(const Message& request, const Said& said) {
  api::JsonMembers out;
  out.number("reply", static_cast<std::int64_t>(request.number));
  if (said.code == SLUICE_OBJECTS_OK) return out.document("result", said.text).take();
  return out.text("code", word_of(said.code, kObjectWords)).text("error", said.error).take();
}

}  // namespace

Result<void> take_note(const sluice_host_t* host, const Message& note) {
  for (const Note& known : kNotes) {
    if (known.name != note.name) continue;
    if (auto formed = check_note(note.name, note.body); !formed) return formed;
    known.take(host, note.body);
    return {};
  }
  const std::string text = "it sent a note that this host does not know: " + shown_text(note.name);
  service<sluice_log_t>(host, SLUICE_SVC_LOG).write(host, SLUICE_LOG_WARNING, abi_of(text));
  return {};
}

std::string reply_to(const sluice_host_t* host, const Message& request) {
  const std::string_view name = request.name;
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view what = name.substr(std::min(dot + 1, name.size()));
  Said said;
  if (auto formed = check_request(name, request.body); !formed) {
    said.error = formed.error().text;
    return reply(request, said);
  }
  if (name.substr(0, dot) == "objects") said = ask_objects(host, what, request.body);
  if (name.substr(0, dot) == "state") said = ask_state(host, what, request.body);
  if (said.code == SLUICE_OBJECTS_INVALID && said.error.empty())
    said.error = "there is no such service, or its arguments make no sense: " + shown_text(name);
  return reply(request, said);
}

std::string reply_not_now(const Message& request) {
  Said said;
  said.code = SLUICE_OBJECTS_NOT_NOW;
  said.error = "nobody waits for the answer to this call any more";
  return reply(request, said);
}

std::string reply_too_long(const Message& request, std::size_t bytes) {
  Said said;
  said.code = SLUICE_OBJECTS_FAILED;
  said.error = fmt::format("the answer has {} bytes; a frame holds {}", bytes, kFrameBytes);
  return reply(request, said);
}

}  // namespace sluice::host
