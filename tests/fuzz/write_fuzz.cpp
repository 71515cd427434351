// {"apiVersion": …, "kind": …, "live": …, "create" | "merge" | "json" | "strategic" | "apply": …}:
// whatever a write says, its loops go round no more often than its size allows: what is proposed,
// judged, and recorded of its owners. Counted in steps (api/json/steps.hpp), so that a slow machine
// finds nothing and a slow loop is found however short the input.
#include "api/json/json.hpp"
#include "api/scheme/scheme.hpp"
#include "core/base/check.hpp"
#include "host/kernel/merge_patch.hpp"
#include "host/rest/field_manager.hpp"
#include "host/rest/json_patch.hpp"
#include "host/rest/strategic_merge.hpp"
#include "tests/fuzz/json_input.hpp"

namespace {

namespace json = boost::json;
using namespace sluice;
using namespace sluice::host;

const PatchLimits kPatchLimits{.operations = 1'000, .bytes = 1U << 18, .steps = 20'000};

class Bounded {
 public:
  explicit Bounded(std::size_t bytes) : bytes_(bytes) {}

  /// Each stage goes over the object a few times; a text of a few bytes is a value, and a JSON
  /// patch may move as many values as its limit says.
  void check(const char* stage) {
    const std::uint64_t steps = api::Steps::taken() - began_;
    const std::uint64_t most = 3 * kPatchLimits.steps + 8 * bytes_;
    SLUICE_CHECK(steps <= most, stage, ": ", steps, " steps for ", bytes_, " bytes");
    began_ = api::Steps::taken();
  }

 private:
  std::uint64_t bytes_;
  std::uint64_t began_ = api::Steps::taken();
};

/// The object that the write asks for; nullopt: it was refused.
std::optional<json::object> proposed(const api::Scheme& scheme, const api::KindInfo& kind,
                                     const json::object& input, const json::object* live) {
  const std::string version(kind.hub().name);
  json::value out = live != nullptr ? json::value(*live) : json::value(json::object());
  if (const auto* body = input.if_contains("create")) {
    out = *body;
  } else if (const auto* patch = input.if_contains("merge")) {
    merge_patch(out, *patch);
  } else if (const auto* operations = input.if_contains("json")) {
    if (!json_patch(out, *operations, kPatchLimits)) return std::nullopt;
  } else if (const auto* strategic = input.if_contains("strategic");
             strategic != nullptr && strategic->is_object()) {
    const auto* schema = scheme.schema(kind.hub_api_version(), kind.kind);
    if (!strategic_merge(out.get_object(), strategic->get_object(), *schema)) return std::nullopt;
  } else if (const auto* config = input.if_contains("apply");
             config != nullptr && config->is_object()) {
    auto applied = apply_configuration(scheme, {kind, "fuzzer", "", 0}, version, live,
                                       config->get_object(), true);
    if (!applied) return std::nullopt;
    out = std::move(*applied);
  }
  if (!out.is_object()) return std::nullopt;
  return std::move(out.get_object());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > (1U << 15)) return 0;
  const auto input = json_input(data, size);
  if (!input) return 0;
  static const api::Scheme scheme;
  const api::KindInfo* kind =
      scheme.find(api::find_text(*input, "apiVersion"), api::find_text(*input, "kind"));
  if (kind == nullptr || kind->internal) return 0;
  std::optional<json::object> live;
  if (const auto* given = api::find_object(*input, "live")) {
    live = *given;
    (*live)["apiVersion"] = kind->hub_api_version();
    (*live)["kind"] = kind->kind;
    if (!scheme.admit(*live, nullptr, {}).ok()) live.reset();
  }
  Bounded bounded(size + (live ? api::json_bytes(*live, 1U << 22) : 0));
  auto object = proposed(scheme, *kind, *input, live ? &*live : nullptr);
  bounded.check("propose");
  if (!object) return 0;
  (*object)["apiVersion"] = kind->hub_api_version();
  (*object)["kind"] = kind->kind;
  const bool good = scheme.admit(*object, live ? &*live : nullptr, {}).ok();
  bounded.check("judge");
  if (!good) return 0;
  const FieldOwner owner{*kind, "fuzzer", "", 0};
  if (live)
    track_update(scheme, owner, *live, *object);
  else
    track_create(scheme, owner, {}, *object);
  bounded.check("track");
  return 0;
}
