// {"config": …, "other": …, "fields": …}: sets of fields read as they are written; a configuration
// is refused or applied, a second time to no effect, and over what another manager applied before.
#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/rest/field_manager.hpp"
#include "host/rest/field_set.hpp"
#include "host/rest/json_patch.hpp"
#include "tests/fuzz/json_input.hpp"

namespace {

namespace json = boost::json;
using namespace sluice;
using namespace sluice::host;

void check_fields(const json::object& fields) {
  const auto set = FieldSet::parse(fields);
  if (!set) return;
  const auto again = FieldSet::parse(set->to_json());
  SLUICE_CHECK(again && *again == *set, json::serialize(fields));
  FieldSet both = *set;
  both.unite(*again);
  SLUICE_CHECK(both == *set && set->intersect(*again) == *set);
  both.subtract(*set);
  SLUICE_CHECK(both.empty());
  set->each_path([](const std::string& path) { SLUICE_CHECK(path.size() < (1U << 20)); });
}

ApiResult<json::object> apply(const api::Scheme& scheme, const char* manager,
                              const json::object* live, const json::object& config) {
  const api::KindInfo& kind = *scheme.find_by_name("pods");
  return apply_configuration(scheme, {kind, manager, "", kSecond}, "v1", live, config, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const api::Scheme scheme;
  if (size > (1U << 13)) return 0;
  const auto input = json_input(data, size);
  if (!input) return 0;
  if (const auto* fields = api::find_object(*input, "fields")) check_fields(*fields);
  const auto* config = api::find_object(*input, "config");
  if (config == nullptr) return 0;
  const auto* other = api::find_object(*input, "other");
  const auto before = other != nullptr ? apply(scheme, "other", nullptr, *other)
                                       : ApiResult<json::object>(ApiError());
  const auto made = apply(scheme, "me", before.ok() ? &*before : nullptr, *config);
  if (!made) {
    SLUICE_CHECK(made.error().code >= 400 && made.error().code < 500, made.error().text);
    return 0;
  }
  const auto twice = apply(scheme, "me", &*made, *config);
  SLUICE_CHECK(twice.ok(), twice.ok() ? std::string() : twice.error().text);
  SLUICE_CHECK(same_json(*twice, *made), json::serialize(*made), " ", json::serialize(*twice));
  return 0;
}
