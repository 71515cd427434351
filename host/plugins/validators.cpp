#include "host/plugins/validators.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <exception>

namespace sluice::host {

namespace {

/// `GROUP/KIND`, or `KIND` for the core group.
std::string group_kind(std::string_view api_version, std::string_view kind) {
  const auto slash = api_version.find('/');
  if (slash == api_version.npos) return std::string(kind);
  return std::string(api_version.substr(0, slash)).append("/").append(kind);
}

sluice_write_t raw_write(const ObjectWrite& write) {
  return {sizeof(sluice_write_t),    static_cast<std::int32_t>(write.operation),
          abi_of(write.api_version), abi_of(write.kind),
          abi_of(write.object),      abi_of(write.old)};
}

struct Collected {
  std::vector<FieldError> errors;
  std::string plugin;
  bool nonsense = false;
};

void add_error(void* context, std::int32_t kind, sluice_str_t path, sluice_str_t value,
               sluice_str_t detail) noexcept {
  Collected& collected = *static_cast<Collected*>(context);
  const bool known = kind >= SLUICE_FIELD_INVALID && kind <= SLUICE_FIELD_DUPLICATE;
  try {
    collected.errors.push_back(
        {known ? static_cast<FieldErrorKind>(kind) : FieldErrorKind::kInvalid, text_of(path),
         text_of(value), text_of(detail), collected.plugin});
  } catch (const std::exception&) {
    collected.nonsense = true;
  }
}

bool is_json_object(std::string_view text) {
  boost::system::error_code error;
  return boost::json::parse(text, error).is_object() && !error;
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
    std::string lines;
    const sluice_sink_t sink = sink_into(lines);
    hooks::Fault fault;
    const Answer answer = plugin->call(Hook::kValidatorKinds, fault, [&] {
      return plugin->extensions().validator->kinds(plugin->self(), &sink);
    });
    if (answer != Answer::kOk)
      return Error{"plugin " + plugin->name() +
                   " does not say which kinds it validates: " + plugin->health().last_fault()};
    Entry entry{plugin, {}};
    while (!lines.empty()) {
      const auto end = std::min(lines.find('\n'), lines.size());
      if (end > 0) entry.kinds.push_back(lines.substr(0, end));
      lines.erase(0, end + 1);
    }
    all.entries_.push_back(std::move(entry));
  }
  return all;
}

bool Validators::wants(std::string_view api_version, std::string_view kind) const {
  const std::string wanted = group_kind(api_version, kind);
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return std::find(entry.kinds.begin(), entry.kinds.end(), wanted) != entry.kinds.end();
  });
}

Result<std::string> Validators::set_defaults(const ObjectWrite& write) const {
  std::string object(write.object);
  if (write.operation == WriteOperation::kDelete) return object;
  const std::string wanted = group_kind(write.api_version, write.kind);
  for (const Entry& entry : entries_) {
    const sluice_validator_t& table = *entry.plugin->extensions().validator;
    if (entry.plugin->host_side().in_call()) continue;  // it writes this itself
    if (!SLUICE_HAS(&table, set_defaults) || table.set_defaults == nullptr ||
        std::find(entry.kinds.begin(), entry.kinds.end(), wanted) == entry.kinds.end())
      continue;
    ObjectWrite now = write;
    now.object = object;
    const sluice_write_t raw = raw_write(now);
    std::string changed;
    const sluice_sink_t sink = sink_into(changed);
    hooks::Fault fault;
    const Answer answer = entry.plugin->call(Hook::kSetDefaults, fault, [&] {
      const std::int32_t code = table.set_defaults(entry.plugin->self(), &raw, &sink);
      if (code != SLUICE_OK || changed.empty()) return code;
      return is_json_object(changed) ? code : LoadedPlugin::kNonsense;
    });
    if (answer == Answer::kClosed) return Error{fault.text};
    if (answer == Answer::kOk && !changed.empty()) object = std::move(changed);
  }
  return object;
}

std::vector<FieldError> Validators::validate(const ObjectWrite& write) const {
  const std::string wanted = group_kind(write.api_version, write.kind);
  const sluice_write_t raw = raw_write(write);
  std::vector<FieldError> all;
  for (const Entry& entry : entries_) {
    if (std::find(entry.kinds.begin(), entry.kinds.end(), wanted) == entry.kinds.end()) continue;
    if (entry.plugin->host_side().in_call()) continue;  // it writes this itself
    Collected collected{{}, entry.plugin->name()};
    const sluice_field_error_sink_t sink{sizeof(sluice_field_error_sink_t), 0, &collected,
                                         &add_error};
    hooks::Fault fault;
    entry.plugin->host_side().begin_reading();
    const Answer answer = entry.plugin->call(Hook::kValidate, fault, [&] {
      const std::int32_t code =
          entry.plugin->extensions().validator->validate(entry.plugin->self(), &raw, &sink);
      return code == SLUICE_OK && collected.nonsense ? LoadedPlugin::kNonsense : code;
    });
    entry.plugin->host_side().end_reading();
    if (answer == Answer::kClosed)
      all.push_back({FieldErrorKind::kForbidden, "", "", fault.text, entry.plugin->name()});
    if (answer == Answer::kOk)
      all.insert(all.end(), collected.errors.begin(), collected.errors.end());
  }
  return all;
}

}  // namespace sluice::host
