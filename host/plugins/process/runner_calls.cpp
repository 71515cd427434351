// What a call means for a library: the question of a frame put into the C interface, and what the
// library answers put into the answer.
#include <boost/json.hpp>
#include <string>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "api/scheme/scheme.hpp"
#include "core/base/text.hpp"
#include "host/plugins/process/runner.hpp"
#include "host/plugins/process/words.hpp"
#include "host/plugins/text_gate.hpp"
#include "host/plugins/workload_api.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

std::uint64_t number_in(const json::object& body, std::string_view key) {
  return static_cast<std::uint64_t>(api::find_int(body, key).value_or(0));
}

api::Workload workload_in(const json::object& body) {
  static const api::Scheme scheme;
  static api::PodTemplateCache templates;
  static const json::object kNone;
  const json::object* workload = api::find_object(body, "workload");
  return api::decode_workload(workload == nullptr ? kNone : *workload, templates, scheme);
}

/// Lines that a plugin writes, as a list.
std::string list_of(const std::string& lines) {
  json::array out;
  for (const std::string_view line : words(lines, '\n')) out.emplace_back(api::json_view(line));
  return api::to_json(out);
}

}  // namespace

Runner::Answered Runner::answer(std::string_view hook, const json::object& call) {
  if (hook == "plugin.create") return create(call);
  if (self_ == nullptr) return {SLUICE_FAILED, {}, "it was not created"};
  std::string error;
  const sluice_sink_t sink = sink_of(error);
  if (hook == "plugin.activate" || hook == "plugin.deactivate") {
    const auto function = hook == "plugin.activate" ? root_.activate : root_.deactivate;
    const std::int32_t code = function == nullptr ? SLUICE_OK : function(self_, &sink);
    return {code, {}, error};
  }
  if (hook.starts_with("check-controller.") && extensions_.check_controller)
    return check(hook, call);
  if (hook.starts_with("validator.") && extensions_.validator) return judge_write(hook, call);
  if (hook == "controller.reconcile" && extensions_.controller) return reconcile(call);
  if (hook == "post-admit.notify" && extensions_.post_admit) return notify(call);
  if (hook == "timers.fired" && extensions_.timers) {
    const std::uint64_t timer = number_in(call, "timer");
    {
      const std::lock_guard lock(flushing_);  // the host took it out, too
      timers_told_.erase(timer);
    }
    side_->cancel_timer(timer);
    return {extensions_.timers->fired(self_, timer, clock_.now()), {}, ""};
  }
  return {SLUICE_FAILED, {}, "it does not provide " + shown_text(hook)};
}

Runner::Answered Runner::create(const json::object& call) {
  if (side_ != nullptr) return {SLUICE_FAILED, {}, "it was created already"};
  clock_.make_virtual(api::find_bool(call, "simulated", false));
  HostServices services{&clock_, &metrics_, [this](int level, std::string_view, auto text) {
                          api::JsonMembers note;
                          note.text("note", "log").number("level", level);
                          line_.send(note.text("text", text).take());
                        }};
  const json::value* config = api::find(call, "config");
  side_ =
      std::make_unique<HostSide>(name_, config ? *config : json::value(json::object()), services);
  side_->connect(&port_);
  const std::string text = side_->config_text();
  std::string error;
  const sluice_sink_t sink = sink_of(error);
  const std::int32_t code = root_.create(side_->table(), abi_of(text), &self_, &sink);
  if (code != SLUICE_OK) return {code, {}, error};
  if (self_ == nullptr) return {SLUICE_FAILED, {}, "create answered OK without an instance"};
  if (const auto incomplete = extensions_.find(root_, self_); !incomplete.empty())
    return {SLUICE_FAILED,
            {},
            "its table for " + std::string(incomplete) + " lacks a function that it must have"};
  side_->allow({extensions_.timers != nullptr, extensions_.check_controller != nullptr});
  side_->set_wake([this] { flush(); });
  return points();
}

