#include "host/plugins/process/forms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <string>
#include <vector>

#include "api/json/json.hpp"
#include "host/plugins/process/words.hpp"
#include "host/plugins/text_gate.hpp"
#include "sluice/ext/check_controller.h"
#include "sluice/ext/controller.h"
#include "sluice/ext/post_admit.h"
#include "sluice/ext/schema.h"
#include "sluice/ext/timers.h"
#include "sluice/ext/validator.h"

namespace sluice::host {

namespace json = boost::json;

namespace {

constexpr std::size_t kShownBytes = 64;
constexpr std::int64_t kMostSeconds = std::numeric_limits<std::int32_t>::max();
constexpr auto kNoLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kNoMost = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kFieldErrorForm = "field error";

constexpr MemberForm kForms[] = {
    {kHelloForm, "protocol", MemberType::kNumber, true, 1},
    {kHelloForm, "name", MemberType::kText, true},
    {kHelloForm, "version", MemberType::kText},
    {kHelloForm, "description", MemberType::kText},
    {kHelloForm, "configSchema", MemberType::kObject},

    {kAnyAnswer, "answer", MemberType::kNumber, true, 1},
    {kAnyAnswer, "failed", MemberType::kText},
    {kAnyAnswer, "refused", MemberType::kText},
    {kAnyAnswer, "retry", MemberType::kYesNo},
    {"plugin.create", "points", MemberType::kPoints, true},
    {"check-controller.check_changed", "active", MemberType::kYesNo},
    {"check-controller.check_changed", "reason", MemberType::kText},
    {"check-controller.check_changed", "message", MemberType::kText},
    {"check-controller.explain", "lines", MemberType::kTexts},
    {"controller.reconcile", "againAfterMs", MemberType::kNumber},
    {"validator.set_defaults", "object", MemberType::kObject},
    {"validator.validate", "errors", MemberType::kObjects, false, kNoLeast, kNoMost,
     kFieldErrorForm},

    {kFieldErrorForm, "kind", MemberType::kWord, false, kNoLeast, kNoMost, {}, kFieldErrorWords},
    {kFieldErrorForm, "path", MemberType::kText, true},
    {kFieldErrorForm, "value", MemberType::kAny},
    {kFieldErrorForm, "detail", MemberType::kText, true},

    {SLUICE_EXT_CHECK_CONTROLLER, "controllers", MemberType::kTexts, true},
    {SLUICE_EXT_CHECK_CONTROLLER, "explains", MemberType::kYesNo},
    {SLUICE_EXT_CONTROLLER, "kinds", MemberType::kTexts, true},
    {SLUICE_EXT_VALIDATOR, "kinds", MemberType::kTexts, true},
    {SLUICE_EXT_VALIDATOR, "setsDefaults", MemberType::kYesNo},
    {SLUICE_EXT_POST_ADMIT, "events", MemberType::kTexts},
    {SLUICE_EXT_SCHEMA, "contribution", MemberType::kAny, true},  // an object, or a list of them

    {kAnyRequest, "request", MemberType::kNumber, true, 1},
    {kAnyRequest, "service", MemberType::kText, true},
    {"objects.get", "apiVersion", MemberType::kText},
    {"objects.get", "kind", MemberType::kText},
    {"objects.get", "namespace", MemberType::kText},
    {"objects.get", "name", MemberType::kText},
    {"objects.list", "apiVersion", MemberType::kText},
    {"objects.list", "kind", MemberType::kText},
    {"objects.list", "namespace", MemberType::kText},
    {"objects.list", "selector", MemberType::kText},
    {"objects.create", "object", MemberType::kObject},
    {"objects.update", "object", MemberType::kObject},
    {"objects.update", "subresource", MemberType::kText},
    {"objects.patch", "apiVersion", MemberType::kText},
    {"objects.patch", "kind", MemberType::kText},
    {"objects.patch", "namespace", MemberType::kText},
    {"objects.patch", "name", MemberType::kText},
    {"objects.patch", "subresource", MemberType::kText},
    {"objects.patch", "object", MemberType::kObject},
    {"objects.remove", "apiVersion", MemberType::kText},
    {"objects.remove", "kind", MemberType::kText},
    {"objects.remove", "namespace", MemberType::kText},
    {"objects.remove", "name", MemberType::kText},
    {"objects.remove", "uid", MemberType::kText},
    {"objects.release_claim", "apiVersion", MemberType::kText},
    {"objects.release_claim", "kind", MemberType::kText},
    {"objects.release_claim", "namespace", MemberType::kText},
    {"objects.release_claim", "name", MemberType::kText},
    {"state.get", "key", MemberType::kText},
    {"state.set", "key", MemberType::kText},
    {"state.set", "value", MemberType::kText, true},
    {"state.remove", "key", MemberType::kText},
    {"state.keys", "prefix", MemberType::kText},

    {kAnyNote, "note", MemberType::kText, true},
    {"log", "level", MemberType::kNumber},
    {"log", "text", MemberType::kText},
    {"report", "namespace", MemberType::kText},
    {"report", "name", MemberType::kText},
    {"report", "uid", MemberType::kText},
    {"report", "check", MemberType::kText},
    {"report", "attempt", MemberType::kNumber},
    {"report", "state", MemberType::kText},
    {"report", "reason", MemberType::kText},
    {"report", "message", MemberType::kText},
    {"report", "requeueAfterSeconds", MemberType::kNumber, false, kNoLeast, kMostSeconds},
    {"report", "podSetUpdates", MemberType::kObjects},
    {"timer", "timer", MemberType::kNumber},
    {"timer", "at", MemberType::kNumber},
    {"event", "apiVersion", MemberType::kText},
    {"event", "kind", MemberType::kText},
    {"event", "namespace", MemberType::kText},
    {"event", "name", MemberType::kText},
    {"event", "reason", MemberType::kText},
    {"event", "message", MemberType::kText},
    {"event", "warning", MemberType::kYesNo},
    {"requeue", "workload", MemberType::kText},
    {"metric", "name", MemberType::kText},
    {"metric", "help", MemberType::kText},
    {"metric", "unit", MemberType::kText},
    {"metric", "labels", MemberType::kTexts},
    {"metric", "values", MemberType::kTexts},
    {"metric", "gauge", MemberType::kYesNo},
    {"metric", "inFull", MemberType::kYesNo},
    {"metric", "add", MemberType::kNumber},
    {"metric", "set", MemberType::kNumber},
};

/// Extension points of which nothing has to be known.
constexpr std::string_view kBarePoints[] = {SLUICE_EXT_TIMERS};

/// What an object may have: the members of these.
struct Forms {
  std::string_view own, common = {};

