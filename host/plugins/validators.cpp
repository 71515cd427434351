#include "host/plugins/validators.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <exception>

#include "api/json/json.hpp"
#include "host/objects/marks.hpp"
#include "host/plugins/declarations.hpp"

namespace sluice::host {

std::string group_kind(std::string_view api_version, std::string_view kind) {
  return right_kind(api_version, kind, {});
}

const api::KindInfo* find_kind(const api::Scheme& scheme, std::string_view name) {
  for (const api::KindInfo* kind : scheme.kinds())
    if (group_kind(kind->hub_api_version(), kind->kind) == name) return kind;
  return nullptr;
}

namespace {

namespace json = boost::json;

sluice_write_t raw_write(const WriteQuestion& asked) {
  return {sizeof(sluice_write_t),    static_cast<std::int32_t>(asked.operation),
          abi_of(asked.api_version), abi_of(asked.kind),
          abi_of(asked.object),      abi_of(asked.old),
          abi_of(asked.user)};
}

constexpr std::size_t kMostErrors = 100;  // of one plugin about one write

struct Collected {
  std::vector<FieldError> errors;
  std::string plugin;
  Nonsense nonsense;
  std::size_t not_kept = 0;  // it refuses all the same
};

void add_error(void* context, std::int32_t kind, sluice_str_t path, sluice_str_t value,
               sluice_str_t detail) noexcept {
  Collected& collected = *static_cast<Collected*>(context);
  if (collected.errors.size() >= kMostErrors) {
    ++collected.not_kept;
    return;
  }
  const bool known = kind >= SLUICE_FIELD_INVALID && kind <= SLUICE_FIELD_DUPLICATE;
  try {
    collected.errors.push_back(
        {known ? static_cast<FieldErrorKind>(kind) : FieldErrorKind::kInvalid, shown_text(path),
         shown_text(value), shown_text(detail), collected.plugin});
  } catch (const std::exception&) {
    collected.nonsense.note(kNoMemory);
  }
}

/// Calls the plugin's function; what it gives goes into the question.
std::int32_t call_validate(WriteQuestion& asked) {
  const sluice_write_t raw = raw_write(asked);
  Collected collected{{}, asked.plugin->name(), {}};
  const sluice_field_error_sink_t sink{sizeof(sluice_field_error_sink_t), 0, &collected,
                                       &add_error};
  const std::int32_t code =
      asked.plugin->extensions().validator->validate(asked.plugin->self(), &raw, &sink);
  asked.errors = std::move(collected.errors);
  if (collected.not_kept > 0)
    asked.errors.push_back({FieldErrorKind::kForbidden, "", "",
                            std::to_string(collected.not_kept) + " more mistakes are not shown",
                            collected.plugin});
  return asked.plugin->judged(code, collected.nonsense);
}

std::int32_t call_set_defaults(WriteQuestion& asked) {
  const sluice_write_t raw = raw_write(asked);
  IncomingText text;
  const sluice_sink_t sink = text.sink();
  const std::int32_t code =
      asked.plugin->extensions().validator->set_defaults(asked.plugin->self(), &raw, &sink);
  Nonsense nonsense;
  asked.defaulted = text.document("the object", nonsense);
  return asked.plugin->judged(code, nonsense);
}

/// Puts a question; `waits`: its answer is there afterwards.
void put(const std::shared_ptr<WriteQuestion>& asked, bool waits) {
  const bool judges = asked->hook == Hook::kValidate;
  const auto call = [asked, judges] {
    return judges ? call_validate(*asked) : call_set_defaults(*asked);
  };
  const auto done = [asked](Answer answer, const hooks::Fault& fault, bool) {
    asked->answered = true;
    asked->answer = answer;
    asked->fault = fault;
  };
  if (!waits) return asked->plugin->ask(asked->hook, {}, call, done, Access::kReads);
  hooks::Fault fault;
  const Answer answer = asked->plugin->call_to_the_end(Access::kReads, asked->hook, fault, call);
  done(answer, fault, false);
}

/// The question that comes next for this write, put unless it was; nullptr: its answer is not there
/// yet.
std::shared_ptr<WriteQuestion> answered(LoadedPlugin& plugin, Hook hook, const ObjectWrite& write,
                                        AskedOfWrite* asked) {
  std::shared_ptr<WriteQuestion> question = asked != nullptr ? asked->next() : nullptr;
  if (question == nullptr) {
    question = std::make_shared<WriteQuestion>();
    question->plugin = &plugin;
    question->hook = hook;
    question->operation = write.operation;
    question->api_version = write.api_version;
    question->kind = write.kind;
    question->object = write.object;
    question->old = write.old;
    question->user = write.user;
    if (asked != nullptr) asked->add(question);
    put(question, asked == nullptr);
  }
  return question->answered || plugin.is_off() ? question : nullptr;
}

/// A part of an object that plugins may not change: an identity, a status, what the system keeps.
/// Gives nullptr where there is none.
const json::value* part(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_null() ? nullptr : value;
}

bool same_part(const json::object& a, const json::object& b, std::string_view key) {
  const json::value* const in_a = part(a, key);
  const json::value* const in_b = part(b, key);
  return (in_a == nullptr) == (in_b == nullptr) && (in_a == nullptr || *in_a == *in_b);
}

/// The first of `from`'s members that is not the same in `to`, but for the two that are users';
/// empty when there is none.
std::string changed_member(const json::object& from, const json::object& to) {
  for (const auto& [key, value] : from)
    if (key != "labels" && key != "annotations" && !same_part(from, to, key)) return key;
  return {};
}

/// What of it a plugin may not change, and changed; empty: nothing.
std::string changed_identity(const json::object& before, const json::object& after) {
  for (const std::string_view key : {"apiVersion", "kind", "status"})
    if (!same_part(before, after, key)) return std::string(key);
  static const json::value kNone(json::object{});
  const json::value* from = part(before, "metadata");
  const json::value* to = part(after, "metadata");
  if (from == nullptr) from = &kNone;
  if (to == nullptr) to = &kNone;
  if (!from->is_object() || !to->is_object()) return *from == *to ? "" : "metadata";
  std::string key = changed_member(from->get_object(), to->get_object());
  if (key.empty()) key = changed_member(to->get_object(), from->get_object());
  return key.empty() ? "" : "metadata." + key;
}

/// What is wrong with what a plugin gave back; both empty: nothing.
struct Judged {
  std::string nonsense;  ///< no plugin should
  std::string refusal;   ///< of the API: what was sent leaves no room for what the plugin adds
};

/// Judges what a plugin gave back in place of `object`, and takes it where nothing is wrong. Marks
/// that are not its own stay as they were.
Judged take_defaulted(const LoadedPlugin& plugin, const api::KindInfo* info,
                      const std::string& answer, const Validators::Validate& refusal_of,
                      std::string& object) {
  boost::system::error_code error;
  json::value changed = api::parse_deep(answer, error);
  if (error || !changed.is_object()) return {"it gives back no JSON object", {}};
  const json::value before = api::parse_deep(object, error);
  if (!error && before.is_object()) {
    if (const std::string part = changed_identity(before.get_object(), changed.get_object());
        !part.empty())
      return {"it changes " + part + ", which is not its to set", {}};
    static const api::KindInfo kUnknown;
    keep_marks_of_others(info ? *info : kUnknown, plugin.name(), before.get_object(),
                         changed.get_object());
  }
  if (std::string wrong = refusal_of(changed.get_object()); !wrong.empty())
    return {{}, shown_text(wrong)};
  object.clear();
  api::append_json(changed.get_object(), object);
  return {};
}

bool sets_defaults(const LoadedPlugin& plugin) {
  const sluice_validator_t& table = *plugin.extensions().validator;
  return SLUICE_HAS(&table, set_defaults) && table.set_defaults != nullptr;
}

}  // namespace

std::string FieldError::text() const {
  std::string out = path.empty() ? "" : path + ": ";
  switch (kind) {
    case FieldErrorKind::kInvalid:
      out += "Invalid value";
      break;
    case FieldErrorKind::kRequired:
      out += "Required value";
      break;
    case FieldErrorKind::kForbidden:
      out += "Forbidden";
      break;
    case FieldErrorKind::kNotSupported:
      out += "Unsupported value";
      break;
    case FieldErrorKind::kDuplicate:
      out += "Duplicate value";
      break;
  }
  if (!value.empty()) out += ": " + value;
  if (!detail.empty()) out += ": " + detail;
  return out;
}

Result<Validators> Validators::make(const std::vector<LoadedPlugin*>& plugins) {
  Validators all;
  for (LoadedPlugin* plugin : plugins) {
    Entry entry{plugin, {}};
    const auto lines =
        plugin->names(Hook::kValidatorKinds, plugin->extensions().validator->kinds, "a kind");
    const std::string where = "plugin " + plugin->name() + " does not say which kinds it validates";
    if (!lines) return lines.error().context(where);
    for (const std::string& line : *lines) {
      auto kind = parse_judged_kind(line);
      if (!kind) return kind.error().context(where);
      entry.kinds.push_back(std::move(*kind));
    }
    all.entries_.push_back(std::move(entry));
  }
  return all;
}

bool Validators::Entry::judges(const std::string& group_kind) const {
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const JudgedKind& each) { return each.group_kind == group_kind; });
}

