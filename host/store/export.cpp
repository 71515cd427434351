#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/hide.hpp"
#include "host/base/progress.hpp"
#include "host/manifests/yaml_text.hpp"
#include "host/objects/object_key.hpp"
#include "host/store/field_marks.hpp"
#include "host/store/reader.hpp"
#include "host/store/row_cipher.hpp"
#include "host/store/sqlite_rows.hpp"
#include "host/store/tools.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

struct Item {
  std::string kind, key, metadata, body, status, hidden;

  JournalRow row() const {
    return {.kind = kind,
            .key = key,
            .metadata = metadata,
            .body = body,
            .status = status,
            .hidden = hidden};
  }
};

// What others live in or refer to comes first.
bool goes_before(const Item& a, const Item& b) {
  const auto rank = [](const Item& item) {
    if (item.kind == "/Namespace") return 0;
    return namespace_of(item.key).empty() ? 1 : 2;
  };
  return std::make_tuple(rank(a), std::string_view(a.kind), std::string_view(a.key)) <
         std::make_tuple(rank(b), std::string_view(b.kind), std::string_view(b.key));
}

// The names in the journal of the kinds that were asked for.
Result<std::set<std::string>> wanted_kinds(const api::Scheme& scheme,
                                           const std::vector<std::string>& names) {
  std::set<std::string> out;
  for (const std::string& name : names) {
    const api::KindInfo* kind = scheme.find_by_name(name);
    if (kind == nullptr) return Error{"no kind is called \"" + name + "\""};
    out.insert(kind->group_kind());
  }
  return out;
}

Result<RowTexts> texts_of(const JournalRow& row, const EncryptionKeys& keys) {
  if (is_secret_kind(row.kind) && is_encrypted(row)) return decrypted(row, keys);
  return RowTexts{std::string(row.metadata), std::string(row.body), std::string(row.status),
                  std::string(row.hidden)};
}

Result<json::object> manifest(const Item& item, const std::string& version) {
  auto parts = object_of(item.row());
  if (!parts) return parts.error();
  json::object out;
  out["apiVersion"] = api::group_version(api::group_of(item.kind), version);
  out["kind"] = item.kind.substr(item.kind.find('/') + 1);
  for (auto& entry : *parts) out[entry.key()] = std::move(entry.value());
  if (!item.hidden.empty()) {
    boost::system::error_code code;
    const json::value hidden = api::parse_deep(item.hidden, code);
    json::array left;
    if (!code && hidden.is_array()) api::put_back(out, hidden.get_array(), left);
  }
  // Of the store it came from, and in the way of an apply.
  json::object& metadata = out["metadata"].get_object();
  metadata.erase("managedFields");
  metadata.erase("resourceVersion");
  return out;
}

}  // namespace

Result<std::size_t> export_store(const std::string& path, const api::Scheme& scheme,
                                 const ExportOptions& options,
                                 const std::function<void(const std::string&)>& append) {
  const auto wanted = wanted_kinds(scheme, options.kinds);
  if (!wanted) return wanted.error();
  std::string file;
  auto database = open_store(path, file);
  if (!database) return database.error();
  std::vector<Item> items;
  std::optional<Error> unreadable;
  const auto rows = load_rows(*database, [&](const JournalRow& row) {
    if (!wanted->empty() && wanted->count(std::string(row.kind)) == 0) return;
    auto texts = texts_of(row, options.keys);
    if (texts)
      items.push_back({std::string(row.kind), std::string(row.key), std::move(texts->metadata),
                       std::move(texts->body), std::move(texts->status), std::move(texts->hidden)});
    else if (!unreadable)
      unreadable = texts.error();
  });
  if (!rows) return rows.error().context(file);
  if (unreadable) return unreadable->context(file);
  std::sort(items.begin(), items.end(), goes_before);

  const FieldMarks marks(rows->state.fields);
  if (!options.yaml)
    append("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n");
  else
    append(items.empty() ? "apiVersion: v1\nkind: List\nitems: []\n"
                         : "apiVersion: v1\nkind: List\nitems:\n");
  bool first = true;
  Progress progress("writing manifests", "objects");
  progress.expect(items.size());
  for (const Item& item : items) {
    progress.add();
    auto object = manifest(item, marks.version_of(item.kind));
    if (!object) return object.error().context(item.kind + " " + item.key);
    std::string text;
    if (options.yaml) {
      append_yaml(json::array{std::move(*object)}, text);
    } else {
      if (!std::exchange(first, false)) text += ",\n";
      api::append_json(*object, text);
    }
    append(text);
  }
  if (!options.yaml) append("\n]}\n");
  return items.size();
}

}  // namespace sluice::host