  bool include(const MemberForm& member) const {
    return member.of == own || (!common.empty() && member.of == common);
  }
};

bool is_known(std::string_view of) {
  return std::ranges::any_of(kForms, [&](const MemberForm& member) { return member.of == of; }) ||
         std::ranges::find(kBarePoints, of) != std::end(kBarePoints);
}

/// What is allowed, for a sentence: "it must be …".
std::string wanted(const MemberForm& member) {
  switch (member.type) {
    case MemberType::kText:
      return "a text";
    case MemberType::kWord:
      return fmt::format("one of {}", fmt::join(member.words, ", "));
    case MemberType::kNumber:
      if (member.least != kNoLeast && member.most == kNoMost)
        return fmt::format("a whole number from {} on", member.least);
      if (member.most != kNoMost) return fmt::format("a whole number up to {}", member.most);
      return "a whole number";
    case MemberType::kYesNo:
      return "true or false";
    case MemberType::kObject:
      return "an object";
    case MemberType::kTexts:
      return "a list of texts";
    case MemberType::kObjects:
      return "a list of objects";
    case MemberType::kPoints:
      return "an object of objects";
    case MemberType::kAny:
      break;
  }
  return "anything";
}

bool all_are(const json::value& list, json::kind kind) {
  if (!list.is_array()) return false;
  for (const json::value& each : list.get_array())
    if (each.kind() != kind) return false;
  return true;
}

bool all_members_are_objects(const json::value& value) {
  if (!value.is_object()) return false;
  for (const auto& [key, each] : value.get_object())
    if (!each.is_object()) return false;
  return true;
}

bool fits(const MemberForm& member, const json::value& value) {
  switch (member.type) {
    case MemberType::kText:
      return value.is_string();
    case MemberType::kWord:
      return value.is_string() &&
             std::ranges::find(member.words, api::view(value.get_string())) != member.words.end();
    case MemberType::kNumber: {
      const auto number = api::as_int(value);
      return number && *number >= member.least && *number <= member.most;
    }
    case MemberType::kYesNo:
      return value.is_bool();
    case MemberType::kObject:
      return value.is_object();
    case MemberType::kTexts:
      return all_are(value, json::kind::string);
    case MemberType::kObjects:
      return all_are(value, json::kind::object);
    case MemberType::kPoints:
      return all_members_are_objects(value);
    case MemberType::kAny:
      break;
  }
  return true;
}

Result<void> check(const Forms& forms, const json::object& said, std::string_view whose,
                   const std::string& path);

/// What is inside of a member that fits. Points that are not known are judged elsewhere.
Result<void> check_inside(const MemberForm& member, const json::value& value,
                          std::string_view whose, const std::string& path) {
  if (member.type == MemberType::kPoints)
    for (const auto& [id, point] : value.get_object()) {
      if (!is_known(api::view(id))) continue;
      if (auto inside = check({api::view(id)}, point.get_object(), whose,
                              fmt::format("{}[{}].", path, api::view(id)));
          !inside)
        return inside;
    }
  if (member.each.empty()) return {};
  std::size_t index = 0;
  for (const json::value& each : value.get_array())
    if (auto inside =
            check({member.each}, each.get_object(), whose, fmt::format("{}[{}].", path, index++));
        !inside)
      return inside;
  return {};
}

/// The names of all, what is peculiar to the object before what is common.
std::string names_of(const Forms& forms) {
  std::vector<std::string_view> names;
  for (const bool own : {true, false})
    for (const MemberForm& member : kForms)
      if (forms.include(member) && (member.of == forms.own) == own) names.push_back(member.name);
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

/// The first member that the forms do not have.
Result<void> check_known(const Forms& forms, const json::object& said, std::string_view whose,
                         const std::string& path) {
  for (const auto& given : said) {
    const std::string_view name = api::view(given.key());
    const auto is_this = [&](const MemberForm& member) {
      return forms.include(member) && member.name == name;
    };
    if (!std::ranges::any_of(kForms, is_this))
      return Error{fmt::format("{} has {}{}, which this host does not know; there may be {}", whose,
                               path, shown_text(name, kShownBytes), names_of(forms))};
  }
  return {};
}

Result<void> check(const Forms& forms, const json::object& said, std::string_view whose,
                   const std::string& path) {
  if (auto known = check_known(forms, said, whose, path); !known) return known;
  for (const MemberForm& member : kForms) {
    if (!forms.include(member)) continue;
    const std::string at = path + std::string(member.name);
    const json::value* value = api::find(said, member.name);
    if (value == nullptr) {
      if (!member.required) continue;
      return Error{fmt::format("{} has no {}; it must be {}", whose, at, wanted(member))};
    }
    if (!fits(member, *value))
      return Error{fmt::format("{} has {}: {}; it must be {}", whose, at,
                               shown_text(api::to_json(*value), kShownBytes), wanted(member))};
    if (auto inside = check_inside(member, *value, whose, at); !inside) return inside;
  }
  return {};
}

}  // namespace

std::span<const MemberForm> member_forms() { return kForms; }

Result<void> check_hello(const json::object& hello) {
  return check({kHelloForm}, hello, "its hello", "");
}

Result<void> check_answer(std::string_view hook, const json::object& answer) {
  for (const std::string_view key : {"failed", "refused"})
    if (const json::value* why = api::find(answer, key)) {
      if (why->is_string()) return {};
      return Error{fmt::format("its answer has {}: {}; it must be a text", key,
                               shown_text(api::to_json(*why), kShownBytes))};
    }
  return check({hook, kAnyAnswer}, answer, "its answer", "");
}

Result<void> check_note(std::string_view note, const json::object& said) {
  return check({note, kAnyNote}, said, fmt::format("its note {}", note), "");
}

Result<void> check_request(std::string_view service, const json::object& request) {
  if (!is_known(service)) return {};
  return check({service, kAnyRequest}, request, fmt::format("its request {}", service), "");
}

}  // namespace sluice::host
