#include "host/plugins/process/messages.hpp"

#include <boost/json.hpp>
#include <utility>

#include "api/json/json.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

struct Subject {
  std::string_view key;
  Message::Type type;
  std::string_view named_by;  ///< the member that names what is asked for; empty: none
};

constexpr Subject kSubjects[] = {
    {"hello", Message::Type::kHello, ""},   {"call", Message::Type::kCall, "hook"},
    {"answer", Message::Type::kAnswer, ""}, {"request", Message::Type::kRequest, "service"},
    {"reply", Message::Type::kReply, ""},   {"note", Message::Type::kNote, ""},
};

constexpr std::size_t kMostName = 64;

Result<void> fill(const Subject& subject, const json::value& value, Message& out) {
  const std::string key(subject.key);
  out.type = subject.type;
  if (subject.type == Message::Type::kHello) {
    if (!value.is_object()) return Error{"a message whose hello is no object"};
    json::object said = value.get_object();
    out.body = std::move(said);
    return {};
  }
  const json::value* name = &value;
  if (subject.type != Message::Type::kNote) {
    const auto number = api::as_int(value);
    if (!number || *number < 1) return Error{"a message whose " + key + " is no number from 1 on"};
    out.number = static_cast<std::uint64_t>(*number);
    name = subject.named_by.empty() ? nullptr : api::find(out.body, subject.named_by);
    if (subject.named_by.empty()) return {};
  }
  const std::string named(subject.named_by.empty() ? subject.key : subject.named_by);
  if (name == nullptr || !name->is_string() || name->get_string().empty() ||
      name->get_string().size() > kMostName)
    return Error{"a message whose " + named + " is no name"};
  out.name = api::view(name->get_string());
  return {};
}

}  // namespace

Result<Message> parse_message(std::string_view frame) {
  boost::system::error_code error;
  json::value value = api::parse_deep(frame, error);
  if (error) return Error{"a message that is no JSON: " + error.message()};
  if (!value.is_object()) return Error{"a message that is no JSON object"};
  Message out;
  out.body = std::move(value.get_object());
  const Subject* found = nullptr;
  for (const Subject& subject : kSubjects) {
    if (api::find(out.body, subject.key) == nullptr) continue;
    if (found != nullptr)
      return Error{"a message that is both " + std::string(found->key) + " and " +
                   std::string(subject.key)};
    found = &subject;
  }
  if (found == nullptr)
    return Error{"a message that is none of hello, call, answer, request, reply and note"};
  const json::value subject = *api::find(out.body, found->key);
  if (auto filled = fill(*found, subject, out); !filled) return filled.error();
  return out;
}

}  // namespace sluice::host
