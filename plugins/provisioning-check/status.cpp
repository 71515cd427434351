#include "status.hpp"

#include <algorithm>
#include <sluice/cpp/metadata.hpp>

namespace provisioning {

namespace {

using sluice::Json;

constexpr std::int64_t kDefaultPause = 30;

StatusChange failed(Json request, const std::string& why, std::int64_t now) {
  StatusChange out{Json::object(), 0};
  sluice::set_condition(request, "Failed", "True", "CommandFailed", why, now);
  out.status["conditions"] = *request.find("status.conditions");
  return out;
}

/// What the command printed; no object: it is wrong, with a reason.
struct Said {
  Json json;
  std::string wrong;
};

Said parse(const std::string& output) {
  if (output.find_first_not_of(" \t\r\n") == std::string::npos) {
    Json json = Json::object();
    json["provisioned"] = true;
    return {std::move(json), ""};
  }
  try {
    Json json = Json::parse(output);
    const Json* provisioned = json.find("provisioned");
    if (!json.is_object() || provisioned == nullptr || provisioned->type() != Json::Type::kBool)
      return {Json(), "the command's output has no \"provisioned\": true or false"};
    return {std::move(json), ""};
  } catch (const sluice::JsonError& error) {
    return {Json(), std::string("the command's output is no JSON: ") + error.what()};
  }
}

}  // namespace

StatusChange status_of(const Json& request, const Command& command, const CommandResult& result,
                       std::int64_t now) {
  if (const std::string why = failure_of(command, result); !why.empty())
    return failed(request, why, now);
  Said said = parse(result.output);
  if (!said.wrong.empty()) return failed(request, said.wrong, now);

  const bool done = said.json.bool_or("provisioned", false);
  const std::string message =
      said.json.string_or("message", done ? "The command provided the capacity"
                                          : "The command is at work on the capacity");
  StatusChange out{Json::object(), 0};
  Json told = request;
  sluice::set_condition(told, "Accepted", "True", "CommandAccepted",
                        "The command took the request on", now);
  sluice::set_condition(told, "Provisioned", done ? "True" : "False",
                        done ? "CommandDone" : "CommandAtWork", message, now);
  out.status["conditions"] = *told.find("status.conditions");
  if (!done)
    out.again_in_seconds =
        std::clamp<std::int64_t>(said.json.int_or("retry_after_seconds", kDefaultPause), 1, 86'400);
  if (const Json* details = said.json.find("details"); details != nullptr)
    for (const auto& [key, value] : details->members())
      if (value.is_string()) out.status["provisioningClassDetails"][key] = value;
  return out;
}

}  // namespace provisioning
