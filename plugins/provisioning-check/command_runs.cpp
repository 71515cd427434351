#include "command_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "policy.hpp"
#include "requests.hpp"
#include "status.hpp"

namespace provisioning {

using sluice::Again;
using sluice::Json;
using sluice::ObjectRef;

CommandRuns::CommandRuns(const sluice::Context& context, std::uint64_t results_timer)
    : context_(context) {
  const Json& config = context.config();
  const Json* command = config.find("command");
  if (command == nullptr || context.simulated()) return;
  Command wanted;
  for (const Json& argument : command->items()) wanted.argv.push_back(argument.as_string());
  if (const Json* env = config.find("env"))
    for (const auto& [name, value] : env->members()) {
      if (!value.is_string()) throw sluice::Refused("env." + name + ": must be a text");
      wanted.env.emplace_back(name, value.as_string());
    }
  wanted.timeout_seconds = config.int_or("timeoutSeconds", 3600);
  if (const Json* classes = config.find("classes"))
    for (const Json& name : classes->items()) classes_.push_back(name.as_string());
  // Called on threads of the provisioner, which end before this object does.
  provisioner_ = std::make_unique<Provisioner>(
      std::move(wanted), static_cast<std::size_t>(config.int_or("concurrency", 4)),
      [context, results_timer] { context.set_timer(results_timer, context.now()); });
}

bool CommandRuns::is_for_command(const Json& request) const {
  const std::string name = request.string_or("spec.provisioningClassName", "");
  return provisioner_ && !is_settled(request) &&
         (classes_.empty() || std::find(classes_.begin(), classes_.end(), name) != classes_.end());
}

Again CommandRuns::run_for(const Json& request) {
  const std::string uid = request.string_or("metadata.uid", "");
  if (!is_for_command(request)) {
    if (provisioner_) provisioner_->cancel(uid);
    return {};
  }
  if (const auto next = next_run_.find(uid); next != next_run_.end()) {
    const std::int64_t left = next->second - context_.now();
    if (left > 0) return {left / 1'000'000 + 1};
    next_run_.erase(next);
  }
  const std::string ns = request.string_or("metadata.namespace", "");
  Json input = Json::object();
  input["request"] = request;
  input["podTemplates"] = Json::array();
  if (const Json* sets = request.find("spec.podSets"))
    for (const Json& set : sets->items())
      if (const auto found = context_.objects().find(
              {"v1", "PodTemplate", ns, set.string_or("podTemplateRef.name", "")}))
        input["podTemplates"].push_back(*found);
  provisioner_->start({uid, ns, request.string_or("metadata.name", ""), input.dump() + "\n"});
  return {};
}

void CommandRuns::forget(const std::string& uid) {
  if (provisioner_) provisioner_->cancel(uid);
  next_run_.erase(uid);
}

void CommandRuns::take_results() {
  if (!provisioner_) return;
  for (const RunResult& result : provisioner_->take_results()) {
    const ObjectRef ref = request_ref(result.run.ns, result.run.name);
    const auto request = context_.objects().find(ref);
    if (!request || request->string_or("metadata.uid", "") != result.run.uid) continue;
    const StatusChange change =
        status_of(*request, provisioner_->command(), result.result, context_.now());
    if (change.again_in_seconds > 0)
      next_run_[result.run.uid] = context_.now() + change.again_in_seconds * kSecond;
    Json patch = Json::object();
    patch["status"] = change.status;
    const auto written = context_.objects().patch(ref, patch, "status");
    if (!written) context_.warn("the status of " + ref.ns + "/" + ref.name + ": " + written.text);
  }
}

}  // namespace provisioning
