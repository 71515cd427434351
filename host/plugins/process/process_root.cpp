#include "host/plugins/process/process_root.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "api/json/json.hpp"
#include "host/base/trusted_file.hpp"
#include "host/plugins/extensions.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/library.hpp"
#include "host/plugins/process/process_instance.hpp"
#include "host/plugins/text_gate.hpp"

namespace sluice::host {

namespace {

constexpr std::string_view kInCycle =
    "a scheduling cycle asks it thousands of times, from many threads, and a question to a process "
    "costs more than a whole cycle";
constexpr std::string_view kInDecision =
    "what it answers belongs to a decision that is being made, and is asked for each workload, job "
    "or queue in turn";

struct Kept {
  std::string_view id, why;
};
constexpr Kept kKept[] = {
    {SLUICE_EXT_FLAVOR_FILTER, kInCycle},      {SLUICE_EXT_FLAVOR_SEARCH, kInCycle},
    {SLUICE_EXT_PREEMPTION_VETO, kInCycle},    {SLUICE_EXT_QUEUE_WATCH, kInCycle},
    {SLUICE_EXT_WORKLOAD_TRAITS, kInDecision}, {SLUICE_EXT_QUEUE_ORDER, kInDecision},
    {SLUICE_EXT_JOB_MAPPING, kInDecision},     {SLUICE_EXT_POD_GATE, kInDecision}};

std::int32_t say(const sluice_sink_t* error, std::string_view text, std::int32_t code) {
  error->write(error->context, abi_of(text));
  return code;
}

std::int32_t said(const ProcessAnswer& answer, const sluice_sink_t* error) {
  if (answer.kind == ProcessAnswer::Kind::kOk) return SLUICE_OK;
  const bool refused = answer.kind == ProcessAnswer::Kind::kRefused;
  return say(error, answer.text, refused ? SLUICE_REFUSED : SLUICE_FAILED);
}

/// What is wrong with the points that it provides; empty: nothing.
std::string judge_points(const boost::json::object& points) {
  for (const auto& [key, value] : points) {
    const std::string id(api::view(key));
    if (const std::string_view why = why_not_in_process(id); !why.empty())
      return fmt::format("{} is not for a process of its own: {}; load it without `isolation`",
                         shown_text(id), why);
  }
  return points.empty() ? "it provides no extension point" : "";
}

std::int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                    const sluice_sink_t* error) {
  const HostSide& side = HostSide::of(host);
  auto instance = std::make_unique<ProcessInstance>();
  instance->process = static_cast<const ProcessRoot*>(side.origin().root)->take_process();
  instance->host = host;
  if (auto hello = instance->process->hello(); !hello)
    return say(error, hello.error().text, SLUICE_FAILED);
  ProcessAnswer answer = instance->process->create(host, std::string(view_of(config)),
                                                   side.services().clock->is_virtual());
  if (answer.kind != ProcessAnswer::Kind::kOk) return said(answer, error);
  if (auto* points = api::find_object(answer.body, "points")) instance->points = *points;
  if (const std::string wrong = judge_points(instance->points); !wrong.empty())
    return say(error, wrong, SLUICE_FAILED);
  *out = reinterpret_cast<sluice_instance_t*>(instance.release());
  return SLUICE_OK;
}

std::int32_t activate(sluice_instance_t* self, const sluice_sink_t* error) {
  return said(process_of(self).activate(), error);
}

std::int32_t deactivate(sluice_instance_t* self, const sluice_sink_t* error) {
  return said(process_of(self).deactivate(), error);
}

void destroy(sluice_instance_t* self) { delete &ProcessInstance::of(self); }

const void* extension(sluice_instance_t* self, sluice_str_t id) {
  return process_table(ProcessInstance::of(self), view_of(id));
}

/// Whoever could write them would say what runs.
Result<void> check_files(const ChildSpec& spec) {
  for (const std::string& word : spec.command) {
    if (word.find('/') == word.npos && word.find('.') == word.npos) continue;
    const auto path = std::filesystem::path(spec.folder) / word;
    if (auto trusted = check_writers(path.string()); !trusted) return trusted;
  }
  return {};
}

}  // namespace

std::string_view why_not_in_process(std::string_view id) {
  for (const Kept& kept : kKept)
    if (kept.id == id) return kept.why;
  for (const PointInfo& point : extension_points())
    if (point.id == id) return {};
  return "this host has no such extension point";
}

PluginProcess& process_of(sluice_instance_t* self) { return *ProcessInstance::of(self).process; }

std::int32_t code_of(const ProcessInstance& instance, const ProcessAnswer& answer) {
  switch (answer.kind) {
    case ProcessAnswer::Kind::kOk:
      return SLUICE_OK;
    case ProcessAnswer::Kind::kRetry:
      return SLUICE_RETRY;
    case ProcessAnswer::Kind::kRefused:
      return SLUICE_REFUSED;
    case ProcessAnswer::Kind::kLater:
      return kProcessLater;
    case ProcessAnswer::Kind::kFailed:
    case ProcessAnswer::Kind::kAway:
      HostSide::of(instance.host).set_fault_text(answer.text);
      return answer.kind == ProcessAnswer::Kind::kAway ? kProcessAway : SLUICE_FAILED;
  }
  return SLUICE_FAILED;
}

ProcessRoot::~ProcessRoot() {
  if (spec_.library >= 0) ::close(spec_.library);
}

std::unique_ptr<PluginProcess> ProcessRoot::take_process() const {
  const std::lock_guard lock(mutex_);
  if (spare_ != nullptr) return std::move(spare_);
  return std::make_unique<PluginProcess>(name_of_, spec_);
}

Result<std::shared_ptr<const ProcessRoot>> ProcessRoot::load(const PluginConfig& plugin,
                                                             const std::filesystem::path& folder,
                                                             const PluginFile* file,
                                                             const std::filesystem::path& program) {
  std::shared_ptr<ProcessRoot> root(new ProcessRoot());
  root->name_of_ = plugin.name;
  root->spec_ = {plugin.process->command, folder.string(), *plugin.process, -1};
  if (file != nullptr) {
    auto copy = sealed_copy(*file);
    if (!copy) return copy.error();
    root->spec_.library = *copy;
    root->spec_.command = {program.string(), "plugin", "run", plugin.name};
  } else if (auto trusted = check_files(root->spec_); !trusted) {
    return trusted.error();
  }
  auto process = std::make_unique<PluginProcess>(root->name_of_, root->spec_);
  auto hello = process->hello();
  if (!hello) return hello.error();
  root->hello_ = *hello;
  root->spare_ = std::move(process);
  root->size = sizeof(sluice_plugin_t);
  root->abi_major = SLUICE_ABI_MAJOR;
  root->abi_minor = SLUICE_ABI_MINOR;
  root->name = abi_of(root->hello_.name);
  root->version = abi_of(root->hello_.version);
  root->description = abi_of(root->hello_.description);
  root->config_schema = abi_of(root->hello_.config_schema);
  root->create = &sluice::host::create;
  root->activate = &sluice::host::activate;
  root->deactivate = &sluice::host::deactivate;
  root->destroy = &sluice::host::destroy;
  root->extension = &sluice::host::extension;
  return std::shared_ptr<const ProcessRoot>(std::move(root));
}

}  // namespace sluice::host
