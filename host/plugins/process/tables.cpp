// The tables of the extension points that a process may provide: each function puts its question
// into a call, and the answer into what the C interface asks for.
#include <boost/json.hpp>
#include <string>

#include "api/json/json.hpp"
#include "host/plugins/process/process_instance.hpp"
#include "host/plugins/process/process_root.hpp"
#include "host/plugins/process/words.hpp"
#include "host/plugins/text_gate.hpp"
#include "host/plugins/workload_api.hpp"
#include "host/plugins/workload_text.hpp"
#include "sluice/ext/check_controller.h"
#include "sluice/ext/controller.h"
#include "sluice/ext/post_admit.h"
#include "sluice/ext/schema.h"
#include "sluice/ext/timers.h"
#include "sluice/ext/validator.h"

namespace sluice::host {

namespace json = boost::json;

namespace {

void write(const sluice_sink_t* out, std::string_view text) {
  out->write(out->context, abi_of(text));
}

/// A list of names, one per line, of what was said of a point at its creation.
std::int32_t write_names(sluice_instance_t* self, std::string_view point, std::string_view key,
                         const sluice_sink_t* out) {
  const json::object* said = api::find_object(ProcessInstance::of(self).points, point);
  const json::array* names = said == nullptr ? nullptr : api::find_array(*said, key);
  if (names == nullptr) return SLUICE_OK;
  for (const json::value& name : *names) {
    if (name.is_string()) write(out, api::view(name.get_string()));
    write(out, "\n");
  }
  return SLUICE_OK;
}

/// `read` gets the answer where it is OK.
template <typename Read>
std::int32_t ask(sluice_instance_t* self, std::string_view hook, const api::JsonMembers& members,
                 Read&& read) {
  const ProcessInstance& instance = ProcessInstance::of(self);
  const ProcessAnswer answer = instance.process->call(hook, members);
  if (answer.kind == ProcessAnswer::Kind::kOk || answer.kind == ProcessAnswer::Kind::kRetry)
    read(answer.body);
  return code_of(instance, answer);
}

std::int32_t ask(sluice_instance_t* self, std::string_view hook, const api::JsonMembers& members) {
  return ask(self, hook, members, [](const json::object&) {});
}

// ---- check-controller

std::int32_t check_controllers(sluice_instance_t* self, const sluice_sink_t* out) {
  return write_names(self, SLUICE_EXT_CHECK_CONTROLLER, "controllers", out);
}

std::int32_t check_changed(sluice_instance_t* self, const sluice_check_t* check,
                           const sluice_activity_sink_t* out) {
  api::JsonMembers members;
  members.text("check", view_of(check->name)).document("checkObject", view_of(check->json));
  return ask(self, "check-controller.check_changed", members, [&](const json::object& answer) {
    const json::value* active = api::find(answer, "active");
    if (active == nullptr) return;
    const std::int32_t value = active->is_bool() ? (active->get_bool() ? 1 : 0) : -1;
    out->active(out->context, value, text_in(answer, "reason"), text_in(answer, "message"));
  });
}

api::JsonMembers members_of(const sluice_check_query_t& query) {
  api::JsonMembers members;
  members.number("attempt", static_cast<std::int64_t>(query.attempt))
      .number("retryCount", query.retry_count)
      .text("check", view_of(query.check))
      .document("checkObject", view_of(query.check_json))
      .document("workload", view_of(query.workload_json));
  return members;
}

std::int32_t begin_check(sluice_instance_t* self, const sluice_check_query_t* query) {
  return ask(self, "check-controller.begin", members_of(*query));
}

std::int32_t explain_check(sluice_instance_t* self, const sluice_check_query_t* query,
                           const sluice_sink_t* out) {
  return ask(self, "check-controller.explain", members_of(*query), [&](const json::object& answer) {
    const json::array* lines = api::find_array(answer, "lines");
    if (lines == nullptr) return;
    for (const json::value& line : *lines) {
      if (line.is_string()) write(out, api::view(line.get_string()));
      write(out, "\n");
    }
  });
}

std::int32_t cancel_check(sluice_instance_t* self, const sluice_check_cancel_t* cancel) {
  api::JsonMembers members;
  members.number("attempt", static_cast<std::int64_t>(cancel->attempt))
      .text("namespace", view_of(cancel->namespace_of))
      .text("name", view_of(cancel->name))
      .text("uid", view_of(cancel->uid))
      .text("check", view_of(cancel->check))
      .text("why", view_of(cancel->why));
  return ask(self, "check-controller.cancel", members);
}

constexpr sluice_check_controller_t kChecks{sizeof(sluice_check_controller_t),
                                            0,
                                            &check_controllers,
                                            &check_changed,
                                            &begin_check,
                                            &cancel_check,
                                            nullptr};
constexpr sluice_check_controller_t kToldChecks{sizeof(sluice_check_controller_t),
                                                0,
                                                &check_controllers,
                                                &check_changed,
                                                &begin_check,
                                                &cancel_check,
                                                &explain_check};

// ---- controller

std::int32_t watched_kinds(sluice_instance_t* self, const sluice_sink_t* out) {
  return write_names(self, SLUICE_EXT_CONTROLLER, "kinds", out);
}

std::int32_t reconcile(sluice_instance_t* self, const sluice_reconcile_t* what,
                       std::int64_t* again_after_ms) {
  api::JsonMembers members;
  members.text("apiVersion", view_of(what->api_version))
      .text("kind", view_of(what->kind))
      .text("namespace", view_of(what->namespace_of))
      .text("name", view_of(what->name));
  return ask(self, "controller.reconcile", members, [&](const json::object& answer) {
    *again_after_ms = api::find_int(answer, "againAfterMs").value_or(0);
  });
}

constexpr sluice_controller_t kController{sizeof(sluice_controller_t), 0, &watched_kinds,
                                          &reconcile};

// ---- validator

api::JsonMembers members_of(const sluice_write_t& write) {
  api::JsonMembers members;
  members.text("operation", word_of(write.operation, kOperationWords))
      .text("apiVersion", view_of(write.api_version))
      .text("kind", view_of(write.kind))
      .document("object", view_of(write.object))
      .document("old", view_of(write.old))
      .text("user", view_of(write.user));
  return members;
}

std::int32_t validated_kinds(sluice_instance_t* self, const sluice_sink_t* out) {
  return write_names(self, SLUICE_EXT_VALIDATOR, "kinds", out);
}

std::int32_t set_defaults(sluice_instance_t* self, const sluice_write_t* given,
                          const sluice_sink_t* out) {
  return ask(self, "validator.set_defaults", members_of(*given), [&](const json::object& answer) {
    const json::value* object = api::find(answer, "object");
    if (object != nullptr && !object->is_null()) write(out, api::to_json(*object));
  });
}

std::int32_t validate(sluice_instance_t* self, const sluice_write_t* given,
                      const sluice_field_error_sink_t* out) {
  return ask(self, "validator.validate", members_of(*given), [&](const json::object& answer) {
    const json::array* errors = api::find_array(answer, "errors");
    if (errors == nullptr) return;
    for (const json::value& each : *errors) {
      static const json::object kNone;
      const json::object& error = each.is_object() ? each.get_object() : kNone;
      const std::int32_t kind =
          number_of(api::find_text(error, "kind"), kFieldErrorWords, SLUICE_FIELD_INVALID);
      const json::value* value = api::find(error, "value");
      const std::string shown = value == nullptr ? "" : api::to_json(*value);
      out->error(out->context, kind, text_in(error, "path"), abi_of(shown),
                 text_in(error, "detail"));
    }
  });
}

constexpr sluice_validator_t kValidator{sizeof(sluice_validator_t), 0, &validated_kinds, nullptr,
                                        &validate};
constexpr sluice_validator_t kDefaulter{sizeof(sluice_validator_t), 0, &validated_kinds,
                                        &set_defaults, &validate};

// ---- timers, post-admit, schema

std::int32_t timer(sluice_instance_t* self, std::uint64_t number, std::int64_t) {
  api::JsonMembers members;
  members.number("timer", static_cast<std::int64_t>(number));
  return ask(self, "timers.fired", members);
}

constexpr sluice_timers_t kTimers{sizeof(sluice_timers_t), 0, &timer};

std::int32_t notify(sluice_instance_t* self, const sluice_notification_t* told) {
  json::array others;
  for (std::uint64_t i = 0; i < told->other_count; ++i)
    others.emplace_back(api::json_view(view_of(told->others[i])));
  api::JsonMembers members;
  members.text("event", word_of(told->event, kEventWords))
      .number("sequence", static_cast<std::int64_t>(told->sequence))
      .text("reason", view_of(told->reason))
      .document("others", api::to_json(others))
      .document("workload", workload_text(workload_behind(told->workload)));
  return ask(self, "post-admit.notify", members);
}

std::int32_t told_events(sluice_instance_t* self, const sluice_sink_t* out) {
  return write_names(self, SLUICE_EXT_POST_ADMIT, "events", out);
}

constexpr sluice_post_admit_t kPostAdmit{sizeof(sluice_post_admit_t), 0, &notify, &told_events};

std::int32_t contribute(sluice_instance_t* self, const sluice_sink_t* out) {
  const json::object* said = api::find_object(ProcessInstance::of(self).points, SLUICE_EXT_SCHEMA);
  const json::value* text = said == nullptr ? nullptr : api::find(*said, "contribution");
  if (text != nullptr) write(out, api::to_json(*text));
  return SLUICE_OK;
}

constexpr sluice_schema_t kSchema{sizeof(sluice_schema_t), 0, &contribute};

}  // namespace

const void* process_table(const ProcessInstance& instance, std::string_view id) {
  const json::object* said = api::find_object(instance.points, id);
  if (said == nullptr) return nullptr;
  if (id == SLUICE_EXT_CHECK_CONTROLLER)
    return api::find_bool(*said, "explains", false) ? &kToldChecks : &kChecks;
  if (id == SLUICE_EXT_CONTROLLER) return &kController;
  if (id == SLUICE_EXT_VALIDATOR)
    return api::find_bool(*said, "setsDefaults", false) ? &kDefaulter : &kValidator;
  if (id == SLUICE_EXT_TIMERS) return &kTimers;
  if (id == SLUICE_EXT_POST_ADMIT) return &kPostAdmit;
  if (id == SLUICE_EXT_SCHEMA) return &kSchema;
  return nullptr;
}

}  // namespace sluice::host