/// What it provides, and what has to be known of that before it is asked.
Runner::Answered Runner::points() {
  api::JsonMembers all;
  Answered failed;
  const auto names = [&](const char* key, auto function) {
    std::string lines;
    const sluice_sink_t sink = sink_of(lines);
    const std::int32_t code = function(self_, &sink);
    if (code != SLUICE_OK) failed = {code, {}, side_->take_fault_text()};
    api::JsonMembers said;
    said.document(key, list_of(lines));
    return said;
  };
  for (const std::string_view id : extensions_.ids()) {
    api::JsonMembers said;
    if (id == SLUICE_EXT_CHECK_CONTROLLER) {
      const sluice_check_controller_t& table = *extensions_.check_controller;
      said = names("controllers", table.controllers);
      said.boolean("explains", SLUICE_HAS(&table, explain) && table.explain);
    }
    if (id == SLUICE_EXT_CONTROLLER) said = names("kinds", extensions_.controller->kinds);
    if (id == SLUICE_EXT_VALIDATOR) {
      const sluice_validator_t& table = *extensions_.validator;
      said = names("kinds", table.kinds);
      said.boolean("setsDefaults", SLUICE_HAS(&table, set_defaults) && table.set_defaults);
    }
    if (id == SLUICE_EXT_POST_ADMIT) {
      const sluice_post_admit_t& table = *extensions_.post_admit;
      if (SLUICE_HAS(&table, events) && table.events) said = names("events", table.events);
    }
    if (id == SLUICE_EXT_SCHEMA) {
      std::string text;
      const sluice_sink_t sink = sink_of(text);
      const std::int32_t code = extensions_.schema->contribute(self_, &sink);
      if (code != SLUICE_OK) failed = {code, {}, side_->take_fault_text()};
      boost::system::error_code error;
      api::parse_deep(text, error);
      if (error && !text.empty())
        failed = {SLUICE_FAILED, {}, "what it adds to the schema is no JSON: " + error.message()};
      if (!error) said.document("contribution", text);
    }
    all.document(id, said.take());
  }
  if (failed.code != SLUICE_OK) return failed;
  Answered out;
  out.members.document("points", all.take());
  return out;
}

Runner::Answered Runner::check(std::string_view hook, const json::object& call) {
  const sluice_check_controller_t& table = *extensions_.check_controller;
  const std::string check_json = document_in(call, "checkObject");
  const sluice_str_t name = text_in(call, "check");
  if (hook == "check-controller.cancel") {
    const sluice_check_cancel_t raw{sizeof(raw),
                                    0,
                                    number_in(call, "attempt"),
                                    text_in(call, "namespace"),
                                    text_in(call, "name"),
                                    text_in(call, "uid"),
                                    name,
                                    text_in(call, "why")};
    return {table.cancel(self_, &raw), {}, ""};
  }
  const bool explains = hook == "check-controller.explain";
  if (explains && (!SLUICE_HAS(&table, explain) || table.explain == nullptr))
    return {SLUICE_FAILED, {}, "it does not provide check-controller.explain"};
  if (explains || hook == "check-controller.begin") {
    const api::Workload workload = workload_in(call);
    const std::string workload_json = document_in(call, "workload");
    const sluice_check_query_t raw{sizeof(raw),
                                   api::find_int32(call, "retryCount").value_or(0),
                                   number_in(call, "attempt"),
                                   ref_of(workload),
                                   abi_of(workload_json),
                                   name,
                                   abi_of(check_json)};
    if (!explains) return {table.begin(self_, &raw), {}, ""};
    IncomingText text(kMessageBytes);
    const sluice_sink_t sink = text.sink();
    Answered out;
    out.code = table.explain(self_, &raw, &sink);
    if (const Nonsense wrong = text.too_long("what it says"))
      return {SLUICE_FAILED, {}, wrong.sentence()};
    json::array lines;
    for (const std::string& line : text.shown_lines()) lines.emplace_back(api::json_view(line));
    out.members.document("lines", api::to_json(lines));
    return out;
  }
  // What makes no sense is passed on as it is, for the host to judge: the first of it counts.
  struct Said {
    api::JsonMembers last;
    Nonsense nonsense;
    bool odd = false;  // which the protocol has no word for
  } said;
  const sluice_check_t raw{sizeof(raw), check_json.empty() ? 1 : 0, name, abi_of(check_json)};
  const sluice_activity_sink_t sink{
      sizeof(sink), 0, &said,
      [](void* context, std::int32_t active, sluice_str_t reason, sluice_str_t message) {
        Said& all = *static_cast<Said*>(context);
        if (all.nonsense) return;
        if (active != 0 && active != 1) all.nonsense.note("active is neither 0 nor 1");
        all.odd = bool(all.nonsense);
        condition_reason_of(reason, "the reason", all.nonsense);
        all.last = {};
        all.last.boolean("active", active == 1);
        all.last.text("reason", view_of(reason));
        all.last.text("message", shown_text(message, kMessageBytes));
      }};
  const std::int32_t code = table.check_changed(self_, &raw, &sink);
  if (said.odd) return {SLUICE_FAILED, {}, said.nonsense.sentence()};
  return {code, said.last, ""};
}

