#include "host/plugins/process/runner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <exception>
#include <utility>

#include "api/json/json.hpp"
#include "host/base/version.hpp"
#include "host/plugins/library.hpp"
#include "host/plugins/plugin_file.hpp"
#include "host/plugins/process/child.hpp"
#include "host/plugins/process/words.hpp"
#include "host/plugins/text_gate.hpp"
#include "sluice/svc/objects.h"

namespace sluice::host {

namespace json = boost::json;

// ---- the line

void HostLine::send(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (text.size() > kFrameBytes) return;
  // Who is not there any more hears nothing: the reader finds out.
  static_cast<void>(socket_.send(text, FrameSocket::kNoDeadline).ok());
}

std::optional<Message> HostLine::receive() {
  auto frame = socket_.receive(FrameSocket::kNoDeadline);
  if (!frame || !*frame) return std::nullopt;
  auto message = parse_message(**frame);
  if (!message) return std::nullopt;
  return std::move(*message);
}

Message HostLine::ask(std::string_view service, const api::JsonMembers& members) {
  api::JsonMembers request;
  request.number("request", static_cast<std::int64_t>(++requests_)).text("service", service);
  send(request.members(members).take());
  auto reply = receive();
  // The host is gone, and with it everything that this process is for.
  if (!reply || reply->type != Message::Type::kReply || reply->number != requests_) ::_exit(0);
  return std::move(*reply);
}

// ---- objects and state

namespace {

PortAnswer answer_of(const Message& reply) {
  const std::string_view code = api::find_text(reply.body, "code");
  if (code.empty()) {
    const json::value* result = api::find(reply.body, "result");
    return {SLUICE_OBJECTS_OK, result == nullptr ? "" : api::to_json(*result)};
  }
  return {number_of(code, kObjectWords, SLUICE_OBJECTS_FAILED),
          std::string(api::find_text(reply.body, "error"))};
}

api::JsonMembers naming_all(const PluginObjectRef& ref) {
  api::JsonMembers members;
  members.text("apiVersion", ref.api_version).text("kind", ref.kind).text("namespace", ref.ns);
  return members;
}

api::JsonMembers naming(const PluginObjectRef& ref) {
  return naming_all(ref).text("name", ref.name);
}

}  // namespace

PortAnswer RemotePort::get(const PluginObjectRef& ref) const {
  return answer_of(line_.ask("objects.get", naming(ref)));
}

PortAnswer RemotePort::list(const PluginObjectRef& ref, std::string_view selector) const {
  return answer_of(line_.ask("objects.list", naming_all(ref).text("selector", selector)));
}

namespace {

/// An object that is sent as JSON has to be some.
bool is_json(std::string_view text) {
  boost::system::error_code error;
  api::parse_deep(text, error);
  return !error;
}

const PortAnswer kNoJson{SLUICE_OBJECTS_INVALID, "it is no JSON"};

}  // namespace

PortAnswer RemotePort::create(std::string_view object) {
  if (!is_json(object)) return kNoJson;
  api::JsonMembers members;
  return answer_of(line_.ask("objects.create", members.document("object", object)));
}

PortAnswer RemotePort::update(std::string_view object, std::string_view subresource) {
  if (!is_json(object)) return kNoJson;
  api::JsonMembers members;
  members.document("object", object).text("subresource", subresource);
  return answer_of(line_.ask("objects.update", members));
}

PortAnswer RemotePort::patch(const PluginObjectRef& ref, std::string_view subresource,
                             std::string_view merge) {
  if (!is_json(merge)) return kNoJson;
  api::JsonMembers members = naming(ref);
  members.text("subresource", subresource).document("object", merge);
  return answer_of(line_.ask("objects.patch", members));
}

PortAnswer RemotePort::remove(const PluginObjectRef& ref, std::string_view uid) {
  return answer_of(line_.ask("objects.remove", naming(ref).text("uid", uid)));
}

PortAnswer RemotePort::release_claim(const PluginObjectRef& workload) {
  return answer_of(line_.ask("objects.release_claim", naming(workload)));
}

PortAnswer RemotePort::set_state(std::string_view key, std::string_view value) {
  if (document_problem(value) != nullptr)
    return {SLUICE_OBJECTS_INVALID, "a process keeps texts only, and the value is no UTF-8"};
  api::JsonMembers members;
  return answer_of(line_.ask("state.set", members.text("key", key).text("value", value)));
}

void RemotePort::remove_state(std::string_view key) {
  api::JsonMembers members;
  line_.ask("state.remove", members.text("key", key));
}

PortAnswer RemotePort::state(const std::string&, std::string_view key) const {
  api::JsonMembers members;
  const Message reply = line_.ask("state.get", members.text("key", key));
  if (api::find(reply.body, "code") != nullptr) return answer_of(reply);
  return {SLUICE_OBJECTS_OK, std::string(api::find_text(reply.body, "result"))};
}

std::vector<std::string> RemotePort::state_keys(const std::string&, std::string_view prefix) const {
  api::JsonMembers members;
  const Message reply = line_.ask("state.keys", members.text("prefix", prefix));
  std::vector<std::string> out;
  if (const json::array* keys = api::find_array(reply.body, "result"))
    for (const json::value& key : *keys)
      if (key.is_string()) out.emplace_back(api::view(key.get_string()));
  return out;
}

// ---- the library

Runner::Runner(HostLine& line, const sluice_plugin_t& root, std::string name)
    : line_(line), root_(root), name_(std::move(name)), port_(line) {}

void Runner::run() {
  while (auto message = line_.receive()) {
    if (message->type != Message::Type::kCall) return;
    clock_.set(api::find_int(message->body, "now").value_or(0));
    line_.send(answer_to(*message));
  }
}

std::string Runner::answer_to(const Message& call) {
  Answered answered;
  try {
    if (side_ != nullptr && call.name == "validator.validate")
      side_->begin_reading();
    else if (side_ != nullptr && call.name != "validator.set_defaults")
      side_->begin_call();
    answered = answer(call.name, call.body);
  } catch (const std::exception& e) {
    answered = {SLUICE_FAILED, {}, "it threw: " + shown_text(std::string_view(e.what()))};
  } catch (...) {
    answered = {SLUICE_FAILED, {}, "it threw something that is no std::exception"};
  }
  if (side_ != nullptr) {
    side_->end_reading();
    static_cast<void>(side_->end_call(true).ok());
    if (answered.why.empty()) answered.why = side_->take_fault_text();
    flush();
  }
  api::JsonMembers out;
  out.number("answer", static_cast<std::int64_t>(call.number));
  if (answered.code == SLUICE_OK) return out.members(answered.members).take();
  if (answered.code == SLUICE_RETRY)
    return out.boolean("retry", true).members(answered.members).take();
  if (answered.code == SLUICE_REFUSED) return out.text("refused", answered.why).take();
  if (answered.code != SLUICE_FAILED)
    answered.why = "it answered the unknown code " + std::to_string(answered.code);
  if (answered.why.empty()) answered.why = "no reason given";
  return out.text("failed", answered.why).take();
}

// ---- what it says

void Runner::flush() {
  const std::lock_guard lock(flushing_);
  for (const CheckReport& report : side_->take_reports()) {
    api::JsonMembers note;
    note.text("note", "report").text("namespace", report.ns).text("name", report.name);
    note.text("uid", report.uid).text("check", report.check).text("state", report.state);
    note.number("attempt", static_cast<std::int64_t>(report.attempt));
    note.text("reason", report.reason).text("message", report.message);
    if (report.requeue_after_seconds)
      note.number("requeueAfterSeconds", *report.requeue_after_seconds);
    if (!report.pod_set_updates_json.empty())
      note.document("podSetUpdates", report.pod_set_updates_json);
    line_.send(note.take());
  }
  for (const EngineRequest& request : side_->take_requests()) {
    if (request.type != EngineRequest::Type::kRequeue) continue;
    api::JsonMembers note;
    line_.send(note.text("note", "requeue").text("workload", request.workload).take());
  }
  for (const PluginEvent& event : side_->take_events()) {
    api::JsonMembers note;
    note.text("note", "event").boolean("warning", event.warning);
    note.text("apiVersion", event.api_version).text("kind", event.kind);
    note.text("namespace", event.ns).text("name", event.name);
    line_.send(note.text("reason", event.reason).text("message", event.message).take());
  }
  flush_timers();
  flush_metrics();
}

void Runner::flush_timers() {
  std::map<std::uint64_t, Time> timers = side_->timers();
  for (const auto& [timer, at] : timers_told_) {
    api::JsonMembers note;
    note.text("note", "timer").number("timer", static_cast<std::int64_t>(timer));
    if (!timers.contains(timer)) line_.send(note.take());
  }
  for (const auto& [timer, at] : timers) {
    const auto told = timers_told_.find(timer);
    if (told != timers_told_.end() && told->second == at) continue;
    api::JsonMembers note;
    note.text("note", "timer").number("timer", static_cast<std::int64_t>(timer));
    line_.send(note.number("at", at).take());
  }
  timers_told_ = std::move(timers);
}

void Runner::flush_metrics() {
  for (const MetricSnapshot& metric : metrics_.snapshot()) {
    json::array labels;
    for (const std::string& label : metric.spec.labels) labels.emplace_back(label);
    for (const auto& [values, number] : metric.values) {
      std::int64_t& told = metrics_told_[{metric.spec.name, values}];
      if (told == number) continue;
      json::array texts;
      for (const std::string& value : values) texts.emplace_back(value);
      api::JsonMembers note;
      note.text("note", "metric").text("name", metric.spec.name).text("help", metric.spec.help);
      note.boolean("gauge", metric.spec.gauge);
      if (metric.spec.in_full) note.boolean("inFull", true);
      if (metric.spec.nanoseconds) note.text("unit", "nanoseconds");
      note.document("labels", api::to_json(labels)).document("values", api::to_json(texts));
      if (metric.spec.gauge)
        note.number("set", number);
      else
        note.number("add", number - told);
      told = number;
      line_.send(note.take());
    }
  }
}

// ---- the program

namespace {

std::string hello_of(const sluice_plugin_t& root) {
  api::JsonMembers members;
  members.number("protocol", kProtocol);
  members.text("name", view_of(root.name)).text("version", shown_text(root.version, 64));
  members.text("description", shown_text(root.description));
  const std::string_view schema = view_of(root.config_schema);
  if (is_json(schema)) members.document("configSchema", schema);
  api::JsonMembers hello;
  return hello.document("hello", members.take()).take();
}

}  // namespace

Result<void> run_plugin(const std::string& name) {
  const char* fd = std::getenv("SLUICE_PLUGIN_FD");
  if (fd == nullptr || ::fcntl(kChildLibrary, F_GETFD) < 0)
    return Error{"this command is for the host itself: it runs a plugin that is isolated"};
  ::fcntl(kChildSocket, F_SETFD, FD_CLOEXEC);
  ::fcntl(kChildLibrary, F_SETFD, FD_CLOEXEC);
  HostLine line(kChildSocket);
  const auto hello = line.receive();
  if (!hello || hello->type != Message::Type::kHello)
    return Error{"what is at the other end of its socket is no host"};
  auto file = read_plugin_file("/proc/self/fd/" + std::to_string(kChildLibrary));
  if (!file) return file.error();
  file->path = name + ".so";
  const auto root = load_library(*file);
  if (!root) return root.error();
  line.send(hello_of(**root));
  Runner(line, **root, name).run();
  ::_exit(0);  // the host hung up: no code of the library has to run any more
}

}  // namespace sluice::host
