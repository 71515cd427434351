// {"target": …, "json": …, "merge": …, "strategic": …}: every patch is refused or carried out, with
// the same result each time; a merge patch that is applied twice changes nothing any more.
#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/kernel/merge_patch.hpp"
#include "host/rest/json_patch.hpp"
#include "host/rest/strategic_merge.hpp"
#include "tests/fuzz/json_input.hpp"

namespace {

namespace json = boost::json;
using namespace sluice;
using namespace sluice::host;

void check_json_patch(const json::value& target, const json::value& patch) {
  const PatchLimits limits{.operations = 200, .bytes = 200'000, .steps = 50'000};
  json::value first = target, second = target;
  const auto done = json_patch(first, patch, limits);
  const auto again = json_patch(second, patch, limits);
  SLUICE_CHECK(done.ok() == again.ok());
  if (done) {
    SLUICE_CHECK(same_json(first, second));
    return;
  }
  const int code = done.error().code;
  SLUICE_CHECK(code == 400 || code == 413 || code == 422, done.error().text);
}

void check_merge(const json::value& target, const json::value& patch) {
  json::value once = target;
  merge_patch(once, patch);
  json::value twice = once;
  merge_patch(twice, patch);
  SLUICE_CHECK(same_json(once, twice), json::serialize(once));
}

void check_strategic(const json::object& target, const json::object& patch) {
  static const api::Scheme scheme;
  for (const auto& [version, kind] : {std::pair("v1", "Pod"), std::pair("batch/v1", "Job")}) {
    const auto* schema = scheme.schema(version, kind);
    json::object first = target, second = target;
    const auto done = strategic_merge(first, patch, *schema);
    SLUICE_CHECK(done.ok() || done.error().code == 400 || done.error().code == 422);
    SLUICE_CHECK(strategic_merge(second, patch, *schema).ok() == done.ok());
    if (done) SLUICE_CHECK(same_json(first, second));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > (1U << 14)) return 0;
  const auto input = json_input(data, size);
  if (!input) return 0;
  const auto* target = input->if_contains("target");
  if (target == nullptr) return 0;
  if (const auto* patch = input->if_contains("json")) check_json_patch(*target, *patch);
  if (const auto* patch = input->if_contains("merge")) check_merge(*target, *patch);
  const auto* patch = input->if_contains("strategic");
  if (patch && patch->is_object() && target->is_object())
    check_strategic(target->get_object(), patch->get_object());
  return 0;
}