Runner::Answered Runner::judge_write(std::string_view hook, const json::object& call) {
  const sluice_validator_t& table = *extensions_.validator;
  const std::string object = document_in(call, "object"), old = document_in(call, "old");
  const sluice_write_t raw{
      sizeof(raw),
      number_of(api::find_text(call, "operation"), kOperationWords, SLUICE_WRITE_UPDATE),
      text_in(call, "apiVersion"),
      text_in(call, "kind"),
      abi_of(object),
      abi_of(old),
      text_in(call, "user")};
  Answered out;
  if (hook == "validator.set_defaults") {
    std::string text;
    const sluice_sink_t sink = sink_of(text);
    out.code = table.set_defaults(self_, &raw, &sink);
    if (!text.empty() && !api::parse_object(text))
      return {SLUICE_FAILED, {}, "it gives back no JSON object"};
    if (!text.empty()) out.members.document("object", text);
    return out;
  }
  json::array errors;
  const sluice_field_error_sink_t sink{
      sizeof(sink), 0, &errors,
      [](void* context, std::int32_t kind, sluice_str_t path, sluice_str_t value,
         sluice_str_t detail) {
        const bool known = kind >= SLUICE_FIELD_INVALID && kind <= SLUICE_FIELD_DUPLICATE;
        json::object error{{"kind", api::json_view(word_of(known ? kind : SLUICE_FIELD_INVALID,
                                                           kFieldErrorWords))},
                           {"path", shown_text(path)},
                           {"detail", shown_text(detail)}};
        boost::system::error_code code;
        json::value parsed = api::parse_deep(view_of(value), code);
        if (value.len > 0) error["value"] = code ? json::value(shown_text(value)) : parsed;
        static_cast<json::array*>(context)->push_back(std::move(error));
      }};
  out.code = table.validate(self_, &raw, &sink);
  out.members.document("errors", api::to_json(errors));
  return out;
}

Runner::Answered Runner::reconcile(const json::object& call) {
  const sluice_reconcile_t raw{sizeof(raw),
                               0,
                               text_in(call, "apiVersion"),
                               text_in(call, "kind"),
                               text_in(call, "namespace"),
                               text_in(call, "name"),
                               {}};
  std::int64_t again = 0;
  Answered out;
  out.code = extensions_.controller->reconcile(self_, &raw, &again);
  out.members.number("againAfterMs", again);
  return out;
}

Runner::Answered Runner::notify(const json::object& call) {
  const api::Workload workload = workload_in(call);
  std::vector<sluice_str_t> others;
  if (const json::array* listed = api::find_array(call, "others"))
    for (const json::value& other : *listed)
      others.push_back(abi_of(other.is_string() ? api::view(other.get_string()) : ""));
  const sluice_notification_t raw{
      sizeof(raw),
      number_of(api::find_text(call, "event"), kEventWords, SLUICE_EVENT_FINISHED + 1),
      number_in(call, "sequence"),
      ref_of(workload),
      text_in(call, "reason"),
      others.size(),
      others.data()};
  return {extensions_.post_admit->notify(self_, &raw), {}, ""};
}

}  // namespace sluice::host