bool Validators::wants(std::string_view api_version, std::string_view kind) const {
  const std::string wanted = group_kind(api_version, kind);
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.judges(wanted); });
}

std::vector<Validators::Judge> Validators::judged() const {
  std::vector<Judge> out;
  for (const Entry& entry : entries_)
    for (const JudgedKind& kind : entry.kinds) out.push_back({entry.plugin->name(), kind});
  return out;
}

std::vector<Validators::Judge> Validators::never_asked(const api::Scheme& scheme) const {
  std::vector<Judge> out = judged();
  std::erase_if(out, [&scheme](const Judge& judge) {
    return !judge.kind.plural.empty() || find_kind(scheme, judge.kind.group_kind) != nullptr;
  });
  return out;
}

/// Those that have a say about it, in load order. Not who writes it itself.
std::vector<LoadedPlugin*> Validators::judges(const ObjectWrite& write) const {
  const std::string wanted = group_kind(write.api_version, write.kind);
  std::vector<LoadedPlugin*> out;
  for (const Entry& entry : entries_)
    if (!entry.plugin->host_side().in_call() && entry.judges(wanted)) out.push_back(entry.plugin);
  return out;
}

Result<std::string> Validators::set_defaults(const ObjectWrite& write, const Validate& refusal_of,
                                             AskedOfWrite* asked) const {
  std::string object(write.object);
  if (write.operation == WriteOperation::kDelete) return object;
  for (LoadedPlugin* plugin : judges(write)) {
    if (!sets_defaults(*plugin)) continue;
    ObjectWrite now = write;
    now.object = object;
    const auto said = answered(*plugin, Hook::kSetDefaults, now, asked);
    if (said == nullptr) return object;
    Answer answer = said->answer;
    hooks::Fault fault = said->fault;
    if (answer == Answer::kOk && !said->defaulted.empty()) {
      const Judged judged =
          take_defaulted(*plugin, write.info, said->defaulted, refusal_of, object);
      // Whoever wrote the object brought that about: the plugin is not to blame, and without what
      // it adds the object is not let through, whatever its failurePolicy.
      if (!judged.refusal.empty())
        return Error{"with what plugin " + plugin->name() + " adds to it: " + judged.refusal};
      if (!judged.nonsense.empty())
        answer = plugin->blame(Hook::kSetDefaults, judged.nonsense, fault);
    }
    if (answer == Answer::kClosed) return Error{fault.text};
  }
  return object;
}

std::vector<FieldError> Validators::validate(const ObjectWrite& write, AskedOfWrite* asked) const {
  std::vector<FieldError> all;
  if (asked != nullptr && asked->wait()) return all;
  for (LoadedPlugin* plugin : judges(write)) {
    const auto said = answered(*plugin, Hook::kValidate, write, asked);
    if (said == nullptr) return {};
    if (said->answer == Answer::kClosed)
      all.push_back({FieldErrorKind::kForbidden, "", "", said->fault.text, plugin->name()});
    if (said->answer == Answer::kOk)
      all.insert(all.end(), said->errors.begin(), said->errors.end());
  }
  return all;
}

bool AskedOfWrite::wait() const {
  return std::any_of(all_.begin(), all_.end(), [](const std::shared_ptr<WriteQuestion>& each) {
    return !each->answered && !each->plugin->is_off();
  });
}

}  // namespace sluice::host
