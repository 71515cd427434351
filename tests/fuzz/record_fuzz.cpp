// What lies in the store: an object comes out of its record as it went in, also when only a member
// of it is looked at in the text, or its header is asked; the marks of fields read as they are
// written.
#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "core/base/check.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/store.hpp"
#include "host/rest/json_patch.hpp"
#include "host/store/field_marks.hpp"
#include "tests/fuzz/json_input.hpp"

namespace {

namespace json = boost::json;
using namespace sluice;
using namespace sluice::host;

void check_marks(std::string_view text) {
  const std::string once = FieldMarks(text).text();
  SLUICE_CHECK(FieldMarks(once).text() == once, once);
}

void check_members(const json::object& object) {
  const std::string text = api::to_json(object);
  for (const auto& [key, value] : object) {
    const std::string_view found = api::member_text(text, api::view(key));
    SLUICE_CHECK(found == api::to_json(value), text, " ", api::view(key));
    std::string scratch;
    if (const auto* string = value.if_string())
      SLUICE_CHECK(api::scalar_text(found, scratch) == api::view(*string), found);
  }
  std::size_t members = 0;
  api::each_member(text, [&](std::string_view key, std::string_view) {
    SLUICE_CHECK(object.contains(key), text);
    ++members;
    return true;
  });
  SLUICE_CHECK(members == object.size(), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const api::Scheme scheme;
  if (size > (1U << 14)) return 0;
  check_marks({reinterpret_cast<const char*>(data), size});
  auto input = json_input(data, size);
  if (!input) return 0;
  check_members(*input);
  if (input->contains("status") && !(*input)["status"].is_object()) input->erase("status");
  (*input)["apiVersion"] = "v1";
  (*input)["kind"] = "ConfigMap";
  json::object& metadata = object_of(*input, "metadata");  // last: the members stay where they are
  metadata["name"] = "name";
  metadata["namespace"] = "ns";
  metadata.erase("resourceVersion");
  const api::KindInfo& kind = *scheme.find_by_name("configmaps");
  TextPool pool;
  const StoredObject stored = to_stored(kind, *input, pool);
  const json::object out = to_object(stored);
  SLUICE_CHECK(stored.metadata.uid() == api::find_text(metadata, "uid"), stored.metadata.text());
  boost::json::error_code error;
  const std::string shown = text_for_plugins(stored);
  const json::value text = api::parse_deep(shown, error);
  json::object wanted = out;
  object_of(wanted, "metadata").erase("managedFields");
  SLUICE_CHECK(!error && same_json(text, wanted), shown);
  SLUICE_CHECK(same_json(api::parse_deep(text_for_plugins(out), error), wanted),
               text_for_plugins(out));
  const StoredObject again = to_stored(kind, out, pool);
  SLUICE_CHECK(again.metadata == stored.metadata && *again.body == *stored.body, shown);
  SLUICE_CHECK(again.status == stored.status && again.key == "ns/name", shown);
  return 0;
}
