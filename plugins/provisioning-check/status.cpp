#include "status.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace provisioning {

namespace {

using sluice::Json;

constexpr std::int64_t kDefaultPause = 30;

Json conditions_of(const Json& request) {
  const Json* found = request.find("status.conditions");
  return found == nullptr ? Json::array() : *found;
}

StatusChange failed(const Json& request, const std::string& why, std::int64_t now) {
  StatusChange out{Json::object(), 0};
  Json conditions = conditions_of(request);
  set_condition(conditions, "Failed", true, "CommandFailed", why, now);
  out.status["conditions"] = std::move(conditions);
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

std::string time_text(std::int64_t ns) {
  const std::chrono::sys_seconds time{std::chrono::seconds(ns / 1'000'000'000)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 40> text{};
  const int length = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  return {text.data(), static_cast<std::size_t>(std::max(length, 0))};
}

void set_condition(Json& conditions, std::string_view type, bool status, std::string_view reason,
                   std::string_view message, std::int64_t now) {
  const char* text = status ? "True" : "False";
  Json one = Json::object();
  one["type"] = type;
  one["status"] = text;
  one["reason"] = reason;
  one["message"] = message;
  one["lastTransitionTime"] = time_text(now);
  Json out = Json::array();
  bool found = false;
  for (const Json& each : conditions.items()) {
    if (each.string_or("type", "") != type) {
      out.push_back(each);
      continue;
    }
    found = true;
    if (each.string_or("status", "") == text)
      one["lastTransitionTime"] = each.string_or("lastTransitionTime", "");
    out.push_back(one);
  }
  if (!found) out.push_back(one);
  conditions = std::move(out);
}

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
  Json conditions = conditions_of(request);
  set_condition(conditions, "Accepted", true, "CommandAccepted", "The command took the request on",
                now);
  set_condition(conditions, "Provisioned", done, done ? "CommandDone" : "CommandAtWork", message,
                now);
  out.status["conditions"] = std::move(conditions);
  if (!done)
    out.again_in_seconds =
        std::clamp<std::int64_t>(said.json.int_or("retry_after_seconds", kDefaultPause), 1, 86'400);
  if (const Json* details = said.json.find("details"); details != nullptr)
    for (const auto& [key, value] : details->members())
      if (value.is_string()) out.status["provisioningClassDetails"][key] = value;
  return out;
}

}  // namespace provisioning
